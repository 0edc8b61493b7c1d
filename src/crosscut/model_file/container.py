"""The bytes of a model file: a fixed start, a JSON header, and raw arrays one after the other.

::

    8 bytes   b"crosscut"
    4 bytes   version of the format, little endian
    4 bytes   CRC-32 of everything that follows
    8 bytes   length of the header
    ...       header: JSON, UTF-8; "arrays" lists name, type and shape of each array in order
    ...       the arrays, little endian, C order, each from a multiple of 8 bytes after the header's end

Nothing in a file is trusted: sizes are compared with the length of the file before anything is allocated.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.training.stored import ModelFileError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from numpy.typing import NDArray

MAGIC = b"crosscut"
VERSION = 1
_START = struct.Struct("<8sIIQ")
_TYPES = {"<i4", "<i8", "<f4", "<f8"}
_ALIGNMENT = 8


def write_container(
    path: str | PathLike[str], header: dict[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a header and named arrays."""
    stored = {name: _little(array) for name, array in arrays.items()}
    listed = [
        {"name": name, "type": array.dtype.str, "shape": list(array.shape)} for name, array in stored.items()
    ]
    text = json.dumps({**header, "arrays": listed}, ensure_ascii=False, allow_nan=False).encode()
    text += b" " * (-(_START.size + len(text)) % _ALIGNMENT)
    body = bytearray(text)
    for array in stored.values():
        body += array.tobytes()
        body += b"\0" * (-len(body) % _ALIGNMENT)
    start = _START.pack(MAGIC, VERSION, zlib.crc32(body), len(text))
    Path(path).write_bytes(start + body)


def read_container(path: str | PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a header and named arrays; refuse anything that is not exactly such a file.

    Raises
    ------
    ModelFileError
        Saying what is wrong.
    """
    data = Path(path).read_bytes()
    if len(data) < _START.size or data[:8] != MAGIC:
        raise ModelFileError(f"{str(path)!r} is not a crosscut model file")
    _, version, checksum, length = _START.unpack_from(data)
    if not 1 <= version <= VERSION:
        raise ModelFileError(
            f"{str(path)!r} has format version {version}; this crosscut reads versions 1 to {VERSION}"
        )
    body = memoryview(data)[_START.size :]
    if zlib.crc32(body) != checksum:
        raise ModelFileError(f"{str(path)!r} is damaged: its checksum does not fit its contents")
    if length > len(body):
        raise ModelFileError(f"{str(path)!r} is damaged: its header is longer than the file")
    header = _read_header(bytes(body[:length]))
    return header, _read_arrays(header.pop("arrays", None), body[length:])


def _little(array: NDArray[Any]) -> NDArray[Any]:
    array = np.ascontiguousarray(array)
    little: NDArray[Any] = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if little.dtype.str not in _TYPES:
        raise TypeError(f"arrays of {array.dtype} are not stored; int32, int64, float32 and float64 are")
    return little


def _read_header(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"the header is not JSON: {error}") from error
    if not isinstance(header, dict):
        raise ModelFileError("the header is not a JSON object")
    return header


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _read_arrays(listed: Any, body: memoryview) -> dict[str, NDArray[Any]]:
    if not isinstance(listed, list):
        raise ModelFileError("the header lists no arrays")
    arrays: dict[str, NDArray[Any]] = {}
    at = 0
    for entry in listed:
        name, kind, shape = _entry(entry)
        if name in arrays:
            raise ModelFileError(f"array {name!r} is listed twice")
        size = math.prod(shape) * int(kind[2])  # Python's integers do not overflow
        if size > len(body) - at:
            raise ModelFileError(f"array {name!r} needs {size} bytes, more than the file has left")
        array = np.frombuffer(body[at : at + size], dtype=kind).reshape(shape)
        arrays[name] = array.astype(array.dtype.newbyteorder("="))  # a copy of its own: the file's bytes go
        at += size
        at += -at % _ALIGNMENT
    if at != len(body):
        raise ModelFileError(f"{len(body) - at} bytes follow the last array")
    return arrays


def _entry(entry: Any) -> tuple[str, str, tuple[int, ...]]:
    if not isinstance(entry, dict):
        raise ModelFileError("an array is not described by a JSON object")
    name, kind, shape = entry.get("name"), entry.get("type"), entry.get("shape")
    if not isinstance(name, str) or not isinstance(kind, str) or kind not in _TYPES:
        raise ModelFileError(f"array {name!r} has the unknown type {kind!r}")
    if (
        not isinstance(shape, list)
        or len(shape) > 2
        or not all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**62 for n in shape)
    ):
        raise ModelFileError(f"array {name!r} has no shape that makes sense: {shape!r}")
    return name, kind, tuple(shape)
