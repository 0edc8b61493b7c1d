"""Trees that share nodes are the same trees, one after the other."""

import pickle
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut import _core
from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.forest.forest import Packed
from crosscut.forest.predict import apply, apply_held_out
from crosscut.forest.shared import SharedTrees
from crosscut.forest.tree import SHARED
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits

NAMES = [field.name for field in fields(Packed) if field.name not in SHARED]


def grown(seed, *, multiway=False, n=90):
    """Grow leave-one-out trees on numbers, a nominal column and missing values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1).astype(object)
    X[:, 2] = rng.choice(["a", "b", "c"], n)
    X[rng.random(X.shape) < 0.1] = None
    score = rng.normal(size=n)
    kind = seed % 3
    target = Target(score, 0) if not kind else Target((score > 0).astype(np.int32), 2)
    if kind == 2:
        target = Target(np.digitize(score, [-1, 1]).astype(np.int32), 3, rng.integers(1, 4, n).astype(float))
    tasks = Tasks.leave_one_out(n, limits=Limits(min_samples_leaf=1 + seed % 2))
    growth = Growth("gini" if kind else "variance", "multiway" if multiway else "binary")
    table = Table.from_data(X)
    forest = grow(table, target, tasks, growth)
    assert isinstance(forest.packed, SharedTrees)
    return forest, table.schema.matrix(X), tasks, lambda t: grow(table, target, tasks.take([t]), growth)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), multiway=st.booleans())
def test_equal_trees_grown_alone(seed, multiway):
    forest, x, tasks, alone = grown(seed, multiway=multiway)
    packed = forest.packed
    rng = np.random.default_rng(seed)
    for t in rng.choice(tasks.n_tasks, 3, replace=False).tolist():
        tree = alone(t)[0]
        assert packed.tree(t).equals(tree)
        assert packed.only(t).tree(0).equals(tree)
    leaf = apply_held_out(forest, x, tasks).leaf
    assert "_unfolded" not in packed.__dict__
    node = rng.integers(0, packed.node_start[-1], 40)
    values = packed.value_of(node)
    copied = pickle.loads(pickle.dumps(packed))
    trees = packed.select([0, 1]).trees()
    assert all(tree.equals(packed.tree(t)) for t, tree in enumerate(trees))
    whole = Packed(**{name: getattr(packed, name) for name in NAMES})
    np.testing.assert_array_equal(values, whole.value[node])
    np.testing.assert_array_equal(apply_held_out(whole, x, tasks).leaf, leaf)
    np.testing.assert_array_equal(apply(packed, x), apply(whole, x))
    chosen = rng.integers(0, tasks.n_tasks, 5).tolist()
    part, expected = packed.select(chosen), whole.select(chosen)
    changed = packed.with_fields(value=-whole.value)
    for name in NAMES:
        np.testing.assert_array_equal(getattr(copied, name), getattr(whole, name))
        np.testing.assert_array_equal(getattr(part, name), getattr(expected, name))
        if name != "value":
            np.testing.assert_array_equal(getattr(changed, name), getattr(whole, name))
    np.testing.assert_array_equal(changed.value, -whole.value)
    np.testing.assert_array_equal(packed.with_fields(loss=np.eye(2)).value, whole.value)
    with pytest.raises(AttributeError, match="'nothing'"):
        packed.nothing  # noqa: B018


@pytest.mark.parametrize(
    ("place", "at", "value", "message"),
    [
        (9, 0, 10**6, "root must be a node"),
        (0, 0, 1, "size must count"),
        (1, 0, -1, "must have a feature"),
        (1, 0, 99, "too few columns"),
        (3, 0, 2, "missing must name a branch"),
        (4, 1, -1, "first_child"),
        (5, 0, 0, "deeper"),
        (5, 0, 10**6, "deeper"),
        (8, 0, 99, "deeper"),
    ],
)
def test_damaged_arrays_are_refused(place, at, value, message):
    forest, x, tasks, _ = grown(1)
    packed = forest.packed
    distinct = packed.distinct
    arrays = [packed.size, distinct.feature, distinct.threshold, distinct.missing]
    arrays += [distinct.first_child, distinct.children, distinct.first_branch, distinct.branches]
    *arrays, root = [array.copy() for array in [*arrays, distinct.depth, packed.root]]
    _core.SharedTrees(*arrays)
    [*arrays, root][place][at] = value
    with pytest.raises(ValueError, match=message):
        _core.SharedTrees(*arrays).apply(root, x, tasks.tests, tasks.first_test)
