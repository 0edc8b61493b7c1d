"""The same small table from every kind of file."""

import datetime as dt
import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from crosscut.data.files import read_file, reading_of, split_target
from crosscut.data.source import Source
from crosscut.data.table import Table

ROWS = pa.table({"age": [30.5, None, 20.0], "plan": ["b", "a", None], "paid": [True, False, None]})
CSV = "age,plan,paid\n30.5,b,true\n?,a,false\n20.0,,NA\n"


def write(kind: str, folder: Path) -> Path:
    path = folder / f"table.{kind}"
    if kind == "csv":
        path.write_text(CSV)
    elif kind in {"tsv", "tab"}:
        path.write_text(CSV.replace(",", "\t"))
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(CSV.encode()))
    elif kind == "parquet":
        pyarrow.parquet.write_table(ROWS, path)
    elif kind in {"arrow", "feather", "ipc"}:
        pyarrow.feather.write_feather(ROWS, path)
    elif kind == "duckdb":
        with duckdb.connect(str(path)) as database:
            database.register("given", ROWS)
            database.execute("CREATE TABLE people AS SELECT * FROM given")
    return path


@pytest.mark.parametrize(
    "kind", ["csv", "tsv", "tab", "csv.gz", "parquet", "arrow", "feather", "ipc", "duckdb"]
)
def test_every_kind_of_file(kind, tmp_path):
    path = write(kind, tmp_path)
    assert read_file(path).to_pydict() == ROWS.to_pydict()
    table = Table.from_file(path)
    assert table.names == ("age", "plan", "paid")
    assert table.kinds == ("numeric", "nominal", "boolean")
    assert table.ranks.tolist() == [[1, 2, 0], [1, 0, 2], [1, 0, 2]]
    assert Table.from_file(str(path), names=["plan"]).names == ("plan",)


@pytest.mark.parametrize("ending", ["sqlite", "db"])
def test_sqlite(ending, tmp_path):
    path = tmp_path / f"shop.{ending}"
    database = sqlite3.connect(path)
    database.execute('CREATE TABLE "my people" (age REAL, plan TEXT)')
    database.executemany('INSERT INTO "my people" VALUES (?, ?)', [(30.5, "b"), (None, "a")])
    database.commit()
    assert read_file(path).to_pydict() == {"age": [30.5, None], "plan": ["b", "a"]}
    database.execute("CREATE TABLE other (mixed)")
    database.executemany("INSERT INTO other VALUES (?)", [(1,), ("x",)])
    database.commit()
    database.close()
    assert read_file(f"{path}::my people").num_rows == 2
    with pytest.raises(ValueError, match=r"has the tables \['my people', 'other'\]; choose one"):
        read_file(path)
    with pytest.raises(ValueError, match="has no table 'people'"):
        read_file(path, table="people")
    mixed = read_file(path, table="other")
    assert mixed["mixed"].to_pylist() == ["1", "x"]
    assert reading_of(mixed) == "mixed: numbers among text are text"


def test_dates_in_sqlite(tmp_path):
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE people (since TEXT, seen TEXT, plan TEXT)")
        rows = [("2023-06-28", "31.12.2024 10:30", "a"), (None, "", "b")]
        database.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
        database.commit()
    found = read_file(path)
    assert found.schema.types == [pa.date32(), pa.timestamp("us"), pa.string()]
    assert found.to_pydict() == {
        "since": [dt.date(2023, 6, 28), None],
        "seen": [dt.datetime(2024, 12, 31, 10, 30), None],  # noqa: DTZ001, as written
        "plan": ["a", "b"],
    }
    assert "'since': dates (year, month, day)" in reading_of(found)


def test_duckdb_table_is_chosen(tmp_path):
    path = write("duckdb", tmp_path)
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE TABLE numbers AS SELECT 1 AS n")
    assert read_file(path, table="numbers").to_pydict() == {"n": [1]}
    assert read_file(f"{path}::people").num_rows == 3
    with pytest.raises(ValueError, match="choose one"):
        read_file(path)


def test_what_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_file(tmp_path / "none.csv")
    (tmp_path / "table.docx").touch()
    with pytest.raises(ValueError, match=r"ends in '.docx'; supported endings: .csv, .tsv"):
        read_file(tmp_path / "table.docx")
    path = write("csv", tmp_path)
    with pytest.raises(ValueError, match="is not a database"):
        read_file(path, table="people")
    path.write_text("a,b\n1,2\n1,2,3\n")
    with pytest.raises(ValueError, match=r"line 3 has 3 values, expected 2 \(separated by ','\)"):
        read_file(path)


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame, pa.table])
def test_split_target(kind):
    frame = kind({"age": [1, 2], "plan": ["b", "a"], "paid": [True, False], "cost": [1.5, 2.5]})
    X, y = split_target(frame, "plan")
    assert isinstance(X, type(frame))
    assert Table.from_data(X).names == ("age", "paid", "cost")
    assert y.tolist() == ["b", "a"]
    assert split_target(frame, "cost")[1].dtype == np.float64
    assert split_target(frame, "paid")[1].dtype == bool
    with pytest.raises(ValueError, match="there is no column 'plam'; did you mean 'plan'"):
        split_target(frame, "plam")


@pytest.mark.parametrize("values", [["a", None], [1.0, None], [True, None]])
def test_missing_target(values):
    with pytest.raises(ValueError, match=r"target column 'y' is missing in 1 row\(s\), first in row 1"):
        split_target(pl.DataFrame({"x": [1, 2], "y": values}), "y")


def test_nan_target():
    with pytest.raises(ValueError, match="missing in 1 row"):
        split_target(pd.DataFrame({"x": [1, 2], "y": [1.0, np.nan]}), "y")


def test_a_wide_file_is_read_by_groups_of_columns(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("n,t,p,d,m\n1,x,5%,2020-01-02,?\n?,y,7%,2021-03-04,2.5\n")
    expected = read_file(path)
    for columns in (1, 2, 4):
        monkeypatch.setattr("crosscut.data.text.text_file.COLUMNS", columns)
        assert read_file(path).equals(expected, check_metadata=True)
    path.write_text("a,b,a\n1,2,3\n")
    with pytest.raises(ValueError, match="the column name 'a' is used more than once"):
        read_file(path)


@pytest.mark.parametrize("text", ["a,a\n1,2\n3,4\n", "a,a\nx,y\nz,w\n"])
def test_columns_of_one_name_are_refused(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text(text)
    for read in (read_file, Source):
        with pytest.raises(ValueError, match="the column name 'a' is used more than once"):
            read(path)
