"""Tables from folders and database files, with the keys those declare."""

from __future__ import annotations

import csv
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os

_NULLS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"]


@dataclass
class DeclaredKeys:
    """Primary and foreign keys that a database file declares."""

    keys: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)

    def updated(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return options of `Database.from_tables`, those given by the user before what the file declares."""
        merged = dict(options)
        merged["keys"] = {**self.keys, **(options.get("keys") or {})}
        merged["links"] = {**self.links, **(options.get("links") or {})}
        return merged


def read_folder(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the tables of a folder's CSV and Parquet files by name."""
    folder = Path(path)
    files = sorted(file for file in folder.glob("*") if file.suffix in {".csv", ".parquet"})
    if not files:
        raise FileNotFoundError(f"path is {str(path)!r}, a folder without .csv and .parquet files")
    tables: dict[str, Any] = {}
    for file in files:
        if file.stem in tables:
            raise ValueError(f"{folder} has both {file.stem}.csv and {file.stem}.parquet; leave one")
        try:
            tables[file.stem] = _read_file(file)
        except (OSError, ValueError) as error:
            raise ValueError(f"{file}: {error}") from error
    return tables


def _read_file(file: Path) -> Any:
    import pyarrow.csv
    import pyarrow.parquet

    if file.suffix == ".parquet":
        return pyarrow.parquet.read_table(file)
    table = pyarrow.csv.read_csv(
        file,
        parse_options=pyarrow.csv.ParseOptions(delimiter=_delimiter(file)),
        convert_options=pyarrow.csv.ConvertOptions(null_values=_NULLS),
    )
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        if pyarrow.types.is_binary(kind):
            raise ValueError(f"column {name!r} is not UTF-8 text")
    return table


def _delimiter(file: Path) -> str:
    with file.open(encoding="utf-8", errors="replace") as lines:
        head = lines.readline()
    try:
        return csv.Sniffer().sniff(head, delimiters=",;\t|").delimiter
    except csv.Error:  # one column
        return ","


def read_duckdb(path: str | os.PathLike[str]) -> tuple[dict[str, Any], DeclaredKeys]:
    """Return the tables of a DuckDB file and the keys it declares."""
    import duckdb

    declared = DeclaredKeys()
    with closing(duckdb.connect(str(path), read_only=True)) as connection:
        names = [name for (name,) in connection.execute("SHOW TABLES").fetchall()]
        tables = {name: connection.table(_quoted(name)).to_arrow_table() for name in names}
        rows = connection.execute(
            "SELECT table_name, constraint_type, constraint_column_names, referenced_table, "
            "referenced_column_names FROM duckdb_constraints()"
        ).fetchall()
    for table, kind, columns, other, other_columns in rows:
        if kind == "PRIMARY KEY" and len(columns) == 1:
            declared.keys[table] = columns[0]
        elif kind == "FOREIGN KEY" and len(columns) == 1:
            declared.links[f"{table}.{columns[0]}"] = f"{other}.{other_columns[0]}"
    return tables, declared


def read_sqlite(path: str | os.PathLike[str]) -> tuple[dict[str, Any], DeclaredKeys]:
    """Return the tables of an SQLite file and the keys it declares."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"path is {str(path)!r}, which is not a file")
    declared = DeclaredKeys()
    tables: dict[str, Any] = {}
    with closing(sqlite3.connect(path)) as connection:
        query = (
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
        )
        for (table,) in connection.execute(query).fetchall():
            info = connection.execute(f"PRAGMA table_info({_quoted(table)})").fetchall()
            names = [row[1] for row in info]
            rows = connection.execute(f"SELECT * FROM {_quoted(table)}").fetchall()  # noqa: S608  # name is quoted
            tables[table] = {name: [row[column] for row in rows] for column, name in enumerate(names)}
            key = [row[1] for row in info if row[5]]
            if len(key) == 1:
                declared.keys[table] = key[0]
            for row in connection.execute(f"PRAGMA foreign_key_list({_quoted(table)})").fetchall():
                _, _, other, column, other_column = row[:5]
                declared.links[f"{table}.{column}"] = f"{other}.{other_column or ''}"
    for start, end in declared.links.items():
        table, _, column = end.rpartition(".")
        if not column:  # SQLite lets a foreign key leave out the column: it is the other table's primary key
            declared.links[start] = f"{table}.{declared.keys[table]}"
    return tables, declared


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
