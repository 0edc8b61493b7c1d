from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from forests import classification, grow_all, regression
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree._tree import Tree as SklearnTree
from sklearn.tree._tree import _build_pruned_tree_ccp, ccp_pruning_path

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.forest.export.scikit import sklearn_tree
from crosscut.forest.predict import apply, apply_held_out
from crosscut.forest.smaller_trees import ABOVE_ZERO, LargestTrees, node_alphas, prune
from crosscut.model_selection.candidates import Candidate
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits


def as_sklearn(tree, n_classes):
    """The very same tree, so that ties in growing do not matter."""
    return sklearn_tree(tree, 3, n_classes)


def alphas_of(tree):
    return np.unique(node_alphas(tree)[tree.feature >= 0])


def scikit_alphas(tree, n_classes):
    """The alphas at which scikit-learn prunes; rounding may make the alpha of a step lower than before."""
    alphas = ccp_pruning_path(as_sklearn(tree, n_classes))["ccp_alphas"][1:]
    return np.unique(np.maximum(np.maximum.accumulate(alphas), ABOVE_ZERO))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("criterion", ["gini", "entropy", "variance"])
def test_alphas_are_scikit_learns_for_every_tree(seed, criterion):
    forest, n_classes = (
        (regression(seed, leaf=1)[2][0], 0)
        if criterion == "variance"
        else (classification(seed, leaf=1, criterion=criterion)[3][0], 3)
    )
    for tree in forest:
        np.testing.assert_array_equal(alphas_of(tree), scikit_alphas(tree, n_classes))


@pytest.mark.parametrize("seed", range(4))
def test_ties_are_broken_as_in_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(80, 3)).astype(float)
    y = rng.integers(0, 2, size=80).astype(np.int32)
    forest, _, table = grow_all(X, y, 2, Limits())
    x = table.schema.matrix(X)
    whole = as_sklearn(forest[0], 2)
    alphas = alphas_of(forest[0])
    alphas = alphas[alphas > ABOVE_ZERO]
    for alpha in np.concatenate([alphas, np.sqrt(alphas[:-1] * alphas[1:])]):
        theirs = SklearnTree(3, np.array([2]), 1)
        _build_pruned_tree_ccp(theirs, whole, alpha)
        ours = prune(forest, alpha)
        assert len(ours[0]) == theirs.node_count
        np.testing.assert_array_equal(apply(ours, x)[0], theirs.apply(x))


def cut(forest, limits):
    largest = LargestTrees(forest.packed, exact_ties=False, min_impurity=-1.0)
    return type(forest)(largest.trees(Candidate(None, limits)))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", ["gini", "entropy", "variance"])
def test_cutting_equals_growing_under_the_limit(seed, criterion):
    if criterion == "variance":
        X, y, (forest, _, _) = regression(seed)
        given = (X, y, 0)
    else:
        X, y, _, _ = classification(seed)
        given = (X, y, 3)
        forest, _, _ = grow_all(*given, Limits(min_samples_leaf=4), criterion)
    for setting in [
        {"max_depth": 0},
        {"max_depth": 3},
        {"min_samples_split": 25},
        {"min_impurity_decrease": 0.002},
        {"min_impurity_decrease": 0.02},
        {"max_depth": 4, "min_impurity_decrease": 0.004, "min_samples_split": 12},
    ]:
        grown, _, _ = grow_all(*given, Limits(min_samples_leaf=4, **setting), criterion)
        ours = cut(forest, Limits(**setting))
        assert all(a.equals(b) for a, b in zip(ours, grown, strict=True))


def test_a_cut_forest_has_the_cut_of_every_tree():
    _, _, _, (forest, _, _) = classification(3)
    small = cut(forest, Limits(max_depth=2))
    for task, tree in enumerate(forest):
        assert small[task].max_depth == 2
        assert cut(type(forest)([tree]), Limits(max_depth=2))[0].equals(small[task])


def levels(forest, alphas):
    """For each node, at how many of the ascending alphas it is still an inner node."""
    return np.searchsorted(alphas, node_alphas(forest), side="left").astype(np.int32)


def cut_leaves(forest, level, n_levels, held_out):
    """Node in which each held-out row ends: at each level the highest ancestor of its leaf that is a leaf."""
    packed = forest.packed
    first = packed.node_start[packed.tree_of]
    above = np.where(packed.parent >= 0, first + packed.parent, -1)
    node = held_out.node(packed)
    ends = np.empty((n_levels, len(node)), np.int64)
    for k in range(n_levels):
        while np.any(closed := (above[node] >= 0) & (level[above[node]] <= k)):
            node = np.where(closed, above[node], node)
        ends[k] = node - first[node]
    return ends


def test_rows_end_in_the_leaf_of_the_smaller_tree():
    X, _, _, (forest, tasks, table) = classification(4)
    x = table.schema.matrix(X)
    held_out = apply_held_out(forest, x, tasks)
    alphas = np.concatenate([[0.0], np.geomspace(1e-4, 0.5, 12)])
    level = levels(forest, alphas)
    ends = cut_leaves(forest, level, len(alphas), held_out)
    for k, alpha in enumerate(alphas):
        packed, number = forest.packed.cut(level > k)
        small = prune(forest, alpha)
        assert all(a.equals(b) for a, b in zip(small, type(forest)(packed), strict=True))
        new = apply_held_out(small, x, tasks)
        at = np.repeat(forest.packed.node_start[:-1], np.diff(held_out.row_start))
        np.testing.assert_array_equal(number[at + ends[k]], new.leaf)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(10, 120), ties=st.booleans())
def test_alphas_and_losses_by_their_definition(seed, n, ties):
    """For any tree, ties and all, the alphas are scikit-learn's, and losses are those of the cut trees."""
    rng = np.random.default_rng(seed)
    X = (rng.integers(0, 5, size=(n, 3)) if ties else rng.normal(size=(n, 3))).astype(np.float32)
    y = rng.normal(size=n)
    table = Table.from_data(X)
    tasks = Tasks.from_cv(4, n_rows=n)
    forest = grow(table, Target(y, 0), tasks, Growth("variance"))
    for tree in forest:
        np.testing.assert_array_equal(alphas_of(tree), scikit_alphas(tree, 0))
    held_out = apply_held_out(forest, X, tasks)
    alphas = np.sort(rng.choice(np.maximum(node_alphas(forest), 0), size=6))
    level = levels(forest, alphas)
    packed = forest.packed
    total, squares = packed.core.cut_losses(
        level=level,
        n_levels=len(alphas),
        leaf=held_out.leaf,
        row_start=held_out.row_start,
        own=packed.value,
        measure="squared",
        y=y[held_out.rows],
        weight=None,
        cost=None,
        lambdas=np.zeros(8),
    )
    ends = cut_leaves(forest, level, len(alphas), held_out)
    at = np.repeat(packed.node_start[:-1], np.diff(held_out.row_start))
    loss = (y[held_out.rows] - packed.value[at + ends, 0]) ** 2
    np.testing.assert_allclose(total[:, 0], loss.sum(axis=1), rtol=1e-11)
    np.testing.assert_allclose(squares[:, 0], (loss**2).sum(axis=1), rtol=1e-11)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_damaged_arguments_never_crash(data):
    """Whatever is wrong in the arrays, the binding raises or answers; it never reads outside them."""
    _, _, (forest, tasks, _) = damaged_source()
    packed = forest.packed
    held_out = apply_held_out(forest, np.zeros((tasks.n_rows, 3), np.float32), tasks)
    arrays = {
        name: getattr(packed, name).copy()
        for name in ("node_start", "first_child", "children", "branch_start")
    } | {
        "level": levels(forest, [0.0, 0.1]),
        "leaf": held_out.leaf.copy(),
        "row_start": held_out.row_start.copy(),
    }
    name = data.draw(st.sampled_from(sorted(arrays)))
    if data.draw(st.booleans()):
        arrays[name] = arrays[name][: data.draw(st.integers(0, len(arrays[name])))].copy()
    else:
        at = data.draw(st.integers(0, len(arrays[name]) - 1))
        arrays[name][at] = data.draw(st.integers(-3, 3) | st.integers(-(2**31), 2**31 - 1))
    level, leaf, row_start = (arrays.pop(key) for key in ("level", "leaf", "row_start"))
    try:
        core = replace(packed, **arrays).core
        core.node_alphas(packed.weight, 1)
        cost = data.draw(st.sampled_from([None, np.eye(2), np.eye(1000)]))
        measure = data.draw(st.sampled_from(["squared", "brier", "log", "cost"]))
        own = np.zeros((len(packed.feature), data.draw(st.integers(1, 2))))
        trees = (level, 2, leaf, row_start, own, measure, np.zeros(len(leaf)))
        total, squares = core.cut_losses(*trees, None, cost, np.zeros(8))
        chosen, lane = (np.array([data.draw(st.integers(-1, 8))], np.int32) for _ in range(2))
        core.row_losses(*trees, cost, np.zeros(8), chosen, lane)
        core.shrink(own, 1.0)
    except ValueError:
        return
    assert len(total) == len(squares) == 2


@cache
def damaged_source():
    return regression(0, n=40)
