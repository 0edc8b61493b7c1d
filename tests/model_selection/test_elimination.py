"""RFECV gives scikit-learn's results on data without ties."""

import warnings

import numpy as np
import pytest
import sklearn
from sklearn import feature_selection as scikit
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import GroupKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import crosscut
from crosscut import DelegationWarning, TreeClassifier, TreeRegressor

from .agreement import TOLERANCE, assert_same_tree
from .tie_free import without_ties

pytestmark = pytest.mark.filterwarnings("error::crosscut.DelegationWarning")

CLASSES = DecisionTreeClassifier(max_depth=3, min_samples_leaf=15)
NUMBERS = DecisionTreeRegressor(min_samples_leaf=10)


def data(seed, n_rows=200, n_columns=7, *, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    signal = X[:, 0] + np.sin(2 * X[:, 3]) + 0.3 * X[:, 1] + rng.normal(size=n_rows) * 0.7
    return X, signal if n_classes == 0 else np.digitize(
        signal, np.quantile(signal, np.arange(1, n_classes) / n_classes)
    )


def both(estimator, *, n_classes, **options):
    """RFECV of crosscut and of scikit-learn on the first data without ties, and that data."""

    def theirs(attempt, state, sign):
        model = clone(estimator).set_params(random_state=state)
        X, y = data(attempt, n_classes=n_classes)
        found = scikit.RFECV(model, **options).fit(sign * X, y)
        return found, list(found.cv_results_.values())

    attempt, expected = without_ties(theirs)
    X, y = data(attempt, n_classes=n_classes)
    return crosscut.RFECV(clone(estimator).set_params(random_state=0), **options).fit(X, y), expected, X, y


def assert_same(ours, theirs):
    assert list(ours.cv_results_) == list(theirs.cv_results_)
    for name, expected in theirs.cv_results_.items():
        np.testing.assert_allclose(ours.cv_results_[name], expected, err_msg=name, **TOLERANCE)
    assert ours.n_features_ == theirs.n_features_
    np.testing.assert_array_equal(ours.ranking_, theirs.ranking_)
    np.testing.assert_array_equal(ours.support_, theirs.support_)


@pytest.mark.parametrize(
    "options", [{}, {"step": 2, "cv": 4}, {"step": 0.3, "min_features_to_select": 2, "scoring": "f1_macro"}]
)
def test_classes(options):
    ours, theirs, X, y = both(CLASSES, n_classes=3, **options)
    assert_same(ours, theirs)
    assert_same_tree(ours.estimator_, theirs.estimator_)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    assert ours.score(X, y) == theirs.score(X, y)


@pytest.mark.parametrize(
    "options",
    [
        {"cv": ShuffleSplit(4, test_size=0.3, random_state=0)},
        {"scoring": "neg_mean_absolute_error", "step": 3},
    ],
)
def test_numbers(options):
    ours, theirs, _, _ = both(NUMBERS, n_classes=0, **options)
    assert_same(ours, theirs)
    assert_same_tree(ours.estimator_, theirs.estimator_)


@pytest.mark.parametrize(
    "tree", [TreeClassifier(cv=3, min_samples_leaf=5), TreeRegressor(cv=3, ccp_alpha=0.01)]
)
def test_our_trees_and_groups(tree):
    X, y = data(3, 90, 5, n_classes=0 if isinstance(tree, TreeRegressor) else 2)
    groups = np.arange(len(y)) // 6
    ours, theirs = (
        where.RFECV(tree, cv=GroupKFold(3)).fit(X, y, groups=groups) for where in (crosscut, scikit)
    )
    assert_same(ours, theirs)
    assert ours.estimator_.cv_score_ == theirs.estimator_.cv_score_


class MyTree(DecisionTreeClassifier):
    """Is left to scikit-learn."""


@pytest.mark.parametrize("estimator", [CLASSES, MyTree(max_leaf_nodes=6, random_state=0)])
def test_one_standard_error(estimator):
    X, y = data(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DelegationWarning)
        best, fewer = (crosscut.RFECV(estimator, rule=rule, cv=5).fit(X, y) for rule in ("best", "1se"))
    found = best.cv_results_
    top = int(np.argmax(found["mean_test_score"]))
    scores = np.array([found[f"split{i}_test_score"][top] for i in range(5)])
    error = np.std(scores, ddof=1) * np.sqrt(1 / 5 + 1 / 4)
    within = found["mean_test_score"] >= scores.mean() - error
    assert fewer.n_features_ == found["n_features"][np.argmax(within)] < best.n_features_
    assert fewer.support_.sum() == fewer.estimator_.n_features_in_ == fewer.n_features_
    assert np.all(fewer.ranking_[fewer.support_] == 1)
    np.testing.assert_array_equal(fewer.predict(X), fewer.estimator_.predict(X[:, fewer.support_]))


@pytest.mark.filterwarnings("default::crosscut.DelegationWarning")
def test_what_is_delegated_and_refused(capsys):
    X, y = data(0, 80, 4)
    for estimator, reason, options in (
        (GradientBoostingClassifier(n_estimators=2, random_state=0), "GradientBoostingClassifier", {}),
        (
            make_pipeline(StandardScaler(), clone(CLASSES).set_params(random_state=0)),
            "pipeline",
            {"importance_getter": "named_steps.decisiontreeclassifier.feature_importances_"},
        ),
        (DecisionTreeClassifier(max_features="sqrt", random_state=0), "max_features", {}),
        (
            clone(CLASSES).set_params(random_state=0),
            "importance_getter",
            {"importance_getter": lambda tree: tree.feature_importances_},
        ),
    ):
        with pytest.warns(DelegationWarning, match=f"RFECV is delegated.*{reason}"):
            ours = crosscut.RFECV(estimator, **options).fit(X, y)
        assert_same(ours, scikit.RFECV(estimator, **options).fit(X, y))
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.warns(DelegationWarning, match="routed"),
    ):
        crosscut.RFECV(CLASSES).fit(X, y)
    with pytest.raises(ValueError, match="rule"):
        crosscut.RFECV(CLASSES, rule="2se").fit(X, y)
    with pytest.warns(UserWarning, match="min_features_to_select=9 > n_features=4"):
        assert crosscut.RFECV(CLASSES, min_features_to_select=9).fit(X, y).n_features_ == 4
    crosscut.RFECV(CLASSES, verbose=1).fit(X, y)
    assert "Fitting estimator with 3 features." in capsys.readouterr().out
