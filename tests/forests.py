"""Small forests for the tests of prediction and pruning."""

from __future__ import annotations

import numpy as np

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.forest.forest import Forest
from crosscut.reference.tree import grow
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits


def regression(seed: int, n: int = 120, leaf: int = 4):
    """Grow a regression forest of four folds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).astype(np.float32)
    y = np.sin(X[:, 0]) + X[:, 1] * (X[:, 2] > 0) + rng.normal(size=n) * 0.3
    return X, y, grow_all(X, y, 0, Limits(min_samples_leaf=leaf))


def classification(seed: int, n: int = 150, leaf: int = 5, criterion: str = "gini"):
    """Grow a forest of four folds for three classes and weighted rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).astype(np.float32)
    y = np.digitize(X[:, 0] + X[:, 1] * (X[:, 2] > 0) + rng.normal(size=n) * 0.5, [-0.5, 0.7]).astype(
        np.int32
    )
    weights = rng.uniform(0.5, 1.5, size=n)
    forest = grow_all(X, y, 3, Limits(min_samples_leaf=leaf), criterion, weights=weights)
    return X, y, weights, forest


def grow_all(X, y, n_classes, limits, criterion="gini", *, weights=None, folds=4):
    table = Table.from_data(X)
    tasks = Tasks.from_cv(folds, y, classifier=bool(n_classes), limits=limits)
    growth = Growth(criterion if n_classes else "variance")
    return Forest(grow(table, Target(y, n_classes, weights), tasks, growth).trees), tasks, table
