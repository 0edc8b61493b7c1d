"""A fold's tree is the one grown from copies of its training rows: nothing else may reach it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import model_selection
from sklearn.tree import DecisionTreeRegressor

from crosscut import TreeClassifier, TreeRegressor, cross_val_score
from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.tasks import Tasks
from crosscut.tasks.folds import folds_that_fit
from crosscut.tasks.growth import Growth

seeds = st.integers(0, 2**32 - 1)


def random_columns(rng, n):
    X = rng.integers(0, rng.integers(2, 5), (n, rng.integers(1, 4))).astype(float)
    if rng.random() < 0.3:
        X += rng.normal(size=X.shape).round(1)
    if rng.random() < 0.3:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X


def random_numbers(rng, n):
    tied = [np.arange(3.0), np.array([0.1, 0.2, 0.3]), np.array([1e-30, 2e-30, 1e30]), rng.normal(size=n)]
    y = rng.choice(tied[rng.integers(4)], n)
    y = y + rng.choice([0.0, 0.0, 1e9])
    return y * rng.choice([1.0, 1.0, 1e30, 1e-30])


def random_weights(rng, n):
    kind = rng.integers(5)
    if kind < 2:
        return None
    some = [np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0]), np.array([1e-30, 1.0, 1e30])][kind - 2]
    return rng.choice(some, n)


def same(together, alone):
    """Compare trees that read different tables: by what they show."""
    for name in (
        "feature",
        "threshold",
        "missing",
        "children",
        "low",
        "high",
        "n_rows",
        "weight",
        "value",
        "impurity",
    ):
        np.testing.assert_array_equal(getattr(together, name), getattr(alone, name), err_msg=name)


def check(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    X, w = random_columns(rng, n), random_weights(rng, n)
    criterion = str(rng.choice(["variance", "variance", "gini", "entropy", "gain_ratio"]))
    n_classes = 0 if criterion == "variance" else int(rng.integers(2, 5))
    y = rng.integers(0, n_classes, n).astype(np.int32) if n_classes else random_numbers(rng, n)
    repeated = rng.random() < 0.3
    splits = []
    for _ in range(3):
        train = rng.choice(n, max(2, int(n * 0.7)), replace=repeated)
        splits.append((train if repeated else np.sort(train), np.setdiff1d(np.arange(n), train)))
    tasks = Tasks.from_splits(splits, n)
    growth = Growth(criterion)  # type: ignore[arg-type]
    forest = grow(Table.from_data(X), Target(y, n_classes, w), tasks, growth, n_jobs=1)
    for tree, (train, _) in zip(forest.trees[1:], splits, strict=True):
        rows, times = np.unique(train, return_counts=True)
        own = Target(y[rows], n_classes, None if w is None else w[rows])
        alone = Tasks.from_rows([np.repeat(np.arange(len(rows)), times)], len(rows))
        same(tree, grow(Table.from_data(X[rows]), own, alone, growth, n_jobs=1).trees[0])


@settings(max_examples=300, deadline=None)
@given(seeds)
def test_trees_of_copied_rows(seed):
    check(seed)


@pytest.mark.slow
@settings(max_examples=20_000, deadline=None)
@given(seeds)
def test_trees_of_copied_rows_thousands(seed):
    check(seed)


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


@pytest.mark.parametrize("sample_weight", [None, "given"])
def test_balanced_class_weights_are_those_of_the_training_rows(sample_weight):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 4)), (rng.random(150) < 0.3).astype(int)
    w = None if sample_weight is None else rng.choice([0.1, 0.2, 0.3], 150)
    model = TreeClassifier(class_weight="balanced", cv=5, max_depth=4).fit(X, y, sample_weight=w)
    fold = folds_that_fit(5, 150, y.astype(np.int32), None, None)
    for i, tree in enumerate(model.cv_trees_):
        train = fold != i
        alone = TreeClassifier(class_weight="balanced", cv=None, max_depth=4)
        same(tree, alone.fit(X[train], y[train], sample_weight=None if w is None else w[train]).tree_)


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
def test_repeated_rows_are_so_many_rows(limits):
    """However they come in: as splits of an estimator, of a function, or as copied rows; as scikit-learn."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 4)), rng.integers(0, 2, 150)
    drawn = [rng.integers(0, 150, 120) for _ in range(5)]
    splits = [(train, np.setdiff1d(np.arange(150), train)) for train in drawn]
    model = TreeClassifier(cv=splits, **limits).fit(X, y)
    for tree, (train, _) in zip(model.cv_trees_, splits, strict=True):
        same(tree, TreeClassifier(cv=None, **limits).fit(X[train], y[train]).tree_)
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
