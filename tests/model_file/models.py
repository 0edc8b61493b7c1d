"""Small fitted models of every kind, and files made from them that are not what they should be."""

import numpy as np
import polars as pl
import pytest

from crosscut import TreeClassifier, TreeRegressor, save_model
from crosscut.data.array_file import read_arrays, write_arrays
from crosscut.model_file import ModelFileError, load_model


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
    """Rewrite a model file with another header or other bytes of its arrays, and a checksum that fits."""
    header, arrays = read_arrays(path)
    if change_header is not None:
        header = change_header(header) or header
    if change_body is not None:
        body = bytearray(b"".join(array.tobytes() for array in arrays.values()))
        change_body(arrays, body)
        starts = {name: offset_of(arrays, name) for name in arrays}
        arrays = {
            name: np.frombuffer(body, old.dtype, old.size, starts[name]).reshape(old.shape)
            for name, old in arrays.items()
        }
    write_arrays(path, header, arrays)


def offset_of(arrays, name):
    """Where the bytes of an array begin in those of all."""
    names = list(arrays)
    return sum(arrays[before].nbytes for before in names[: names.index(name)])


def check_header_is_refused(model, path, change, message):
    """Save a model, change the header of its file, and see that reading it says why not."""
    save_model(model, path)
    forged(path, lambda header: change(header) and None)
    with pytest.raises(ModelFileError, match=message):
        load_model(path)


def check_array_is_refused(model, path, name, change, message):
    """The same with one of the arrays."""
    save_model(model, path)
    header, arrays = read_arrays(path)
    write_arrays(path, header, {**arrays, name: change(arrays[name])})
    with pytest.raises(ModelFileError, match=message):
        load_model(path)
