"""scikit-learn's checks of estimators, for every public estimator."""

import pytest
from sklearn.base import BaseEstimator
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import crosscut
from crosscut import (
    RFECV,
    BaggedTrees,
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
)

CLASSES, NUMBERS = DecisionTreeClassifier(random_state=0), DecisionTreeRegressor(random_state=0)
# checks that cannot pass; docs/estimators.md has them, too
FITS_EVERY_ROW = {"check_class_weight_classifiers": "a full tree fits every row, whatever its weight"}
EASIEST_FIRST = {
    "check_class_weight_classifiers": "the first rules are for the rows that are easiest to tell"
}
DRAWN = {"check_sample_weight_equivalence_on_dense_data": "with other rows, other samples are drawn"}
MISSING = {"check_estimators_nan_inf": "as scikit-learn's: a search does not say that its tree takes NaN"}
RESOURCES = {"check_fit2d_1sample": "as scikit-learn's: the message names resources, not samples"}
OUTPUTS = {"check_supervised_y_2d": "as scikit-learn's: it does not say that its tree takes several outputs"}
ESTIMATORS = [
    (TreeClassifier(), FITS_EVERY_ROW),
    (TreeClassifier(cv=None, criterion="entropy"), FITS_EVERY_ROW),
    (TreeClassifier(cv=2, prune="1se", max_bins=16), {}),
    (TreeRegressor(), {}),
    (TreeRegressor(cv=None), {}),
    (TreeRegressor(cv=2, prune="best"), {}),
    (BaggedTrees(n_trees=5), DRAWN),
    (BaggedTrees(TreeRegressor(), n_trees=5), DRAWN),
    (RuleClassifier(), EASIEST_FIRST),
    (RuleClassifier(cv=None, ordered=False), {}),
    (RuleClassifier(cv=2, strategy="ripper"), {}),
    (GridSearchCV(CLASSES, {"max_depth": [2, None]}, cv=2), MISSING | OUTPUTS),
    (RandomizedSearchCV(TreeRegressor(cv=2), {"max_depth": [2, 4]}, n_iter=2, cv=2), MISSING),
    (
        HalvingGridSearchCV(CLASSES, {"max_depth": [2, None]}, cv=2, min_resources=8),
        MISSING | OUTPUTS | RESOURCES,
    ),
    (
        HalvingRandomSearchCV(TreeRegressor(cv=2), {"max_depth": [2, 4]}, cv=2, min_resources=8),
        MISSING | RESOURCES,
    ),
    (RFECV(CLASSES, cv=2), OUTPUTS),
    (RFECV(NUMBERS, cv=2), OUTPUTS),
]


def test_every_public_estimator_is_checked():
    public = {name: getattr(crosscut, name) for name in crosscut.__all__}
    estimators = {
        name for name, kind in public.items() if isinstance(kind, type) and issubclass(kind, BaseEstimator)
    }
    assert {type(estimator).__name__ for estimator, _ in ESTIMATORS} == estimators


@pytest.mark.filterwarnings("ignore")  # many checks have fewer rows than folds, or are delegated
@parametrize_with_checks(
    [estimator for estimator, _ in ESTIMATORS],
    expected_failed_checks=lambda given: next(failing for one, failing in ESTIMATORS if one is given),
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
