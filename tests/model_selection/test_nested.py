"""nested_cross_validate against loops over scikit-learn's search."""

import warnings

import numpy as np
import pytest
from sklearn import model_selection as scikit
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import crosscut
from crosscut import TreeClassifier

from .agreement import TOLERANCE, assert_same_tree
from .growths import count_growths
from .tie_free import make_data, tie_free_data

GRID = {"max_depth": [1, 2, 4], "ccp_alpha": [0.0, 0.02]}


def nested_by_hand(estimator, grid, X, y, *, outer, inner_of):
    """Return outer scores, parameters and the final search, made by scikit-learn."""
    splits = list(outer.split(X, y))
    scores, chosen = [], []
    for i, (train, test) in enumerate(splits):
        search = scikit.GridSearchCV(estimator, grid, cv=inner_of(i, splits)).fit(X[train], y[train])
        scores.append(search.score(X[test], y[test]))
        chosen.append(search.best_params_)
    return np.array(scores), chosen, scikit.GridSearchCV(estimator, grid, cv=splits).fit(X, y)


def the_other_folds(i, splits):
    place = np.empty(sum(map(len, splits[0])), np.int64)
    place[splits[i][0]] = np.arange(len(splits[i][0]))
    return [
        (place[np.setdiff1d(splits[i][0], test)], place[test]) for j, (_, test) in enumerate(splits) if j != i
    ]


@pytest.mark.parametrize("inner_cv", [None, 3, KFold(4, shuffle=True, random_state=0)])
def test_equals_a_loop_over_searches(inner_cv):
    X, y = make_data(0, 180, 1, n_classes=0)
    estimator = DecisionTreeRegressor(min_samples_leaf=3)
    outer = KFold(4, shuffle=True, random_state=1)
    inner_of = the_other_folds if inner_cv is None else lambda i, splits: inner_cv
    scores, chosen, final = nested_by_hand(estimator, GRID, X, y, outer=outer, inner_of=inner_of)
    result = crosscut.nested_cross_validate(estimator, GRID, X, y, cv=outer, inner_cv=inner_cv)
    np.testing.assert_allclose(result.test_score, scores, **TOLERANCE)
    assert result.best_params == chosen
    assert result.params == final.best_params_
    assert_same_tree(result.estimator, final.best_estimator_)
    np.testing.assert_allclose(result.score, scores.mean(), **TOLERANCE)
    assert "final tree" in str(result)


def test_pairs_of_folds_are_grown_once(monkeypatch):
    growths = count_growths(monkeypatch)
    X, y = make_data(1, 100, 2)
    crosscut.nested_cross_validate(DecisionTreeClassifier(), GRID, X, y, cv=5)
    assert growths == [5 * 6 // 2 + 1]


def test_what_cannot_be_shared_is_delegated_with_the_same_meaning():
    X, y = make_data(2, 120, 3)
    grid = {"max_depth": [1, 3]}
    random = RandomForestClassifier(n_estimators=3, random_state=0)
    with pytest.warns(crosscut.DelegationWarning, match="RandomForestClassifier"):
        result = crosscut.nested_cross_validate(random, grid, X, y, cv=KFold(3))
    scores, chosen, final = nested_by_hand(random, grid, X, y, outer=KFold(3), inner_of=the_other_folds)
    np.testing.assert_allclose(result.test_score, scores)
    assert result.best_params == chosen
    assert result.params == final.best_params_


def test_several_metrics():
    X, y = make_data(3, 120, 2)
    scoring = ["accuracy", "roc_auc"]
    result = crosscut.nested_cross_validate(
        TreeClassifier(cv=None), GRID, X, y, cv=3, scoring=scoring, refit="roc_auc"
    )
    assert list(result.test_scores) == scoring
    assert result.metric == "roc_auc"
    with pytest.raises(ValueError, match="refit must name the metric"):
        crosscut.nested_cross_validate(TreeClassifier(cv=None), GRID, X, y, cv=3, scoring=scoring)


def test_groups_stay_together_in_inner_folds():
    X, y = make_data(4, 120, 2)
    groups = np.arange(120) // 10
    result = crosscut.nested_cross_validate(
        DecisionTreeClassifier(), GRID, X, y, cv=GroupKFold(4), inner_cv=GroupKFold(3), groups=groups
    )
    assert len(result.test_score) == 4


@pytest.mark.parametrize(
    ("cv", "message"), [(ShuffleSplit(3, random_state=0), "pass inner_cv"), (2, "at least 3")]
)
def test_folds_that_cannot_be_inner_folds(cv, message):
    X, y = make_data(5, 60, 1)
    with pytest.raises(ValueError, match=message):
        crosscut.nested_cross_validate(DecisionTreeClassifier(), GRID, X, y, cv=cv)


def test_weights_reach_the_inner_scorer():
    X, y = make_data(6, 150, 2, n_classes=0)
    weights = np.random.default_rng(0).exponential(size=150) ** 3
    grid = {"max_depth": [1, 2, 3], "min_samples_leaf": [5, 12]}
    estimator, options = DecisionTreeRegressor(), {"params": {"sample_weight": weights}}
    search = scikit.GridSearchCV(estimator, grid, cv=KFold(3))
    theirs = scikit.cross_validate(search, X, y, cv=KFold(4), return_estimator=True, **options)
    ours = crosscut.nested_cross_validate(estimator, grid, X, y, cv=KFold(4), inner_cv=KFold(3), **options)
    np.testing.assert_allclose(ours.test_score, theirs["test_score"], **TOLERANCE)
    assert ours.best_params == [found.best_params_ for found in theirs["estimator"]]
    np.testing.assert_allclose(
        ours.inner_score, [found.best_score_ for found in theirs["estimator"]], **TOLERANCE
    )
    final = scikit.GridSearchCV(estimator, grid, cv=KFold(4)).fit(X, y, sample_weight=weights)
    assert ours.params == final.best_params_


def test_ties_are_ranked_as_in_scikit():
    # accuracies of few rows: sums of the same numbers in another order differ in the last bit, or not
    estimator = DecisionTreeClassifier(min_samples_split=40, random_state=0)
    grid = {"max_depth": [1, 2, 3, 4, 5], "ccp_alpha": [0.0, 0.01, 0.02]}
    for seed in range(6):
        X, y = tie_free_data(estimator, 90, 2, seed=20 * seed, cv=KFold(10))
        scores, chosen, final = nested_by_hand(
            estimator, grid, X, y, outer=KFold(3), inner_of=lambda *_: KFold(10)
        )
        result = crosscut.nested_cross_validate(estimator, grid, X, y, cv=KFold(3), inner_cv=KFold(10))
        assert result.best_params == chosen
        assert result.params == final.best_params_
        np.testing.assert_allclose(result.test_score, scores, **TOLERANCE)


def test_scores_that_are_not_defined_are_never_the_best():
    X, y = make_data(7, 60, 1, n_classes=0)

    def undefined_for_stumps(estimator, X, y):
        return np.nan if estimator.get_depth() == 1 else estimator.score(X, y)

    result = crosscut.nested_cross_validate(
        DecisionTreeRegressor(), {"max_depth": [1, 2]}, X, y, cv=3, scoring=undefined_for_stumps
    )
    assert result.best_params == [{"max_depth": 2}] * 3


def test_empty_test_sets_and_no_target_are_errors_of_the_caller():
    X, y = make_data(8, 60, 1)
    rows = np.arange(60)
    splits = [(rows, []), (rows[:30], rows[30:])]
    with (
        pytest.warns(crosscut.DelegationWarning, match="empty"),
        pytest.raises(ValueError, match="a test set is empty"),
    ):
        crosscut.nested_cross_validate(DecisionTreeClassifier(), GRID, X, y, cv=splits, inner_cv=2)
    with (
        pytest.warns(crosscut.DelegationWarning, match="y is None"),
        pytest.raises(ValueError, match="missing 1 required positional argument: 'y'"),
    ):
        crosscut.nested_cross_validate(DecisionTreeClassifier(), GRID, X, None, cv=3, inner_cv=2)


def test_a_search_without_target():
    X, _ = make_data(9, 60, 2)
    with pytest.warns(crosscut.DelegationWarning, match="KMeans"):
        result = crosscut.nested_cross_validate(
            KMeans(n_init=1, random_state=0), {"n_clusters": [2, 3]}, X, None, cv=3
        )
    assert len(result.test_score) == 3


@pytest.mark.parametrize("share", [True, False])
def test_a_scorer_that_fails_gives_nan(share):
    """As cross_val_score of a search; a splitter that is not shared goes through scikit-learn's search."""

    def scorer(estimator, X, y):
        if len(y) % 2:
            raise ValueError("an odd number of rows")
        return 1.0

    X, y = np.arange(40.0).reshape(-1, 1) % 7, (np.arange(40) % 3 == 0).astype(int)
    tree = DecisionTreeClassifier(random_state=0, max_features=None if share else "sqrt")
    options = {"scoring": scorer}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = scikit.GridSearchCV(tree, {"max_depth": [1, 2]}, cv=scikit.KFold(2), **options)
        expected = scikit.cross_val_score(search, X, y, cv=scikit.KFold(3))
        result = crosscut.nested_cross_validate(
            tree, {"max_depth": [1, 2]}, X, y, cv=scikit.KFold(3), inner_cv=scikit.KFold(2), **options
        )
    np.testing.assert_array_equal(result.test_score, expected)


@pytest.mark.parametrize("share", [True, False])
def test_an_inner_splitter_that_fails_gives_nan(share):
    class Sometimes(KFold):
        def split(self, X, y=None, groups=None):
            if X[0, 0] == 0:
                raise RuntimeError("no inner split")
            return super().split(X, y, groups)

    X, y = np.arange(40.0).reshape(-1, 1), (np.arange(40) % 3 == 0).astype(int)
    tree = DecisionTreeClassifier(random_state=0, max_features=None if share else "sqrt")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = scikit.GridSearchCV(tree, {"max_depth": [1, 2]}, cv=Sometimes(2))
        expected = scikit.cross_val_score(search, X, y, cv=KFold(4))
    with pytest.warns(FitFailedWarning, match="inner_cv failed: RuntimeError: no inner split"):
        result = crosscut.nested_cross_validate(
            tree, {"max_depth": [1, 2]}, X, y, cv=KFold(4), inner_cv=Sometimes(2)
        )
    np.testing.assert_array_equal(result.test_score, expected)
    assert np.isnan(expected).sum() == 3
    assert [not params for params in result.best_params] == np.isnan(expected).tolist()
    X[:] = 0
    with pytest.warns(FitFailedWarning), pytest.raises(RuntimeError, match="no inner split"):
        crosscut.nested_cross_validate(tree, {"max_depth": [1, 2]}, X, y, cv=KFold(4), inner_cv=Sometimes(2))
