"""Convert trees to and from scikit-learn's format, for tools such as SHAP and plot_tree."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.tree import Tree, probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator


@cache
def _types() -> tuple[Any, Any]:
    """Return the types of scikit-learn's fitted trees and of their nodes."""
    from sklearn.tree import DecisionTreeRegressor

    fitted = DecisionTreeRegressor().fit([[0.0]], [0.0]).tree_
    return type(fitted), fitted.__getstate__()["nodes"].dtype


def sklearn_tree(tree: Tree, n_features: int, n_classes: int, names: Sequence[str] | None = None) -> Any:
    """Return a tree with numeric tests only as ``sklearn.tree._tree.Tree``.

    ``n_classes`` is 0 for regression. The error about a nominal test uses the ``names`` of columns.
    """
    kind, node_type = _types()
    if tree.loss is not None:
        raise ValueError("scikit-learn's trees predict the most probable class, but this one has a loss")
    inner = tree.feature >= 0
    nominal = np.flatnonzero(inner & np.isnan(tree.threshold))
    if len(nominal):
        node = int(nominal[0])
        column = int(tree.feature[node])
        n_branches = int(tree.first_child[node + 1] - tree.first_child[node])
        raise ValueError(
            f"to_sklearn: node {node} tests the nominal column {names[column] if names else column!r} "
            f"({n_branches} branches), which scikit-learn's trees cannot express; encode nominal columns as "
            "numbers (for example with OneHotEncoder) before fitting"
        )
    nodes = np.zeros(len(tree), dtype=node_type)
    first = tree.first_child[:-1][inner]
    nodes["left_child"] = nodes["right_child"] = -1
    nodes["left_child"][inner] = tree.children[first]
    nodes["right_child"][inner] = tree.children[first + 1]
    nodes["feature"] = np.where(inner, tree.feature, -2)
    nodes["threshold"] = np.where(inner, tree.threshold, -2.0)
    nodes["impurity"] = tree.impurity
    nodes["n_node_samples"] = tree.n_rows
    nodes["weighted_n_node_samples"] = tree.weight
    nodes["missing_go_to_left"] = inner & (tree.missing == 0)
    value = probabilities(tree.value) if n_classes else tree.value
    result = kind(n_features, np.array([max(n_classes, 1)], dtype=np.intp), 1)
    result.__setstate__(
        {
            "max_depth": tree.max_depth,
            "node_count": len(tree),
            "nodes": nodes,
            "values": np.ascontiguousarray(value[:, None, :]),
        }
    )
    return result


def fit_sklearn(
    model: BaseEstimator,
    tree: Tree,
    n_features: int,
    classes: NDArray[Any] | None,
    names: Sequence[str] | None = None,
) -> Any:
    """Set the fitted attributes of scikit-learn's tree ``model`` and return it; see :func:`sklearn_tree`."""
    model.n_features_in_ = model.max_features_ = n_features
    model.n_outputs_ = 1
    n_classes = 0
    if classes is not None:
        model.classes_, n_classes = classes, len(classes)
        model.n_classes_ = np.int64(n_classes)
    model.tree_ = sklearn_tree(tree, n_features, n_classes, names)
    return model


def tree_from_sklearn(model: BaseEstimator) -> Tree:
    """Return the tree of a fitted estimator of scikit-learn or crosscut with one output.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree_from_sklearn(DecisionTreeClassifier().fit([[1], [2], [4]], [0, 0, 1])).threshold
    array([ 3., nan, nan])
    """
    fitted = getattr(model, "tree_", None)
    if isinstance(fitted, Tree):
        return fitted
    if fitted is None or fitted.n_outputs != 1:
        raise TypeError(f"trees must be fitted and have one output, unlike {model!r}")
    inner, n = fitted.children_left >= 0, fitted.node_count
    depth = np.zeros(n, np.int32)
    for node in np.flatnonzero(inner):  # parents come before their children
        depth[[fitted.children_left[node], fitted.children_right[node]]] = depth[node] + 1
    nan = np.full(n, np.nan, np.float32)
    value, weight = fitted.value[:, 0, :], np.asarray(fitted.weighted_n_node_samples)
    return Tree(
        feature=np.where(inner, fitted.feature, -1).astype(np.int32),
        threshold=np.where(inner, fitted.threshold, np.nan),
        missing=np.where(inner, 1 - fitted.missing_go_to_left.astype(np.int32), np.int32(-1)),
        first_child=np.concatenate([[0], np.cumsum(2 * inner)]).astype(np.int64),
        children=np.stack([fitted.children_left, fitted.children_right], axis=1)[inner]
        .ravel()
        .astype(np.int32),
        first_branch=np.zeros(n + 1, np.int64),
        branches=np.empty((0, 2), np.int32),
        low=nan,
        high=nan,
        depth=depth,
        n_rows=np.asarray(fitted.n_node_samples, np.int64),
        weight=weight,
        value=value * weight[:, None] if hasattr(model, "classes_") else value,
        impurity=np.asarray(fitted.impurity),
    )
