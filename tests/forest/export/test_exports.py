"""A tree in other languages predicts what it predicts: every row, in the real engines."""

import datetime as dt
import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from crosscut import RuleClassifier, TreeClassifier, TreeRegressor
from crosscut.forest.export.sql import last_double

CATEGORIES = ["red", "it's", 'say "hi"', "grün", "", "a, b", "two\n  lines", "\r\n"]
MODELS = 40  # per test; 1,000 in all
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001, as crosscut counts


def some_rows(draw, n, *, unseen=False):
    """Rows of every kind of column, with ties, near ties and missing values."""

    def holed(values):
        return [None if draw.random() < 0.12 else value for value in values]

    numbers = draw.choice([0.1, 0.2, 0.30000001, 0.3, 1e6, 1e6 + 0.01, -5.5, 16777217.0, 1 / 3], n)
    words = [*CATEGORIES, "unseen"] if unseen else CATEGORIES
    days = draw.integers(18_000, 18_000 + 5 * draw.integers(1, 40), n)
    return pa.table(
        {
            "number": pa.array(holed((numbers + draw.choice([0, 1e-9, 1e-8], n)).tolist()), pa.float64()),
            'the "whole"': pa.array(holed(draw.integers(-3, 4, n).tolist()), pa.int64()),
            "word's": pa.array(holed(draw.choice(words, n).tolist()), pa.string()),
            "flag": pa.array(holed((draw.random(n) < 0.5).tolist()), pa.bool_()),
            "day": pa.array(holed([(EPOCH + dt.timedelta(int(d))).date() for d in days]), pa.date32()),
            "moment": pa.array(
                holed([EPOCH + dt.timedelta(int(d), seconds=int(draw.integers(86_400))) for d in days]),
                pa.timestamp("us"),
            ),
        }
    )


def some_model(seed):
    """A random model and new rows, with categories that it has not seen."""
    draw = np.random.default_rng(seed)
    X = some_rows(draw, int(draw.integers(8, 80)))
    kept = draw.permutation(X.column_names)[: draw.integers(1, 7)].tolist()
    X = X.select(kept)
    limits = {"cv": None, "splits": ["binary", "multiway"][seed % 2], "max_depth": int(draw.integers(1, 9))}
    if seed % 3 == 0:
        model = TreeRegressor(**limits).fit(X, draw.normal(size=X.num_rows))
    else:
        labels = [np.array(["no", "o'yes", "may\nbe"]), np.array([3, 1, 7]), np.array([True, False])][
            seed % 5 % 3
        ]
        y = labels[draw.integers(0, len(labels), X.num_rows)]
        model = TreeClassifier(**limits).fit(X, y)
    return model, near_cuts(draw, model, some_rows(draw, 60, unseen=True).select(kept))


def near_cuts(draw, model, rows):
    """Put numbers next to the thresholds, in single and in double precision."""
    if "number" not in rows.column_names:
        return rows
    at = rows.column_names.index("number")
    cuts = model.tree_.threshold[(model.tree_.feature == at) & np.isfinite(model.tree_.threshold)]
    if not len(cuts):
        return rows
    near = draw.choice(cuts, rows.num_rows)
    single = near.astype(np.float32)
    above, below = (np.nextafter(single, np.float32(to)).astype(float) for to in (np.inf, -np.inf))
    middle = (single.astype(float) + above) / 2
    numbers = np.choose(
        draw.integers(0, 6, len(near)), [near, single, above, below, middle, np.nextafter(middle, 0)]
    )
    return rows.set_column(at, "number", pa.array(numbers))


def in_duckdb(sql, rows):
    with duckdb.connect() as database:
        database.register("given", rows)
        return [row[0] for row in database.execute(f"SELECT {sql} FROM given").fetchall()]


def in_sqlite(sql, rows):
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in rows.column_names)
    cells = [
        tuple(str(value) if isinstance(value, dt.date) else value for value in row.values())
        for row in rows.to_pylist()
    ]
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE TABLE given ({names})")
        database.executemany(f"INSERT INTO given VALUES ({', '.join('?' * rows.num_columns)})", cells)
        return [row[0] for row in database.execute(f"SELECT {sql} FROM given")]


def in_python(source, rows):
    names = {}
    exec(source, names)
    return [names["predict"](row) for row in rows.to_pylist()]


def in_onnx(model, rows):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(model.SerializeToString())
    given = {}
    for name in rows.column_names:
        column = rows[name]
        if column.type == pa.string():
            values = np.array(
                [value or "\0" if value is None else value for value in column.to_pylist()], object
            )
        elif pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
            moments = column.cast(pa.timestamp("us")).cast(pa.int64()).to_numpy()
            values = (moments / 86_400_000_000).astype(np.float32)
        else:
            values = column.cast(pa.float64()).to_numpy().astype(np.float32)
        given[name] = values.reshape(-1, 1)
    asked = {own.name for own in session.get_inputs()}
    return session.run(None, {name: values for name, values in given.items() if name in asked})


@pytest.mark.parametrize(
    "part", [*range(6), *(pytest.param(part, marks=pytest.mark.slow) for part in range(6, 25))]
)
def test_every_export_predicts_what_the_model_predicts(part):
    for seed in range(part * MODELS, (part + 1) * MODELS):
        model, rows = some_model(seed)
        expected = model.predict(rows).tolist()
        assert in_duckdb(model.to_sql(), rows) == expected, seed
        assert in_sqlite(model.to_sql("sqlite"), rows) == expected, seed
        assert in_python(model.to_python(), rows) == expected, seed
        found, *shares = in_onnx(model.to_onnx(), rows)
        if shares:
            labels = found.tolist()
            assert [str(label) for label in labels] == [str(label) for label in expected], seed
            np.testing.assert_allclose(shares[0], model.predict_proba(rows), atol=1e-6)
        else:
            np.testing.assert_array_equal(found[:, 0], np.float32(expected))


def test_dates_are_dates_in_sql():
    X = pa.table({"signup": pa.array([dt.date(2023, 6, 28), dt.date(2023, 6, 29)] * 4)})
    model = TreeClassifier(cv=None).fit(X, ["old", "new"] * 4)
    assert """WHEN "signup" <= DATE '2023-06-28' THEN 'old'""" in model.to_sql("postgresql")
    assert """WHEN date("signup") <= '2023-06-28'""" in model.to_sql("sqlite")
    assert "signup <= 2023-06-28" in model.to_text()
    assert "signup <= 2023-06-28" in str(model.to_rules())
    rules = RuleClassifier(cv=None).fit(X, ["old", "new"] * 4)
    assert """"signup" <= DATE '2023-06-28'""" in rules.to_sql()
    assert in_duckdb(rules.to_sql(), X) == in_sqlite(rules.to_sql("sqlite"), X) == ["old", "new"] * 4
    with pytest.raises(ValueError, match="dialect must be one of duckdb, sqlite, postgresql"):
        model.to_sql("oracle")


def test_a_deep_tree_in_sql():
    """SQLite parses some 15 nested expressions; deeper trees are written as one CASE."""
    x = np.arange(400.0)
    x[::7] = np.nan
    rows = pa.table({"x": pa.array(x, from_pandas=True), "z": np.arange(400) % 5})
    for depth in (15, 16, 90):
        model = TreeRegressor(cv=None, max_depth=depth).fit(rows, 2.0 ** np.arange(400))
        assert model.get_depth() == depth
        expected = model.predict(rows).tolist()
        assert in_sqlite(model.to_sql("sqlite"), rows) == expected
        assert in_duckdb(model.to_sql(), rows) == expected


def test_what_sql_cannot_express_is_refused_by_name():
    y = np.arange(700.0)
    deep = TreeRegressor(cv=None).fit(pa.table({"x": y}), np.exp(y))
    with pytest.raises(ValueError, match=r"6\d\d levels.*at most 500.*max_depth"):
        deep.to_sql()
    labels = TreeClassifier(cv=None).fit([[0], [1]] * 3, ["a", "b\0c"] * 3)
    with pytest.raises(ValueError, match=r"'b\\x00c' contains a NUL character"):
        labels.to_sql()
    names = TreeClassifier(cv=None).fit(pa.table({"x\0": [0, 1] * 3}), ["a", "b"] * 3)
    with pytest.raises(ValueError, match=r"the name 'x\\x00' contains a NUL character"):
        names.to_sql()


def test_a_deep_tree_in_python():
    x = np.arange(400.0)
    model = TreeRegressor(cv=None).fit(pa.table({"x": x}), 2.0**x)  # the largest is always split off
    assert model.get_depth() > 120
    rows = pa.table({"x": x})
    assert in_python(model.to_python(), rows) == model.predict(rows).tolist()


@pytest.mark.parametrize("cut", [0.3, 1e6, 16777217.0, -5.5, 3.0, 1 / 3, 0.0, 1e-40])
def test_the_last_double_that_is_at_most_a_cut(cut):
    last = last_double(cut)
    assert float(np.float32(last)) <= cut < float(np.float32(np.nextafter(last, np.inf)))
