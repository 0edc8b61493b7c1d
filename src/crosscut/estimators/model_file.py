"""Read and write the model files of trees."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.estimators.tree_classifier import TreeClassifier
from crosscut.estimators.tree_regressor import TreeRegressor
from crosscut.forest.forest import Forest, Packed
from crosscut.forest.tree import SHARED
from crosscut.statistics.validation import TreeValidation
from crosscut.training.fit import Fit
from crosscut.training.parameters import check_parameters, cost_matrix, objective_of
from crosscut.training.stored import (
    check_types,
    choice_arrays,
    described,
    need,
    read_corrections,
    read_described,
    read_groups,
    read_held_out,
    read_pruning_table,
    read_weights,
    spans,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.schema import Schema
    from crosscut.training.fit import Fitted
    from crosscut.typing import CrossValidation

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
    branches = arrays["branches"]
    categories = arrays.get("categories", np.zeros_like(branches))
    need(categories.dtype == np.int32 and categories.ndim == 1, "'categories' has a wrong type or shape")
    need(branches.shape == categories.shape, "'branches' must have one entry per category")
    entries = np.stack([categories, branches], axis=1)
    packed = Packed(**{name: arrays[name] for name in TYPES} | {"branches": entries})
    _check_shapes(packed, n_classes)
    for t in range(packed.n_trees):
        _check_shape_of_tree(packed, t)
    valid = (packed.feature >= -1) & (packed.feature < len(schema))
    need(np.all(valid), "a test refers to an unknown column")
    if "categories" not in arrays:
        packed = _only_present(packed, _widths(schema))
    _check_tests(packed, schema)
    _check_numbers(packed, n_classes)
    return packed


def _check_shapes(packed: Packed, n_classes: int) -> None:
    n_nodes, n_branches = len(packed.feature), len(packed.branches)
    for name in TYPES:
        n_axes = 2 if name in {"value", "branches"} else 1
        need(getattr(packed, name).ndim == n_axes, f"{name!r} has a wrong shape")
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
    for node in range(n_nodes - 1, 0, -1):  # children before parents: numbers grow downwards
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


def _only_present(packed: Packed, widths: NDArray[np.int64]) -> Packed:
    """Return trees with entries for the categories that occur at a node.

    Earlier versions stored an entry for every category, without its number, and -1 for absent ones.
    """
    n_branches = _counts(packed, packed.first_branch)
    valid = (n_branches == 0) | (n_branches == widths[packed.feature])
    need(np.all(valid), "a nominal test has wrong categories")
    tree = np.repeat(np.arange(packed.n_trees), np.diff(packed.node_start) + 1)
    first = packed.branch_start[tree] + packed.first_branch  # of each node; the end of each tree twice
    number = np.arange(len(packed.branches)) - np.repeat(first[:-1], np.diff(first))
    present = packed.branches[:, 1] >= 0
    kept = np.concatenate([[0], np.cumsum(present)])
    return replace(
        packed,
        branch_start=kept[packed.branch_start],
        first_branch=kept[first] - kept[packed.branch_start[tree]],
        branches=np.stack([number, packed.branches[:, 1]], axis=1)[present].astype(np.int32),
    )


def _counts(packed: Packed, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of entries of each node."""
    return np.delete(np.diff(offsets), packed.node_start[1:-1] + np.arange(packed.n_trees - 1))


def _widths(schema: Schema) -> NDArray[np.int64]:
    """Return the number of different categories of each column, including missing."""
    return np.array([len(categories) + 1 for categories in schema.categories])


def _check_tests(packed: Packed, schema: Schema) -> None:
    n_children, n_branches = _counts(packed, packed.first_child), _counts(packed, packed.first_branch)
    feature = packed.feature
    inner = feature >= 0
    kinds = np.array([kind == "nominal" for kind in schema.kinds])
    nominal = inner & kinds[feature]
    numeric = inner & ~nominal
    need(np.all(n_children[numeric] == 2), "a numeric test must have two branches")
    need(not np.any(np.isnan(packed.threshold[numeric])), "a threshold is not a number")
    need(not np.any(np.isneginf(packed.threshold[numeric])), "a threshold is infinite")
    need(np.all(np.isnan(packed.threshold[~numeric])), "a node without a numeric test has a threshold")
    need(np.all(n_branches[~nominal] == 0), "a node without a nominal test has categories")
    owner = np.repeat(np.arange(len(feature)), n_branches)
    category, taken = packed.branches.T
    known = (category >= 0) & (category < _widths(schema)[feature[owner]])
    ascends = (np.diff(category) > 0) | (np.diff(owner) > 0)
    need(np.all(known) and np.all(ascends), "a nominal test has wrong categories")
    need(np.all(packed.missing[~inner] == -1), "a leaf has a branch for missing values")
    known = (packed.missing[inner] >= 0) & (packed.missing[inner] < n_children[inner])
    need(np.all(known), "missing values have no branch")
    need(np.all((taken >= 0) & (taken < n_children[owner])), "a category has no branch")
    present = np.unique(np.stack([owner, taken]), axis=1)
    need(present.shape[1] == int(n_children[nominal].sum()), "a branch has no category")


def _check_numbers(packed: Packed, n_classes: int) -> None:
    need(np.all(packed.n_rows >= 1), "a node has no rows")
    for name in ("weight", "value", "impurity"):
        need(np.all(np.isfinite(getattr(packed, name))), f"{name!r} has infinite values or NaN")
    need(np.all(packed.weight >= 0), "a weight is negative")
    need(not n_classes or np.all(packed.value >= 0), "a class has a negative weight")
    need(not np.any(np.isinf(packed.low)) and not np.any(np.isinf(packed.high)), "a value is infinite")


def written(model: Fitted | Fit, fit: Fit) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a file with this fit."""
    header = described(model, fit)
    header["columns"]["missing"] = None if fit.n_missing is None else fit.n_missing.tolist()
    header["ccp_alpha"] = fit.alpha
    work = fit.forest.work or {}
    header["work"] = {name: np.asarray(counts).tolist() for name, counts in work.items()}
    arrays = {name: getattr(fit.forest.packed, name) for name in TYPES}
    arrays["categories"], arrays["branches"] = map(np.ascontiguousarray, arrays["branches"].T)
    for name in SHARED:
        if getattr(fit.forest.packed, name) is not None:
            arrays[name] = getattr(fit.forest.packed, name)
    cv: CrossValidation = fit.validation
    if cv is None:
        return header, arrays
    arrays |= {
        "held_out_rows": cv.held_out.rows,
        "held_out_start": cv.held_out.row_start,
        "held_out_leaf": cv.held_out.leaf,
        "y": cv.y,
    }
    if cv.weights is not None:
        arrays["row_weights"] = cv.weights
    if cv.groups is not None:
        arrays["groups"] = cv.groups
    if cv.chosen_scores is not None:
        arrays["scores"] = cv.chosen_scores
    return header, arrays | choice_arrays(fit)


def read(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> TreeClassifier | TreeRegressor:
    """Return the fitted tree of a file."""
    model = TreeClassifier() if header["model"] == "TreeClassifier" else TreeRegressor()
    schema, classes = read_described(header, model)
    if "loss" in arrays:
        model.loss = arrays["loss"].tolist()
    check_parameters(model)
    classifies = isinstance(model, TreeClassifier)
    need(classifies == (classes is not None), "the classes do not fit the learner")
    need(classes is None or len(classes), "there are no classes")
    packed = read_trees(arrays, schema, 0 if classes is None else len(classes))
    work = {str(name): np.array(counts, dtype=np.float64) for name, counts in header["work"].items()}
    need(all(counts.ndim == 1 for counts in work.values()), "the counts of levels are wrong")
    weights = arrays.get("class_weights")
    if weights is not None:
        valid = classes is not None and weights.shape == (len(classes),)
        need(valid and np.all((weights >= 0) & np.isfinite(weights)), "class weights are wrong")
    packed = replace(packed, loss=cost_matrix(model, classes), class_weights=weights)
    forest = Forest(packed, work or None)
    # the cost belongs to the trees before pruning, which are not in the file
    pruned = "pruning_alpha" in arrays or model.ccp_alpha > 0 or model.prune == "pessimistic"
    model.fit_ = Fit(
        learner=header["model"],
        settings=model.get_params(deep=False),
        schema=schema,
        classes=classes,
        target=str(header["target"]),
        forest=forest,
        grown=Forest(packed) if pruned else forest,
        validation=_validation(arrays, forest, classes, model),
        alpha=float(header["ccp_alpha"]),
        chosen_by=read_pruning_table(arrays, objective_of(model), classifies=classifies),
        n_missing=_missing_values(header["columns"].get("missing"), len(schema)),
    )
    return model


def _missing_values(missing: Any, n_columns: int) -> NDArray[np.int64] | None:
    if missing is None:
        return None
    whole = all(type(n) is int and 0 <= n < 2**62 for n in missing)
    need(whole and len(missing) == n_columns, "the numbers of missing values are invalid")
    return np.array(missing, np.int64)


def _scores(arrays: dict[str, NDArray[Any]], n_folds: int) -> NDArray[np.float64] | None:
    scores = arrays.get("scores")
    valid = scores is None or (scores.shape == (n_folds,) and scores.dtype == np.float64)
    need(valid, "there must be one score per fold")
    return scores


def _validation(
    arrays: dict[str, NDArray[Any]],
    forest: Forest,
    classes: NDArray[Any] | None,
    model: TreeClassifier | TreeRegressor,
) -> TreeValidation | None:
    if "y" not in arrays:
        return None
    packed = forest.packed
    is_leaf = np.split(packed.feature < 0, packed.node_start[1:-1])
    held_out, y = read_held_out(arrays, is_leaf, classes)
    weights = read_weights(arrays, len(y))
    scores = _scores(arrays, packed.n_trees - 1)
    validation = TreeValidation(
        forest, held_out, y, classes, weights, chosen_scores=scores, objective=objective_of(model)
    )
    validation.groups, validation.scoring = read_groups(arrays, len(y)), model.scoring
    read_corrections(arrays, validation)
    return validation
