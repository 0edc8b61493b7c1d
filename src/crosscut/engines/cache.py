"""Codes on disk: one byte per value, written once and read by every pass.

A part is written under another name and renamed when it is complete; the manifest, which makes the cache
valid, is written last. So whatever happens while it is written, the cache is complete or it is not there.
Parts are plain bytes, since they are written batch by batch while the rows are read, and safetensors needs
all arrays at once; the manifest is an array file without arrays.
"""

from __future__ import annotations

import errno
import shutil
import tempfile
import weakref
import zlib
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.data.array_file import ArrayFileError, read_arrays, replacing, write_arrays
from crosscut.engines.coding import Batch

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from crosscut.engines.coding import Coding

_MANIFEST = "manifest"
_VERSION = 6


class CodeCache:
    """Coded pieces in a folder.

    Parameters
    ----------
    folder : path, optional
        Kept for later fits; by default a temporary folder that goes with this object.
    limit : int, optional
        Most bytes to use. Pieces that do not fit are coded again by every pass.
    key : str
        What the codes depend on; codes of another key are never used.
    keeps_weights : bool
        Whether rows have weights of their own.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None,
        limit: int | None,
        key: str,
        *,
        keeps_weights: bool = False,
    ) -> None:
        self.key = key
        self.limit = limit
        self.keeps_weights = keeps_weights
        self._parts: dict[int, dict[str, Any]] = {}
        self._bytes = 0
        self.folder = Path(tempfile.gettempdir()) if folder is None else Path(folder, key[:16])
        with self._writing():
            if folder is None:
                self.folder = Path(tempfile.mkdtemp(prefix="crosscut-"))
                weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
            else:
                self.folder.mkdir(parents=True, exist_ok=True)

    def __contains__(self, piece: int) -> bool:
        return piece in self._parts

    def load(self) -> dict[str, Any] | None:
        """Return what was noted when the cache was finished, or None if there is no valid cache."""
        try:
            manifest, _ = read_arrays(self.folder / _MANIFEST)
        except (OSError, ArrayFileError):
            return None
        if manifest.get("key") != self.key or manifest.get("version") != _VERSION:
            return None
        for number, part in manifest["parts"].items():
            try:
                data = self._path(int(number)).read_bytes()
            except OSError:
                return None
            if len(data) != part["bytes"] or zlib.crc32(data) != part["crc"]:
                return None
        self._parts = {int(number): part for number, part in manifest["parts"].items()}
        notes: dict[str, Any] = manifest["notes"]
        return notes

    def start(self) -> None:
        """Forget what may be there."""
        with self._writing():
            (self.folder / _MANIFEST).unlink(missing_ok=True)
            for file in self.folder.glob("part-*"):
                file.unlink()
        self._parts, self._bytes = {}, 0

    def write(self, piece: int, batches: Iterable[Batch], n_bytes: int) -> Iterator[Batch]:
        """Write the batches of a piece, if there is room, and hand them on."""
        if self.limit is not None and self._bytes + n_bytes > self.limit:
            yield from batches
            return
        self._bytes += n_bytes
        blocks, crc, size = [], 0, 0
        with ExitStack() as stack:
            with self._writing():
                file = stack.enter_context(replacing(self._path(piece), sync=False))
            for batch in batches:
                own = [batch.keys, batch.sample_weight if self.keeps_weights else None]
                arrays = [batch.codes, batch.target, *(array for array in own if array is not None)]
                with self._writing():
                    for array in arrays:
                        data = np.ascontiguousarray(array).data.cast("B")
                        file.write(data)
                        crc, size = zlib.crc32(data, crc), size + data.nbytes
                blocks.append(batch.n_rows)
                yield batch
            with self._writing():
                stack.close()
        self._parts[piece] = {"blocks": blocks, "bytes": size, "crc": crc}

    def finish(self, notes: dict[str, Any]) -> None:
        """Make the cache valid."""
        manifest = {"key": self.key, "version": _VERSION, "parts": self._parts, "notes": notes}
        with self._writing():
            write_arrays(self.folder / _MANIFEST, manifest, {})

    def read(self, piece: int, first_row: int, coding: Coding) -> Iterator[Batch]:
        """Yield the batches of a piece."""
        grouped, weighted = coding.roles.group is not None, coding.roles.weight is not None
        n_columns = len(coding.n_bins)
        with self._path(piece).open("rb") as file:
            for n in self._parts[piece]["blocks"]:
                codes = _take(file, np.dtype(np.uint8), n_columns * n).reshape(n_columns, n)
                target = _take(file, coding.target_type, n)
                keys = _take(file, np.dtype(np.uint64), n) if grouped else None
                own = _take(file, np.dtype(np.float64), n) if weighted else None
                weight = coding.weigh(target, own)
                yield Batch(first_row, codes, target, np.zeros(n, np.uint8), keys, own, weight)
                first_row += n

    def _path(self, piece: int) -> Path:
        return self.folder / f"part-{piece:06d}.codes"

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Say what an error of writing means, and what to do."""
        where = str(self.folder)
        try:
            yield
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                problem = (
                    f"the disk of the code cache {where!r} is full; free some space, give another "
                    "folder as cache, "
                    "or a smaller cache_limit (pieces that do not fit are then read again by every pass)"
                )
            elif isinstance(error, PermissionError):
                problem = f"the code cache {where!r} may not be written; give another folder as cache"
            else:
                problem = f"the code cache {where!r} cannot be written: {error.strerror}"
            raise OSError(error.errno, problem) from error


def _take(file: Any, dtype: np.dtype[Any], n: int) -> Any:
    array = np.empty(n, dtype)
    if file.readinto(array.data.cast("B")) != array.nbytes:
        raise ValueError(f"the code cache {file.name!r} is shorter than it was; delete it and fit again")
    return array
