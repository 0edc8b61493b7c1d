"""Bottom-up pruning by an estimate of each node's error: reduced error and C4.5's pessimistic pruning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut import _core
from crosscut.forest.forest import Forest, Packed
from crosscut.forest.predict import apply
from crosscut.forest.smaller_trees import node_losses

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def additional_errors(n: ArrayLike, errors: ArrayLike, confidence: float = 0.25) -> NDArray[np.float64]:
    """Return how many errors C4.5 (release 8) adds to the `errors` seen among `n` rows.

    This is the function ``AddErrs`` of Quinlan's program, which interpolates the normal deviate of the
    confidence level in a table. The core prunes relational trees with the same function.

    Examples
    --------
    >>> additional_errors([6, 100], [0, 5]).round(4)
    array([1.2378, 2.3016])
    """
    if not 0 < confidence <= 1:
        raise ValueError(f"confidence must be above 0 and at most 1, but {confidence} was given")
    rows, wrong = np.broadcast_arrays(np.asarray(n, np.float64), np.asarray(errors, np.float64))
    if not np.all((rows > 0) & (wrong >= 0) & (wrong <= rows)):
        raise ValueError("n must be positive, and errors between 0 and n")
    return np.asarray(np.vectorize(_core.additional_errors, otypes=[np.float64])(rows, wrong, confidence))


def pessimistic(forest: Forest, confidence: float = 0.25) -> Forest:
    """Prune every tree as C4.5 does (Quinlan 1993): replace subtrees that do not lower the estimated error.

    The estimated errors of a leaf are those seen plus the `additional_errors` that C4.5 expects. Each tree
    uses only its own training rows, so held-out rows stay unseen.

    Parameters
    ----------
    forest : Forest
        Classification trees.
    confidence : float
        C4.5's -c option; lower values give smaller trees.
    """
    packed = forest.packed
    _, wrong = node_losses(packed, packed.value.shape[1])
    # rounding of weights may make an error slightly negative
    wrong = np.clip(wrong, 0.0, packed.weight)
    return _prune(forest, packed, wrong + additional_errors(packed.weight, wrong, confidence))


def reduced_error(
    forest: Forest,
    x: NDArray[np.float32],
    y: NDArray[Any],
    *,
    n_classes: int,
    weights: NDArray[np.float64] | None = None,
) -> Forest:
    """Prune every tree by rows it has not seen (Quinlan 1987): replace subtrees that do not help on them.

    Parameters
    ----------
    forest : Forest
        The trees.
    x : float32 array of shape (n_rows, n_columns)
        Rows set aside for pruning, encoded by ``Schema.matrix``.
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
        while len(node):  # a row adds its loss to every node on its path, from the leaf up
            error = y[rows] - prediction[start + node]
            np.add.at(loss, start + node, w[rows] * (error != 0 if n_classes else error * error))
            node = packed.parent[start + node]
            node, rows = node[node >= 0], rows[node >= 0]
    return _prune(forest, packed, loss)


def _prune(forest: Forest, packed: Packed, error: NDArray[np.float64]) -> Forest:
    """Turn every node into a leaf whose own error is at most that of its pruned subtree."""
    below = np.where(packed.feature < 0, error, 0.0)
    inner = packed.feature >= 0
    for nodes, parents in reversed(list(packed.by_depth())):
        # the children of `parents` are done: decide on the parents before they add to their own parents
        done = nodes[inner[nodes]]
        inner[done] = error[done] > below[done]
        below[done] = np.minimum(error[done], below[done])
        np.add.at(below, parents, below[nodes])
    roots = packed.node_start[:-1]
    inner[roots] &= error[roots] > below[roots]
    return Forest(packed.cut(inner)[0], forest.work)
