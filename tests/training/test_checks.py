"""What estimators accept."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from crosscut import TreeClassifier
from crosscut.training.checks import read_classes


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
    [([1, "a"], TypeError, "string names"), (["a", "a"], ValueError, "unique"), ([0, 1], None, "")],
)
def test_other_names_are_left_to_scikit_learn(names, error, match):
    rows = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=names)
    model = TreeClassifier(cv=None)
    if error:
        with pytest.raises(error, match=match):
            model.fit(rows, [0, 1])
    else:
        assert not hasattr(model.fit(rows, [0, 1]), "feature_names_in_")


@pytest.mark.parametrize("kind", [np.array, pd.Series, pl.Series, list])
def test_classes_may_be_text(kind):
    text = ["no", "yes", "no", "Ä", "yes", "no"]
    classes, codes = read_classes(kind(text), 6)
    assert classes.tolist() == ["no", "yes", "Ä"]
    assert classes[codes].tolist() == text
    with pytest.raises(ValueError, match="NaN"):
        read_classes(np.array([*text[1:], np.nan], object), 6)
