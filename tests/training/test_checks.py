"""What estimators accept."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from crosscut import TreeClassifier


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
