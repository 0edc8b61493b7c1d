"""Database files are untrusted: their names, their views, and queries that never end."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import duckdb
import pytest

from crosscut import read_file

ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t"
CONNECT = {"sqlite": sqlite3.connect, "duckdb": duckdb.connect}


def database(path, *statements):
    with closing(CONNECT[path.suffix[1:]](str(path))) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


@pytest.mark.parametrize("name", ["good.sqlite#.sqlite", "a#b.sqlite", "x?mode=rwc&q=.sqlite", "%41 .sqlite"])
def test_names_that_mean_something_in_a_uri(tmp_path, name):
    database(tmp_path / "good.sqlite", "CREATE TABLE t AS SELECT 'another file' AS a")
    path = tmp_path / name
    database(path, "CREATE TABLE t AS SELECT 'this file' AS a")
    before = sorted(tmp_path.iterdir())
    assert read_file(path)["a"].to_pylist() == ["this file"]
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "call", ["read_csv('{}')", "read_text('{}')", "glob('{}')", "read_csv('{}', header = true)", "'{}'"]
)
def test_a_view_does_not_read_other_files(tmp_path, call):
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    view = f"CREATE VIEW v AS SELECT * FROM {call.format(secret)}"
    path = database(tmp_path / "x.duckdb", "CREATE TABLE t AS SELECT 1 AS a", view)
    assert read_file(path, table="t").num_rows == 1
    with pytest.raises(ValueError, match=r"x\.duckdb::v reads other files"):
        read_file(path, table="v")


INTERRUPTED = """
import os, signal, sys, threading
from crosscut import read_file
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    read_file(sys.argv[1])
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("kind", CONNECT)
def test_an_endless_view_can_be_interrupted(tmp_path, kind):
    """In a process of its own: those of pytest-xdist ignore Ctrl-C."""
    path = database(tmp_path / f"x.{kind}", f"CREATE VIEW v AS {ENDLESS}")
    command = [sys.executable, "-c", INTERRUPTED, str(path)]
    result = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert result.stdout == "interrupted\n", result.stderr


@pytest.mark.parametrize("kind", CONNECT)
def test_an_endless_view_and_a_time_limit(tmp_path, kind):
    path = database(tmp_path / f"x.{kind}", f"CREATE VIEW v AS {ENDLESS}")
    with pytest.raises(TimeoutError, match=rf"a query of .*x\.{kind}' took longer than 0\.2 s.*timeout="):
        read_file(path, timeout=0.2)


@pytest.mark.parametrize("kind", CONNECT)
def test_a_database_without_tables(tmp_path, kind):
    path = database(tmp_path / f"x.{kind}", "CREATE TABLE t (a INTEGER)", "DROP TABLE t")
    with pytest.raises(ValueError, match=rf"x\.{kind}' has no tables"):
        read_file(path)


@pytest.mark.parametrize("kind", CONNECT)
def test_a_damaged_database(tmp_path, kind):
    path = database(tmp_path / f"x.{kind}", "CREATE TABLE t AS SELECT 1 AS a")
    raw = bytearray(path.read_bytes())
    raw[100:] = bytes(len(raw) - 100)
    path.write_bytes(raw)
    with pytest.raises(ValueError, match=rf"x\.{kind}' (cannot be read|has no tables)"):
        read_file(path)


def test_names_with_the_sign_of_tables_and_of_options(tmp_path):
    path = tmp_path / "a::b.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE t AS SELECT 1 AS a")
        database.commit()
    assert read_file(path)["a"].to_pylist() == [1]
    (tmp_path / "a?b.duckdb").write_bytes(b"")
    with pytest.raises(ValueError, match=r"reads what follows '\?' in .* as options; rename the file"):
        read_file(tmp_path / "a?b.duckdb")
