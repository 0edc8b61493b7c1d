"""Tasks that hold out few rows each are grown as groups: their trees are those of growing 15 at a time."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.reference.tree import grow as grow_reference
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits


def columns_of(rng, n):
    """Return up to seven columns: ties, missing values, close values, many zeros and categories."""
    makers = [
        lambda: rng.normal(size=n),
        lambda: rng.normal(size=n).round(1),
        lambda: np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
        lambda: rng.integers(0, 4, n).astype(float),
        lambda: rng.normal(size=n) * 1e-6,
        lambda: np.where(rng.random(n) < 0.8, 0, rng.normal(size=n)),
        lambda: np.array(list("abcdefgh"))[rng.integers(0, rng.integers(2, 9), n)],
        lambda: np.full(n, 3.0),
    ]
    return {f"c{j}": makers[k]() for j, k in enumerate(rng.integers(0, len(makers), rng.integers(1, 8)))}


def target_of(rng, columns, n_classes, weights):
    score = rng.normal(size=len(next(iter(columns.values()))))
    for column in columns.values():
        score = score + (np.nan_to_num(column) if column.dtype.kind == "f" else column == "a")
    w = {
        "none": None,
        "fractions": rng.uniform(0.5, 2, len(score)),
        "counts": rng.integers(0, 4, len(score)) + 0.0,
    }[weights]
    if not n_classes:
        return Target(score.round(rng.integers(0, 12)), 0, w)
    return Target(np.clip(np.floor(score + n_classes / 2), 0, n_classes - 1).astype(np.int32), n_classes, w)


def assert_grown_as_blocks(table, target, tasks, growth, n_jobs=1):
    forest = grow(table, target, tasks, growth, n_jobs=n_jobs)
    for first in range(0, len(tasks), 15):
        numbers = range(first, min(first + 15, len(tasks)))
        block = grow(table, target, tasks.take(numbers), growth, n_jobs=1)
        assert block.work["groups"].sum() == 0
        for tree, t in zip(block, numbers, strict=True):
            assert forest[t].difference(tree) is None, t
    return forest


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(70, 260),
    n_classes=st.sampled_from([2, 2, 5, 40]),
    criterion=st.sampled_from(["gini", "entropy", "variance"]),
    weights=st.sampled_from(["none", "none", "fractions", "counts"]),
    splits=st.sampled_from(["binary", "binary", "multiway"]),
    limits=st.builds(
        Limits,
        max_depth=st.sampled_from([None, None, 1, 5]),
        min_samples_leaf=st.sampled_from([1, 1, 3, 10]),
        min_samples_split=st.sampled_from([2, 2, 20]),
        min_impurity_decrease=st.sampled_from([0.0, 0.0, 0.0005, 0.005]),
    ),
    n_jobs=st.integers(1, 2),
    final=st.booleans(),
    data=st.data(),
)
def test_any_table(*, seed, n, n_classes, criterion, weights, splits, limits, n_jobs, final, data):
    rng = np.random.default_rng(seed)
    columns = columns_of(rng, n)
    n_classes = 0 if criterion == "variance" else n_classes
    folds = rng.permutation(np.arange(n) % data.draw(st.integers(65, n)))
    assert_grown_as_blocks(
        Table.from_data(pl.DataFrame(columns)),
        target_of(rng, columns, n_classes, weights),
        Tasks.from_folds(folds, limits=limits, final=final),
        Growth(criterion, splits=splits),
        n_jobs,
    )


@pytest.mark.parametrize(
    ("criterion", "n_classes"), [("variance", 0), ("gini", 2), ("gini", 4), ("entropy", 2), ("entropy", 4)]
)
@pytest.mark.parametrize("per_fold", [1, 3])
def test_groups_grow_the_trees_of_the_reference(criterion, n_classes, per_fold):
    rng = np.random.default_rng(n_classes)
    n = 70 * per_fold
    columns = {
        "a": rng.normal(size=n).round(1),
        "b": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
        "c": np.array(list("xyz"))[rng.integers(0, 3, n)],
    }
    table, target = Table.from_data(pl.DataFrame(columns)), target_of(rng, columns, n_classes, "none")
    tasks = Tasks.from_folds(rng.permutation(np.arange(n) // per_fold), limits=Limits(max_depth=4))
    growth = Growth(criterion)
    forest = grow(table, target, tasks, growth, n_jobs=1)
    assert forest.work["groups"].sum() > 0
    for tree, expected in zip(forest, grow_reference(table, target, tasks, growth), strict=True):
        assert tree.difference(expected) is None


@pytest.mark.parametrize("criterion", ["gini", "entropy", "variance"])
@pytest.mark.parametrize("n_folds", [120, 119])
def test_groups_with_a_least_decrease_of_impurity(criterion, n_folds):
    """The final tree and the folds with one row more divide the decrease by another weight."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4)).round(1)
    score = X[:, 0] + rng.normal(size=120)
    target = Target(score, 0) if criterion == "variance" else Target((score > 0).astype(np.int32), 2)
    limits = Limits(min_impurity_decrease=0.005)
    tasks = Tasks.from_folds(rng.permutation(np.arange(120) % n_folds), limits=limits, final=True)
    forest = assert_grown_as_blocks(Table.from_data(X), target, tasks, Growth(criterion))
    assert forest.work["groups"].sum() > 0
    assert np.ptp([len(tree) for tree in forest]) > 0


def test_tasks_with_several_limits_are_several_groups():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    limits = [Limits(min_samples_leaf=k) for k in (1, 4)]
    tasks = Tasks.leave_one_out(100).with_limits(limits)
    forest = assert_grown_as_blocks(
        Table.from_data(X), Target((X[:, 0] > rng.normal(size=100)).astype(np.int32), 2), tasks, Growth()
    )
    assert forest.work["groups"][0] == 2


@pytest.mark.parametrize(
    ("criterion", "folds"), [("gini", 10), ("gini", 60), ("entropy", 10), ("gain_ratio", 200)]
)
def test_few_folds_and_gain_ratio_are_grown_as_bundles(criterion, folds):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    tasks = Tasks.from_folds(rng.permutation(np.arange(200) % folds))
    target = Target((X[:, 0] > 0).astype(np.int32), 2)
    forest = grow(Table.from_data(X), target, tasks, Growth(criterion), n_jobs=1)
    assert forest.work["groups"].sum() == 0
