import sqlite3
import warnings
from collections import Counter

import numpy as np
import pytest

from crosscut_relational.database.database import Database
from crosscut_relational.estimators import RelationalTreeClassifier
from crosscut_relational.language.attributes import attribute_text
from crosscut_relational.language.bias import Bias, BiasError
from crosscut_relational.queries.resolve import resolve

TABLES = {
    "loan": {
        "loan_id": [1, 2, 3, 4],
        "account_id": [10, 11, 12, 10],
        "amount": [5, 7, 9, 11],
        "y": list("abab"),
    },
    "account": {"account_id": [10, 11, 12], "district_id": [1, 1, 2], "kind": ["x", "x", "z"]},
    "district": {"district_id": [1, 2], "name": ["p", "q"]},
    "order": {"order_id": [1, 2, 3, 4], "account_id": [10, 10, 11, 12], "size": [1.5, 2.5, 3.5, 4.5]},
}


def lines(**options):
    database = Database.from_tables(TABLES, target="loan.y")
    return str(Bias.from_schema(database, **options)).splitlines()


def test_modes_follow_links_both_ways():
    assert lines(max_thresholds=1) == [
        "account.kind = #[x,z]",
        "account.district.name = #[p,q]",
        "account(+Account,-District,_Kind)",
        "account(+Account,_District,#[x,z])",
        "account(-Account,+District,_Kind)",
        "account(-Account,+District,#[x,z])",
        "district(+District,#[p,q])",
        "order(+Order,-Account,_Size)",
        "order(+Order,_Account,Size), Size =< #[3.0]",
        "order(+Order,_Account,Size), Size > #[3.0]",
        "order(-Order,+Account,_Size)",
        "order(-Order,+Account,Size), Size =< #[3.0]",
        "order(-Order,+Account,Size), Size > #[3.0]",
    ]


def attributes(**options):
    database = Database.from_tables(TABLES, target="loan.y")
    found = Bias.from_schema(database, **options).attributes
    return [attribute_text(each, database.columns) for each in found]


def test_values_and_aggregates_are_attributes():
    own = ["account_id", "amount", "account.district_id", "account.kind", "account.district.name"]
    assert attributes(max_aggregates=0) == own
    found = attributes()
    assert found[:5] == own
    assert {"number of orders of account", "mean size of orders of account"} < set(found)
    assert {
        "number of accounts of account.district",
        "share of accounts of account.district with kind = x",
    } < set(found)


def test_the_depth_of_links():
    assert attributes(depth_of_links=0) == ["account_id", "amount"]
    assert "account.kind = #[x,z]" in lines(depth_of_links=1)
    assert "account.district.name = #[p,q]" not in lines(depth_of_links=1)


def region_is_the_class(n=400, seed=0):
    rng = np.random.default_rng(seed)
    region, district = rng.choice(["north", "south", "east"], 30), rng.integers(0, 30, 200)
    account = rng.integers(0, 200, n)
    return {
        "loan": {
            "loan_id": range(n),
            "account_id": account.tolist(),
            "amount": rng.normal(size=n).tolist(),
            "y": region[district[account]].tolist(),
        },
        "account": {"account_id": range(200), "district_id": district.tolist()},
        "district": {
            "district_id": range(30),
            "region": region.tolist(),
            "amount": rng.integers(0, 99, 30).tolist(),
        },
    }


def test_values_of_a_referenced_row_are_the_examples_own():
    database = Database.from_tables(region_is_the_class(), target="loan.y")
    assert RelationalTreeClassifier(cv=5).fit(database).cv_score_ == 1.0


def test_rows_on_the_other_side_of_a_link_table():
    rng = np.random.default_rng(1)
    hard = rng.random(20) < 0.3
    student, course = rng.integers(0, 200, 500), rng.integers(0, 20, 500)
    takes_a_hard_one = np.isin(np.arange(200), student[hard[course]])
    tables = {
        "student": {"student_id": range(200), "y": np.where(takes_a_hard_one, "tired", "fine").tolist()},
        "course": {"course_id": range(20), "level": np.where(hard, "hard", "easy").tolist()},
        "takes": {"student_id": student.tolist(), "course_id": course.tolist()},
    }
    database = Database.from_tables(tables, target="student.y")
    model = RelationalTreeClassifier(cv=5).fit(database)
    assert model.cv_score_ == 1.0
    assert model.tree_.n_leaves == 2


def test_a_table_that_refers_to_itself():
    rng = np.random.default_rng(2)
    boss, grade = rng.integers(0, 150, 150), rng.choice(["a", "b", "c"], 150)
    tables = {
        "staff": {
            "staff_id": range(150),
            "boss_id": boss.tolist(),
            "grade": grade.tolist(),
            "y": (grade[boss] == "a").tolist(),
        }
    }
    database = Database.from_tables(tables, target="staff.y", links={"staff.boss_id": "staff.staff_id"})
    assert RelationalTreeClassifier(cv=5).fit(database).cv_score_ == 1.0


def test_links_that_fan_out_are_followed_forwards_only():
    assert "account(-Account,+District,_Kind)" not in lines(max_fanout=1.4)
    assert "account(+Account,-District,_Kind)" in lines(max_fanout=1.4)


def test_names_are_not_tested():
    tables = {"t": {"id": list(range(30)), "label": [f"n{i}" for i in range(30)], "y": ["a", "b"] * 15}}
    database = Database.from_tables(tables, target="t.y")
    assert Bias.from_schema(database).modes == ()
    (mode,) = Bias.from_schema(database, max_constants=30).modes
    assert str(mode).startswith("label = ")


def test_every_mode_resolves_and_the_language_is_typed():
    database = Database.from_tables(TABLES, target="loan.y")
    language = resolve(Bias.from_schema(database, heuristic="gain"), database)
    assert language.typed
    assert language.root_types == ("loan",)
    assert language.settings.heuristic == "gain"
    assert language.types_of("account", 3) == ("account", "district", "account.kind")


def test_regression_is_taken_from_the_database():
    database = Database.from_tables({"t": {"id": [1, 2], "x": [1, 2], "y": [0.5, 2.5]}}, target="t.y")
    settings = Bias.from_schema(database).settings
    assert settings.regression
    assert settings.heuristic == "variance"


def test_declared_types_serve_as_well():
    database = Database.from_prolog(
        "m(1,pos). m(2,neg). atom(1,x,c,5). atom(2,y,n,7). bond(1,x,x). light(1).",
        predict="m(+mol,-class)",
        types=["atom(mol,id,element,num)", "bond(mol,id,id)", "light(mol)"],
    )
    found = str(Bias.from_schema(database)).splitlines()
    assert "atom(+Mol,-Id,#[c,n],_A4)" in found
    assert "atom(Key,+Id,#[c,n],_A4)" in found
    assert "bond(+Mol,-Id2,-Id3)" in found
    assert "light(+Mol)" in found


def test_without_keys_or_types_there_is_nothing_to_follow():
    database = Database.from_prolog("m(1,pos). m(2,neg). p(1,a).", predict="m(+k,-c)")
    with pytest.raises(BiasError, match="no keys to follow"):
        Bias.from_schema(database)


def test_every_table_keeps_its_share_of_the_summaries():
    n = 20
    wide = {f"x{i}": list(range(n)) for i in range(40)}
    tables = {
        "t": {"id": list(range(n)), "y": ["a", "b"] * (n // 2)},
        "wide": {"t_id": list(range(n)), **wide},
        "narrow": {"t_id": list(range(n)), "z": list(range(n))},
    }
    database = Database.from_tables(tables, target="t.y")
    with pytest.warns(UserWarning, match="max_aggregates=100 keeps 100 of 166 summaries of linked rows"):
        bias = Bias.from_schema(database)
    counts = Counter(each.steps[-1].table for each in bias.attributes if len(each.steps) > 1)
    assert counts == {"wide": 95, "narrow": 5}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(Bias.from_schema(database, max_aggregates=166).attributes) == 166
        Bias.from_schema(database, max_aggregates=0)


def test_views_that_may_count_later_rows_are_left_out(tmp_path):
    with sqlite3.connect(tmp_path / "app.sqlite") as connection:
        connection.executescript("""
            CREATE TABLE patient(id INT PRIMARY KEY, admitted DATE, sick TEXT);
            CREATE TABLE visit(id INT PRIMARY KEY, patient_id INT REFERENCES patient(id), day DATE, fee INT);
            INSERT INTO patient VALUES (1, '2024-01-05', 'yes'), (2, '2024-01-05', 'no');
            INSERT INTO visit VALUES
                (1, 1, '2024-01-01', 5), (2, 2, '2024-02-01', 7), (3, 1, '2024-03-01', 9);
            CREATE VIEW visits_of AS SELECT patient_id, COUNT(*) AS n, MAX(day) AS last FROM visit GROUP BY 1;
            CREATE VIEW fees AS SELECT patient_id, fee FROM visit;
            CREATE VIEW dear
            AS SELECT visit.patient_id, day, fee FROM visit WHERE fee > 6;
            CREATE VIEW pairs AS SELECT a.patient_id, a.day, b.fee
                FROM visit a JOIN visit b USING (patient_id);
            CREATE VIEW counted AS SELECT patient_id, day, n FROM visit JOIN visits_of USING (patient_id);
            CREATE VIEW again AS SELECT * FROM counted;
        """)
    database = Database.from_sqlite(tmp_path / "app.sqlite", target="patient.sick")
    with pytest.warns(
        UserWarning,
        match="as_of: left out views that may count later rows: visits_of, fees, pairs, counted, again;",
    ):
        bias = Bias.from_schema(database, as_of="admitted")
    assert {step.table for each in bias.attributes for step in each.steps} == {"patient", "visit", "dear"}
    assert not bias.modes
    later = Bias.from_schema(database)
    assert "fees" in {step.table for each in later.attributes for step in each.steps}
