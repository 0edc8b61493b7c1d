"""Files of separated values: CSV, TSV and their relatives."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from crosscut.data.column_types import held_by, joined, settled
from crosscut.data.dialect import Dialect
from crosscut.data.file_kind import Contents, FileKind, NotUtf8Error, sliced

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
        with _explained(place, dialect):
            try:  # the types that pyarrow finds in the first block
                with self._open(place, dialect) as reader:
                    contents = Contents(reader.schema, (sum(batch.num_rows for batch in reader),))
            except pa.ArrowInvalid:  # a later block has values of other types
                contents = self._contents_of_blocks(place, dialect)
        _check_text(place, contents.schema)
        return contents

    def _contents_of_blocks(self, place: Place, dialect: Dialect) -> Contents:
        import pyarrow as pa

        with self._open(place, dialect) as reader:
            names = reader.schema.names
        types, rows = [pa.null()] * len(names), 0
        with self._open(place, dialect, pa.schema([(name, pa.string()) for name in names])) as reader:
            for batch in reader:
                rows += batch.num_rows
                found = _inferred(batch, dialect)
                types = [joined(a, b) for a, b in zip(types, found, strict=True)]
        return Contents(pa.schema(list(zip(names, map(settled, types), strict=True))), (rows,))

    def read(self, place: Place, part: int, rows: int, schema: pa.Schema) -> Iterator[pa.Table]:  # noqa: ARG002
        """Yield the rows of the file."""
        with self._open(place, self._dialect(place), schema) as reader:
            for batch in reader:
                yield from sliced(batch, rows)

    def whole(self, place: Place) -> pa.Table:
        """Read all rows; pyarrow finds the types, on all threads."""
        from pyarrow import csv

        dialect = self._dialect(place)
        parsing, converting = dialect.parsing(), dialect.converting()
        with _explained(place, dialect):
            table = csv.read_csv(str(place.path), parse_options=parsing, convert_options=converting)
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
def _explained(place: Place, dialect: Dialect) -> Iterator[None]:
    """Say in errors which separator was found, and what to do about other encodings."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowInvalid as error:
        if "UTF8" in str(error):
            raise NotUtf8Error(place) from error
        raise pa.ArrowInvalid(f"as values separated by {dialect.separator!r}: {error}") from error


def _inferred(batch: pa.RecordBatch, dialect: Dialect) -> list[pa.DataType]:
    """Let pyarrow find the types of values that were read as text, by writing and reading them again."""
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
        if dtype == pa.int64() and set(pc.min_max(table.column(c)).as_py().values()) <= {0, 1}:
            types[c] = pa.uint8()
    return types


def _check_text(place: Place, schema: pa.Schema) -> None:
    for c, dtype in enumerate(schema.types):
        if held_by(dtype) == "binary":
            raise NotUtf8Error(place, f"column {schema.field(c).name!r} is")
