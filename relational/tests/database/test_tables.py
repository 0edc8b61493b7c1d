import datetime as dt
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from crosscut_relational.database.database import Database
from crosscut_relational.database.tables import SchemaError
from crosscut_relational.database.target import TargetError
from crosscut_relational.estimators import RelationalTreeClassifier
from crosscut_relational.language.bias import Bias
from crosscut_relational.language.terms import Compound
from tests.random_tables import in_duckdb

MACHINES = {"machine_id": [1, 2, 3], "state": ["fix", "ok", "fix"], "site": ["a", None, "b"]}
PARTS = {"part_id": [10, 11, 12, 13], "machine_id": [1, 1, 3, None], "wear": [0.9, 0.1, None, 0.5]}


def make(**changes):
    options = {"target": "machine.state"} | changes
    return Database.from_tables({"machine": MACHINES, "part": PARTS}, **options)


def rows(database, name, arity):
    return [
        tuple(database.constants.terms[each] for each in row)
        for row in database.relations[name, arity].columns.T.tolist()
    ]


def test_links_are_found_by_name_and_keys_come_first():
    database = make()
    assert database.examples == [1, 2, 3]
    assert [database.classes[code] for code in database.target] == ["fix", "ok", "fix"]
    assert database.relations["machine", 2].types == ("machine", "machine.site")
    assert database.relations["part", 3].types == ("machine", "part", "part.wear")
    assert database.relations["part", 3].keyed
    assert [column.kind for column in database.columns["part", 3]] == ["link", "key", "numeric"]
    assert rows(database, "part", 3)[:2] == [(1, 10, 0.9), (1, 11, 0.1)]


def test_missing_values():
    database = make()
    assert (2, "missing") in rows(database, "machine", 2)
    assert (3, 12, "missing") in rows(database, "part", 3)
    unlinked = rows(database, "part", 3)[3][0]
    assert isinstance(unlinked, Compound)  # a constant of its own, which joins nothing


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_any_library_give_the_same_facts(frame):
    def nullable(table):
        return {
            name: values if frame is not pd.DataFrame else pd.array(values) for name, values in table.items()
        }

    database = Database.from_tables(
        {"machine": frame(nullable(MACHINES)), "part": frame(nullable(PARTS))}, target="machine.state"
    )
    assert rows(database, "part", 3)[:3] == rows(make(), "part", 3)[:3]
    assert database.target.tolist() == make().target.tolist()


def test_values_become_constants():
    frame = pl.DataFrame(
        {
            "id": [1, 2],
            "y": ["a", "b"],
            "flag": [True, False],
            "day": [dt.date(2024, 1, 31), dt.date(1999, 12, 1)],
            "price": [Decimal("1.5"), Decimal(2)],
            "code": pl.Series(["7", "8"], dtype=pl.Categorical),
        }
    )
    database = Database.from_tables({"t": frame}, target="t.y")
    assert rows(database, "t", 5) == [(1, "true", 19753, 1.5, "7"), (2, "false", 10926, 2, "8")]
    kinds = [column.kind for column in database.columns["t", 5]]
    assert kinds == ["key", "nominal", "date", "numeric", "nominal"]


def test_a_table_without_a_key_gets_row_numbers():
    visits = {"machine_id": [1, 1, 1], "cost": [5, 5, 7]}
    database = Database.from_tables({"machine": MACHINES, "visit": visits}, target="machine.state")
    assert database.relations["visit", 3].n_facts == 3
    assert database.relations["visit", 3].types == ("machine", "visit", "visit.cost")


def test_links_and_keys_that_are_given():
    tables = {
        "loan": {"id": [1, 2], "acc": [7, 8], "y": ["a", "b"]},
        "account": {"number": [7, 8], "district": [1, 1]},
        "district": {"A1": [1], "A2": [99]},
    }
    database = Database.from_tables(
        tables,
        target="loan.y",
        keys={"district": "A1"},
        links={"loan.acc": "account.number", "account.district": "district.A1"},
    )
    assert database.relations["loan", 2].types == ("loan", "account")
    assert database.relations["account", 2].types == ("account", "district")


def test_tables_whose_links_are_partly_found_by_name():
    # as in the financial tables of PKDD'99
    database = Database.from_tables(
        {
            "district": {"A1": [1, 2], "A2": ["Praha", "Benesov"]},
            "account": {"account_id": [576, 577], "district_id": [1, 2]},
            "client": {"client_id": [1, 2], "district_id": [2, 2]},
            "disp": {
                "disp_id": [1, 2],
                "client_id": [1, 2],
                "account_id": [576, 577],
                "type": ["OWNER", "USER"],
            },
            "loan": {"loan_id": [5314, 5316], "account_id": [576, 577], "status": ["B", "A"]},
        },
        target="loan.status",
        keys={"district": "A1"},
        links={"account.district_id": "district.A1", "client.district_id": "district.A1"},
    )
    assert database.classes == ("A", "B")
    assert database.relations["disp", 4].types == ("disp", "client", "account", "disp.type")
    assert database.relations["client", 2].types == ("client", "district")


def test_a_key_that_is_a_link_itself():
    tables = {"ex": {"id": [1, 2], "y": ["a", "b"]}, "loan": {"id": [1, 2], "size": [3, 4]}}
    database = Database.from_tables(tables, target="ex.y", links={"loan.id": "ex.id"})
    assert database.relations["loan", 2].types == ("ex", "loan.size")
    assert database.relations["loan", 2].keyed


def test_rows_that_refer_to_a_table_with_the_keys_of_another():
    tables = {
        "person": {"id": [1, 2, 3], "y": ["a", "b", "a"]},
        "nurse": {"id": [1, 3], "grade": [4, 5]},
        "shift": {"id": [1, 2, 3], "nurse_id": [1, 1, 3]},
    }
    for target in ("person.y", "nurse.grade"):
        links = {"nurse.id": "person.id"}
        database = Database.from_tables(tables, target=target, links=links, regression=target[0] == "n")
        assert database.links == ["nurse.id=person.id", "shift.nurse_id=person.id"]
        assert database.relations["shift", 2].types[0] == database.key_types[0] == "person"
        counts = Bias.from_schema(database).to_frame(database)["number of shifts"]
        assert dict(counts) == ({1: 2, 2: 0, 3: 1} if target[0] == "p" else {1: 2, 3: 1})
    loop = Database.from_tables(
        {"a": {"id": [1, 2], "y": ["p", "q"]}, "b": {"id": [1, 2], "x": [5, 6]}},
        target="b.x",
        links={"a.id": "b.id", "b.id": "a.id"},
        regression=True,
    )
    assert {each.types[0] for each in loop.relations.values()} == {"a"} == {*loop.key_types}


def test_regression_is_chosen_for_floating_point_targets():
    table = {"id": [1, 2, 3], "y": [0.5, 1.5, 2.0]}
    database = Database.from_tables({"t": table}, target="t.y")
    np.testing.assert_array_equal(database.target, [0.5, 1.5, 2.0])
    assert Database.from_tables({"t": table}, target="t.y", regression=False).classes == (0.5, 1.5, 2.0)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        (
            {"target": "machine.colour"},
            SchemaError,
            "target names 'machine.colour'; use 'table.column'",
        ),
        ({"target": "engine.state"}, SchemaError, "with one of machine, part"),
        (
            {"keys": {"part": "machine_id"}},
            SchemaError,
            "keys names part.machine_id, but it has missing or repeated values",
        ),
        (
            {"links": {"part.wear": "machine.state"}},
            SchemaError,
            "links refers to 'machine.state', which has repeated values",
        ),
        ({"links": {"part.wear": "machine.nothing"}}, SchemaError, "links names 'machine.nothing'"),
        (
            {"target": "machine.site"},
            SchemaError,
            "machine.site is missing for 1 of 3 examples (the first: 2)",
        ),
        ({"target": "machine.machine_id"}, SchemaError, "which is the key of machine"),
        ({"classes": ["ok"]}, TargetError, "example 1 has class fix, which is not one of classes([ok])"),
        ({"regression": True}, SchemaError, "machine.state has values such as 'fix'"),
    ],
)
def test_what_does_not_fit_is_named(changes, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make(**changes)


def test_columns_of_different_lengths():
    with pytest.raises(SchemaError, match="different lengths"):
        Database.from_tables({"t": {"id": [1], "y": ["a", "b"]}}, target="t.y")


def test_without_any_target_value_there_is_none():
    database = Database.from_tables({"t": {"id": [1, 2], "y": [None, None], "x": [1, 2]}}, target="t.y")
    assert database.target is None
    assert database.n_examples == 2


def test_numbers_of_a_categorical_column_are_names():
    frame = pd.DataFrame({"id": [1, 2], "y": ["a", "b"], "code": pd.Categorical([7, 8])})
    database = Database.from_tables({"t": frame}, target="t.y")
    assert database.columns["t", 2][1].kind == "nominal"
    assert rows(database, "t", 2) == [(1, 7), (2, 8)]


def test_keys_that_a_frame_holds_as_floats_are_whole_numbers():
    tables = {
        "shop": {"id": [1.0, 2.0], "big": ["yes", "no"]},
        "sale": {"shop_id": [2.0, None], "kind": [1.5, 2.0]},
    }
    database = Database.from_tables(tables, target="shop.big")
    assert [repr(key) for key in database.examples] == ["1", "2"]
    assert database.constants.text(database.relations["sale", 3].columns[0, 0]) == "2"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["x", 3, 4.5], "t.v mixes numbers and other values; all are treated as names"),
        ([3, dt.date(2024, 1, 1), None], "t.v mixes numbers and dates"),
        ([[1], None, [2]], "t: v left out, because the values are binary or nested"),
    ],
)
def test_columns_that_mix_kinds_are_named(values, message):
    with pytest.warns(UserWarning, match=message):
        Database.from_tables({"t": {"id": [1, 2, 3], "v": values, "y": ["a", "b", "a"]}}, target="t.y")


def test_a_table_without_key_has_no_query():
    database = Database.from_tables({"t": {"v": [1, 2, 3, 4], "y": ["a", "a", "b", "b"]}}, target="t.y")
    model = RelationalTreeClassifier(Bias.from_schema(database, pruning="none"), cv=None).fit(database)
    with pytest.raises(ValueError, match="the table t has no key, so a query cannot identify its rows"):
        model.to_sql()


@pytest.mark.parametrize("keys", [{}, {"maker": "id"}])
def test_a_column_that_links_name_rows_by_may_have_gaps(keys):
    """UNIQUE columns of databases may."""
    tables = {
        "maker": {"id": [1, 2, 3, 4], "code": ["a", None, "b", None], "land": ["x", "x", "y", "y"]},
        "car": {
            "car_id": range(40),
            "made_by": ["a", "b", None, "a"] * 10,
            "good": ["p", "n", "n", "p"] * 10,
        },
    }
    if not keys:
        del tables["maker"]["id"]
    links = {"car.made_by": "maker.code"}
    database = Database.from_tables(tables, target="car.good", keys=keys, links=links)
    model = RelationalTreeClassifier(cv=4).fit(database)
    assert model.cv_score_ == 1.0


@pytest.mark.parametrize(("n_values", "is_class"), [(10, True), (11, False)])
def test_integers_with_many_values_are_numbers(n_values, is_class):
    tables = {"t": {"id": list(range(33)), "y": [i % n_values for i in range(33)]}}
    assert bool(Database.from_tables(tables, target="t.y").classes) == is_class
    assert Database.from_tables(tables, target="t.y", regression=False).classes


@pytest.mark.parametrize(
    ("table", "link"),
    [("customers", "customer_id"), ("Categories", "CategoryID"), ("boxes", "box_id"), ("shop", "shopid")],
)
def test_links_are_found_by_the_singular(table, link):
    tables = {
        table: {"id": [1, 2, 3], "y": ["a", "b", "a"]},
        "orders": {"id": [7, 8], link: [1, 1], "weight": [1.5, 2.5]},
    }
    database = Database.from_tables(tables, target=f"{table}.y")
    assert database.relations["orders", 3].types[0] == table


def test_a_column_that_other_tables_repeat_is_a_key():
    tables = {
        "People": {"playerID": ["a", "b", "c"], "y": ["p", "q", "p"]},
        "Batting": {"playerID": ["a", "a", "c"], "teamID": ["x", "y", "x"], "runs": [1, 2, 3]},
        "Salaries": {"playerID": ["b", "b", "a"], "teamID": ["y", "x", "x"], "pay": [1, 2, 3]},
    }
    database = Database.from_tables(tables, target="People.y")
    assert database.examples == ["a", "b", "c"]
    assert database.relations["Batting", 4].types[0] == "People"
    assert database.relations["Salaries", 4].types[0] == "People"


def test_tables_without_a_link_are_named():
    tables = {
        "loan": {"id": [1, 2, 3], "town": ["u", "v", "u"], "y": ["a", "b", "a"]},
        "city": {"id": ["u", "v", "w"], "size": [1, 2, 3]},
        "log": {"entry": ["e", "f"]},
    }
    message = (
        r"not linked to loan, so no test uses them: city, log\. .* with links \(perhaps loan.town=city.id\)"
    )
    with pytest.warns(UserWarning, match=message):
        Database.from_tables(tables, target="loan.y")
    nameless = {**tables, "city": {"name": ["u", "v", "w"], "size": [1, 2, 3]}}
    with pytest.warns(UserWarning, match=r"perhaps loan.town=city.name"):
        Database.from_tables(nameless, target="loan.y")
    with pytest.warns(UserWarning, match=r"no test uses them: log\. .* with links$"):
        Database.from_tables(tables, target="loan.y", links={"loan.town": "city.id"})


def test_examples_without_a_target_can_be_left_out():
    tables = {
        "p": {"id": [1, 2, 3, 4, 5], "boss": [None, 1, 2, 2, 4], "y": ["a", None, "b", "a", None]},
    }
    options = {"target": "p.y", "links": {"p.boss": "p.id"}}
    with pytest.raises(SchemaError, match=r"missing for 2 of 5 examples .* use drop_missing_target"):
        Database.from_tables(tables, **options)
    database = Database.from_tables(tables, **options, drop_missing_target=True)
    assert database.examples == [1, 3, 4]
    assert database.labels.tolist() == ["a", "b", "a"]
    assert database.relations["p", 2].n_facts == 5
    numbers = {"p": {**tables["p"], "y": [0.5, None, 2.5, 3.5, None]}}
    assert Database.from_tables(numbers, **options, drop_missing_target=True).target.tolist() == [
        0.5,
        2.5,
        3.5,
    ]


def test_summaries_as_a_frame():
    days = [dt.date(2024, 1, day) for day in (3, 9, 5)]
    tables = {
        "p": {"id": [1, 2, 3], "kind": ["u", None, "v"], "age": [3, None, 5], "seen": days, "y": list("aba")},
        "q": {
            "p_id": [1, 1, 2],
            "size": [1.0, 2.0, 4.0],
            "day": [dt.date(2024, 1, day) for day in (2, 4, 8)],
        },
    }
    database = Database.from_tables(tables, target="p.y")
    frame = Bias.from_schema(database, as_of="seen", windows=()).to_frame(database)
    assert frame.index.tolist() == [1, 2, 3]
    assert frame["age"].fillna(-1).tolist() == [3, -1, 5]
    assert frame["kind"].astype(object).where(frame["kind"].notna(), None).tolist() == ["u", None, "v"]
    assert frame["number of qs before seen"].tolist() == [1, 1, 0]  # the later row of 1 is not counted
    assert frame["sum of size of qs before seen"].tolist() == [1, 4, 0]
    part = database[[2, 0]]
    pd.testing.assert_frame_equal(
        Bias.from_schema(database, as_of="seen", windows=()).to_frame(part), frame.loc[[3, 1]]
    )


def test_a_missing_number_is_a_test():
    rng = np.random.default_rng(0)
    age = [None if rng.random() < 0.5 else int(each) for each in rng.integers(20, 60, 60)]
    tables = {"p": {"id": range(60), "y": ["a" if each is None else "b" for each in age]}}
    born = [None if each is None else dt.date(2000, 1, 1) for each in age]
    for column in (age, born):
        tables["p"]["age"] = column
        database = Database.from_tables(tables, target="p.y")
        model = RelationalTreeClassifier(cv=None).fit(database)
        assert str(model).splitlines()[1] == "age is missing?"
        assert model.score(database) == 1
        assert [*in_duckdb(tables, model.to_sql()).values()] == tables["p"]["y"]


def test_frames_of_any_kind_give_the_same_database():

    columns = {
        "id": [1, 2, 3, 4],
        "boss": [None, 1, 1, 3],
        "size": [0.5, None, float("nan"), 2.0],
        "kind": ["u", None, "v", "u"],
        "ok": [True, False, None, True],
        "day": [dt.date(2024, 1, 1), None, dt.date(2024, 1, 1), dt.date(2023, 5, 1)],
        "y": ["p", "q", "p", "q"],
    }
    links = {"t.boss": "t.id"}
    frames = [columns, pa.table(columns), pl.DataFrame(columns), pd.DataFrame(columns)]
    facts = []
    for frame in frames:
        database = Database.from_tables({"t": frame}, target="t.y", links=links)
        terms, rows = database.constants.terms, database.relations["t", 6].columns.T
        facts.append([[str(terms[each]) for each in row] for row in rows.tolist()])
    assert facts[0] == facts[1] == facts[2] == facts[3]
    assert facts[0][3] == ["4", "3", "2", "u", "true", "19478"]
