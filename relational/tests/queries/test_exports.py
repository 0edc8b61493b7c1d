"""Trees about linked tables as SQL and Prolog give the predictions of the model."""

import sqlite3

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from crosscut_relational.database.database import Database
from crosscut_relational.estimators import RelationalTreeClassifier, RelationalTreeRegressor
from crosscut_relational.language.bias import Bias
from tests.linked_tables import shop

SEEDS = range(10)


def fitted(seed):
    tables, target = shop(seed)
    database = Database.from_tables(tables, target=target)
    options = {"as_of": "joined"} if seed % 10 in {5, 8} else {}
    bias = Bias.from_schema(database, minimal_cases=2 + seed % 3, pruning="safe", **options)
    return tables, database, RelationalTreeClassifier(bias, cv=None).fit(database)


def in_duckdb(tables, query):
    with duckdb.connect() as connection:
        for name, columns in tables.items():
            connection.register("given", pa.table(columns))
            connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM given')
        return dict(connection.execute(query).fetchall())


def in_sqlite(tables, query):
    connection = sqlite3.connect(":memory:")
    for name, columns in tables.items():
        connection.execute(f'CREATE TABLE "{name}" ({", ".join(columns)})')
        rows = [
            [str(v) if hasattr(v, "year") else v for v in row] for row in zip(*columns.values(), strict=True)
        ]
        connection.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(columns))})', rows)
    found = dict(connection.execute(query).fetchall())
    connection.close()
    return found


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("dialect", "run"), [("duckdb", in_duckdb), ("sqlite", in_sqlite)])
def test_sql_predicts_what_the_model_does(seed, dialect, run):
    tables, database, model = fitted(seed)
    assert model.tree_.n_leaves > 3
    found = run(tables, model.to_sql(dialect))
    assert [found[key] for key in database.examples] == model.predict(database).tolist()


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
