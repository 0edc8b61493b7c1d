"""Files of separated values: CSV, TSV and their relatives."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from crosscut.data.column_types import joined, settled
from crosscut.data.dialect import Dialect, text_stream
from crosscut.data.file_kind import Contents, FileKind, sliced

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from crosscut.data.file_kind import Place

BLOCK = 1 << 24  # bytes read at once


class TextFile(FileKind):
    """A file of separated values; it has one part, since rows can only be found by reading."""

    def __init__(self, separator: str) -> None:
        self.separator = separator

    def contents(self, place: Place) -> Contents:
        """Read the file once: a column's type depends on all of its values, as when it is read whole."""
        import pyarrow as pa

        dialect = self._dialect(place)
        with _separated(dialect), self._open(place, dialect) as reader:
            names = _names(place, reader)
        raw = pa.schema([(name, pa.binary()) for name in names])
        types, rows = [pa.null()] * len(names), 0
        with _separated(dialect), self._open(place, dialect, raw) as reader:
            for batch in reader:
                rows += batch.num_rows
                found = _inferred(batch, dialect)
                types = [joined(a, b) for a, b in zip(types, found, strict=True)]
        schema = pa.schema(list(zip(names, map(settled, types), strict=True)))
        _check_text(place, schema)
        return Contents(schema, (rows,))

    def read(self, place: Place, part: int, rows: int, schema: pa.Schema) -> Iterator[pa.Table]:  # noqa: ARG002
        """Yield the rows of the file."""
        with self._open(place, self._dialect(place), schema) as reader:
            for batch in reader:
                yield from sliced(batch, rows)

    def whole(self, place: Place) -> pa.Table:
        """Read all rows; pyarrow finds the types, on all threads."""
        from pyarrow import csv

        dialect = self._dialect(place)
        with _separated(dialect), text_stream(place.path) as stream:
            table = csv.read_csv(
                stream, parse_options=dialect.parsing(), convert_options=dialect.converting()
            )
        _names(place, table)
        _check_text(place, table.schema)
        return table

    def _dialect(self, place: Place) -> Dialect:
        return Dialect.of(place.path, self.separator)

    @staticmethod
    def _open(place: Place, dialect: Dialect, types: pa.Schema | None = None) -> Any:
        from pyarrow import csv

        return csv.open_csv(
            str(place.path),
            read_options=csv.ReadOptions(block_size=BLOCK),
            parse_options=dialect.parsing(),
            convert_options=dialect.converting(types),
        )


@contextmanager
def _separated(dialect: Dialect) -> Iterator[None]:
    """Say in errors which separator was found."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowInvalid as error:
        raise pa.ArrowInvalid(f"as values separated by {dialect.separator!r}: {error}") from error


def _inferred(batch: pa.RecordBatch, dialect: Dialect) -> list[pa.DataType]:
    """Let pyarrow find the types of values that were read as bytes, by writing and reading them again."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    sink = pa.BufferOutputStream()
    csv.write_csv(batch, sink)
    own = Dialect(missing=dialect.missing)
    table = csv.read_csv(
        pa.BufferReader(sink.getvalue()), parse_options=own.parsing(), convert_options=own.converting()
    )
    types = list(table.schema.types)
    for c, dtype in enumerate(types):
        if dtype == pa.int64() and pc.min_max(table.column(c)).as_py() in (
            {"min": low, "max": high} for low, high in ((0, 0), (0, 1), (1, 1))
        ):
            types[c] = pa.uint8()
    return types


def _names(place: Place, table: Any) -> list[str]:
    try:
        names: list[str] = table.schema.names
    except UnicodeDecodeError as error:
        raise ValueError(f"{place}: the names of the columns are not UTF-8 text; {_CONVERT}") from error
    return names


def _check_text(place: Place, schema: pa.Schema) -> None:
    import pyarrow as pa

    for field in schema:
        if pa.types.is_binary(field.type):
            raise ValueError(f"{place}: column {field.name!r} is not UTF-8 text; {_CONVERT}")


_CONVERT = "convert the file, for example with iconv -f latin1 -t utf-8"
