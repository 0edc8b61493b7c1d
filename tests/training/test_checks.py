"""What estimators accept."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from crosscut import TreeClassifier
from crosscut.training.checks import read_classes, read_numbers


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_new_data_are_found_by_name(kind):
    rows = {"a": [1.0, 2.0, 3.0, 4.0] * 5, "b": ["x", "y", "x", "x"] * 5}
    model = TreeClassifier(cv=None).fit(kind(rows), ["no", "yes", "no", "no"] * 5)
    expected = model.predict(kind(rows)).tolist()
    turned = kind({"b": rows["b"], "extra": rows["a"], "a": rows["a"]})
    assert model.predict(turned).tolist() == expected
    assert model.predict_proba(turned).tolist() == model.predict_proba(kind(rows)).tolist()
    with pytest.raises(ValueError, match="a"):
        model.predict(kind({"b": rows["b"], "extra": rows["a"]}))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_names_are_stored_as_scikit_learn_stores_them(kind):
    rows = kind({"b": [1.0, 2.0, 3.0, 4.0], "a": [0, 1, 0, 1]})
    theirs, model = BaseEstimator(), TreeClassifier(cv=None).fit(rows, [0, 1, 0, 1])
    validate_data(theirs, rows, skip_check_array=True)
    assert model.feature_names_in_.tolist() == theirs.feature_names_in_.tolist() == ["b", "a"]
    assert model.feature_names_in_.dtype == theirs.feature_names_in_.dtype
    model.fit([[1.0], [2.0], [3.0]], [0, 1, 0])
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize(
    ("names", "error", "match"),
    [
        ([1, "a"], TypeError, "string names"),
        (["a", "a"], ValueError, "more than one column named 'a'"),
        ([0, 1], None, ""),
    ],
)
def test_other_names_are_left_to_scikit_learn(names, error, match):
    rows = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=names)
    model = TreeClassifier(cv=None)
    if error:
        with pytest.raises(error, match=match):
            model.fit(rows, [0, 1])
    else:
        assert not hasattr(model.fit(rows, [0, 1]), "feature_names_in_")


def _chunks(cells):
    return pa.chunked_array([cells[:2], cells[2:]])


def _dictionary(cells):
    return _chunks(cells).dictionary_encode()


def _enum(cells):
    return pl.Series("y\0", cells, dtype=pl.Enum(["yes", "no", "Ä", "other"]))


@pytest.mark.parametrize(
    "kind", [np.array, pd.Series, pl.Series, list, pa.array, _chunks, _dictionary, _enum]
)
def test_classes_may_be_text(kind):
    text = ["no", "yes", "no", "Ä", "yes", "no"]
    classes, codes = read_classes(kind(text), 6)
    assert classes.tolist() == ["no", "yes", "Ä"]
    assert classes[codes].tolist() == text
    with pytest.raises(ValueError, match="NaN"):
        read_classes(np.array([*text[1:], np.nan], object), 6)


@pytest.mark.parametrize("kind", [pd.Series, pl.Series, pa.array, _chunks, _dictionary])
def test_classes_of_text_have_the_type_of_their_library(kind):
    classes, codes = read_classes(kind(["b", "a", "b"]), 3)
    assert (classes.dtype.kind, codes.dtype) == ("O" if kind in {pd.Series, pl.Series} else "U", np.int32)
    with pytest.raises(ValueError, match="X has 4 rows, y has 3"):
        read_classes(kind(["b", "a", "b"]), 4)
    with pytest.raises((ValueError, TypeError)):
        read_classes(kind(["b", None, "b"]), 3)


def test_a_column_of_polars_with_an_odd_name_may_be_y():
    assert read_classes(pl.Series("y\0", ["b", "a"]), 2)[1].tolist() == [1, 0]
    with pytest.raises((ValueError, TypeError)):
        read_classes(pl.Series("y", [object(), object()], dtype=pl.Object), 2)


@pytest.mark.parametrize("kind", [pa.array, lambda y: pa.chunked_array([y[:2], y[2:]])])
def test_numbers_of_arrow_may_be_y(kind):
    assert read_numbers(kind([1.5, 2.0, 4.0]), 3).tolist() == [1.5, 2.0, 4.0]
    assert read_numbers(kind([1, 2, 4]), 3).tolist() == [1.0, 2.0, 4.0]
    for own in (np.int64([2, 0, 2]), np.int8([2, 0, 2]), np.array([True, False, True])):
        classes, codes = read_classes(kind(own), 3)
        assert (classes.tolist(), codes.tolist()) == (sorted({*own.tolist()}), [1, 0, 1])
    for bad in ([1.5, None, 2.0], [1.5, float("nan"), 2.0], [1.5, float("inf"), 2.0]):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            read_numbers(kind(bad), 3)


@pytest.mark.parametrize("kind", [list, np.array, lambda y: pd.Series(y, dtype="category")])
def test_too_many_classes_are_refused_by_name(kind):
    y = [f"c{i}" for i in range(65_536)]
    with pytest.raises(ValueError, match="y has 65,536 classes; at most 65,535"):
        read_classes(kind(y), len(y))
    assert len(read_classes(kind(y[1:]), len(y) - 1)[0]) == 65_535
