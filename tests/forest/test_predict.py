from dataclasses import replace

import numpy as np
import pytest
from forests import classification, grow_all, regression
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.forest.export.scikit import sklearn_tree
from crosscut.forest.predict import apply, apply_held_out
from crosscut.forest.tree import probabilities
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits


def walk(tree, row):
    """Follow the definition in crosscut.forest.tree, one node at a time."""
    node = 0
    while tree.feature[node] >= 0:
        value = row[tree.feature[node]]
        children = tree.children[tree.first_child[node] : tree.first_child[node + 1]]
        branch = tree.missing[node]
        if not np.isnan(value):
            own = dict(tree.branches[tree.first_branch[node] : tree.first_branch[node + 1]].tolist())
            if not np.isnan(tree.threshold[node]):
                branch = 0 if value <= tree.threshold[node] else 1
            else:
                branch = own.get(int(value), branch)
        node = children[branch]
    return node


def test_leaves_are_scikit_learns():
    X, _, (forest, _, table) = regression(0)
    x = table.schema.matrix(X)
    leaf = apply(forest, x)
    for task, tree in enumerate(forest):
        np.testing.assert_array_equal(leaf[task], sklearn_tree(tree, 3, 0).apply(x))


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
def test_held_out_rows_meet_only_their_own_tree(n_jobs):
    X, _, _, (forest, tasks, table) = classification(1)
    x = table.schema.matrix(X)
    held_out = apply_held_out(forest, x, tasks, n_jobs=n_jobs)
    every = apply(forest, x, n_jobs=n_jobs)
    assert len(held_out.leaf) == len(X)
    for task in range(len(forest)):
        part = held_out.of(task)
        np.testing.assert_array_equal(held_out.rows[part], tasks.test_rows(task))
        np.testing.assert_array_equal(held_out.leaf[part], every[task, held_out.rows[part]])


def mixed(n, rng):
    X = np.empty((n, 3), dtype=object)
    X[:, 0] = rng.choice(["a", "b", "c", "d", "e", None], size=n)
    X[:, 1] = np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 9, size=n))
    X[:, 2] = rng.choice(["x", "y", None], size=n)
    return X


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), multiway=st.booleans(), n=st.integers(12, 80))
def test_nominal_and_missing_values_follow_the_definition(seed, multiway, n):
    rng = np.random.default_rng(seed)
    X = mixed(n, rng)
    y = rng.integers(0, 2, size=n).astype(np.int32)
    table = Table.from_data(X)
    tasks = Tasks.from_cv(3, n_rows=n)
    forest = grow(table, Target(y, 2), tasks, Growth("gini", "multiway" if multiway else "binary"))
    new = mixed(80, rng)
    new[:5, 0] = "never seen"
    x = table.schema.matrix(new)
    leaf = apply(forest, x)
    for task, tree in enumerate(forest):
        np.testing.assert_array_equal(leaf[task], [walk(tree, row) for row in x])
    np.testing.assert_array_equal(apply(forest[0], x), leaf[0])
    for same in (np.asfortranarray(x), np.repeat(x, 2, axis=1)[::-1, ::2][::-1], x.astype(np.float64)):
        np.testing.assert_array_equal(apply(forest, same), leaf)
    rows = rng.integers(0, 80, 50)
    row_start = np.array([0, 30, 30, 41, 50])
    few = [leaf[task, rows[row_start[task] : row_start[task + 1]]] for task in range(4)]
    for same in (x, np.asfortranarray(x), x.astype(np.float64)):
        found = forest.packed.leaves_of_few(same, rows, row_start)
        np.testing.assert_array_equal(found, np.concatenate(few))
    whole = np.nan_to_num(x, nan=1.0)
    np.testing.assert_array_equal(apply(forest, whole.astype(np.int64)), apply(forest, whole))


def test_rows_find_their_branch_among_thousands_of_categories():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3000, (4000, 2)).astype(str).astype(object)
    X[rng.random(X.shape) < 0.02] = None
    table = Table.from_data(X)
    forest = grow(table, Target(rng.normal(size=4000), 0), Tasks.from_cv(2, n_rows=4000), Growth("variance"))
    new = X[rng.integers(0, 4000, 300)]
    new[:20, 0] = "never seen"
    x = table.schema.matrix(new)
    leaf = apply(forest, x)
    for task, tree in enumerate(forest):
        np.testing.assert_array_equal(leaf[task], [walk(tree, row) for row in x])
    few = forest.packed.leaves_of_few(x, np.tile(np.arange(300), 3), np.array([0, 300, 600, 900]))
    np.testing.assert_array_equal(few, leaf.ravel())


def test_unsorted_categories_are_refused():
    rng = np.random.default_rng(1)
    X = mixed(60, rng)
    table = Table.from_data(X)
    packed = grow(table, Target(rng.integers(0, 2, 60, np.int32), 2), Tasks.final(60), Growth()).packed
    for swapped in ([[0, 0], [0, 1]], [[-1, 0], [2, 1]], [[1, 0], [2**31 - 1, 1], [5, 1]]):
        branches = packed.branches.copy()
        branches[: len(swapped)] = swapped
        with pytest.raises(ValueError, match="must ascend"):
            apply(replace(packed, branches=branches), table.schema.matrix(X))


def test_threshold_between_two_floats_is_not_rounded():
    """A double between neighbouring floats must part them, whichever way it would round."""
    a = np.float32(1.0)
    b = np.nextafter(a, np.float32(2), dtype=np.float32)
    forest, _, _ = grow_all(
        np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([0, 1, 0, 1], np.int32), 2, Limits(), folds=2
    )
    packed = forest.packed
    between = float(a) + 0.9 * (float(b) - float(a))
    packed = replace(packed, threshold=np.where(packed.feature >= 0, between, packed.threshold))
    np.testing.assert_array_equal(apply(packed, np.array([[a], [b]]))[0], [1, 2])


def test_probabilities_sum_to_one_even_without_weight():
    p = probabilities(np.array([[1.0, 3.0], [0.0, 0.0]]))
    np.testing.assert_array_equal(p, [[0.25, 0.75], [0.5, 0.5]])


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [
        ("children", 0, 0),
        ("children", 0, 2),
        ("children", 1, 10**6),
        ("children", 0, -3),
        ("first_child", 1, -1),
        ("first_child", 1, 10**9),
        ("node_start", 1, 10**9),
        ("node_start", 1, 0),
        ("feature", 0, 99),
        ("missing", 0, 5),
        ("branch_start", 1, -1),
    ],
)
def test_damaged_trees_are_refused(name, at, value):
    _, _, (forest, _, _) = regression(0)
    array = getattr(forest.packed, name).copy()
    array[at] = value
    damaged = replace(forest.packed, **{name: array})
    x = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    with pytest.raises(ValueError):  # noqa: PT011
        apply(damaged, x)
    if (name, value) in {("children", 2), ("missing", 5)}:  # which are not met
        return
    with pytest.raises(ValueError):  # noqa: PT011
        damaged.leaves_of_few(x, np.arange(200), np.array([0, *[200] * len(forest)]))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_few_rows_in_damaged_trees_do_no_harm(seed):
    rng = np.random.default_rng(seed)
    table = Table.from_data(mixed(60, rng))
    target = Target(rng.integers(0, 2, size=60).astype(np.int32), 2)
    packed = grow(table, target, Tasks.from_cv(3, n_rows=60), Growth()).packed
    x = table.schema.matrix(mixed(40, rng))
    name = rng.choice(
        ["feature", "threshold", "missing", "first_child", "children", "first_branch", "branches"]
    )
    array = getattr(packed, name).copy()
    wrong = [np.nan, 0.5] if name == "threshold" else [-(2**31), -1, 0, 1, 5, 10**6, 2**31 - 1]
    wrong += [2**63 - 1, -(2**63)] * (array.dtype == np.int64)
    for at in rng.integers(0, len(array), 5):
        array[at] = rng.choice(np.array(wrong, array.dtype))
    rows = np.repeat(np.arange(40), 4)
    try:
        leaf = replace(packed, **{name: array}).leaves_of_few(x, rows, np.array([0, 40, 80, 120, 160]))
    except ValueError:
        return
    n_nodes = np.repeat(np.diff(packed.node_start), 40)
    assert np.all((leaf >= 0) & (leaf < n_nodes))


def test_wrong_shapes_are_refused():
    X, _, (forest, tasks, table) = regression(0)
    core, x = forest.packed.core, table.schema.matrix(X)
    with pytest.raises(ValueError, match="too few columns"):
        core.apply(np.zeros((2, 1), np.float32), None, None, 1)
    with pytest.raises(ValueError, match="belong together"):
        core.apply(x, np.zeros(2, np.int64), None, 1)
    with pytest.raises(ValueError, match="rows of X"):
        core.apply(x, tasks.tests + 10**6, tasks.first_test, 1)
    with pytest.raises(ValueError, match="rows of X"):
        forest.packed.leaves_of_few(x, tasks.tests + 10**6, tasks.first_test)
    with pytest.raises(ValueError, match="row_start"):
        forest.packed.leaves_of_few(x, tasks.tests, tasks.first_test[1:])
    for name in ("threshold", "missing", "first_child", "children", "first_branch", "node_start"):
        cut = replace(forest.packed, **{name: getattr(forest.packed, name)[:-1]})
        with pytest.raises(ValueError, match="must"):
            cut.leaves_of_few(x, tasks.tests, tasks.first_test)
