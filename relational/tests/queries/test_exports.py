"""Trees about linked tables as SQL give the predictions of the model."""

import numpy as np
import pytest

from crosscut_relational.database.database import Database
from crosscut_relational.estimators import RelationalTreeClassifier, RelationalTreeRegressor
from crosscut_relational.language.bias import Bias
from tests.linked_tables import shop
from tests.random_tables import in_duckdb, in_sqlite

SEEDS = range(10)


def fitted(seed):
    tables, target = shop(seed)
    database = Database.from_tables(tables, target=target)
    options = {"as_of": "joined"} if seed % 10 in {5, 8} else {}
    bias = Bias.from_schema(database, minimal_cases=2 + seed % 3, pruning="safe", **options)
    return tables, database, RelationalTreeClassifier(bias, cv=None).fit(database)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("dialect", "run"), [("duckdb", in_duckdb), ("sqlite", in_sqlite)])
def test_sql_predicts_what_the_model_does(seed, dialect, run):
    tables, database, model = fitted(seed)
    assert model.tree_.n_leaves > 3
    found = run(tables, model.to_sql(dialect))
    assert [found[key] for key in database.examples] == model.predict(database).tolist()


@pytest.mark.parametrize("seed", [0, 5])
def test_sql_joins_each_path_of_links_once(seed):
    _, _, model = fitted(seed)
    first = model.tree_.signature.n_keys
    used = {goal.args[0] - first for goal in model.goals() if goal.is_comparison}
    attributes = [each for i, each in enumerate(model.tree_.signature.attributes) if i in used]
    summaries = [each for each in attributes if each.function not in {"value", "latest"}]
    paths = {(each.steps, each.as_of, each.days) for each in summaries}
    assert 0 < len(paths) < len(summaries)
    assert model.to_sql("postgresql").count("GROUP BY") == len(paths)


def test_tables_may_have_the_names_of_joined_rows():
    tables = {
        "extended": {"id": list(range(8)), "y": ["a", "b"] * 4},
        "linked_1": {"extended_id": [0, 0, 2, 2, 4, 4, 6, 6, 1]},
    }
    database = Database.from_tables(tables, target="extended.y")
    model = RelationalTreeClassifier(cv=None).fit(database)
    assert in_sqlite(tables, model.to_sql("sqlite")) == dict(
        zip(database.examples, model.predict(database).tolist(), strict=True)
    )


def test_numbers_in_sql():
    tables, _ = shop(1)
    tables["customer"]["leaves"] = np.random.default_rng(0).normal(size=120).tolist()
    database = Database.from_tables(tables, target="customer.leaves")
    model = RelationalTreeRegressor(Bias.from_schema(database, ftest=0.5), cv=None).fit(database)
    found = in_duckdb(tables, model.to_sql())
    assert model.tree_.n_leaves > 3
    assert [found[key] for key in database.examples] == model.predict(database).tolist()


def test_negated_and_joined_literals_in_sql():
    tables, database, _ = fitted(2)
    literal = "purchase({},{},_,_,{},_)"
    modes = [
        "\\+ " + literal.format("+C", "_", "#[yes]"),
        f"({literal.format('+C', '-P', '_')}, product(-Q,#[tool],_))",
        literal.format("Key", "+P", "#[no]").replace("Key", "_"),
    ]
    model = RelationalTreeClassifier(Bias.of(modes, pruning="none"), cv=None).fit(database)
    assert "NOT EXISTS" in model.to_sql()
    found = in_duckdb(tables, model.to_sql())
    assert [found[key] for key in database.examples] == model.predict(database).tolist()


def test_what_is_not_about_tables_is_refused():
    database = Database.from_prolog("c(1,a). c(2,b). p(1).", predict="c(+k,-v)")
    model = RelationalTreeClassifier(Bias.of(["p(+K)"]), cv=None).fit(database)
    with pytest.raises(ValueError, match="does not use tables"):
        model.to_sql()
    _, _, model = fitted(0)
    with pytest.raises(ValueError, match="dialect is 'oracle'"):
        model.to_sql("oracle")


def test_summaries_have_no_prolog_form():
    _, _, model = fitted(0)
    with pytest.raises(ValueError, match=r"to_prolog cannot write values and summaries .* use to_sql"):
        model.to_prolog()


def test_the_head_of_a_clause_is_not_a_table_of_two_columns():
    tables = {"m": {"id": [1, 2, 3, 4], "y": ["a", "a", "b", "b"]}, "p": {"m_id": [1, 2]}}
    database = Database.from_tables(tables, target="m.y")
    model = RelationalTreeClassifier(Bias.of(["p(+M,-P)"], pruning="none"), cv=None).fit(database)
    assert {line.split("(")[0] for line in model.to_prolog().splitlines() if "%" not in line} == {"m_y"}
