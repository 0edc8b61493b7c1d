"""Tasks with the same rows at a node share one subtree, also between blocks: trees are those grown alone."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits


def alone(table, target, tasks, growth, t):
    """Return the tree of task ``t``, grown as the only one."""
    train = tasks.train_rows(t)
    one = Tasks.from_splits([(train, [])], tasks.n_rows, limits=tasks.limits[t], final=False)
    return grow(table, target, one, growth, n_jobs=1)[0]


def assert_grown_as_alone(table, target, tasks, growth, n_jobs=1):
    forest = grow(table, target, tasks, growth, n_jobs=n_jobs)
    for t in range(tasks.n_tasks):
        assert forest[t].equals(alone(table, target, tasks, growth, t)), t


def make_target(rng, X, kind):
    n = len(X)
    signal = np.nan_to_num(X[:, 0] + 0.5 * X[:, 1]) + rng.normal(size=n)
    weights = rng.integers(1, 4, n).astype(float) if "weighted" in kind else None
    if "numbers" in kind:
        return Target(signal.round(1), 0, weights)
    return Target((signal > 0).astype(np.int32) + (signal > 1).astype(np.int32), 3, weights)


@pytest.mark.parametrize("kind", ["classes", "weighted classes", "numbers", "weighted numbers"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_leave_one_out(kind, n_jobs):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3)).round(1).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    growth = Growth("variance" if "numbers" in kind else "gini")
    assert_grown_as_alone(
        Table.from_data(X), make_target(rng, X, kind), Tasks.from_folds(np.arange(90)), growth, n_jobs
    )


@pytest.mark.parametrize(
    "limits",
    [
        Limits(max_depth=3),
        Limits(min_samples_leaf=4),
        Limits(min_samples_split=9),
        Limits(min_impurity_decrease=0.01),
    ],
)
def test_limits(limits):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, (70, 3)).astype(np.float32)
    tasks = Tasks.from_folds(np.arange(70), limits=limits)
    assert_grown_as_alone(Table.from_data(X), make_target(rng, X, "classes"), tasks, Growth("entropy"))


def test_blocks_do_not_grow_again_what_others_have():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    table, target = Table.from_data(X), make_target(rng, X, "classes")
    tasks = Tasks.from_folds(np.arange(300), final=False)
    blocks = [
        Tasks.from_splits([(tasks.train_rows(t), []) for t in range(first, first + 15)], 300, final=False)
        for first in range(0, 300, 15)
    ]
    visited = grow(table, target, tasks, Growth(), n_jobs=1).work["rows"].sum()
    one_by_one = sum(grow(table, target, block, Growth(), n_jobs=1).work["rows"].sum() for block in blocks)
    assert visited < 0.9 * one_by_one


def test_tasks_with_different_limits_do_not_share():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2)).astype(np.float32)
    tasks = Tasks.from_folds(np.arange(60))
    mixed = tuple(
        Limits(min_samples_leaf=1 + t % 3, max_depth=None if t % 2 else 4) for t in range(tasks.n_tasks)
    )
    assert_grown_as_alone(
        Table.from_data(X), make_target(rng, X, "classes"), replace(tasks, limits=mixed), Growth()
    )


def test_tasks_with_different_columns_do_not_share():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 3)).astype(np.float32)
    tasks = Tasks.from_folds(np.arange(50))
    features = rng.random((tasks.n_tasks, 3)) < 0.7
    features[~features.any(axis=1)] = True
    table, target = Table.from_data(X), make_target(rng, X, "numbers")
    forest = grow(table, target, replace(tasks, features=features), Growth("variance"), n_jobs=1)
    for t in range(tasks.n_tasks):
        used = set(forest[t].feature[forest[t].feature >= 0].tolist())
        assert used <= set(np.flatnonzero(features[t]).tolist())


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n_rows=st.integers(20, 120), n_folds=st.integers(2, 60), data=st.data())
def test_any_number_of_folds(seed, n_rows, n_folds, data):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, data.draw(st.sampled_from([3, 20, 1000])), (n_rows, 3)).astype(np.float32)
    kind = data.draw(st.sampled_from(["classes", "numbers", "weighted classes"]))
    folds = rng.permutation(np.arange(n_rows) % min(n_folds, n_rows))
    growth = Growth(
        "variance" if kind == "numbers" else data.draw(st.sampled_from(["gini", "entropy", "gain_ratio"]))
    )
    assert_grown_as_alone(Table.from_data(X), make_target(rng, X, kind), Tasks.from_folds(folds), growth)
