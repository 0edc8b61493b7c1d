"""Codes on disk: one byte per value, written once and read by every pass.

Every fit writes a folder of its own. Its manifest, which makes the codes valid, is written last. So whatever
happens, and whoever else writes to the same place, codes are complete or they are not there.
Parts are plain bytes, since they are written batch by batch while the rows are read, and safetensors needs
all arrays at once; the manifest is an array file without arrays.
"""

from __future__ import annotations

import errno
import shutil
import tempfile
import time
import weakref
import zlib
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.data.array_file import ArrayFileError, read_arrays, replacing, write_arrays
from crosscut.engines.stream.coding import Batch

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from crosscut.engines.stream.coding import Coding

_MANIFEST = "manifest"
_VERSION = 6
_ABANDONED = 24 * 3600  # seconds after which codes without a manifest are left over from a killed process


class CodeCache:
    """Coded pieces in a folder.

    Parameters
    ----------
    folder : path, optional
        Where codes are kept for later fits; by default they go with this object.
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
        self._kept = folder is not None
        self._place = Path(folder or tempfile.gettempdir())
        self.folder = self._place

    def __contains__(self, piece: int) -> bool:
        return piece in self._parts

    def load(self) -> dict[str, Any] | None:
        """Return what was noted when such codes were finished, or None if there are no valid ones."""
        for folder in self._candidates():
            try:
                manifest, _ = read_arrays(folder / _MANIFEST)
            except FileNotFoundError:  # another process may be writing it
                if time.time() - folder.stat().st_mtime > _ABANDONED:
                    shutil.rmtree(folder, ignore_errors=True)
                continue
            except (OSError, ArrayFileError):
                manifest = {}
            if self._valid(folder, manifest):
                self.folder = folder
                self._parts = {int(number): part for number, part in manifest["parts"].items()}
                notes: dict[str, Any] = manifest["notes"]
                return notes
            shutil.rmtree(folder, ignore_errors=True)
        return None

    def start(self) -> None:
        """Begin with nothing, in a folder that only this user may read."""
        with self._writing():
            if self._kept:
                self._place.mkdir(parents=True, exist_ok=True)
            self.folder = Path(tempfile.mkdtemp(prefix=self._prefix, dir=self._place))
        self.drop = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, piece: int, batches: Iterable[Batch], n_bytes: int) -> Iterator[Batch]:
        """Write the batches of a piece, if there is room, and hand them on."""
        if self.limit is not None and self._bytes + n_bytes > self.limit:
            yield from batches
            return
        self._bytes += n_bytes
        blocks, crc, size = [], 0, 0
        with ExitStack() as stack:
            with self._writing():
                file = stack.enter_context(replacing(_path(self.folder, piece), sync=False))
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
        if self._kept and not any((other / _MANIFEST).exists() for other in self._candidates()):
            self.drop.detach()

    def read(self, piece: int, first_row: int, coding: Coding) -> Iterator[Batch]:
        """Yield the batches of a piece."""
        grouped, weighted = coding.roles.group is not None, coding.roles.weight is not None
        n_columns = len(coding.n_bins)
        with _path(self.folder, piece).open("rb") as file:
            for n in self._parts[piece]["blocks"]:
                codes = _take(file, np.dtype(np.uint8), n_columns * n).reshape(n_columns, n)
                target = _take(file, coding.target_type, n)
                keys = _take(file, np.dtype(np.uint64), n) if grouped else None
                own = _take(file, np.dtype(np.float64), n) if weighted else None
                weight = coding.weigh(target, own)
                yield Batch(first_row, codes, target, np.zeros(n, np.uint8), keys, own, weight)
                first_row += n

    @property
    def _prefix(self) -> str:
        return f"{self.key[:16]}-" if self._kept else "crosscut-"

    def _candidates(self) -> list[Path]:
        """Folders of other fits that have, or may get, the same codes."""
        found = sorted(self._place.glob(f"{self._prefix}*")) if self._kept else []
        return [folder for folder in found if folder != self.folder]

    def _valid(self, folder: Path, manifest: dict[str, Any]) -> bool:
        if manifest.get("key") != self.key or manifest.get("version") != _VERSION:
            return False
        for number, part in manifest["parts"].items():
            try:
                data = _path(folder, int(number)).read_bytes()
            except OSError:
                return False
            if len(data) != part["bytes"] or zlib.crc32(data) != part["crc"]:
                return False
        return True

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


def _path(folder: Path, piece: int) -> Path:
    return folder / f"part-{piece:06d}.codes"


def _take(file: Any, dtype: np.dtype[Any], n: int) -> Any:
    array = np.empty(n, dtype)
    if file.readinto(array.data.cast("B")) != array.nbytes:
        raise ValueError(f"the code cache {file.name!r} is shorter than it was; delete it and fit again")
    return array
