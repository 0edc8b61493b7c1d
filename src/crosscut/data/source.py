"""Read batches of rows from one file, several files, a folder or a pattern."""

from __future__ import annotations

import glob
import hashlib
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crosscut.data.column_types import check_same, kind_of_values, schema_for_both
from crosscut.data.file_kind import Place
from crosscut.data.files import NOT_IN_FOLDERS, READ, contents_of, ending_of, existing_place, readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from crosscut.data.text.dialect import TextOptions

BATCH_ROWS = 1 << 18


@dataclass(frozen=True)
class Piece:
    """Rows that are read together: a row group, a record batch, or a whole file."""

    number: int
    place: Place
    part: int  # within the file
    first_row: int
    n_rows: int


class Source:
    r"""The rows of several files as one table; rows are numbered in the order of the files.

    Parameters
    ----------
    paths : path, or iterable of paths
        Files, folders, or patterns such as ``data/*.parquet``, whose files are sorted by name.
    batch_rows : int
        Maximum rows of a batch.
    options : TextOptions
        How to read text files; options that are None are detected.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name in "ab":
    ...         _ = Path(folder, f"{name}.csv").write_text("age,plan\n30,x\n40,y\n")
    ...     source = Source(f"{folder}/*.csv")
    ...     [(piece.first_row, piece.n_rows) for piece in source.pieces], source.n_rows
    ([(0, 2), (2, 2)], 4)
    """

    def __init__(
        self,
        paths: str | PathLike[str] | Iterable[str | PathLike[str]],
        *,
        batch_rows: int = BATCH_ROWS,
        options: TextOptions | None = None,
    ) -> None:
        self.places = [replace(place, options=options or place.options) for place in _places(paths)]
        self.batch_rows = batch_rows
        self._contents = {str(place): contents_of(place) for place in self.places}
        self.schema = self._joined_schema()
        self.pieces = tuple(self._pieces())
        if not self.n_rows:
            raise ValueError(f"{self._name()} has no rows")

    @property
    def n_rows(self) -> int:
        """Number of rows of all files."""
        return self.pieces[-1].first_row + self.pieces[-1].n_rows

    def read(self, piece: Piece) -> Iterator[tuple[int, Any]]:
        """Yield (number of the first row, Arrow table) of a piece, batch after batch."""
        row, place = piece.first_row, piece.place
        contents = self._contents[str(place)]
        with readable(place) as kind:
            for table in kind.read(place, piece.part, self.batch_rows, contents):
                if table.num_rows:
                    yield (
                        row,
                        table if contents.schema == self.schema else table.cast(self.schema, safe=False),
                    )
                row += table.num_rows
        if row != piece.first_row + piece.n_rows:
            raise ValueError(
                f"{str(place)!r} has changed: it had {piece.n_rows} rows and now has "
                f"{row - piece.first_row}; fit again"
            )

    def identity(self) -> str:
        """Return a hash of paths, tables, text options, sizes and modification times."""
        stats = [(place, place.path.stat()) for place in self.places]
        state = [
            (str(p.path.resolve()), p.table, p.options, stat.st_size, stat.st_mtime_ns) for p, stat in stats
        ]
        return hashlib.sha256(repr(state).encode()).hexdigest()

    def _pieces(self) -> Iterator[Piece]:
        number = row = 0
        for place in self.places:
            for part, n_rows in enumerate(self._contents[str(place)].parts):
                yield Piece(number, place, part, row, n_rows)
                number, row = number + 1, row + n_rows

    def _joined_schema(self) -> pa.Schema:
        """Return types that can hold the values of all files; raise if columns differ."""
        joined: pa.Schema | None = None
        for name, contents in self._contents.items():
            if joined is None:
                joined = contents.schema
                continue
            known, other = ({f.name: kind_of_values(f.type) for f in s} for s in (joined, contents.schema))
            check_same(known, other, repr(name))
            joined = schema_for_both(joined, contents.schema)
        return joined

    def _name(self) -> str:
        more = f" and {len(self.places) - 1} more" if len(self.places) > 1 else ""
        return repr(str(self.places[0])) + more


def _places(paths: str | PathLike[str] | Iterable[str | PathLike[str]]) -> list[Place]:
    several = [paths] if isinstance(paths, (str, PathLike)) else list(paths)
    places: list[Place] = []
    for path in several:
        if Path(path).is_dir():
            files = [
                file for file in sorted(Path(path).iterdir()) if ending_of(file) not in {"", *NOT_IN_FOLDERS}
            ]
            if not files:
                raise FileNotFoundError(
                    f"the folder {str(path)!r} has no file with a supported ending: {READ}"
                )
        elif glob.has_magic(str(path)):
            files = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207, takes ** and absolute patterns
            if not files:
                raise FileNotFoundError(f"no file matches {str(path)!r}")
        else:
            places.append(existing_place(path))
            continue
        places += [Place(file) for file in files]
    if not places:
        raise ValueError("no files: paths is empty")
    return places
