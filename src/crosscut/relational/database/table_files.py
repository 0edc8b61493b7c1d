"""Tables from folders and database files, with the keys those declare."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crosscut.data.databases import opened, quoted, read_tables
from crosscut.data.files import DATABASES, ending_of, read_file
from crosscut.relational.database.database import KEY_OF_SEVERAL

if TYPE_CHECKING:
    import os

    import pyarrow as pa


@dataclass
class DeclaredKeys:
    """Primary and foreign keys that a database file declares."""

    keys: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    foreign: list[tuple[str, tuple[str, ...], str, tuple[str, ...]]] = field(default_factory=list)

    def linked(self, tables: dict[str, Any]) -> dict[str, Any]:
        """Take the foreign keys as links; one of several columns gets a column of its own in both tables."""
        for table, columns, other, others in self.foreign:
            if table in tables and other in tables and others:
                tables[table] = _with_key(tables[table], columns)
                tables[other] = _with_key(tables[other], others)
                self.links[f"{table}.{KEY_OF_SEVERAL.join(columns)}"] = (
                    f"{other}.{KEY_OF_SEVERAL.join(others)}"
                )
        return tables

    def updated(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return options of `Database.from_tables`, those given by the user before what the file declares."""
        merged = dict(options)
        merged["keys"] = {**self.keys, **(options.get("keys") or {})}
        merged["links"] = {**self.links, **(options.get("links") or {})}
        return merged


def _with_key(table: pa.Table, columns: tuple[str, ...]) -> pa.Table:
    """Return a table with the values of several columns as one, null where one of them is."""
    import pyarrow as pa

    name = KEY_OF_SEVERAL.join(columns)
    if name in table.column_names:
        return table
    rows = zip(*(table[column].to_pylist() for column in columns), strict=True)
    values = [None if None in row else KEY_OF_SEVERAL.join(map(str, row)) for row in rows]
    return table.append_column(name, pa.array(values, pa.string()))


def read_folder(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the tables of a folder's files by name; every kind of file that holds one table is read."""
    found: dict[str, Path] = {}
    for file in sorted(Path(path).iterdir()):
        ending = ending_of(file)
        if not ending or ending in DATABASES:
            continue
        name = file.name[: -len(ending)]
        if name in found:
            raise ValueError(f"{path} has both {found[name].name} and {file.name}; leave one")
        found[name] = file
    if not found:
        raise FileNotFoundError(
            f"path is {str(path)!r}, a folder without tables such as .csv and .parquet files"
        )
    return {name: read_file(file) for name, file in found.items()}


def read_duckdb(path: str | os.PathLike[str]) -> tuple[dict[str, Any], DeclaredKeys]:
    """Return the tables of a DuckDB file and the keys it declares."""
    declared = DeclaredKeys()
    with opened(_file(path)) as database:
        rows = database.connection.execute(
            "SELECT table_name, constraint_type, constraint_column_names, referenced_table, "
            "referenced_column_names FROM duckdb_constraints()"
        ).fetchall()
    for table, kind, columns, other, other_columns in rows:
        if kind == "PRIMARY KEY" and len(columns) == 1:
            declared.keys[table] = columns[0]
        elif kind == "FOREIGN KEY":
            declared.foreign.append((table, tuple(columns), other, tuple(other_columns)))
    return declared.linked(read_tables(Path(path))), declared


def read_sqlite(path: str | os.PathLike[str]) -> tuple[dict[str, Any], DeclaredKeys]:
    """Return the tables of an SQLite file and the keys it declares."""
    declared = DeclaredKeys()
    primary: dict[str, tuple[str, ...]] = {}
    foreign = []
    with opened(_file(path)) as database:
        for table in database.names():
            info = database.connection.execute(f"PRAGMA table_info({quoted(table)})").fetchall()
            primary[table] = tuple(row[1] for row in sorted(info, key=lambda row: row[5]) if row[5])
            if len(primary[table]) == 1:
                declared.keys[table] = primary[table][0]
            rows = database.connection.execute(f"PRAGMA foreign_key_list({quoted(table)})").fetchall()
            for _, group in groupby(sorted(rows), key=lambda row: row[0]):
                parts = list(group)
                columns = tuple(row[3] for row in parts)
                foreign.append((table, columns, parts[0][2], tuple(row[4] for row in parts)))
    # SQLite lets a foreign key leave out the columns: they are the other table's primary key
    declared.foreign = [
        (table, columns, other, primary.get(other, ()) if None in others else others)
        for table, columns, other, others in foreign
    ]
    return declared.linked(read_tables(Path(path))), declared


def _file(path: str | os.PathLike[str]) -> Path:
    if not Path(path).is_file():
        raise FileNotFoundError(f"path is {str(path)!r}, which is not a file")
    return Path(path)
