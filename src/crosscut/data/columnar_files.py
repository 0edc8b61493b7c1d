"""Read Parquet and Arrow files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import parquet

from crosscut.data.file_kind import Contents, FileKind, slices_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosscut.data.file_kind import Place


class ParquetFile(FileKind):
    """A Parquet file; its parts are row groups."""

    def contents(self, place: Place) -> Contents:
        """Return the columns and the row groups."""
        with parquet.ParquetFile(place.path) as opened:
            groups = (opened.metadata.row_group(i) for i in range(opened.num_row_groups))
            return Contents(opened.schema_arrow, tuple(group.num_rows for group in groups))

    def read(self, place: Place, part: int, rows: int, contents: Contents) -> Iterator[pa.Table]:  # noqa: ARG002
        """Yield the rows of a row group."""
        with parquet.ParquetFile(place.path, page_checksum_verification=True) as opened:
            for batch in opened.iter_batches(batch_size=rows, row_groups=[part]):
                yield pa.Table.from_batches([batch])


class ArrowFile(FileKind):
    """An Arrow IPC (Feather) file; its parts are record batches."""

    def contents(self, place: Place) -> Contents:
        """Return the columns and the record batches."""
        with pa.memory_map(str(place.path)) as raw, pa.ipc.open_file(raw) as opened:
            batches = (opened.get_batch(i) for i in range(opened.num_record_batches))
            return Contents(opened.schema, tuple(batch.num_rows for batch in batches))

    def read(self, place: Place, part: int, rows: int, contents: Contents) -> Iterator[pa.Table]:  # noqa: ARG002
        """Yield the rows of a record batch."""
        with pa.OSFile(str(place.path)) as raw, pa.ipc.open_file(raw) as opened:
            batch = opened.get_batch(part)
            batch.validate(full=True)  # damaged offsets point outside of the file
            yield from slices_of(batch, rows)
