"""scikit-learn's own checks of estimators."""

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
