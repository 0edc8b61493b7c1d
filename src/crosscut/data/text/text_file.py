"""Read files of separated values: CSV, TSV and similar."""

from __future__ import annotations

import io
from contextlib import contextmanager, suppress
from csv import Error as CsvError
from csv import reader
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from crosscut.data.column_types import common_type, final_type, kind_of_values
from crosscut.data.file_kind import Contents, EncodingError, FileKind, check_names, slices_of
from crosscut.data.memory import check_memory
from crosscut.data.text.column_guess import ColumnGuess, settle_all
from crosscut.data.text.detection import detect, one_byte_encoding
from crosscut.data.text.dialect import READ_AS, Dialect, check_unpacked, text_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crosscut.data.file_kind import Place

Read = TypeVar("Read")
BLOCK = 1 << 24  # bytes read at once
COLUMNS = 5000  # read at once, because pyarrow takes about 10 kB for each


class TextFile(FileKind):
    """A file of separated values; it has one part, because row positions are unknown before reading."""

    def __init__(self, separator: str) -> None:
        self.separator = separator

    def contents(self, place: Place) -> Contents:
        """Return columns and rows; reads the whole file, because types depend on all values."""
        return self._in_encoding(place, lambda dialect: self._contents(place, dialect))

    def read(self, place: Place, part: int, rows: int, contents: Contents) -> Iterator[pa.Table]:  # noqa: ARG002
        """Yield the rows of the file."""
        dialect = contents.dialect
        forms = dict(dialect.forms)
        types = pa.schema(
            [pa.field(f.name, pa.string() if f.name in forms else f.type) for f in contents.schema]
        )
        with _open(place, dialect, types) as reader:
            for batch in reader:
                for table in slices_of(batch, rows):
                    yield dialect.in_forms(table)

    def whole(self, place: Place) -> pa.Table:
        """Read all rows; pyarrow infers the types, on all threads."""
        return self._in_encoding(place, lambda dialect: self._whole(place, dialect))

    def _whole(self, place: Place, dialect: Dialect) -> pa.Table:
        check_memory(
            3 * place.path.stat().st_size, repr(str(place)), "fit a Stream, which reads it in batches"
        )
        if place.path.suffix in {".gz", ".bz2"}:
            check_unpacked(place.path)
        with _naming_separator(place, dialect), dialect.opened(place.path) as source:
            table = _table(source, dialect)
        _check_text(place, table.schema, dialect)
        guesses = _guesses(table.schema, place, dialect)
        for name, guess in guesses.items():
            guess.add(pc.unique(table[name]).to_pylist())
        dialect = _with_forms(place, dialect, guesses)
        return self._with_description(place, dialect.in_forms(table), dialect)

    def _contents(self, place: Place, dialect: Dialect) -> Contents:
        with _naming_separator(place, dialect):
            try:  # use the types that pyarrow infers from the first block
                contents, guesses = self._first_types(place, dialect)
            except pa.ArrowInvalid:  # a later block has values of other types
                contents, guesses = self._types_of_blocks(place, dialect)
        _check_text(place, contents.schema, dialect)
        dialect = _with_forms(place, dialect, guesses)
        empty = dialect.in_forms(contents.schema.empty_table())
        return Contents(self._with_description(place, empty, dialect).schema, contents.parts, dialect)

    def _first_types(self, place: Place, dialect: Dialect) -> tuple[Contents, dict[str, ColumnGuess]]:
        with _open(place, dialect) as reader:
            guesses, rows = _guesses(reader.schema, place, dialect), 0
            for batch in reader:
                rows += batch.num_rows
                for name, guess in guesses.items():
                    guess.add(batch.column(name).unique().to_pylist())
            return Contents(reader.schema, (rows,)), guesses

    def _types_of_blocks(self, place: Place, dialect: Dialect) -> tuple[Contents, dict[str, ColumnGuess]]:
        with _open(place, dialect) as reader:
            names = reader.schema.names
        texts = pa.schema([(name, pa.string()) for name in names])
        guesses, rows = _guesses(texts, place, dialect), 0
        types = [pa.null()] * len(names)
        with _open(place, dialect, texts) as reader:
            for batch in reader:
                rows += batch.num_rows
                types = [common_type(a, b) for a, b in zip(types, _inferred(batch, dialect), strict=True)]
                for name, guess in guesses.items():
                    guess.add(batch.column(name).unique().to_pylist())
        schema = pa.schema(list(zip(names, map(final_type, types), strict=True)))
        texts_left = [name for name, dtype in zip(names, schema.types, strict=True) if dtype == pa.string()]
        return Contents(schema, (rows,)), {name: guesses[name] for name in texts_left}

    def _in_encoding(self, place: Place, read: Callable[[Dialect], Read]) -> Read:
        """Read in the detected encoding; if later lines are not UTF-8, retry with a one-byte encoding."""
        dialect = detect(place.path, self.separator, place.options)
        try:
            return read(dialect)
        except (EncodingError, UnicodeDecodeError):
            if place.options.encoding is not None or dialect.encoding != "utf-8":
                raise
            with text_stream(place.path) as stream:
                encoding = one_byte_encoding(stream.read())
            return read(replace(dialect, encoding=encoding))

    def _with_description(self, place: Place, table: pa.Table, dialect: Dialect) -> pa.Table:
        note, dates = dialect.description(self.separator), place.options.dates
        if dates not in {None, "none"} and not any(map(pa.types.is_temporal, table.schema.types)):
            note += f"{', ' * bool(note)}no column matches dates={dates!r}"
        return table.replace_schema_metadata({READ_AS: note} if note else None)


def _table(source: str, dialect: Dialect) -> pa.Table:
    names, wide = dialect.names, len(dialect.names) > COLUMNS
    groups = [names[at : at + COLUMNS] for at in range(0, len(names), COLUMNS)] if wide else [()]
    tables = [
        csv.read_csv(
            source,
            read_options=dialect.reading(BLOCK if wide else None),
            parse_options=dialect.parsing(),
            convert_options=dialect.converting(columns=group),
        )
        for group in groups
    ]
    return pa.table([column for table in tables for column in table.columns], names) if wide else tables[0]


@contextmanager
def _open(place: Place, dialect: Dialect, types: pa.Schema | None = None) -> Iterator[Any]:
    with (
        dialect.opened(place.path) as source,
        csv.open_csv(
            source,
            read_options=dialect.reading(BLOCK),
            parse_options=dialect.parsing(),
            convert_options=dialect.converting(types),
        ) as reader,
    ):
        yield reader


def _guesses(schema: pa.Schema, place: Place, dialect: Dialect) -> dict[str, ColumnGuess]:
    """Return a guess without values for every text column."""
    check_names(place, schema)
    texts = [field.name for field in schema if field.type == pa.string()]
    return {name: ColumnGuess(dialect.missing, place.options) for name in texts}


def _with_forms(place: Place, dialect: Dialect, guesses: dict[str, ColumnGuess]) -> Dialect:
    try:
        forms = settle_all(guesses, dialect.decimal)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    return dialect.with_forms(forms, {name: guess.words for name, guess in guesses.items()})


@contextmanager
def _naming_separator(place: Place, dialect: Dialect) -> Iterator[None]:
    """Add the separator to errors, and the remedy for other encodings."""
    try:
        yield
    except pa.ArrowInvalid as error:
        if "UTF8" in str(error):
            raise EncodingError(place, dialect.encoding) from error
        if "straddling" in str(error):
            raise ValueError(
                f"{place}: a row is longer than 1 MB; shorten its text or remove the column"
            ) from error
        ragged = None if dialect.loose else _first_ragged(place, dialect)
        if ragged is not None:
            line, n_values = ragged
            raise ValueError(
                f"{str(place)!r}: line {line} has {n_values} value{'s' * (n_values != 1)}, expected "
                f"{len(dialect.names)} (separated by {dialect.separator!r}); put values that contain "
                f"{dialect.separator!r} into quotes, or set separator=..."
            ) from error
        raise pa.ArrowInvalid(f"as values separated by {dialect.separator!r}: {error}") from error


def _first_ragged(place: Place, dialect: Dialect) -> tuple[int, int] | None:
    """Return the first line with another number of values than the header, and that number."""
    with text_stream(place.path) as stream:
        text = io.TextIOWrapper(stream, encoding=dialect.encoding, errors="replace", newline="")
        rows = reader(text, delimiter=dialect.separator, quotechar=dialect.quote)
        with suppress(CsvError):  # a cell exceeds the size limit of csv
            for k, row in enumerate(rows):
                if row and k >= dialect.skip and len(row) != len(dialect.names):
                    return rows.line_num, len(row)
    return None


def _inferred(batch: pa.RecordBatch, dialect: Dialect) -> list[pa.DataType]:
    """Return the types that pyarrow infers for values read as text, by writing and reading them again."""
    sink = pa.BufferOutputStream()
    csv.write_csv(batch, sink)
    plain = Dialect(missing=dialect.missing, decimal=dialect.decimal)
    table = csv.read_csv(
        pa.BufferReader(sink.getvalue()), parse_options=plain.parsing(), convert_options=plain.converting()
    )
    types = list(table.schema.types)
    for c, dtype in enumerate(types):
        if dtype == pa.int64() and set(pc.min_max(table.column(c)).as_py().values()) <= {0, 1}:
            types[c] = pa.uint8()
    return types


def _check_text(place: Place, schema: pa.Schema, dialect: Dialect) -> None:
    for c, dtype in enumerate(schema.types):
        if kind_of_values(dtype) == "binary":
            raise EncodingError(place, dialect.encoding, f"column {schema.field(c).name!r} is")
