"""A fold's model is the one learnt from copies of its training rows: nothing else may reach it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import model_selection
from sklearn.tree import DecisionTreeRegressor

from crosscut import TreeClassifier, TreeRegressor, cross_val_score
from crosscut.tasks.folds import folds_that_fit

from .copied_rows import CHECKS, check_seeds, same_trees

SHARD = 500


@pytest.mark.parametrize("learner", CHECKS)
def test_models_of_copied_rows(learner):
    check_seeds(learner, range(CHECKS[learner][1]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "first"),
    [(learner, first) for learner, (_, _, n) in CHECKS.items() for first in range(0, n, SHARD)],
)
def test_models_of_copied_rows_thousands(learner, first):
    """18,000 comparisons in all."""
    check_seeds(learner, range(10**6 + first, 10**6 + first + SHARD))


def test_ties_are_true_ties():
    """Both columns part the rows with quality 16/3: the first wins, whatever is held out."""
    X = np.array([[0, 2], [3, 2], [2, 0], [0, 1], [2, 0], [3, 3]], float)
    y = np.array([1.0, 2, 0, 1, 1, 0])
    model = TreeRegressor(max_depth=1, cv=[(np.arange(4), [4, 5])]).fit(X, y)
    assert (
        model.cv_trees_[0].feature[0]
        == TreeRegressor(max_depth=1, cv=None).fit(X[:4], y[:4]).tree_.feature[0]
        == 0
    )


def test_training_rows_of_weight_one_stay_weighted():
    """Two tests are closer than doubles can tell; the fold's held-out row, and no other, weighs 2."""
    X = np.array(
        [[2, 5], [8, 1], [15, 10], [6, 17], [14, 9], [3, 13], [0, 4], [11, 7], [16, 12], [0, 0]], float
    )
    y, w = np.array([2, 0, 1, 0, 2, 0, 0, 0, 0, 0]), np.array([1] * 9 + [2])
    model = TreeClassifier(cv=[(np.arange(9), [9])], max_depth=1).fit(X, y, sample_weight=w)
    alone = TreeClassifier(cv=None, max_depth=1).fit(X[:9], y[:9], sample_weight=w[:9])
    same_trees(model.cv_trees_[0], alone.tree_)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*trains on no row of class")
def test_training_rows_of_weight_one_stay_weighted_thousands():
    """The held-out row has another weight, or the training rows lack the class that has another weight."""
    rng = np.random.default_rng(0)
    for _ in range(2000):
        n, n_classes = int(rng.integers(8, 24)), int(rng.integers(2, 5))
        X = np.stack([rng.permutation(n) for _ in range(3)], axis=1)
        y, w = rng.integers(0, n_classes, n), np.ones(n)
        if rng.random() < 0.5:
            w[-1] = 2
            all_weights = weights = None
        else:
            y[:-1] %= n_classes - 1
            y[-1] = n_classes - 1
            weights = dict.fromkeys(y[:-1].tolist(), 1)
            all_weights = weights | {n_classes - 1: 3}
        model = TreeClassifier(cv=[(np.arange(n - 1), [n - 1])], max_depth=1, class_weight=all_weights)
        alone = TreeClassifier(cv=None, max_depth=1, class_weight=weights)
        model.fit(X, y, sample_weight=w)
        alone.fit(X[:-1], y[:-1], sample_weight=w[:-1])
        same_trees(model.cv_trees_[0], alone.tree_, model.classes_, alone.classes_)


@pytest.mark.parametrize("sample_weight", [None, "given"])
def test_balanced_class_weights_are_those_of_the_training_rows(sample_weight):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 4)), (rng.random(150) < 0.3).astype(int)
    w = None if sample_weight is None else rng.choice([0.1, 0.2, 0.3], 150)
    model = TreeClassifier(class_weight="balanced", cv=5, max_depth=4).fit(X, y, sample_weight=w)
    fold, _ = folds_that_fit(5, 150, y.astype(np.int32))
    for i, tree in enumerate(model.cv_trees_):
        train = fold != i
        alone = TreeClassifier(class_weight="balanced", cv=None, max_depth=4)
        same_trees(tree, alone.fit(X[train], y[train], sample_weight=None if w is None else w[train]).tree_)


def test_impurities_do_not_depend_on_an_offset():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = np.round(X[:, 0] + rng.normal(size=200), 2) * 4
    leaves = [
        int((TreeRegressor(prune="1se").fit(X, np.rint(y * 8) + offset).tree_.feature < 0).sum())
        for offset in (0.0, 1.7e9)
    ]
    assert leaves[0] == leaves[1]


@pytest.mark.parametrize("limits", [{"min_samples_leaf": 4}, {"min_samples_split": 0.2}])
def test_repeated_rows_count_each_time(limits):
    """However they come in: as splits of an estimator, of a function, or as copied rows; as scikit-learn."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 4)), rng.integers(0, 2, 150)
    drawn = [rng.integers(0, 150, 120) for _ in range(5)]
    splits = [(train, np.setdiff1d(np.arange(150), train)) for train in drawn]
    model = TreeClassifier(cv=splits, **limits).fit(X, y)
    for tree, (train, _) in zip(model.cv_trees_, splits, strict=True):
        same_trees(tree, TreeClassifier(cv=None, **limits).fit(X[train], y[train]).tree_)
    for balanced in (None, "balanced"):
        scores = TreeClassifier(cv=splits, class_weight=balanced, **limits).fit(X, y).cv_scores_
        ours = cross_val_score(TreeClassifier(cv=None, class_weight=balanced, **limits), X, y, cv=splits)
        assert scores.tolist() == ours.tolist()
    z = X[:, 0] + rng.normal(size=150)
    ours, theirs = (
        score(DecisionTreeRegressor(max_depth=3, random_state=0, **limits), X, z, cv=splits)
        for score in (cross_val_score, model_selection.cross_val_score)
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)
