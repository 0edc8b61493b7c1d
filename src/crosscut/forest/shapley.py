"""SHAP values of single predictions, for trees with tests of any kind (Lundberg and others 2020).

A path to a leaf tests some columns. For each of them, rows of unknown value go down the path with the
probability that training rows did, and a row of known value follows it or not. So a leaf counts, for a set of
known columns, with the product of these factors. The Shapley weights of all sets together are an integral of
such a product over the fraction of known columns. It is a polynomial, so a Gauss-Legendre sum is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.tree import Tree


def shapley_values(
    tree: Tree, value: NDArray[np.float64], x: NDArray[np.float32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the contribution of each column to each row's prediction, and the mean prediction.

    ``value`` holds what each node predicts: (nodes, outputs). The result has the shape (rows, columns,
    outputs), and (outputs,) for the mean over the training rows.
    """
    result = np.zeros((*x.shape, value.shape[1]))
    expected = np.zeros(value.shape[1])
    stack: list[tuple[int, dict[int, tuple[float, NDArray[np.bool_]]]]] = [(0, {})]
    while stack:
        node, path = stack.pop()
        feature = int(tree.feature[node])
        if feature < 0:
            weight = float(np.prod([fraction for fraction, _ in path.values()]))
            expected += weight * value[node]
            for column, contribution in _of_leaf(path).items():
                result[:, column] += contribution[:, None] * value[node]
            continue
        branch = _branch(tree, node, x[:, feature])
        fraction, follows = path.get(feature, (1.0, np.ones(len(x), np.bool_)))
        children = tree.children_of(node)
        weights = tree.weight[children] if tree.weight[node] > 0 else np.ones(len(children))
        for b, child in enumerate(children):
            known = fraction * weights[b] / weights.sum(), follows & (branch == b)
            stack.append((child, path | {feature: known}))
    return result, expected


def _branch(tree: Tree, node: int, x: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the branch that each row takes at a node."""
    branches = tree.branches[tree.first_branch[node] : tree.first_branch[node + 1]]
    if not len(branches):
        return np.asarray(np.where(np.isnan(x), tree.missing[node], x > tree.threshold[node]))
    category, branch = branches.T
    at = np.minimum(np.searchsorted(category, x), len(category) - 1)  # NaN: behind all categories
    return np.asarray(np.where(category[at] == x, branch[at], tree.missing[node]))


def _of_leaf(path: dict[int, tuple[float, NDArray[np.bool_]]]) -> dict[int, NDArray[np.float64]]:
    """Return how much each column of a path adds to the probability of reaching its leaf."""
    columns, (fractions, follows) = list(path), zip(*path.values(), strict=True) if path else ((), ())
    n = len(columns)
    total = {column: np.zeros(len(follows[0])) for column in columns}
    points, weights = np.polynomial.legendre.leggauss(max(1, (n + 1) // 2))
    for t, weight in zip((points + 1) / 2, weights / 2, strict=True):
        factors = [(1 - t) * z + t * o for z, o in zip(fractions, follows, strict=True)]
        after = [np.float64(1.0)]  # products of the last factors
        for factor in reversed(factors[1:]):
            after.append(after[-1] * factor)
        before = np.float64(1.0)
        for k, column in enumerate(columns):
            total[column] += weight * (follows[k] - fractions[k]) * before * after[n - 1 - k]
            before = before * factors[k]
    return total
