"""Batches of rows from files: Parquet, Arrow and CSV, one file, a folder or a pattern."""

from __future__ import annotations

import glob
import hashlib
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crosscut.data.file_kinds import ENDINGS, FileKind, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

BATCH_ROWS = 1 << 18


@dataclass(frozen=True)
class Piece:
    """Rows that are read together: a row group, a record batch, or a whole file."""

    number: int
    file: str
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
    keep : names of columns that are read as they are; whole numbers of other columns in CSV files are read as
        floats, so that a later "1.5" is no surprise
    batch_rows : int
        Most rows of a frame that is read at once.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name in "ab":
    ...         _ = Path(folder, f"{name}.csv").write_text("age,plan\n30,x\n40,y\n")
    ...     source = Source(f"{folder}/*.csv", keep=["plan"])
    ...     [(piece.first_row, piece.n_rows) for piece in source.pieces], source.n_rows
    ([(0, 2), (2, 2)], 4)
    """

    def __init__(
        self,
        paths: str | PathLike[str] | Iterable[str | PathLike[str]],
        *,
        keep: Iterable[str] = (),
        batch_rows: int = BATCH_ROWS,
    ) -> None:
        if find_spec("pyarrow") is None:
            raise ImportError("reading files in batches needs pyarrow: pip install 'crosscut[files]'")
        self.files = _files(paths)
        self.keep = frozenset(keep)
        self.batch_rows = batch_rows
        self._kinds = {str(file): kind_of(file) for file in self.files}
        self._check_schemas()
        self.pieces = tuple(self._pieces())
        if not self.n_rows:
            raise ValueError(f"there are no rows in {self._name()}")

    @property
    def n_rows(self) -> int:
        """Number of rows of all files."""
        return self.pieces[-1].first_row + self.pieces[-1].n_rows

    def read(self, piece: Piece) -> Iterator[tuple[int, Any]]:
        """Yield (number of the first row, Arrow table) of a piece, batch after batch."""
        row = piece.first_row
        with _clear(piece.file):
            for table in self._kinds[piece.file].read(piece.file, piece.part, self.batch_rows, self.keep):
                if table.num_rows:
                    yield row, table
                row += table.num_rows
        if row != piece.first_row + piece.n_rows:
            raise ValueError(
                f"{piece.file!r} gave {row - piece.first_row} rows where it had {piece.n_rows} "
                "before: the file has changed"
            )

    def identity(self) -> str:
        """Return a hash that changes when a file does: of paths, sizes and times of change."""
        state = [(str(f.resolve()), f.stat().st_size, f.stat().st_mtime_ns) for f in self.files]
        return hashlib.sha256(repr(state).encode()).hexdigest()

    def _pieces(self) -> Iterator[Piece]:
        number = row = 0
        for file in self.files:
            name = str(file)
            with _clear(name):
                parts = self._kinds[name].parts(name, self.keep)
            for part, n_rows in enumerate(parts):
                yield Piece(number, name, part, row, n_rows)
                number, row = number + 1, row + n_rows

    def _check_schemas(self) -> None:
        """Refuse files whose columns differ, before anything is read."""
        first: dict[str, str] | None = None
        for file in self.files:
            with _clear(str(file)):
                found = self._kinds[str(file)].columns(str(file), self.keep)
            if first is None:
                first = found
                continue
            absent = [name for name in first if name not in found]
            extra = [name for name in found if name not in first]
            if absent or extra:
                problem = f"lacks the column(s) {absent}" if absent else f"has the column(s) {extra} besides"
                raise ValueError(f"{str(file)!r} {problem}; {str(self.files[0])!r} has {list(first)}")
            for name, kind in found.items():
                if kind != first[name]:
                    raise ValueError(
                        f"column {name!r} holds {kind} in {str(file)!r}, but {first[name]} in "
                        f"{str(self.files[0])!r}; "
                        "convert one of them"
                    )
            if list(found) != list(first):
                raise ValueError(
                    f"the columns of {str(file)!r} stand in another order than those of "
                    f"{str(self.files[0])!r}"
                )

    def _name(self) -> str:
        return repr(str(self.files[0])) + (f" and {len(self.files) - 1} more" if len(self.files) > 1 else "")


def _files(paths: Any) -> list[Path]:
    given = [paths] if isinstance(paths, str) or hasattr(paths, "__fspath__") else list(paths)
    files: list[Path] = []
    for path in given:
        here = Path(path)
        if here.is_dir():
            found = sorted(file for file in here.iterdir() if kind_of(file, refuse=False) is not None)
            if not found:
                raise FileNotFoundError(
                    f"the folder {str(here)!r} has no file of a kind that is read: {', '.join(ENDINGS)}"
                )
        elif glob.has_magic(str(path)):
            found = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207, takes ** and absolute patterns
            if not found:
                raise FileNotFoundError(f"no file matches {str(path)!r}")
        else:
            found = [here]
            if not here.exists():
                raise FileNotFoundError(f"there is no file {str(here)!r}")
        files += found
    if not files:
        raise ValueError("no files were given")
    return files


@contextmanager
def _clear(name: str) -> Iterator[None]:
    """Name the file in errors of reading it."""
    import pyarrow as pa

    try:
        yield
    except PermissionError as error:
        raise PermissionError(f"{name!r} may not be read: {error.strerror or error}") from error
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise FileNotFoundError(f"{name!r} is gone") from error
        raise ValueError(
            f"{name!r} cannot be read; it is damaged, not complete, or not of the kind its name says: {error}"
        ) from error


__all__ = ["BATCH_ROWS", "FileKind", "Piece", "Source"]
