"""The same rows through every entrance: a whole file, a stream, the command line."""

import bz2
import gzip
import sqlite3

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut import Stream, TreeClassifier, load_model
from crosscut.cli.program import program
from crosscut.cli.source import read_source
from crosscut.data.files import read_file, split_target
from crosscut.data.source import Source
from crosscut.data.table import Table
from crosscut.data.text import text_file
from crosscut.engines.stream.survey import Roles, Survey

ROWS = [
    ("age", "size", "plan", "paid", "since", "empty", "y"),
    ("30", "1.5", "red", "true", "2020-01-01", "", "yes"),
    ("?", "2", '"blue, ""dark"""', "false", "2021-06-30", "NA", "no"),
    ("20", "NA", "", "NA", "", "?", "yes"),
    ("25", "nan", "None", "true", "2020-01-03", "null", "no"),
    ("40", "1e3", '"red"', "false", "2022-02-02", "", "yes"),
]
COLUMNS = {
    "age": pa.array([30, None, 20, 25, 40]),
    "size": pa.array([1.5, 2.0, None, None, 1000.0]),
    "plan": pa.array(["red", 'blue, "dark"', None, None, "red"]),
    "paid": pa.array([True, False, None, True, False]),
    "since": pa.array(["2020-01-01", "2021-06-30", None, "2020-01-03", "2022-02-02"]).cast(pa.date32()),
    "empty": pa.nulls(5),
    "y": pa.array(["yes", "no", "yes", "no", "yes"]),
}
TABLE = pa.table(COLUMNS)
REPEATS = 8  # so that there are rows enough to cross-validate
TEXTS = [
    (ending + packed, separator)
    for ending, separator in [*((".csv", mark) for mark in ",;\t|"), (".tsv", "\t"), (".tab", "\t")]
    for packed in ("", ".gz", ".bz2")
]
PACK = {".gz": gzip.compress, ".bz2": bz2.compress}


def write_text(path, separator):
    header, *rows = ROWS
    lines = [separator.join(row) for row in [header, *rows * REPEATS]]
    data = "\n".join([*lines, ""]).encode()
    path.write_bytes(PACK.get(path.suffix, bytes)(data))


def write_table(path):
    table = pa.concat_tables([TABLE] * REPEATS)
    if path.suffix in {".parquet", ".pq"}:
        pa.parquet.write_table(table, path, row_group_size=7)
    elif path.suffix in {".arrow", ".feather", ".ipc"}:
        pa.feather.write_feather(table, path, chunksize=7)
    else:
        with duckdb.connect(str(path)) as database:
            database.register("given", table)
            database.execute("CREATE TABLE rows AS SELECT * REPLACE (empty::INTEGER AS empty) FROM given")


def described(names, kinds, categories, n_missing):
    return {
        name: (kind, own, int(n))
        for name, kind, own, n in zip(names, kinds, categories, n_missing, strict=True)
    }


def through_a_table(frame):
    X, y = split_target(frame, "y")
    table = Table.from_data(X)
    assert y.tolist() == ["yes", "no", "yes", "no", "yes"] * REPEATS
    n_missing = (table.ranks == table.n_values[:, None]).sum(axis=1)
    return described(table.names, table.kinds, table.categories, n_missing)


def through_a_stream(path):
    source = Source(path, batch_rows=4)
    survey = Survey(Roles("y", classifies=True))
    for piece in source.pieces:
        for first_row, table in source.read(piece):
            survey.add(table, first_row, piece.number, str(path))
    coding = survey.coding(255)
    assert coding.classes.tolist() == ["no", "yes"]
    assert coding.n_rows == 5 * REPEATS
    return described(coding.schema.names, coding.schema.kinds, coding.schema.categories, coding.n_missing)


def same_everywhere(path, expected_types):
    whole = read_file(path)
    assert whole.to_pydict() == pa.concat_tables([TABLE] * REPEATS).to_pydict()
    source = Source(path)
    assert source.schema.types == expected_types
    assert whole.schema.types == expected_types
    expected = through_a_table(whole)
    assert expected["plan"] == ("nominal", ('blue, "dark"', "red"), 2 * REPEATS)
    kinds = [kind for kind, _, _ in expected.values()]
    assert kinds == ["numeric", "numeric", "nominal", "boolean", "date", "numeric"]
    assert through_a_stream(path) == expected
    told = read_source(str(path), "y")
    assert through_a_table(told.X.append_column("y", pa.array(told.y))) == expected
    return whole


def same_tree(path, folder):
    """Fit the file as a stream and by the command line; the models know the same columns."""
    model = TreeClassifier(cv=2, max_bins=255).fit(Stream(path, batch_rows=4), "y")
    saved = folder / "model"
    arguments = ["cv", str(path), "--target", "y", "--folds", "2", "--max-bins", "255", "--save", str(saved)]
    result = CliRunner().invoke(program, arguments)
    assert result.exit_code == 0, result.output
    of_command = load_model(saved)
    new = pa.concat_tables([TABLE.drop_columns(["y"])] * 3)
    np.testing.assert_array_equal(model.predict(new), of_command.predict(new))
    np.testing.assert_array_equal(model.tree_.threshold, of_command.tree_.threshold)
    assert model.feature_names_in_.tolist() == of_command.feature_names_in_.tolist()


@pytest.mark.parametrize(("ending", "separator"), TEXTS)
def test_text_files(tmp_path, ending, separator):
    path = tmp_path / f"rows{ending}"
    write_text(path, separator)
    same_everywhere(path, TABLE.schema.types)


@pytest.mark.parametrize("ending", [".parquet", ".pq", ".arrow", ".feather", ".ipc"])
def test_columnar_files(tmp_path, ending):
    path = tmp_path / f"rows{ending}"
    write_table(path)
    same_everywhere(path, TABLE.schema.types)


@pytest.mark.parametrize("ending", [".duckdb", ".db"])
def test_duckdb(tmp_path, ending):
    path = tmp_path / f"shop{ending}"
    write_table(path)
    types = [
        pa.int32() if pa.types.is_null(dtype) else dtype for dtype in TABLE.schema.types
    ]  # it has no null type
    same_everywhere(path, types)


def test_sqlite(tmp_path):
    path = tmp_path / "shop.sqlite"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE rows (age, size, plan, y)")
    names = ["age", "size", "plan", "y"]
    rows = [tuple(row[name] for name in names) for row in TABLE.to_pylist()] * REPEATS
    database.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", rows)
    database.commit()
    database.close()
    whole = read_file(path)
    assert whole.equals(pa.concat_tables([TABLE.select(names)] * REPEATS).combine_chunks())
    assert through_a_stream(path) == through_a_stream(f"{path}::rows") == through_a_table(whole)


@pytest.mark.parametrize("packed", ["", ".gz", ".bz2"])
def test_arff(tmp_path, packed):
    path = tmp_path / f"rows.arff{packed}"
    header = "@relation r\n@attribute age numeric\n@attribute plan {red,pink,'blue, dark'}\n"
    text = (
        header
        + "@attribute y {no,yes}\n@data\n"
        + "30,red,yes\n?,'blue, dark',no\n2,?,yes\n1,red,no\n3,?,yes\n" * REPEATS
    )
    path.write_bytes(PACK.get(packed, bytes)(text.encode()))
    expected = through_a_table(read_file(path))
    assert expected == {
        "age": ("numeric", (), REPEATS),
        "plan": ("nominal", ("red", "pink", "blue, dark"), 2 * REPEATS),  # in the order of the file
    }
    assert through_a_stream(path) == expected


@pytest.mark.parametrize("name", ["rows.csv", "rows.pq"])
def test_trees(tmp_path, name):
    if name == "rows.csv":
        write_text(tmp_path / name, ";")
    else:
        write_table(tmp_path / name)
    same_tree(tmp_path / name, tmp_path)


MOMENTS = ["2020-01-02", "12:30:00", "2020-01-02 10:00:00", "2020-01-02 10:00:00.5", "2020-01-02T10:00:00Z"]
WORDS = ["", "NA", "0", "1", "7", "-3", "1.5", "1e5", "9" * 25, "true", "False", "red", "a\nb", *MOMENTS]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=2, max_size=2), min_size=1, max_size=30),
    st.integers(1, 3),
)
def test_a_stream_types_columns_as_the_whole_reader_does(tmp_path_factory, rows, alike):
    """Blocks of a line or two, whose types differ; words that repeat make columns of one type likely."""
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    rows = [[*row, rows[i % alike][0]] for i, row in enumerate(rows)]
    lines = [",".join(f'"{cell}"' for cell in row) for row in [["a", "b", "c"], *rows]]
    path.write_text("\n".join([*lines, ""]))
    whole = read_file(path)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(text_file, "BLOCK", 128)
        source = Source(path)
        tables = [table for piece in source.pieces for _, table in source.read(piece)]
    assert source.schema.equals(whole.schema)
    assert pa.concat_tables(tables).equals(whole)


def test_a_kind_of_file_is_known_by_its_ending_in_any_case(tmp_path):
    write_text(tmp_path / "ROWS.CSV", ",")


@pytest.mark.parametrize("splits", ["binary", "multiway"])
def test_ordered_categories_of_which_some_have_no_rows(tmp_path, splits):
    rng = np.random.default_rng(0)
    codes, x = rng.choice([0, 2, 3, 4], 400), rng.integers(0, 50, 400)
    names = pa.array(["z", "unused", "a", "m", "k"])
    kind = pa.DictionaryArray.from_arrays(pa.array(codes, mask=rng.random(400) < 0.1), names, ordered=True)
    y = np.where(np.isin(codes, [0, 3]) ^ (x > 20) ^ (rng.random(400) < 0.1), "p", "q")
    pa.parquet.write_table(pa.table({"kind": kind, "x": x, "y": y}), tmp_path / "a.pq", row_group_size=100)
    model = TreeClassifier(cv=3, max_bins=255, max_depth=5, splits=splits)
    streamed = model.fit(tmp_path / "a.pq", "y").to_text()
    assert "unused" not in streamed
    assert model.fit(*split_target(read_file(tmp_path / "a.pq"), "y")).to_text() == streamed
