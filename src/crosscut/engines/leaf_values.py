"""After growth: trees that read codes, and the values of their nodes from exact sums."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from crosscut.engines.growing_tree import impurity_of
from crosscut.forest.tree import decisions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.grid import ExactGrid, Grids
    from crosscut.engines.coding import Coding
    from crosscut.engines.passes import LeafSums
    from crosscut.forest.forest import Packed
    from crosscut.tasks.growth import Criterion


def coded_trees(packed: Packed, coding: Coding) -> Packed:
    """Return the same trees with codes for thresholds: a threshold is the edge after some bin."""
    threshold = packed.threshold.copy()
    for f in np.unique(packed.feature[~np.isnan(threshold)]).tolist():
        nodes = packed.feature == f
        threshold[nodes] = np.searchsorted(coding.edges[f], packed.threshold[nodes], side="left")
    return replace(packed, threshold=threshold)


def with_values(packed: Packed, sums: LeafSums, grids: Grids, criterion: Criterion) -> Packed:
    """Fill in the values of every node: leaves from their rows, the others from their children."""
    assert sums.trained is not None
    total = sums.trained.copy()
    for nodes, parents in reversed(list(packed.by_depth())):
        np.add.at(total, parents, total[nodes])
    if not grids.numbers:
        return _with_class_weights(packed, total, grids.trained, criterion)
    weight, mean, impurity = np.empty(len(total)), np.empty((len(total), 1)), np.empty(len(total))
    for i, digits in enumerate(total.tolist()):
        wy, w, wyy = _sums(grids.trained, digits)
        weight[i], mean[i, 0], impurity[i] = float(w), float(wy / w), float(wyy / w - (wy / w) ** 2)
    return replace(packed, weight=weight, value=mean, impurity=impurity)


def _sums(grid: ExactGrid, digits: list[int]) -> list[Fraction]:
    """Exact sums of all quantities."""
    return [grid.value(q, digits[first:end]) for q, (first, end) in enumerate(pairwise(grid.starts))]


def _with_class_weights(
    packed: Packed, total: NDArray[np.int64], grid: ExactGrid, criterion: Criterion
) -> Packed:
    width = grid.starts[-1]
    n_classes = total.shape[1] // width
    weight, value, impurity = np.empty(len(total)), np.empty((len(total), n_classes)), np.empty(len(total))
    for i, digits in enumerate(total.tolist()):
        sums = [grid.value(0, digits[c * width : (c + 1) * width]) for c in range(n_classes)]
        own = [float(v) for v in sums]
        weight[i], value[i] = float(sum(sums)), own
        impurity[i] = impurity_of(own, float(weight[i]), criterion)
    return replace(packed, weight=weight, value=value, impurity=impurity)


def scores_of(packed: Packed, sums: LeafSums, grids: Grids | None) -> NDArray[np.float64]:
    """Accuracy, or R², of each tree on the rows it holds out; NaN where there are none."""
    starts = packed.node_start[:-1]
    if grids is None or not grids.numbers:
        predicted = decisions(packed.value, packed.loss)
        right = np.add.reduceat(sums.held_out[np.arange(len(predicted)), predicted], starts)
        count = np.add.reduceat(sums.held_out.sum(axis=1), starts)
        return np.where(count > 0, right / np.maximum(count, 1), np.nan)
    scores = np.full(len(starts), np.nan)
    for t, begin in enumerate(starts.tolist()):
        nodes = slice(begin, int(packed.node_start[t + 1]))
        rows = sums.held_out[nodes].tolist()
        y, n, yy = _sums(grids.held_out, [sum(digits) for digits in zip(*rows, strict=True)])
        if n < 2:  # one value has no variance to explain
            continue
        residual = Fraction(0)
        for digits, prediction in zip(rows, packed.value[nodes, 0].tolist(), strict=True):
            if any(digits):
                own, n_own, own2 = _sums(grids.held_out, digits)
                p = Fraction(prediction)
                residual += own2 - 2 * p * own + n_own * p * p
        spread = yy - y * y / n
        scores[t] = float(1 - residual / spread) if spread > 0 else float(residual == 0)
    return scores
