"""Small fitted models of every kind, and files made from them that are not what they should be."""

import json
import struct
import zlib

import numpy as np
import polars as pl
import pytest

from crosscut import TreeClassifier, TreeRegressor, save_model
from crosscut.model_file import ModelFileError, load_model
from crosscut.model_file.container import read_container, write_container


def frame(n_rows=120, seed=0):
    random = np.random.default_rng(seed)
    numbers = random.normal(size=(n_rows, 2)).astype(np.float32)
    numbers[random.random((n_rows, 2)) < 0.1] = np.nan
    return pl.DataFrame(
        {
            "a": numbers[:, 0],
            "b": numbers[:, 1],
            "plan": random.choice(["x", "y", "z", "w"], n_rows),
            "flag": random.random(n_rows) < 0.5,
        }
    )


def classifier(**options):
    X = frame()
    y = np.where((X["plan"] == "x").to_numpy(), "yes", np.where(X["flag"].to_numpy(), "no", "maybe"))
    y[::7] = "no"
    return TreeClassifier(**{"cv": 4, **options}).fit(X, y), X


def regressor(**options):
    X = frame(seed=1)
    y = X["flag"].to_numpy() * 2.5 + np.nan_to_num(X["a"].to_numpy())
    return TreeRegressor(**{"cv": 4, "min_samples_leaf": 3, **options}).fit(X, y), X


def forged(path, change_header=None, change_body=None):
    """Rewrite a model file with another header or other arrays and a checksum that fits."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data, 16)
    header, body = data[24 : 24 + length], bytearray(data[24 + length :])
    if change_header is not None:
        header = json.loads(header)
        header = change_header(header) or header
        header = json.dumps(header).encode()
        header += b" " * (-(24 + len(header)) % 8)
    if change_body is not None:
        change_body(json.loads(header)["arrays"], body)
    everything = bytes(header) + bytes(body)
    path.write_bytes(data[:12] + struct.pack("<IQ", zlib.crc32(everything), len(header)) + everything)


def offset_of(listed, name):
    at = 0
    for entry in listed:
        if entry["name"] == name:
            return at
        at += int(np.prod(entry["shape"], dtype=object)) * int(entry["type"][2])
        at += -at % 8
    raise KeyError(name)


def check_header_is_refused(model, path, change, message):
    """Save a model, change the header of its file, and see that reading it says why not."""
    save_model(model, path)
    forged(path, lambda header: change(header) and None)
    with pytest.raises(ModelFileError, match=message):
        load_model(path)


def check_array_is_refused(model, path, name, change, message):
    """The same with one of the arrays."""
    save_model(model, path)
    header, arrays = read_container(path)
    write_container(path, header, {**arrays, name: change(arrays[name])})
    with pytest.raises(ModelFileError, match=message):
        load_model(path)
