"""Bottom-up pruning by an estimate of each node's error: reduced error and C4.5's pessimistic pruning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.forest import Forest, Packed
from crosscut.forest.predict import apply
from crosscut.forest.pruning_table import node_losses

if TYPE_CHECKING:
    from numpy.typing import NDArray


def pessimistic(forest: Forest, confidence: float = 0.25) -> Forest:
    """Prune every tree as C4.5 does (Quinlan 1993): replace a subtree whose estimated error is no lower.

    The error of a leaf with N rows, E of them wrong, is estimated as N times the upper limit of the binomial
    error rate at the given confidence. Only training rows are used, so the trees of the folds stay honest.

    Parameters
    ----------
    forest : Forest
        Classification trees.
    confidence : float
        C4.5's -c option; the lower, the smaller the trees.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, but {confidence} was given")
    from scipy.stats import beta

    packed = forest.packed
    _, wrong = node_losses(packed, packed.value.shape[1])
    right = packed.weight - wrong
    # the limit at which E or fewer errors in N have probability `confidence`; all wrong gives 1
    limit = np.where(right > 0, beta.ppf(1 - confidence, wrong + 1, np.maximum(right, 1e-300)), 1.0)
    return _prune(forest, packed, packed.weight * limit)


def reduced_error(
    forest: Forest,
    x: NDArray[np.float32],
    y: NDArray[Any],
    *,
    n_classes: int,
    weights: NDArray[np.float64] | None = None,
) -> Forest:
    """Prune every tree by rows it has not seen (Quinlan 1987): replace a subtree that does no better on them.

    Parameters
    ----------
    forest : Forest
        The trees.
    x : float32 array of shape (n_rows, n_columns)
        Rows kept apart for pruning, as ``Schema.matrix`` encodes them.
    y : array
        Their class codes, or numbers.
    n_classes : int
        0 for regression.
    weights : float64 array, optional
        Their weights.
    """
    packed = forest.packed
    prediction, _ = node_losses(packed, n_classes)
    leaf = apply(packed, x)
    w = np.ones(len(y)) if weights is None else weights
    loss = np.zeros(len(packed.feature))
    for t in range(packed.n_trees):
        start = int(packed.node_start[t])
        node, rows = leaf[t], np.arange(len(y))
        while len(node):  # from the leaf up, a row adds its loss to every node on its path
            error = y[rows] - prediction[start + node]
            np.add.at(loss, start + node, w[rows] * (error != 0 if n_classes else error * error))
            node = packed.parent[start + node]
            node, rows = node[node >= 0], rows[node >= 0]
    return _prune(forest, packed, loss)


def _prune(forest: Forest, packed: Packed, error: NDArray[np.float64]) -> Forest:
    """Make a leaf of every node whose own error is at most that of the leaves below it, pruned alike."""
    below = np.where(packed.feature < 0, error, 0.0)
    inner = packed.feature >= 0
    for nodes, parents in reversed(list(packed.by_depth())):
        # the children of `parents` are settled: settle themselves before they add to their own parents
        done = nodes[inner[nodes]]
        inner[done] = error[done] > below[done]
        below[done] = np.minimum(error[done], below[done])
        np.add.at(below, parents, below[nodes])
    roots = packed.node_start[:-1]
    inner[roots] &= error[roots] > below[roots]
    return Forest(packed.cut(inner)[0], forest.levels)
