"""nested_cross_validate against loops over scikit-learn's search."""

import numpy as np
import pytest
from sklearn import model_selection as scikit
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import crosscut
from crosscut import TreeClassifier

from .agreement import TOLERANCE, assert_same_tree
from .growths import count_growths
from .tie_free import make_data

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


def test_groups_stay_together_inside():
    X, y = make_data(4, 120, 2)
    groups = np.arange(120) // 10
    result = crosscut.nested_cross_validate(
        DecisionTreeClassifier(), GRID, X, y, cv=GroupKFold(4), inner_cv=GroupKFold(3), groups=groups
    )
    assert len(result.test_score) == 4


@pytest.mark.parametrize(
    ("cv", "message"), [(ShuffleSplit(3, random_state=0), "give inner_cv"), (2, "at least 3")]
)
def test_folds_that_cannot_serve_inside(cv, message):
    X, y = make_data(5, 60, 1)
    with pytest.raises(ValueError, match=message):
        crosscut.nested_cross_validate(DecisionTreeClassifier(), GRID, X, y, cv=cv)
