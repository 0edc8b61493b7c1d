"""Read tables of DuckDB and SQLite files, which their first bytes distinguish.

A database file is untrusted input. It is opened for reading only, its views cannot read other files, and a
query that never ends can be interrupted or given a time limit.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from crosscut.data.file_kind import Contents, FileKind, Place, slices_of
from crosscut.data.text.column_guess import ColumnGuess, settle_all
from crosscut.data.text.dialect import READ_AS, Dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from crosscut.data.text.dialect import TextOptions

MIXED = "numbers among text are text"
_CELLS = 500  # of a column, read from SQLite at once
T = TypeVar("T")


class DatabaseFile(FileKind):
    """A table of a database; it has one part."""

    def contents(self, place: Place) -> Contents:
        """Return the columns and the number of rows."""
        with opened(place.path, place.timeout) as database:
            return database.contents(_table_name(place, database.names()), place.options)

    def read(self, place: Place, part: int, rows: int, contents: Contents) -> Iterator[pa.Table]:  # noqa: ARG002
        """Yield the rows of the table."""
        with opened(place.path, place.timeout) as database:
            yield from database.read(_table_name(place, database.names()), rows, contents)


@contextmanager
def opened(path: Path, timeout: float | None = None) -> Iterator[SqliteDatabase | DuckdbDatabase]:
    """Open a database for reading; a query may take at most ``timeout`` seconds."""
    database = (SqliteDatabase if is_sqlite(path) else DuckdbDatabase)(path, timeout)
    try:
        yield database
    except TimeoutError as error:
        raise TimeoutError(
            f"a query of {str(path)!r} took longer than {timeout:g} s; raise timeout= or check its views"
        ) from error
    finally:
        database.connection.close()


def is_sqlite(path: Path) -> bool:
    """Whether a database is SQLite's; else it is DuckDB's."""
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def read_tables(path: Path, each: Callable[[list[str]], Iterable[str]] = iter) -> dict[str, pa.Table]:
    """Return all tables of a database by name; ``each`` iterates over the names."""
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


class _Database:
    """An open database.

    Queries run in another thread, because SQLite never handles Ctrl-C and DuckDB sometimes misses it. The
    calling thread waits and interrupts the query.
    """

    connection: Any

    def __init__(self, timeout: float | None) -> None:
        self.timeout = timeout

    def run(self, query: Callable[[], T]) -> T:
        """Return the result of a query; interrupt it on Ctrl-C or after the timeout."""
        results: list[T] = []
        errors: list[BaseException] = []

        def call() -> None:
            try:
                results.append(query())
            except BaseException as error:  # noqa: BLE001, raised again by the waiting thread
                errors.append(error)
            finally:
                done.set()

        done = threading.Event()
        thread = threading.Thread(target=call, daemon=True)
        try:
            thread.start()
            if not done.wait(self.timeout):
                raise TimeoutError
        finally:  # not join: after Ctrl-C in join, Python considers a running thread stopped
            while thread.ident is not None and not done.is_set():
                self.connection.interrupt()  # repeated, because it has no effect between two queries
                done.wait(0.05)
        if errors:
            raise errors[0]
        return results[0]


class DuckdbDatabase(_Database):
    """An open DuckDB file."""

    def __init__(self, path: Path, timeout: float | None = None) -> None:
        import duckdb

        if "?" in str(path):
            raise ValueError(f"DuckDB reads what follows '?' in {str(path)!r} as options; rename the file")

        super().__init__(timeout)
        # Without external access, views cannot read other files by read_csv, read_text or glob.
        closed = {"enable_external_access": "false", "lock_configuration": "true"}
        self.connection = duckdb.connect(str(path), read_only=True, config=closed)

    def names(self) -> list[str]:
        """Return the names of the tables and views."""
        return [name for (name,) in self.connection.execute("SHOW TABLES").fetchall()]

    def contents(self, table: str, options: TextOptions) -> Contents:  # noqa: ARG002
        """Return the columns of a table and its number of rows."""
        relation = self.connection.table(quoted(table))
        schema = self.run(lambda: relation.limit(0).to_arrow_table().schema)
        return Contents(schema, (self.run(lambda: len(relation)),))

    def read(self, table: str, rows: int, contents: Contents) -> Iterator[pa.Table]:  # noqa: ARG002
        """Yield the rows of a table, at most ``rows`` at a time."""
        relation = self.connection.table(quoted(table))
        batches = iter(self.run(lambda: pa.RecordBatchReader.from_stream(relation)))
        while (batch := self.run(lambda: next(batches, None))) is not None:
            yield from slices_of(batch, rows)


class SqliteDatabase(_Database):
    """An open SQLite file, read by Python's sqlite3, because DuckDB would have to download an extension."""

    def __init__(self, path: Path, timeout: float | None = None) -> None:
        super().__init__(timeout)
        self.path = path
        # as_uri escapes '#' and '?', which have a meaning in URIs
        uri = f"{path.resolve().as_uri()}?mode=ro"
        self.connection = sqlite3.connect(uri, uri=True, check_same_thread=False)

    def names(self) -> list[str]:
        """Return the names of the tables and views."""
        query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
        return [name for (name,) in self.connection.execute(query + " ORDER BY rowid")]

    def contents(self, table: str, options: TextOptions) -> Contents:
        """Return the number of rows and the columns, whose types depend on all values."""
        names = [row[1] for row in self.connection.execute(f"PRAGMA table_info({quoted(table)})")]
        kinds = ", ".join(f"group_concat(DISTINCT typeof({quoted(name)}))" for name in names)
        query = f"SELECT count(*), {kinds} FROM {quoted(table)}"  # noqa: S608, quoted
        rows, *types = self.run(lambda: self.connection.execute(query).fetchone())
        stored = pa.schema(
            [(name, self._type(name, kinds or "null")) for name, kinds in zip(names, types, strict=True)]
        )
        texts = [field.name for field in stored if field.type == pa.string()]
        dialect = self._dates(table, texts, options)
        schema = dialect.in_forms(stored.empty_table()).schema
        mixed = [
            f"{name}: {MIXED}"
            for name, kinds in zip(names, types, strict=True)
            if name in texts and {"integer", "real"} & set(kinds.split(","))
        ]
        note = ", ".join(filter(None, [dialect.description(","), *mixed]))
        return Contents(schema.with_metadata({READ_AS: note}) if note else schema, (rows,), dialect)

    def _dates(self, table: str, texts: list[str], options: TextOptions) -> Dialect:
        """Find the columns that hold dates as text, because SQLite has no type for dates."""
        dialect = Dialect(missing=("",))
        guesses = {name: ColumnGuess(dialect.missing, options) for name in texts}
        for name, guess in guesses.items():
            cursor = self.connection.cursor()
            query = f"SELECT DISTINCT {_text(name)} FROM {quoted(table)}"  # noqa: S608, quoted
            self.run(partial(cursor.execute, query))
            while guess.forms != [] and (texts_of_rows := self.run(partial(cursor.fetchmany, _CELLS))):
                guess.add([text for (text,) in texts_of_rows])
        dates = {name: guess for name, guess in guesses.items() if guess.orders()}
        return dialect.with_forms(
            settle_all(dates, "."), {name: guess.words for name, guess in dates.items()}
        )

    def _type(self, name: str, types: str) -> pa.DataType:
        kinds = set(types.split(",")) - {"null"}
        known = {"integer": pa.int64(), "real": pa.float64(), "text": pa.string(), "blob": pa.binary()}
        if "text" in kinds and "blob" not in kinds:
            return pa.string()
        if len(kinds) > 1 and kinds != {"integer", "real"}:
            raise TypeError(f"column {name!r} of {str(self.path)!r} mixes types: {', '.join(sorted(kinds))}")
        return known[max(kinds)] if kinds else pa.null()  # "real" comes after "integer"

    def read(self, table: str, rows: int, contents: Contents) -> Iterator[pa.Table]:
        """Yield the rows of a table, at most ``rows`` at a time."""
        dates = dict(contents.dialect.forms)
        stored = pa.schema(
            [(field.name, pa.string() if field.name in dates else field.type) for field in contents.schema],
            metadata=contents.schema.metadata,
        )
        chosen = [
            _text(name) if kind == pa.string() else quoted(name)
            for name, kind in zip(stored.names, stored.types, strict=True)
        ]
        query = f"SELECT {', '.join(chosen)} FROM {quoted(table)}"  # noqa: S608, quoted
        cursor = self.run(lambda: self.connection.execute(query))
        while (part := self.run(lambda: _fetch(cursor, rows, stored))).num_rows:
            yield contents.dialect.in_forms(part)


def _fetch(cursor: sqlite3.Cursor, rows: int, schema: pa.Schema) -> pa.Table:
    """Return at most ``rows`` further rows; few at a time are Python objects, which is much faster."""
    parts = []
    while rows > 0 and (cells := cursor.fetchmany(min(rows, _CELLS))):
        columns = zip(zip(*cells, strict=True), schema.types, strict=True)
        parts.append(pa.record_batch([pa.array(column, dtype) for column, dtype in columns], schema=schema))
        rows -= len(cells)
    return pa.Table.from_batches(parts, schema).combine_chunks()


def _table_name(place: Place, tables: list[str]) -> str:
    path, table = place.path, place.table
    if not tables:
        raise ValueError(f"{str(path)!r} has no tables")
    if table is None and len(tables) == 1:
        table = tables[0]
    if table is None:
        raise ValueError(
            f"{str(path)!r} has the tables {tables}; choose one with table=... or '{path}::{tables[0]}'"
        )
    if table not in tables:
        raise ValueError(f"{str(path)!r} has no table {table!r}; it has {tables}")
    return table
