"""Interface of all file kinds: list columns and parts, and read a part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from crosscut.data.memory import READ_LESS, check_memory
from crosscut.data.text.dialect import Dialect, TextOptions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Place:
    """A file, or a table of a database."""

    path: Path
    table: str | None = None
    options: TextOptions = field(default_factory=TextOptions)
    timeout: float | None = None  # limit of a database query in seconds
    shown: str = ""  # of the file that this one is a copy of

    def __str__(self) -> str:
        return self.shown or str(self.path) if self.table is None else f"{self.path}::{self.table}"


def check_file(path: Path) -> None:
    """Raise unless the path is a regular file: pipes and devices may never end."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    if not path.is_file():
        kind = "a folder" if path.is_dir() else "a pipe or a device"
        raise ValueError(f"{str(path)!r} is {kind}, not a file")


class EncodingError(ValueError):
    """A file has another encoding than assumed."""

    def __init__(self, place: Place, encoding: str = "utf-8", what: str = "its text is") -> None:
        super().__init__(f"{place}: {what} not {encoding.upper()}; specify the encoding with encoding=...")


def check_names(place: Place, schema: pa.Schema) -> None:
    """Raise if a column name is used more than once."""
    try:
        names = schema.names
    except UnicodeDecodeError as error:
        raise EncodingError(place, what="the names of the columns are") from error
    repeated = [name for name, n in Counter(names).items() if n > 1]
    if repeated:
        raise ValueError(f"{place}: the column name {min(repeated)!r} is used more than once")


class Contents(NamedTuple):
    """Columns and parts of a file, and how its text is read."""

    schema: pa.Schema
    parts: tuple[int, ...]  # rows of each part
    dialect: Dialect = Dialect()  # how text is converted to values


class FileKind(ABC):
    """A kind of file; a column has the same type whether the file is read whole or in parts."""

    @abstractmethod
    def contents(self, place: Place) -> Contents:
        """Return the columns with their types, and the parts."""

    @abstractmethod
    def read(self, place: Place, part: int, rows: int, contents: Contents) -> Iterator[pa.Table]:
        """Yield the rows of a part, at most ``rows`` at a time."""

    def whole(self, place: Place) -> pa.Table:
        """Return all rows."""
        contents = self.contents(place)
        needed = sum(contents.parts) * sum(map(_least_bytes, contents.schema.types))
        check_memory(needed, repr(str(place)), READ_LESS)
        tables = [
            table
            for part, rows in enumerate(contents.parts)
            for table in self.read(place, part, max(rows, 1), contents)
        ]
        return pa.concat_tables(tables) if tables else contents.schema.empty_table()


def _least_bytes(dtype: pa.DataType) -> int:
    """Return the least bytes of a value; for variable lengths, the bytes of its offset."""
    try:
        return int(dtype.bit_width) // 8
    except ValueError:
        return 4


def slices_of(batch: pa.RecordBatch, rows: int) -> Iterator[pa.Table]:
    """Yield the rows of a batch, at most ``rows`` at a time."""
    table = pa.Table.from_batches([batch])
    for begin in range(0, table.num_rows, rows):
        yield table.slice(begin, rows)
