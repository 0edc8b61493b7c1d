"""The kinds of files that are read in batches: which parts each has, and how a part is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

_CSV_BLOCK = 1 << 24


class FileKind(Protocol):
    """A kind of file; ``keep`` names the columns whose type stays what the file says."""

    def columns(self, file: str, keep: frozenset[str]) -> dict[str, str]:
        """Kind of value of each column."""

    def parts(self, file: str, keep: frozenset[str]) -> list[int]:
        """Rows of each part."""

    def read(self, file: str, part: int, rows: int, keep: frozenset[str]) -> Iterator[pa.Table]:
        """Yield the rows of a part, so many at a time."""


class ParquetFile:
    """A Parquet file; its parts are row groups."""

    def columns(self, file: str, keep: frozenset[str]) -> dict[str, str]:  # noqa: ARG002
        """Kind of value of each column."""
        from pyarrow import parquet

        return _kinds(parquet.read_schema(file))

    def parts(self, file: str, keep: frozenset[str]) -> list[int]:  # noqa: ARG002
        """Rows of each row group."""
        from pyarrow import parquet

        metadata = parquet.read_metadata(file)
        return [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]

    def read(self, file: str, part: int, rows: int, keep: frozenset[str]) -> Iterator[pa.Table]:  # noqa: ARG002
        """Yield the rows of a row group."""
        import pyarrow as pa
        from pyarrow import parquet

        with parquet.ParquetFile(file, page_checksum_verification=True) as opened:
            for batch in opened.iter_batches(batch_size=rows, row_groups=[part]):
                yield pa.Table.from_batches([batch])


class ArrowFile:
    """An Arrow IPC (Feather) file; its parts are record batches."""

    def columns(self, file: str, keep: frozenset[str]) -> dict[str, str]:  # noqa: ARG002
        """Kind of value of each column."""
        import pyarrow as pa

        with pa.OSFile(file) as raw, pa.ipc.open_file(raw) as opened:
            return _kinds(opened.schema)

    def parts(self, file: str, keep: frozenset[str]) -> list[int]:  # noqa: ARG002
        """Rows of each record batch."""
        import pyarrow as pa

        with pa.memory_map(file) as raw, pa.ipc.open_file(raw) as opened:
            return [opened.get_batch(i).num_rows for i in range(opened.num_record_batches)]

    def read(self, file: str, part: int, rows: int, keep: frozenset[str]) -> Iterator[pa.Table]:  # noqa: ARG002
        """Yield the rows of a record batch."""
        import pyarrow as pa

        with pa.OSFile(file) as raw, pa.ipc.open_file(raw) as opened:
            table = pa.Table.from_batches([opened.get_batch(part)])
            for begin in range(0, table.num_rows, rows):
                yield table.slice(begin, rows)


class CsvFile:
    """A file of separated values; it has one part, since rows can only be found by reading."""

    def __init__(self, delimiter: str) -> None:
        self.delimiter = delimiter

    def columns(self, file: str, keep: frozenset[str]) -> dict[str, str]:
        """Kind of value of each column."""
        with self._open(file, None) as reader:
            return _kinds(self._types(reader.schema, keep))

    def parts(self, file: str, keep: frozenset[str]) -> list[int]:  # noqa: ARG002
        """Count the rows."""
        with self._open(file, None) as reader:
            first = reader.schema.names[0]
        with self._open(file, None, [first]) as reader:
            return [sum(batch.num_rows for batch in reader)]

    def read(self, file: str, part: int, rows: int, keep: frozenset[str]) -> Iterator[pa.Table]:  # noqa: ARG002
        """Yield the rows of the file."""
        import pyarrow as pa

        with self._open(file, None) as reader:
            types = self._types(reader.schema, keep)
        with self._open(file, types) as reader:
            for batch in reader:
                table = pa.Table.from_batches([batch])
                for begin in range(0, table.num_rows, rows):
                    yield table.slice(begin, rows)

    def _types(self, schema: pa.Schema, keep: frozenset[str]) -> pa.Schema:
        import pyarrow as pa

        number = [pa.types.is_integer(f.type) or pa.types.is_null(f.type) for f in schema]
        return pa.schema(
            [
                pa.field(f.name, pa.float64()) if whole and f.name not in keep else f
                for f, whole in zip(schema, number, strict=True)
            ]
        )

    def _open(self, file: str, types: pa.Schema | None, only: list[str] | None = None) -> Any:
        from pyarrow import csv

        options = csv.ConvertOptions()
        options = csv.ConvertOptions(
            null_values=[*options.null_values, "?"],
            strings_can_be_null=True,
            column_types=types,
            include_columns=only,
        )
        return csv.open_csv(
            file,
            read_options=csv.ReadOptions(block_size=_CSV_BLOCK),
            parse_options=csv.ParseOptions(delimiter=self.delimiter),
            convert_options=options,
        )


ENDINGS: dict[str, FileKind] = {
    ".parquet": ParquetFile(),
    ".pq": ParquetFile(),
    ".arrow": ArrowFile(),
    ".feather": ArrowFile(),
    ".ipc": ArrowFile(),
    ".csv": CsvFile(","),
    ".tsv": CsvFile("\t"),
    ".tab": CsvFile("\t"),
}


def kind_of(path: Path, *, refuse: bool = True) -> Any:
    """Return the kind of file that the ending of a name says."""
    endings = [ending.lower() for ending in path.suffixes]
    ending = endings[-2] if len(endings) > 1 and endings[-1] in {".gz", ".bz2"} else (endings or [""])[-1]
    if ending not in ENDINGS and refuse:
        raise ValueError(
            f"{str(path)!r} ends in {ending!r}; these kinds of files are read in batches: "
            f"{', '.join(ENDINGS)}"
        )
    return ENDINGS.get(ending)


def _kinds(schema: pa.Schema) -> dict[str, str]:
    """Return what kind of values each column holds; numbers of all sizes are alike."""
    import pyarrow as pa

    def kind(dtype: pa.DataType) -> str:
        if pa.types.is_dictionary(dtype):
            return "text"
        if pa.types.is_boolean(dtype):
            return "true or false"
        if pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype):
            return "numbers"
        if pa.types.is_date(dtype) or pa.types.is_timestamp(dtype):
            return "dates"
        text = pa.types.is_string(dtype) or pa.types.is_large_string(dtype) or pa.types.is_string_view(dtype)
        return "text" if text else str(dtype)

    return {field.name: kind(field.type) for field in schema}
