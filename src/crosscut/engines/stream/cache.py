"""Cache of codes on disk: one byte per value, written once and read by every pass.

Every fit writes its own folder. The manifest, which makes the codes valid, is written last. So codes are
complete or absent, even after a crash or with concurrent writers. Parts are plain bytes, because they are
written batch by batch and safetensors needs all arrays at once. The manifest is an array file without arrays.
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
_ABANDONED = 24 * 3600  # seconds after which codes without a manifest count as abandoned


class CodeCache:
    """Coded pieces in a folder.

    The folder keeps codes for later fits; without one, codes are deleted with this object. Pieces that do not
    fit within ``limit`` bytes are coded again by every pass. The ``key`` is a hash of everything the codes
    depend on; codes of another key are not used.
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
        """Return the notes of a finished cache with this key, or None if there is no valid one."""
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
        """Create an empty folder that only this user can read."""
        with self._writing():
            if self._kept:
                self._place.mkdir(parents=True, exist_ok=True)
            self.folder = Path(tempfile.mkdtemp(prefix=self._prefix, dir=self._place))
        self.drop = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, piece: int, batches: Iterable[Batch], n_bytes: int) -> Iterator[Batch]:
        """Yield the batches of a piece, and write them if they fit within the limit."""
        if self.limit is not None and self._bytes + n_bytes > self.limit:
            yield from batches
            return
        self._bytes += n_bytes
        blocks, crc, size = [], 0, 0
        with ExitStack() as stack:
            with self._writing():
                file = stack.enter_context(replacing(_path(self.folder, piece), sync=False))
            for batch in batches:
                optional = [batch.keys, batch.sample_weight if self.keeps_weights else None]
                arrays = [batch.codes, batch.target, *(array for array in optional if array is not None)]
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
        """Write the manifest, which makes the cache valid."""
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
                sample_weight = _take(file, np.dtype(np.float64), n) if weighted else None
                weight = coding.weigh(target, sample_weight)
                yield Batch(first_row, codes, target, np.zeros(n, np.uint8), keys, sample_weight, weight)
                first_row += n

    @property
    def _prefix(self) -> str:
        return f"{self.key[:16]}-" if self._kept else "crosscut-"

    def _candidates(self) -> list[Path]:
        """Return the folders of other fits with the same key, finished or not."""
        folders = sorted(self._place.glob(f"{self._prefix}*")) if self._kept else []
        return [folder for folder in folders if folder != self.folder]

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
        """Add cause and remedy to errors of writing."""
        where = str(self.folder)
        try:
            yield
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                problem = (
                    f"the disk of the code cache {where!r} is full; free some space, choose "
                    "another cache folder, or set a smaller cache_limit (every pass reads the rest again)"
                )
            elif isinstance(error, PermissionError):
                problem = f"the code cache {where!r} is not writable; choose another cache folder"
            else:
                problem = f"the code cache {where!r} cannot be written: {error.strerror}"
            raise OSError(error.errno, problem) from error


def _path(folder: Path, piece: int) -> Path:
    return folder / f"part-{piece:06d}.codes"


def _take(file: Any, dtype: np.dtype[Any], n: int) -> Any:
    array = np.empty(n, dtype)
    if file.readinto(array.data.cast("B")) != array.nbytes:
        raise ValueError(f"the code cache {file.name!r} is truncated; delete it and fit again")
    return array
