"""Targets of a wide range: nodes put them on grids of their own, and the trees are the reference's."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.reference.tree import grow as grow_reference
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), decades=st.integers(6, 12))
def test_outliers_of_other_folds(seed, decades):
    """The squares of an outlier cancel in the tasks that hold it out, which must not close an interval."""
    rng = np.random.default_rng(seed)
    n = 6000
    X = rng.normal(size=(n, 2)).astype(np.float32)
    y = 5.0 * (X[:, 0] > rng.normal()) + 0.1 * rng.normal(size=n)
    y[rng.integers(0, n, 100)] *= 10.0**decades
    table, target = Table.from_data(X), Target(y, 0)
    tasks = Tasks.from_cv(10, n_rows=n, limits=Limits(max_depth=4))
    large, local = (
        grow(table, target, tasks, Growth("variance"), n_jobs=1, local_rows=rows) for rows in (1, 4096)
    )
    assert large.work["derived_rows"].sum() > 0
    for a, b in zip(large.trees, local.trees, strict=True):
        assert a.difference(b) is None


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(20, 150),
    decades=st.sampled_from([0, 9, 18, 71]),
    outlier=st.sampled_from([None, None, 1e12, -1e60]),
    rows=st.tuples(st.integers(1, 4), st.sampled_from([1, 10, 4096])),  # of leaves, of local tables
)
def test_targets_of_any_range(seed, n, decades, outlier, rows):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(rng.integers(0, 3)).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.exp(rng.normal(size=n) * decades / 3) * np.where(
        decades, rng.choice([-1, 1], n), rng.normal(size=n)
    )
    if outlier is not None:
        y[rng.integers(n)] = outlier
    table, target = Table.from_data(X), Target(y, 0)
    tasks = Tasks.from_cv(3, n_rows=n, limits=Limits(min_samples_leaf=rows[0]))
    growth = Growth("variance")
    forest = grow(table, target, tasks, growth, n_jobs=1, local_rows=rows[1])
    for tree, expected in zip(forest, grow_reference(table, target, tasks, growth), strict=True):
        assert tree.difference(expected) is None


def test_large_bundles_have_grids_of_their_own():
    """Without, exact sums decide every test of a task that holds out the largest target."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4)).astype(np.float32)
    table, target = Table.from_data(X), Target(np.exp(6 * (X[:, 0] + rng.normal(size=3000))), 0)
    tasks = Tasks.from_cv(10, n_rows=3000)
    large, local = (
        grow(table, target, tasks, Growth("variance"), n_jobs=1, local_rows=rows) for rows in (200, 4096)
    )
    assert large.work["exact"].sum() < 4 * local.work["exact"].sum()
    for a, b in zip(large.trees, local.trees, strict=True):
        assert a.difference(b) is None
