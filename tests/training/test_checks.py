"""scikit-learn's own checks of estimators."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from crosscut import TreeClassifier, TreeRegressor


def expected_failures(estimator):
    """Checks that cannot pass, with the reason."""
    if isinstance(estimator, TreeClassifier) and estimator.prune is None:
        return {
            "check_class_weight_classifiers": "a fully grown tree fits every row, whatever its weight; "
            "scikit-learn's passes by min_weight_fraction_leaf, which crosscut does not have"
        }
    return {}


@pytest.mark.filterwarnings("ignore:cv=")  # many checks have fewer rows than folds
@parametrize_with_checks(
    [
        TreeClassifier(),
        TreeClassifier(cv=None, criterion="entropy"),
        TreeClassifier(cv=2, prune="1se", max_bins=16),
        TreeRegressor(),
        TreeRegressor(cv=None),
        TreeRegressor(cv=2, prune="best"),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


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
