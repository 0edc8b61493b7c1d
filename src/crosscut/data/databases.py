"""Tables of database files: DuckDB and SQLite, told apart by their first bytes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from crosscut.data.column_guess import ColumnGuess, settle_all
from crosscut.data.dialect import READ_AS, Dialect
from crosscut.data.file_kind import Contents, FileKind, Place, sliced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    import pyarrow as pa

    from crosscut.data.dialect import TextOptions

MIXED = "numbers among text are text"


class DatabaseFile(FileKind):
    """A table of a database; it has one part."""

    def contents(self, place: Place) -> Contents:
        """Return the columns and the number of rows."""
        with opened(place.path) as database:
            return database.contents(_chosen(place, database.names()), place.options)

    def read(self, place: Place, part: int, rows: int, contents: Contents) -> Iterator[pa.Table]:  # noqa: ARG002
        """Yield the rows of the table."""
        with opened(place.path) as database:
            yield from database.read(_chosen(place, database.names()), rows, contents)


def opened(path: Path) -> AbstractContextManager[SqliteDatabase | DuckdbDatabase]:
    """Open a database for reading."""
    return closing(SqliteDatabase(path) if is_sqlite(path) else DuckdbDatabase(path))


def is_sqlite(path: Path) -> bool:
    """Whether a database is SQLite's; else it is DuckDB's."""
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def read_tables(path: Path, each: Callable[[list[str]], Iterable[str]] = iter) -> dict[str, pa.Table]:
    """Return all tables of a database by name; ``each`` goes through the names."""
    with opened(path) as database:
        names = database.names()
    return {name: DatabaseFile().whole(Place(path, name)) for name in each(names)}


def quoted(name: str) -> str:
    """Return a name as SQL writes it."""
    if "\0" in name:
        raise ValueError(f"the name {name!r} contains a NUL character, which SQL cannot express; rename it")
    return '"' + name.replace('"', '""') + '"'


def _text(name: str) -> str:
    """Return a column of SQLite as text: its columns may mix types."""
    return f"CAST({quoted(name)} AS TEXT)"


class DuckdbDatabase:
    """An open DuckDB file."""

    def __init__(self, path: Path) -> None:
        import duckdb

        self.connection = duckdb.connect(str(path), read_only=True)
        self.close = self.connection.close

    def names(self) -> list[str]:
        """Return the names of the tables and views."""
        return [name for (name,) in self.connection.execute("SHOW TABLES").fetchall()]

    def contents(self, table: str, options: TextOptions) -> Contents:  # noqa: ARG002
        """Return the columns of a table and its number of rows."""
        relation = self.connection.table(quoted(table))
        return Contents(relation.limit(0).to_arrow_table().schema, (len(relation),))

    def read(self, table: str, rows: int, contents: Contents) -> Iterator[pa.Table]:  # noqa: ARG002
        """Yield the rows of a table, so many at a time."""
        import pyarrow as pa

        for batch in pa.RecordBatchReader.from_stream(self.connection.table(quoted(table))):
            yield from sliced(batch, rows)


class SqliteDatabase:
    """An open SQLite file, read by Python's own module: DuckDB would have to download an extension."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.close = self.connection.close

    def names(self) -> list[str]:
        """Return the names of the tables and views."""
        query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
        return [name for (name,) in self.connection.execute(query + " ORDER BY rowid")]

    def contents(self, table: str, options: TextOptions) -> Contents:
        """Return the columns of a table, typed by all of their values, and its number of rows."""
        import pyarrow as pa

        names = [row[1] for row in self.connection.execute(f"PRAGMA table_info({quoted(table)})")]
        found = ", ".join(f"group_concat(DISTINCT typeof({quoted(name)}))" for name in names)
        rows, *types = self.connection.execute(f"SELECT count(*), {found} FROM {quoted(table)}").fetchone()  # noqa: S608, quoted
        stored = pa.schema(
            [(name, self._type(name, own or "null")) for name, own in zip(names, types, strict=True)]
        )
        texts = [field.name for field in stored if field.type == pa.string()]
        dialect = self._dates(table, texts, options)
        schema = dialect.formed(stored.empty_table()).schema
        mixed = [name for name, own in zip(names, types, strict=True) if name in texts and "," in own]
        mixed = [name for name in mixed if {"integer", "real"} & set(types[names.index(name)].split(","))]
        told = ", ".join(filter(None, [dialect.told(","), *(f"{name}: {MIXED}" for name in mixed)]))
        return Contents(schema.with_metadata({READ_AS: told}) if told else schema, (rows,), dialect)

    def _dates(self, table: str, texts: list[str], options: TextOptions) -> Dialect:
        """Find the columns that hold dates as text, SQLite having no type for them."""
        dialect = Dialect(missing=("",))
        guesses = {name: ColumnGuess(dialect.missing, options) for name in texts}
        for name, guess in guesses.items():
            found = self.connection.execute(f"SELECT DISTINCT {_text(name)} FROM {quoted(table)}")  # noqa: S608, quoted
            for (text,) in found:
                guess.add([text])
                if guess.forms == []:
                    break
        dates = {name: guess for name, guess in guesses.items() if guess.orders()}
        return dialect.with_forms(
            settle_all(dates, "."), {name: guess.words for name, guess in dates.items()}
        )

    def _type(self, name: str, types: str) -> pa.DataType:
        import pyarrow as pa

        found = set(types.split(",")) - {"null"}
        known = {"integer": pa.int64(), "real": pa.float64(), "text": pa.string(), "blob": pa.binary()}
        if "text" in found and "blob" not in found:
            return pa.string()
        if len(found) > 1 and found != {"integer", "real"}:
            raise TypeError(f"column {name!r} of {str(self.path)!r} mixes types: {', '.join(sorted(found))}")
        return known[max(found)] if found else pa.null()  # "real" comes after "integer"

    def read(self, table: str, rows: int, contents: Contents) -> Iterator[pa.Table]:
        """Yield the rows of a table, so many at a time."""
        import pyarrow as pa

        dates = dict(contents.dialect.forms)
        stored = pa.schema(
            [(field.name, pa.string() if field.name in dates else field.type) for field in contents.schema],
            metadata=contents.schema.metadata,
        )
        chosen = [
            _text(name) if kind == pa.string() else quoted(name)
            for name, kind in zip(stored.names, stored.types, strict=True)
        ]
        cursor = self.connection.execute(f"SELECT {', '.join(chosen)} FROM {quoted(table)}")  # noqa: S608, quoted
        while cells := cursor.fetchmany(rows):
            columns = zip(zip(*cells, strict=True), stored.types, strict=True)
            arrays = [pa.array(column, dtype) for column, dtype in columns]
            yield contents.dialect.formed(pa.table(arrays, schema=stored))


def _chosen(place: Place, tables: list[str]) -> str:
    path, table = place.path, place.table
    if table is None and len(tables) == 1:
        table = tables[0]
    if table is None:
        raise ValueError(
            f"{str(path)!r} has the tables {tables}; choose one with table=... or '{path}::{tables[0]}'"
        )
    if table not in tables:
        raise ValueError(f"{str(path)!r} has no table {table!r}; it has {tables}")
    return table
