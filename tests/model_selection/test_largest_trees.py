"""Trees inside a grown one are the trees that scikit-learn grows under the limit."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.forest.export.scikit import sklearn_tree
from crosscut.forest.smaller_trees import LargestTrees
from crosscut.model_selection.candidates import PURE, Candidate
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits

from .tie_free import make_data


def largest_trees_of(X, y, n_classes):
    table = Table.from_data(X.astype(np.float32))
    growth = Growth("gini" if n_classes else "variance")
    values = y.astype(np.int32) if n_classes else y
    forest = grow(table, Target(values, n_classes), Tasks.from_cv(3, n_rows=len(y)), growth)
    return LargestTrees(forest.packed, exact_ties=n_classes > 0, min_impurity=PURE)


LIMITS = st.builds(
    Limits,
    max_depth=st.one_of(st.none(), st.integers(1, 6)),
    min_samples_split=st.integers(2, 60),
    min_impurity_decrease=st.one_of(st.just(0.0), st.floats(0, 0.1)),
)
ALPHAS = st.one_of(st.just(0.0), st.floats(0, 0.1), st.sampled_from([0.005, 0.01, 0.02]))
LEAVES = st.one_of(st.none(), st.integers(2, 40))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1000), limits=LIMITS, alpha=ALPHAS, leaves=LEAVES)
def test_smaller_trees_are_grown_trees(seed, limits, alpha, leaves):
    X, y = make_data(seed, 120, 1, n_classes=0)
    tree = largest_trees_of(X, y, 0).tree(0, Candidate(None, limits, alpha, leaves))
    expected = DecisionTreeRegressor(**asdict(limits), ccp_alpha=alpha, max_leaf_nodes=leaves).fit(X, y)
    # scikit-learn numbers the nodes of a tree with max_leaf_nodes in the order in which it splits them
    assert nodes(expected.tree_) == nodes(sklearn_tree(tree, 1, 0))


def nodes(tree):
    return sorted(zip(tree.feature, tree.threshold, tree.n_node_samples, strict=True))


def test_equal_decreases_are_split_in_preorder():
    # three splits of the same decrease: that of the root's left child comes before the right one's
    X = np.arange(16.0).reshape(-1, 1)
    y = np.array([0.0, 0, 0, 0, 4, 4, 4, 4] * 2) + np.repeat([0, 100], 8)
    largest = largest_trees_of(X, y, 0)
    trees = [largest.tree(0, Candidate(None, Limits(), max_leaf_nodes=n)) for n in (1, 2, 3, 4, 5)]
    assert [tree.n_leaves for tree in trees] == [1, 2, 3, 4, 4]
    assert trees[2].depth.tolist() == [0, 1, 2, 2, 1]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_ties_of_alpha_follow_scikit_arithmetic(n_classes):
    # alphas of row counts are ratios of small integers, so a path is one tie after the other
    rng = np.random.default_rng(0)
    for _ in range(20):
        X = rng.permutation(40).reshape(-1, 1).astype(float)
        y = rng.integers(0, n_classes, 40)
        largest = largest_trees_of(X, y, n_classes)
        model = DecisionTreeClassifier().fit(X, y)
        tree = largest.packed.tree(0)
        if not np.array_equal(np.maximum(model.tree_.feature, -1), tree.feature):
            continue  # tests of equal quality
        for alpha in model.cost_complexity_pruning_path(X, y).ccp_alphas:
            pruned = DecisionTreeClassifier(ccp_alpha=max(alpha, 0)).fit(X, y)
            assert len(largest.tree(0, Candidate(None, Limits(), max(alpha, 0)))) == pruned.tree_.node_count


def test_arguments_are_checked():
    packed = largest_trees_of(*make_data(0, 30, 1), 2).packed
    limits = [-1, -1, 2, 0.0, 0.0, 0.0, False]
    assert len(packed.core.stop_nodes(packed.impurity, *limits)) == len(packed.feature)
    with pytest.raises(ValueError, match="impurity must"):
        packed.core.stop_nodes(packed.impurity[:-1], *limits)
    for name in ("node_start", "first_child", "children", "depth", "n_rows", "weight"):
        with pytest.raises(ValueError, match="must"):
            assert replace(packed, **{name: getattr(packed, name)[:-1]}).core
    cyclic = packed.children.copy()
    cyclic[0] = 0
    with pytest.raises(ValueError, match="a child must be numbered after its parent"):
        assert replace(packed, children=cyclic).core
