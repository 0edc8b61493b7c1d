"""Store named arrays and a JSON header in one safetensors file.

The header is the only entry of the safetensors metadata. It comes with the format version and a checksum of
header and arrays, because safetensors has no checksum.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import shutil
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from crosscut.data.file_kind import check_file
from crosscut.data.memory import check_memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike
    from typing import BinaryIO

    from numpy.typing import NDArray


VERSION = 1
BLOCK = 1 << 21  # numbers that are checked at a time
_ENTRY = "crosscut"  # a single entry, because safetensors does not keep the order of several


class ArrayFileError(ValueError):
    """The file is not a crosscut file, is damaged, or has another format version."""


def write_arrays(
    path: str | PathLike[str], header: dict[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a header and named arrays of numbers or booleans; replace an existing file atomically.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_arrays(f"{folder}/a", {"kind": "example"}, {"x": np.arange(3)})
    ...     read_arrays(f"{folder}/a")
    ({'kind': 'example'}, {'x': array([0, 1, 2])})
    """
    from safetensors.numpy import save

    stored = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    text = json.dumps(header, ensure_ascii=False, allow_nan=False)
    metadata = {"version": VERSION, "crc": _checksum(text, stored), "header": text}
    data = save(stored, metadata={_ENTRY: json.dumps(metadata)})
    with replacing(path) as file:
        file.write(data)


def read_arrays(path: str | PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a header and named arrays from a file written by :func:`write_arrays`.

    Raises
    ------
    ArrayFileError
        If the file is not such a file, is damaged, or has another format version.
    OSError
        If the file cannot be opened.
    """
    from safetensors import SafetensorError, safe_open

    with suppress(FileNotFoundError):
        check_file(Path(path))
        check_memory(Path(path).stat().st_size, repr(str(path)), "load it on a machine with more memory")
    with Path(path).open("rb") as opened:  # raises Python's own errors, not those of safetensors
        if opened.read(9)[8:] != b"{":
            raise ArrayFileError(f"{str(path)!r} is not a crosscut model file")
    try:
        with safe_open(os.fspath(path), "numpy") as file:
            text = (file.metadata() or {}).get(_ENTRY)
            names = file.keys()
            # first by slices: a file that claims gigabytes of zeros is refused before they are in memory
            header = _header(path, text, {name: _stored(file, name) for name in names})
            arrays = {name: file.get_tensor(name) for name in names}
    except MemoryError as error:
        raise MemoryError(f"{str(path)!r} does not fit into memory: {error}") from error
    except ArrayFileError:
        raise
    except (SafetensorError, ValueError, TypeError, AttributeError) as error:  # a type that NumPy lacks
        raise ArrayFileError(
            f"{str(path)!r} is not a crosscut model file, or is incomplete: {error}"
        ) from error
    return _object(path, header), arrays


def _header(path: str | PathLike[str], text: str | None, arrays: Mapping[str, Any]) -> str:
    """Return the header of a file, after checking the version and the checksum of the arrays."""
    if text is None:
        raise ArrayFileError(f"{str(path)!r} is not a crosscut model file")
    metadata = _object(path, text)
    version = metadata.get("version")
    if version != VERSION:
        raise ArrayFileError(
            f"{str(path)!r} has format version {version!r}; this crosscut reads version {VERSION}"
        )
    header = str(metadata.get("header"))
    if metadata.get("crc") != _checksum(header, arrays):
        raise ArrayFileError(f"{str(path)!r} is damaged: the checksum does not match")
    return header


@contextmanager
def replacing(path: str | PathLike[str], *, sync: bool = True) -> Iterator[BinaryIO]:
    """Write to a temporary file that replaces ``path`` when complete (``sync``: and flushed to disk).

    The new file has the permissions of the one it replaces.
    """
    whole = Path(path)
    if whole.exists() and not whole.is_file():  # a device or a pipe has no contents to replace
        with whole.open("wb") as file:
            yield file
        return
    whole = whole.resolve()  # replace the target of a symbolic link, not the link
    # Unique, because others may write too, and short, because names have at most 255 bytes.
    partial = whole.with_name(f".{secrets.token_hex(8)}.partial")
    try:
        file = partial.open("xb")
    except FileNotFoundError as error:
        message = f"the folder {str(whole.parent)!r} of {whole.name!r} does not exist"
        raise FileNotFoundError(message) from error
    try:
        if whole.exists():
            shutil.copymode(whole, partial)
        yield file
        file.flush()
        if sync:
            os.fsync(file.fileno())
        file.close()
        partial.replace(whole)
    except BaseException:
        with suppress(OSError):  # a full disk fails again
            file.close()
        partial.unlink(missing_ok=True)
        raise


def replace_text(path: str | PathLike[str], text: str) -> None:
    """Write a text file atomically."""
    with replacing(path) as file:
        file.write(text.encode())


def _stored(file: Any, name: str) -> Any:
    """Return an array of a file; if it has rows, as an object that reads the rows that it is sliced by."""
    rows = file.get_slice(name)
    return rows if all(rows.get_shape() or [0]) else file.get_tensor(name)


def _blocks(array: Any, shape: tuple[int, ...]) -> Iterator[NDArray[Any]]:
    """Yield the rows of an array some megabytes at a time."""
    if not all(shape or [0]):
        yield array
        return
    step = max(1, BLOCK * shape[0] // math.prod(shape))
    yield from (array[i : min(i + step, shape[0])] for i in range(0, shape[0], step))


def _checksum(text: str, arrays: Mapping[str, Any]) -> int:
    checksum = zlib.crc32(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        shape = array.shape if isinstance(array, np.ndarray) else tuple(array.get_shape())
        for i, block in enumerate(_blocks(array, shape)):
            little = block.astype(block.dtype.newbyteorder("<"), copy=False)
            if i == 0:
                checksum = zlib.crc32(f"{name} {little.dtype.str} {shape}".encode(), checksum)
            checksum = zlib.crc32(np.ascontiguousarray(little).reshape(-1).view(np.uint8).data, checksum)
    return checksum


def _object(path: str | PathLike[str], text: str) -> dict[str, Any]:
    """Parse a JSON object; NaN and infinity are not JSON."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ArrayFileError(f"the header of {str(path)!r} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ArrayFileError(f"the header of {str(path)!r} is not a JSON object")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
