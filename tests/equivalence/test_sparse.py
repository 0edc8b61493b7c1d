"""Tables in which most values are zeros: long chains of nodes that lose a few rows each."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.reference import tree as reference
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits

seeds = st.integers(0, 2**32 - 1)


def sparse_problem(seed, n, n_classes, max_bins=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(rng.integers(0, 4))
    X[rng.random(X.shape) < rng.choice([0.6, 0.9, 0.97])] = rng.choice([0, 0, -9, 9])
    if rng.random() < 0.3:
        X[rng.random(X.shape) < 0.05] = np.nan
    score = np.nan_to_num(X).sum(axis=1) + rng.normal(size=n)
    y = (np.argsort(np.argsort(score)) * n_classes // n).astype(np.int32) if n_classes else score
    weights = rng.uniform(0.5, 2, n) if rng.random() < 0.3 else None
    limits = Limits(min_samples_leaf=int(rng.choice([1, 1, 3])))
    tasks = Tasks.from_cv(int(rng.integers(2, 12)), n_rows=n, limits=limits)
    if rng.random() < 0.2:
        tasks = Tasks.bootstrap(3, n, limits=limits)
    criterion = str(rng.choice(["gini", "entropy"])) if n_classes else "variance"
    return Table.from_data(X, max_bins=max_bins), Target(y, n_classes, weights), tasks, Growth(criterion)


@settings(max_examples=80, deadline=None)
@given(
    seed=seeds,
    n=st.integers(20, 120),
    n_classes=st.sampled_from([0, 0, 2, 3]),
    local_rows=st.sampled_from([1, 8, 4096]),
)
def test_equals_reference(seed, n, n_classes, local_rows):
    problem = sparse_problem(seed, n, n_classes)
    forest = grow(*problem, n_jobs=1, local_rows=local_rows)
    for tree, expected in zip(forest, reference.grow(*problem), strict=True):
        assert tree.difference(expected) is None


@settings(max_examples=40, deadline=None)
@given(
    seed=seeds,
    n=st.integers(300, 3000),
    n_classes=st.sampled_from([0, 0, 2, 3, 9]),
    max_bins=st.sampled_from([None, None, 50]),
    threads=st.sampled_from([1, 3]),
)
def test_large_equals_local(seed, n, n_classes, max_bins, threads):
    """With more than 256 values, intervals have several: their sums of squares are derived, too."""
    problem = sparse_problem(seed, n, n_classes, max_bins)
    large, local = (grow(*problem, n_jobs=threads, local_rows=rows) for rows in (20, 4096))
    for a, b in zip(large, local, strict=True):
        assert a.difference(b) is None
