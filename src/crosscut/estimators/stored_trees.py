"""Check that arrays from a file are trees, so that a walk always ends and stays inside the arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.forest import Packed
from crosscut.training.stored import check_types, need, spans

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.schema import Schema

TYPES = {
    "node_start": np.int64,
    "branch_start": np.int64,
    "feature": np.int32,
    "threshold": np.float64,
    "missing": np.int32,
    "first_child": np.int64,
    "children": np.int32,
    "first_branch": np.int64,
    "branches": np.int32,
    "low": np.float32,
    "high": np.float32,
    "depth": np.int32,
    "n_rows": np.int64,
    "weight": np.float64,
    "value": np.float64,
    "impurity": np.float64,
}
_PER_NODE = ("feature", "threshold", "missing", "low", "high", "depth", "n_rows", "weight", "impurity")


def read_trees(arrays: dict[str, NDArray[Any]], schema: Schema, n_classes: int) -> Packed:
    """Return the trees in these arrays.

    Raises
    ------
    ModelFileError
        If they are not trees in preorder over the columns of ``schema``.
    """
    check_types(arrays, TYPES)
    packed = Packed(**{name: arrays[name] for name in TYPES})
    _check_shapes(packed, n_classes)
    for t in range(packed.n_trees):
        _check_shape_of_tree(packed, t)
    _check_tests(packed, schema)
    _check_numbers(packed, n_classes)
    return packed


def _check_shapes(packed: Packed, n_classes: int) -> None:
    n_nodes, n_branches = len(packed.feature), len(packed.branches)
    for name in TYPES:
        need(getattr(packed, name).ndim == (2 if name == "value" else 1), f"{name!r} has a wrong shape")
    for name in _PER_NODE:
        need(len(getattr(packed, name)) == n_nodes, f"{name!r} must have one entry per node")
    need(packed.value.shape == (n_nodes, max(n_classes, 1)), "'value' has a wrong shape")
    start = packed.node_start
    need(spans(start, n_nodes), "'node_start' does not cover the nodes")
    need(np.all(np.diff(start) >= 1), "a tree has no node")
    first = packed.branch_start
    need(len(first) == len(start), "'branch_start' must have one entry per tree")
    need(spans(first, n_branches), "'branch_start' is wrong")
    n_trees = packed.n_trees
    need(len(packed.first_child) == n_nodes + n_trees, "'first_child' has a wrong length")
    need(len(packed.first_branch) == n_nodes + n_trees, "'first_branch' has a wrong length")
    need(len(packed.children) == n_nodes - n_trees, "'children' has a wrong length")


def _check_shape_of_tree(packed: Packed, t: int) -> None:
    """Check that the nodes are one tree numbered in preorder, so that every path ends at a leaf."""
    tree = packed.tree(t)
    n_nodes = len(tree)
    for offsets, end in ((tree.first_child, len(tree.children)), (tree.first_branch, len(tree.branches))):
        need(spans(offsets, end), "offsets are wrong")
    counts = np.diff(tree.first_child)
    need(np.all(counts != 1), "a node has one branch")
    need(np.array_equal(counts > 0, tree.feature >= 0), "a leaf has branches, or a test has none")
    owner = np.repeat(np.arange(n_nodes), counts)
    children = tree.children.astype(np.int64)
    need(np.all((children > owner) & (children < n_nodes)), "a child comes before its parent")
    need(len(np.unique(children)) == n_nodes - 1, "a node has more than one parent")
    parent = np.full(n_nodes, -1)
    parent[children] = owner
    size = [1] * n_nodes
    above = parent.tolist()
    for node in range(n_nodes - 1, 0, -1):  # children before parents, as numbers grow downwards
        size[above[node]] += size[node]
    sizes = np.array(size)
    is_first = np.zeros(len(children), bool)
    is_first[tree.first_child[:-1][counts > 0]] = True
    before = np.roll(children, 1)
    expected = np.where(is_first, owner + 1, before + sizes[before]) if len(children) else children
    need(np.array_equal(children, expected), "nodes are not in preorder")
    depth = tree.depth
    need(depth[0] == 0 and np.all(depth[children] == depth[owner] + 1), "'depth' does not fit the tree")
    below = np.zeros(n_nodes, np.int64)
    np.add.at(below, owner, tree.n_rows[children])
    need(np.array_equal(below[counts > 0], tree.n_rows[counts > 0]), "'n_rows' does not add up")


def _check_tests(packed: Packed, schema: Schema) -> None:
    last = packed.node_start[1:-1] + np.arange(packed.n_trees - 1)
    n_children = np.delete(np.diff(packed.first_child), last)
    n_branches = np.delete(np.diff(packed.first_branch), last)
    feature = packed.feature
    need(np.all((feature >= -1) & (feature < len(schema))), "a test refers to an unknown column")
    inner = feature >= 0
    kinds = np.array([kind == "nominal" for kind in schema.kinds])
    nominal = inner & kinds[feature]
    numeric = inner & ~nominal
    need(np.all(n_children[numeric] == 2), "a numeric test must have two branches")
    need(not np.any(np.isnan(packed.threshold[numeric])), "a threshold is not a number")
    need(not np.any(np.isneginf(packed.threshold[numeric])), "a threshold is infinite")
    need(np.all(np.isnan(packed.threshold[~numeric])), "a node without a numeric test has a threshold")
    widths = np.array([len(categories) + 1 for categories in schema.categories])
    need(np.all(n_branches[~nominal] == 0), "a node without a nominal test has categories")
    need(np.array_equal(n_branches[nominal], widths[feature[nominal]]), "a nominal test has wrong categories")
    need(np.all(packed.missing[~inner] == -1), "a leaf has a branch for missing values")
    known = (packed.missing[inner] >= 0) & (packed.missing[inner] < n_children[inner])
    need(np.all(known), "missing values have no branch")
    owner = np.repeat(np.arange(len(feature)), n_branches)
    taken = packed.branches
    need(np.all((taken >= -1) & (taken < n_children[owner])), "a category has no branch")
    present = np.unique(np.stack([owner[taken >= 0], taken[taken >= 0]]), axis=1)
    need(present.shape[1] == int(n_children[nominal].sum()), "a branch has no category")


def _check_numbers(packed: Packed, n_classes: int) -> None:
    need(np.all(packed.n_rows >= 1), "a node has no rows")
    for name in ("weight", "value", "impurity"):
        need(np.all(np.isfinite(getattr(packed, name))), f"{name!r} has infinite values or NaN")
    need(np.all(packed.weight >= 0), "a weight is negative")
    need(not n_classes or np.all(packed.value >= 0), "a class has a negative weight")
    need(not np.any(np.isinf(packed.low)) and not np.any(np.isinf(packed.high)), "a value is infinite")
