import json
import os
import struct
import tracemalloc
import zlib
from itertools import product

import numpy as np
import pytest
from safetensors.numpy import save_file

from crosscut.data import array_file
from crosscut.data.array_file import ArrayFileError, read_arrays, write_arrays

ARRAYS = {
    "count": np.arange(6, dtype=np.int64).reshape(2, 3),
    "part": np.arange(12.0).reshape(3, 4)[:, ::2],  # not contiguous
    "mask": np.array([1 << 63], np.uint64),
    "flag": np.array([True, False]),
    "none": np.zeros((0, 4), np.float32),
    "big": np.array([1, 2], ">i4"),
    "é": np.array([1], np.int32),
}


def test_what_was_written_is_read(tmp_path):
    header = {"kind": "test", "names": ["ä", None], "share": 0.1}
    write_arrays(tmp_path / "a", header, ARRAYS)
    found, arrays = read_arrays(tmp_path / "a")
    assert found == header
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype.newbyteorder("=")
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def test_the_same_contents_give_the_same_bytes(tmp_path):
    for name in "ab":
        write_arrays(tmp_path / name, {"a": 1, "b": 2}, ARRAYS)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("n_bytes", [0, 4, 40, -1])
def test_truncated(tmp_path, n_bytes):
    file = tmp_path / "a"
    write_arrays(file, {}, ARRAYS)
    file.write_bytes(file.read_bytes()[:n_bytes])
    with pytest.raises(ArrayFileError, match="is not a crosscut model file"):
        read_arrays(file)


@pytest.fixture
def small(tmp_path):
    write_arrays(tmp_path / "a", {"a": "ü"}, {"x": np.arange(3, dtype=np.int32), "y": np.eye(2)})
    return tmp_path / "a"


def test_every_changed_byte_is_noticed(small):
    data = small.read_bytes()
    for at, mask in product(range(len(data)), (1, 0x55)):
        small.write_bytes(data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :])
        with pytest.raises(ArrayFileError):
            read_arrays(small)


def test_every_shorter_file_is_refused(small):
    data = small.read_bytes()
    for length in range(len(data)):
        small.write_bytes(data[:length])
        with pytest.raises(ArrayFileError):
            read_arrays(small)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 and nothing else", b"{" * 100])
def test_another_kind_of_file(tmp_path, data):
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(ArrayFileError, match="is not a crosscut model file"):
        read_arrays(tmp_path / "a")


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (None, "is not a crosscut model file"),
        ({"crosscut": "no"}, "is not JSON"),
        ({"crosscut": "[]"}, "is not a JSON object"),
        ({"crosscut": '{"version": NaN}'}, "NaN is not JSON"),
        ({"crosscut": json.dumps({"version": 2})}, "has format version 2; this crosscut reads version 1"),
    ],
)
def test_somebody_elses_safetensors(tmp_path, metadata, message):
    save_file({"x": np.arange(2)}, tmp_path / "a", metadata=metadata)
    with pytest.raises(ArrayFileError, match=message):
        read_arrays(tmp_path / "a")


def test_deep_nesting(tmp_path):
    header = '{"a": ' + "[" * 200_000 + "]" * 200_000 + "}"
    about = {"version": 1, "crc": zlib.crc32(header.encode()), "header": header}
    save_file({}, tmp_path / "a", metadata={"crosscut": json.dumps(about)})
    with pytest.raises(ArrayFileError, match="is not JSON"):
        read_arrays(tmp_path / "a")


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        *(("F64", shape) for shape in ([2**61], [2**32, 2**32, 3], [-3], [1.5], [True], "x", None, {})),
        *(("F64", shape) for shape in ([1] * 100 + [3], [4], [2])),
        *((kind, [12]) for kind in ("BF16", "F16", "O", "<f8", None, 4)),
        ("F8_E4M3", [24]),
    ],
)
def test_impossible_shapes_and_types_are_refused_before_anything_is_allocated(tmp_path, kind, shape):
    about = json.dumps({"version": 1, "crc": 0, "header": "{}"})
    array = {"dtype": kind, "shape": shape, "data_offsets": [0, 24]}
    text = json.dumps({"__metadata__": {"crosscut": about}, "x": array}).encode()
    (tmp_path / "a").write_bytes(struct.pack("<Q", len(text)) + text + bytes(24))
    with pytest.raises(ArrayFileError):
        read_arrays(tmp_path / "a")


def test_arrays_without_a_matching_checksum_are_not_loaded(tmp_path):
    size = 1 << 28
    about = json.dumps({"version": 1, "crc": 0, "header": "{}"})
    array = {"dtype": "F64", "shape": [size // 8], "data_offsets": [0, size]}
    text = json.dumps({"__metadata__": {"crosscut": about}, "x": array}).encode()
    with (tmp_path / "a").open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + size)  # takes no space on disk
    tracemalloc.start()
    with pytest.raises(ArrayFileError, match="the checksum does not match"):
        read_arrays(tmp_path / "a")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < size / 2


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_arrays(tmp_path / "a")


def test_what_is_not_json_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_arrays(tmp_path / "a", {"x": float("nan")}, {})


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    write_arrays(tmp_path / "a", {"old": True}, {})

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(array_file.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_arrays(tmp_path / "a", {}, ARRAYS)
    assert read_arrays(tmp_path / "a") == ({"old": True}, {})
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def test_links_and_devices_stay_what_they_are(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "a")
    write_arrays(tmp_path / "link", {"old": True}, {})
    assert read_arrays(tmp_path / "a") == ({"old": True}, {})
    assert (tmp_path / "link").is_symlink()
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_arrays(tmp_path / "pipe", {}, {})
    assert b"crosscut" in os.read(reader, 1000)
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()


def test_a_replaced_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "model"
    write_arrays(path, {}, {})
    path.chmod(0o600)
    write_arrays(path, {}, {"x": np.arange(3)})
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_longest_names(tmp_path):
    path = tmp_path / ("m" * 255)
    write_arrays(path, {"kind": "example"}, {})
    assert read_arrays(path)[0] == {"kind": "example"}


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the folder '.*absent' of 'model' does not exist"):
        write_arrays(tmp_path / "absent" / "model", {}, {})
