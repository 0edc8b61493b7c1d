import bz2
import gzip
import sqlite3

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from crosscut import read_file
from crosscut.engines.progress import watching
from crosscut_relational import datasets
from crosscut_relational.database.database import Database
from crosscut_relational.database.table_files import read_duckdb, read_folder, read_sqlite

SCRIPT = """
    CREATE TABLE plant(code INTEGER PRIMARY KEY, region TEXT);
    CREATE TABLE machine(nr INTEGER PRIMARY KEY, place INTEGER REFERENCES plant(code), state TEXT);
    INSERT INTO plant VALUES (1, 'north'), (2, 'south');
    INSERT INTO machine VALUES (10, 1, 'ok'), (11, 2, 'fix'), (12, 1, 'ok');
"""


@pytest.fixture
def sqlite_file(tmp_path):
    connection = sqlite3.connect(tmp_path / "app.sqlite")
    connection.executescript(SCRIPT)
    connection.close()
    return tmp_path / "app.sqlite"


@pytest.fixture
def duckdb_file(tmp_path):
    with duckdb.connect(str(tmp_path / "app.duckdb")) as connection:
        connection.execute(SCRIPT)
    return tmp_path / "app.duckdb"


def test_declared_keys_link_the_tables_of_sqlite(sqlite_file):
    database = Database.from_sqlite(sqlite_file, target="machine.state")
    assert database.relations["machine", 2].types == ("machine", "plant")
    assert database.examples == [10, 11, 12]


def test_declared_keys_link_the_tables_of_duckdb(duckdb_file, sqlite_file):
    database = Database.from_duckdb(duckdb_file, target="machine.state")
    other = Database.from_sqlite(sqlite_file, target="machine.state")
    assert database.relations["machine", 2].types == ("machine", "plant")
    assert database.examples == other.examples
    assert database.target.tolist() == other.target.tolist()


def test_a_foreign_key_without_a_column_means_the_primary_key(tmp_path):
    connection = sqlite3.connect(tmp_path / "app.sqlite")
    connection.executescript(SCRIPT.replace("REFERENCES plant(code)", "REFERENCES plant"))
    connection.close()
    database = Database.from_sqlite(tmp_path / "app.sqlite", target="machine.state")
    assert database.relations["machine", 2].types == ("machine", "plant")


def test_a_folder_of_csv_and_parquet_files(tmp_path):
    (tmp_path / "machine.csv").write_text('"machine_id";"state";"size"\n1;"ok";?\n2;"fix";7\n')
    pq.write_table(pa.table({"part_id": [1, 2], "machine_id": [2, 2]}), tmp_path / "part.parquet")
    database = Database.from_folder(tmp_path, target="machine.state")
    assert [column.kind for column in database.columns["machine", 2]] == ["key", "numeric"]
    assert database.relations["part", 2].types == ("machine", "part")


def test_a_folder_without_tables(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"without tables such as \.csv"):
        Database.from_folder(tmp_path, target="a.b")


def test_one_table_in_two_files(tmp_path):
    (tmp_path / "machine.csv").write_text("id,state\n1,ok\n")
    pq.write_table(pa.table({"id": [1]}), tmp_path / "machine.parquet")
    with pytest.raises(ValueError, match=r"has both machine\.csv and machine\.parquet"):
        Database.from_folder(tmp_path, target="machine.state")


def test_a_missing_sqlite_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        Database.from_sqlite(tmp_path / "none.sqlite", target="a.b")


COMPOSITE = """
    CREATE TABLE site(country TEXT, nr INTEGER, climate TEXT, PRIMARY KEY (country, nr));
    CREATE TABLE supplier(id INTEGER PRIMARY KEY, code TEXT UNIQUE, grade TEXT);
    CREATE TABLE machine(id INTEGER PRIMARY KEY, land TEXT, place INTEGER,
        supplier TEXT REFERENCES supplier(code), built DATE, state TEXT,
        FOREIGN KEY (land, place) REFERENCES site(country, nr));
    INSERT INTO site VALUES ('at', 1, 'dry'), ('at', 2, 'wet'), ('be', 1, 'wet');
    INSERT INTO supplier VALUES (7, 'x', 'good'), (8, 'y', 'bad');
    INSERT INTO machine VALUES (1, 'at', 1, 'x', '2020-01-31', 'ok'), (2, 'be', 1, 'y', '2021-02-01', 'fix'),
        (3, 'at', 2, NULL, '2022-03-04', 'fix'), (4, NULL, 2, 'x', NULL, 'ok');
"""


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_keys_of_several_columns_unique_columns_and_dates(tmp_path, kind):
    path = tmp_path / f"app.{kind}"
    if kind == "sqlite":
        connection = sqlite3.connect(path)
        connection.executescript(COMPOSITE)
        connection.close()
    else:
        with duckdb.connect(str(path)) as connection:
            connection.execute(COMPOSITE)
    database = getattr(Database, f"from_{kind}")(path, target="machine.state")
    (machine,) = (relation for (name, _), relation in database.relations.items() if name == "machine")
    columns = [column.name for column in database.columns["machine", machine.arity]]
    values = {
        name: [database.constants.terms[each] for each in ids]
        for name, ids in zip(columns, machine.columns.tolist(), strict=True)
    }
    types = dict(zip(columns, machine.types, strict=True))
    assert types["land+place"] == "site"
    assert values["land+place"][:3] == ["at+1", "be+1", "at+2"]
    # a link to a column that is unique but not the key leads to the same row as its key
    assert types["supplier"] == "supplier"
    assert values["supplier"][0] == values["supplier"][3] == 7
    assert values["built"][:3] == [18292, 18659, 19055]
    assert {column.name: column.kind for column in database.columns["machine", machine.arity]}[
        "built"
    ] == "date"


def test_a_column_of_sqlite_with_numbers_and_text_is_text(tmp_path):
    connection = sqlite3.connect(tmp_path / "app.sqlite")
    connection.executescript(
        "CREATE TABLE a(id INTEGER PRIMARY KEY, v, y TEXT);"
        "INSERT INTO a VALUES (1,'x','p'), (2,3,'q'), (3,4.5,'p'), (4,NULL,'q'), (5,3,'q');"
    )
    connection.close()
    with pytest.warns(UserWarning, match="a is read as: v: numbers among text are text"):
        database = Database.from_sqlite(tmp_path / "app.sqlite", target="a.y")
    values = [database.constants.terms[each] for each in database.relations["a", 2].columns[1]]
    assert values == ["x", "3", "4.5", "missing", "3"]


def test_columns_whose_values_have_parts_are_left_out_with_a_warning(tmp_path):
    with duckdb.connect(str(tmp_path / "app.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE a(id INTEGER PRIMARY KEY, l INTEGER[], b BLOB, s STRUCT(x INTEGER), y TEXT);"
            "INSERT INTO a VALUES (1, [1], 'x'::BLOB, {'x': 1}, 'p'), (2, NULL, NULL, NULL, 'q')"
        )
    with pytest.warns(UserWarning, match="a: l, b, s left out"):
        database = Database.from_duckdb(tmp_path / "app.duckdb", target="a.y")
    assert database.relations["a", 1].n_facts == 2


VIEWS = """
    CREATE VIEW counted AS SELECT place AS code, count(*) AS n FROM machine GROUP BY place;
    CREATE VIEW everything AS SELECT * FROM machine;
    CREATE VIEW again AS SELECT nr FROM everything;
    CREATE VIEW named AS SELECT nr, STATE AS s FROM machine;
"""


def test_views_that_may_show_the_target_are_left_out(duckdb_file):
    with duckdb.connect(str(duckdb_file)) as connection:
        connection.execute(VIEWS)
    with pytest.warns(UserWarning, match=r"the target machine.state: everything, named, again"):
        database = Database.from_duckdb(duckdb_file, target="machine.state")
    assert {name for name, _ in database.relations} == {"machine", "plant", "counted"}


@pytest.mark.parametrize("kind", ["folder", "duckdb"])
def test_reading_tells_how_far_it_is(tmp_path, kind):
    tables, told = datasets.shop(50), []
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        for name, table in tables.items():
            pyarrow.csv.write_csv(table, tmp_path / f"{name}.csv")
            connection.register("rows", table)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM rows")
    with watching(told.append):
        if kind == "folder":
            Database.from_folder(tmp_path, target="customer.churned")
        else:
            Database.from_duckdb(tmp_path / "shop.duckdb", target="customer.churned")
    assert told[-1] == 1.0
    assert len(told) == 6  # two tables read, taken apart and linked


ROWS = pa.table({"id": [1, 2, 3], "size": [1.5, None, 2.0], "plan": ["red", None, "blue, dark"]})
TEXT = "id;size;plan\n1;1,5;red\n2;;\n3;2,0;'blue, dark'\n".replace("'", '"').encode()
ARFF = b"@relation r\n@attribute id numeric\n@attribute plan {red,blue}\n@data\n1,red\n2,?\n3,blue\n"
WRITERS = {
    "rows.csv": lambda path: path.write_bytes(TEXT),
    "rows.CSV": lambda path: path.write_bytes(TEXT),
    "rows.csv.gz": lambda path: path.write_bytes(gzip.compress(TEXT)),
    "rows.tsv.bz2": lambda path: path.write_bytes(bz2.compress(TEXT.replace(b";", b"\t"))),
    "rows.arff": lambda path: path.write_bytes(ARFF),
    "rows.parquet": lambda path: pq.write_table(ROWS, path),
    "rows.feather": lambda path: pyarrow.feather.write_feather(ROWS, path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_folder_reads_a_file_as_read_file_does(tmp_path, name):
    WRITERS[name](tmp_path / name)
    assert read_folder(tmp_path).tables["rows"].equals(read_file(tmp_path / name))


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_database_reads_a_table_as_read_file_does(sqlite_file, duckdb_file, kind):
    path, read = (sqlite_file, read_sqlite) if kind == "sqlite" else (duckdb_file, read_duckdb)
    assert read(path).tables["machine"].equals(read_file(f"{path}::machine"))
