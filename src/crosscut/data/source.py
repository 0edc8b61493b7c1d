"""Batches of rows from files: one file, several, a folder or a pattern."""

from __future__ import annotations

import glob
import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crosscut.data.column_types import check_same, held_by, unified
from crosscut.data.file_kind import Place
from crosscut.data.files import DATABASES, READ, contents_of, ending_of, existing_place, readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

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
    r"""The rows of some files, as if they stood in one table; rows are numbered in the order of the files.

    Parameters
    ----------
    paths : path, or iterable of paths
        Files, folders, or patterns such as ``data/*.parquet``. Files of a folder or pattern are taken in the
        order of their names.
    batch_rows : int
        Most rows of a frame that is read at once.
    options : TextOptions
        How text files are read, where that is not to be found out.

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
            raise ValueError(f"there are no rows in {self._name()}")

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
                f"{str(place)!r} gave {row - piece.first_row} rows where it had {piece.n_rows} "
                "before: the file has changed"
            )

    def identity(self) -> str:
        """Return a hash of paths, sizes, times of change and how text is read."""
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
        """Return the types that hold the values of all files; refuse files whose columns differ."""
        joined: pa.Schema | None = None
        for name, contents in self._contents.items():
            if joined is None:
                joined = contents.schema
                continue
            known, found = ({f.name: held_by(f.type) for f in s} for s in (joined, contents.schema))
            check_same(known, found, repr(name))
            joined = unified(joined, contents.schema)
        return joined

    def _name(self) -> str:
        more = f" and {len(self.places) - 1} more" if len(self.places) > 1 else ""
        return repr(str(self.places[0])) + more


def _places(paths: Any) -> list[Place]:
    given = [paths] if isinstance(paths, str) or hasattr(paths, "__fspath__") else list(paths)
    places: list[Place] = []
    for path in given:
        if Path(path).is_dir():
            found = [file for file in sorted(Path(path).iterdir()) if ending_of(file) not in {"", *DATABASES}]
            if not found:
                raise FileNotFoundError(
                    f"the folder {str(path)!r} has no file of a kind that is read: {READ}"
                )
        elif glob.has_magic(str(path)):
            found = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207, takes ** and absolute patterns
            if not found:
                raise FileNotFoundError(f"no file matches {str(path)!r}")
        else:
            places.append(existing_place(path))
            continue
        places += [Place(file) for file in found]
    if not places:
        raise ValueError("no files were given")
    return places
