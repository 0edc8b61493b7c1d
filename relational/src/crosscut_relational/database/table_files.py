"""Read tables from folders and database files, with the keys that databases declare."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crosscut import CrosscutWarning
from crosscut.data.databases import MIXED, opened, quoted, read_tables
from crosscut.data.files import NOT_IN_FOLDERS, ending_of, read_file, reading_of
from crosscut.engines.progress import each_part
from crosscut_relational.database.database import Database
from crosscut_relational.language.attributes import KEY_OF_SEVERAL

if TYPE_CHECKING:
    import os

    import pyarrow as pa

# Types that are read unchanged; `numeric` becomes double, and types not listed become text.
_PLAIN = {"boolean", "smallint", "integer", "bigint", "real", "double precision", "text", "character varying"}
_PLAIN |= {"date", "timestamp without time zone", "bytea"}
_CASTS = {"numeric": "double precision", "timestamp with time zone": "timestamp without time zone"}

_COLUMNS = """
    SELECT table_name, column_name, data_type FROM information_schema.columns
    WHERE table_schema = $1 ORDER BY table_name, ordinal_position"""
_KEYS = """
    SELECT c.conname, c.contype::text AS kind, t.relname AS "table", a.attname AS "column",
        o.relname AS other, b.attname AS "other column"
    FROM pg_constraint c
    CROSS JOIN LATERAL unnest(c.conkey, c.confkey) WITH ORDINALITY AS k(linking, referred, place)
    JOIN pg_class t ON t.oid = c.conrelid JOIN pg_namespace n ON n.oid = t.relnamespace
    JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.linking
    LEFT JOIN pg_class o ON o.oid = c.confrelid
    LEFT JOIN pg_attribute b ON b.attrelid = o.oid AND b.attnum = k.referred
    WHERE n.nspname = $1 AND c.contype IN ('p', 'f') ORDER BY t.relname, c.conname, k.place"""
_VIEWS = "SELECT viewname, definition FROM pg_views WHERE schemaname = $1"


@dataclass
class StoredTables:
    """Tables and views of a folder or database, with declared keys; a composite key becomes one column."""

    tables: dict[str, Any]
    primary: dict[str, tuple[str, ...]] = field(default_factory=dict)
    foreign: list[tuple[str, tuple[str, ...], str, tuple[str, ...]]] = field(
        default_factory=list
    )  # as table, columns, other table, its columns
    views: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ends = [
            end
            for table, columns, other, others in self.foreign
            for end in ((table, columns), (other, others))
        ]
        for table, columns in [*self.primary.items(), *ends]:
            if len(columns) > 1 and table in self.tables:
                self.tables[table] = _with_key(self.tables[table], columns)

    @property
    def keys(self) -> dict[str, str]:
        """Primary key of each table, as one column."""
        return {table: KEY_OF_SEVERAL.join(columns) for table, columns in self.primary.items() if columns}

    @property
    def links(self) -> dict[str, str]:
        """Foreign keys in the form of the `links` of `Database.from_tables`."""
        return {
            f"{table}.{KEY_OF_SEVERAL.join(columns)}": f"{other}.{KEY_OF_SEVERAL.join(others)}"
            for table, columns, other, others in self.foreign
            if table in self.tables and other in self.tables and others
        }

    def database(self, target: str, **options: Any) -> Database:
        """Return the database; keys and links in ``options`` override declared ones."""
        hidden = self._showing(target)
        if hidden:
            warnings.warn(
                f"left out views that may reveal the target {target}: {', '.join(hidden)}",
                CrosscutWarning,
                stacklevel=3,
            )
        tables = {name: table for name, table in self.tables.items() if name not in hidden}
        keys = {table: key for table, key in self.keys.items() if table in tables}
        options["keys"] = keys | dict(options.get("keys") or {})
        options["links"] = self.links | dict(options.get("links") or {})
        database = Database.from_tables(tables, target=target, **options)
        database.views = {name: text for name, text in self.views.items() if name in tables}
        return database

    def _showing(self, target: str) -> list[str]:
        """Return the views whose SQL uses the target, all columns of its table, or another such view."""
        table, _, column = target.rpartition(".")
        view_words = {
            name: set(re.findall(r"\w+|\*", re.sub(r"\bcount\s*\(\s*\*\s*\)", "", text.lower())))
            for name, text in self.views.items()
            if name != table
        }
        shown = [
            name
            for name, words in view_words.items()
            if column.lower() in words or {"*", table.lower()} <= words
        ]
        for name in shown:  # grows during the loop: views of views
            shown += [
                other for other, words in view_words.items() if name.lower() in words and other not in shown
            ]
        return shown


def _with_key(table: pa.Table, columns: tuple[str, ...]) -> pa.Table:
    """Return a table with a composite key as one column; it is null where a part is null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    name = KEY_OF_SEVERAL.join(columns)
    if name in table.column_names:
        return table
    parts = [table[column].cast(pa.string()) for column in columns]
    return table.append_column(name, pc.binary_join_element_wise(*parts, KEY_OF_SEVERAL))


def read_folder(path: str | os.PathLike[str]) -> StoredTables:
    """Return the tables in a folder by name; all files that contain one table are read."""
    files: dict[str, Path] = {}
    for file in sorted(Path(path).iterdir()):
        ending = ending_of(file)
        if not ending or ending in NOT_IN_FOLDERS:
            continue
        name = file.name[: -len(ending)]
        if name in files:
            raise ValueError(f"{path} has both {files[name].name} and {file.name}; keep one of them")
        files[name] = file
    if not files:
        raise FileNotFoundError(
            f"path is {str(path)!r}, a folder without tables such as .csv and .parquet files"
        )
    sizes = [file.stat().st_size for file in files.values()]
    return StoredTables({name: read_file(file) for name, file in each_part(files.items(), sizes)})


def read_duckdb(path: str | os.PathLike[str]) -> StoredTables:
    """Return the tables of a DuckDB file and the keys it declares."""
    with opened(_file(path)) as database:
        execute = database.connection.execute
        rows = execute(
            "SELECT table_name, constraint_type, constraint_column_names, referenced_table, "
            "referenced_column_names FROM duckdb_constraints()"
        ).fetchall()
        views = dict(execute("SELECT view_name, sql FROM duckdb_views() WHERE NOT internal").fetchall())
    return StoredTables(
        read_tables(Path(path), each_part),
        {table: tuple(columns) for table, kind, columns, *_ in rows if kind == "PRIMARY KEY"},
        [
            (table, tuple(columns), other, tuple(others))
            for table, kind, columns, other, others in rows
            if kind == "FOREIGN KEY"
        ],
        views,
    )


def read_sqlite(path: str | os.PathLike[str]) -> StoredTables:
    """Return the tables of an SQLite file and the keys it declares."""
    primary: dict[str, tuple[str, ...]] = {}
    foreign = []
    with opened(_file(path)) as database:
        execute = database.connection.execute
        for table in database.names():
            info = execute(f"PRAGMA table_info({quoted(table)})").fetchall()
            primary[table] = tuple(row[1] for row in sorted(info, key=lambda row: row[5]) if row[5])
            rows = execute(f"PRAGMA foreign_key_list({quoted(table)})").fetchall()
            for _, group in groupby(sorted(rows, key=lambda row: row[:2]), key=lambda row: row[0]):
                parts = list(group)
                columns = tuple(row[3] for row in parts)
                foreign.append((table, columns, parts[0][2], tuple(row[4] for row in parts)))
        views = dict(execute("SELECT name, sql FROM sqlite_master WHERE type = 'view'").fetchall())
    # SQLite allows foreign keys without columns: they refer to the other table's primary key
    foreign = [
        (table, columns, other, primary.get(other, ()) if None in others else others)
        for table, columns, other, others in foreign
    ]
    tables = read_tables(Path(path), each_part)
    for name, table in tables.items():
        if MIXED in (how := reading_of(table) or ""):
            warnings.warn(f"{name} is read as: {how}", CrosscutWarning, stacklevel=3)
    return StoredTables(tables, primary, foreign, views)


def read_postgresql(uri: str, schema: str = "public") -> StoredTables:
    """Return the tables and views of a schema, and the keys it declares."""
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise ImportError(
            "reading PostgreSQL needs adbc-driver-postgresql: pip install 'crosscut-relational[postgresql]'"
        ) from None
    with dbapi.connect(uri) as connection, connection.cursor() as cursor:

        def rows(query: str) -> list[dict[str, Any]]:
            cursor.execute(query, [schema])
            records: list[dict[str, Any]] = cursor.fetch_arrow_table().to_pylist()
            return records

        columns: dict[str, list[str]] = {}
        for row in rows(_COLUMNS):
            name, kind = quoted(row["column_name"]), row["data_type"]
            cast = "" if kind in _PLAIN else f"::{_CASTS.get(kind, 'text')} AS {name}"
            columns.setdefault(row["table_name"], []).append(name + cast)
        if not columns:
            raise ValueError(f"schema is {schema!r}, which has no tables that can be read")
        tables: dict[str, pa.Table] = {}
        for table, chosen in columns.items():
            cursor.execute(f"SELECT {', '.join(chosen)} FROM {quoted(schema)}.{quoted(table)}")  # noqa: S608, quoted
            tables[table] = cursor.fetch_arrow_table()
        primary: dict[str, tuple[str, ...]] = {}
        foreign: dict[tuple[str, str], tuple[tuple[str, ...], str, tuple[str, ...]]] = {}
        for row in rows(_KEYS):
            table, column = row["table"], row["column"]
            if row["kind"] == "p":
                primary[table] = (*primary.get(table, ()), column)
            else:
                linking, other, others = foreign.get((table, row["conname"]), ((), row["other"], ()))
                foreign[table, row["conname"]] = (*linking, column), other, (*others, row["other column"])
        views = {row["viewname"]: row["definition"] for row in rows(_VIEWS)}
    links = [(table, *rest) for (table, _), rest in foreign.items()]
    return StoredTables(tables, primary, links, views)


def _file(path: str | os.PathLike[str]) -> Path:
    if not Path(path).is_file():
        raise FileNotFoundError(f"no such file: {str(path)!r}")
    return Path(path)
