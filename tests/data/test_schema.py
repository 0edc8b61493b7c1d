"""New data as the numbers that trees test."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from crosscut.data.table import Table

NAN = np.nan


def fitted():
    return Table.from_data(
        pl.DataFrame({"age": [30.0, 20.0], "plan": ["b", "a"], "paid": [True, False]})
    ).schema


def test_round_trip():
    matrix = fitted().matrix(pl.DataFrame({"age": [30.0, 20.0], "plan": ["b", "a"], "paid": [True, False]}))
    assert matrix.tolist() == [[30, 1, 1], [20, 0, 0]]
    assert matrix.dtype == np.float32
    assert matrix.flags.c_contiguous


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame, pa.table])
def test_by_name_whatever_the_order(kind):
    X = kind({"paid": [None, True], "else": [1, 2], "plan": ["new", None], "age": [None, 5.0]})
    np.testing.assert_array_equal(fitted().matrix(X), [[NAN, NAN, NAN], [5, NAN, 1]])


def test_missing_column():
    with pytest.raises(ValueError, match=r"X lacks the column\(s\) \['paid'\]; it has \['age', 'plan'\]"):
        fitted().matrix(pl.DataFrame({"age": [1.0], "plan": ["a"]}))


def test_arrays_go_by_position():
    assert fitted().matrix(np.array([[1, "b", True]], dtype=object)).tolist() == [[1, 1, 1]]
    assert fitted().matrix([[1, "b", True]]).tolist() == [[1, 1, 1]]
    by_position = Table.from_data(np.eye(2)).schema
    assert by_position.matrix(pd.DataFrame({"p": [1, 2], "q": [3, 4]})).tolist() == [[1, 3], [2, 4]]
    with pytest.raises(
        ValueError, match="X has 3 features, but the fitted table is expecting 2 features as input"
    ):
        by_position.matrix(np.eye(3))
    with pytest.raises(ValueError, match="X has 1 features"):
        fitted().matrix(np.array([["a"]]))


def test_plain_floats_are_not_copied():
    schema = Table.from_data(np.eye(2)).schema
    X = np.eye(2, dtype=np.float32)
    assert schema.matrix(X) is X
    assert schema.matrix(np.asfortranarray(np.arange(6.0).reshape(3, 2))).flags.c_contiguous


def test_text_in_a_numeric_column():
    with pytest.raises(ValueError, match="column 'age' of X holds text or categories, but it was numeric"):
        fitted().matrix(pl.DataFrame({"age": ["old"], "plan": ["a"], "paid": [True]}))


def test_numbers_as_categories():
    schema = Table.from_data(pd.DataFrame({"a": pd.Categorical([30, 10], [30, 10])})).schema
    np.testing.assert_array_equal(
        schema.matrix(pd.DataFrame({"a": [10.0, 30.0, 20.0, NAN]})), [[1], [0], [NAN], [NAN]]
    )
    np.testing.assert_array_equal(schema.matrix(pd.DataFrame({"a": pd.Categorical([10, 20])})), [[1], [NAN]])


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300])
def test_infinite_values_are_refused(value):
    X = np.zeros((4, 2))
    X[3, 1] = value
    X[0, 0] = NAN
    with pytest.raises(ValueError, match=r"column 'x1' of X holds .*inf in row 3"):
        Table.from_data(np.eye(2)).schema.matrix(X)
    with pytest.raises(ValueError, match=r"column 'b' of X holds .*inf in row 3"):
        Table.from_data(pd.DataFrame({"a": [1.0], "b": [2.0]})).schema.matrix(
            pd.DataFrame(X, columns=["a", "b"])
        )
