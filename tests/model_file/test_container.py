import struct

import numpy as np
import pytest

from crosscut.model_file import ModelFileError
from crosscut.model_file.container import read_container, write_container

from .models import forged


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "m"
    write_container(path, {"a": "ü"}, {"x": np.arange(3, dtype=np.int32), "y": np.eye(2)})
    return path


def test_what_was_written_is_read(path):
    header, arrays = read_container(path)
    assert header == {"a": "ü"}
    assert arrays["x"].tolist() == [0, 1, 2]
    assert np.array_equal(arrays["y"], np.eye(2))


def test_every_flipped_byte_is_noticed(path):
    data = path.read_bytes()
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        with pytest.raises(ModelFileError):
            read_container(path)


def test_every_shorter_file_is_refused(path):
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(ModelFileError):
            read_container(path)


@pytest.mark.parametrize("shape", [[2**61], [2**61, 2**61], [-1], [3, 1, 1], [1.5], [True], "x", None, {}])
def test_impossible_shapes_are_refused_before_anything_is_allocated(path, shape):
    def change(header):
        header["arrays"][0]["shape"] = shape

    forged(path, change)
    with pytest.raises(ModelFileError):
        read_container(path)


@pytest.mark.parametrize("kind", ["|O8", "<U9", "<i2", "O", ">i4", None, 4])
def test_other_types_are_refused(path, kind):
    def change(header):
        header["arrays"][0]["type"] = kind

    forged(path, change)
    with pytest.raises(ModelFileError, match="type"):
        read_container(path)


def test_a_header_that_is_not_json_is_refused(path):
    forged(path, lambda _: ["no", "object"])
    with pytest.raises(ModelFileError, match="object"):
        read_container(path)


def test_deep_nesting_is_refused(path):
    text = b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    import zlib

    path.write_bytes(struct.pack("<8sIIQ", b"crosscut", 1, zlib.crc32(text), len(text)) + text)
    with pytest.raises(ModelFileError, match="JSON"):
        read_container(path)


def test_a_later_version_is_named(path):
    data = path.read_bytes()
    path.write_bytes(data[:8] + struct.pack("<I", 7) + data[12:])
    with pytest.raises(ModelFileError, match="version 7"):
        read_container(path)
