"""Trees about databases of different shapes: SQL and Prolog predict what the model predicts on every row."""

import datetime as dt
import html
import json
import sqlite3
import warnings
from contextlib import closing

import duckdb
import pytest

from crosscut_relational.database.database import Database
from crosscut_relational.estimators import RelationalTreeClassifier, RelationalTreeRegressor
from crosscut_relational.language.bias import Bias
from crosscut_relational.rules.estimator import RelationalRuleClassifier
from tests.schemas import SCHEMAS, schema


def stored(name, kind, folder):
    """Write a database file."""
    made, path = schema(name), folder / f"app.{kind}"
    connection = sqlite3.connect(path) if kind == "sqlite" else duckdb.connect(str(path))
    connection.executescript(made.tables) if kind == "sqlite" else connection.execute(made.tables)
    for table, rows in made.rows.items():
        step = 1 if table == "staff" else len(rows)  # DuckDB checks links within a table row by row
        for begin in range(0, len(rows), step):
            chosen = rows[begin : begin + step]
            marks = ", ".join([f"({', '.join('?' * len(rows[0]))})"] * len(chosen))
            known = [str(each) if isinstance(each, dt.date) else each for row in chosen for each in row]
            connection.execute(f'INSERT INTO "{table}" VALUES {marks}', known)
    connection.commit()
    for view in filter(str.strip, made.views.split(";")):
        connection.execute(view)
    connection.close()
    return made, path


def fitted(made, database):
    bias = Bias.from_schema(database, minimal_cases=2, pruning="none", ftest=0.5, **made.options)
    maker = RelationalTreeClassifier if database.classes else RelationalTreeRegressor
    return maker(bias, cv=None).fit(database)


def read(made, path, kind):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        return getattr(Database, f"from_{kind}")(path, target=made.target), [
            str(each.message) for each in said
        ]


def predicted(model, database):
    return dict(zip(database.examples, model.predict(database).tolist(), strict=True))


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_sql_predicts_what_the_model_does(name, kind, tmp_path):
    made, path = stored(name, kind, tmp_path)
    database, _ = read(made, path, kind)
    model = fitted(made, database)
    assert model.tree_.n_leaves > 3
    connection = sqlite3.connect(path) if kind == "sqlite" else duckdb.connect(str(path))
    found = dict(connection.execute(model.to_sql(kind)).fetchall())
    assert (name == "accounts") == (" AS k " in model.to_sql(kind))  # a key looked up by another column
    connection.close()
    assert found == predicted(model, database)


@pytest.mark.parametrize("name", [name for name in SCHEMAS if name != "houses"])  # a regression
@pytest.mark.parametrize("strategy", ["ripper", "cn2"])
def test_rules_as_sql_predict_what_the_model_does(name, strategy, tmp_path):
    made, path = stored(name, "sqlite", tmp_path)
    database, _ = read(made, path, "sqlite")
    bias = Bias.from_schema(database, max_thresholds=3, **made.options)
    model = RelationalRuleClassifier(bias, strategy=strategy, beam_width=2, max_length=3, cv=None).fit(
        database
    )
    assert len(model.rules_) > 0
    with closing(sqlite3.connect(path)) as connection:
        assert dict(connection.execute(model.to_sql("sqlite")).fetchall()) == predicted(model, database)


def test_rules_that_vote_are_not_sql(tmp_path):
    made, path = stored("school", "sqlite", tmp_path)
    database, _ = read(made, path, "sqlite")
    model = RelationalRuleClassifier(strategy="cn2", ordered=False, max_length=1, cv=None).fit(database)
    with pytest.raises(ValueError, match="rules that vote cannot be written as SQL"):
        model.to_sql()


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_view_is_a_table_unless_it_shows_the_target(kind, tmp_path):
    made, path = stored("baskets", kind, tmp_path)
    database, said = read(made, path, kind)
    assert {name for name, _ in database.relations} == {"basket", "item", "dear"}
    assert said == ["left out views that may reveal the target basket.returned: outcome"]


WORDS = {
    "school": "some take with course.field = law?",
    "staff": "boss.grade > 4.5?",
    "sites": "site.climate = wet?",
    "visits": "at most one of the visits in the 90 days before admitted?",
    "baskets": "sum of price of items <= 108.635?",
    "molecules": "some atom (2) with element = n?",
}


@pytest.mark.parametrize("name", WORDS)
def test_trees_and_rules_use_the_names_of_the_schema(name, tmp_path):
    made, path = stored(name, "sqlite", tmp_path)
    database, _ = read(made, path, "sqlite")
    bias = Bias.from_schema(database, minimal_cases=3, **made.options)
    model = RelationalTreeClassifier(bias, cv=2).fit(database)
    assert WORDS[name] in str(model)
    model.report(tmp_path / "page.html")
    assert html.escape(WORDS[name][:-1], quote=False) in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert WORDS[name][:-1] in json.dumps(model.tree_.to_dict())
    rules = RelationalRuleClassifier(bias, cv=None).fit(database).to_text()
    assert "_id" not in rules
    assert "(" not in rules
