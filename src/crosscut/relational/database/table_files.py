"""Tables from folders and database files, with the keys those declare."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crosscut.data.databases import opened, quoted, read_tables
from crosscut.data.files import DATABASES, ending_of, read_file

if TYPE_CHECKING:
    import os


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
        elif kind == "FOREIGN KEY" and len(columns) == 1:
            declared.links[f"{table}.{columns[0]}"] = f"{other}.{other_columns[0]}"
    return read_tables(Path(path)), declared


def read_sqlite(path: str | os.PathLike[str]) -> tuple[dict[str, Any], DeclaredKeys]:
    """Return the tables of an SQLite file and the keys it declares."""
    declared = DeclaredKeys()
    with opened(_file(path)) as database:
        for table in database.names():
            info = database.connection.execute(f"PRAGMA table_info({quoted(table)})").fetchall()
            key = [row[1] for row in info if row[5]]
            if len(key) == 1:
                declared.keys[table] = key[0]
            for row in database.connection.execute(f"PRAGMA foreign_key_list({quoted(table)})").fetchall():
                _, _, other, column, other_column = row[:5]
                declared.links[f"{table}.{column}"] = f"{other}.{other_column or ''}"
    for start, end in declared.links.items():
        table, _, column = end.rpartition(".")
        if not column:  # SQLite lets a foreign key leave out the column: it is the other table's primary key
            declared.links[start] = f"{table}.{declared.keys[table]}"
    return read_tables(Path(path)), declared


def _file(path: str | os.PathLike[str]) -> Path:
    if not Path(path).is_file():
        raise FileNotFoundError(f"path is {str(path)!r}, which is not a file")
    return Path(path)
