"""After growth: trees that read codes, and the values of their nodes from exact sums."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from crosscut.engines.growing_tree import impurity_of
from crosscut.forest.predict import decisions

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
    pure = (packed.feature < 0) & (sums.least == sums.largest)
    n, value = len(total), grids.trained.value
    weight, mean, impurity = np.empty(n), np.empty((n, 1)), np.zeros(n)
    for i, (high, low, high1, low1, high2, low2) in enumerate(total.tolist()):
        weight[i] = w = value(0, high, low)
        mean[i, 0] = m = value(1, high1, low1) / w
        if not pure[i]:
            impurity[i] = max(0.0, value(2, high2, low2) / w - m * m)
    return replace(packed, weight=weight, value=mean, impurity=impurity)


def _with_class_weights(
    packed: Packed, total: NDArray[np.int64], grid: ExactGrid, criterion: Criterion
) -> Packed:
    n_classes = total.shape[1] // 2
    weight, value, impurity = np.empty(len(total)), np.empty((len(total), n_classes)), np.empty(len(total))
    for i, parts in enumerate(total.tolist()):
        high, low = parts[::2], parts[1::2]
        own = [grid.value(0, *pair) for pair in zip(high, low, strict=True)]
        weight[i], value[i] = grid.value(0, sum(high), sum(low)), own
        impurity[i] = impurity_of(own, float(weight[i]), criterion)
    return replace(packed, weight=weight, value=value, impurity=impurity)


def scores_of(packed: Packed, sums: LeafSums, grids: Grids | None) -> NDArray[np.float64]:
    """Accuracy, or R², of each tree on the rows it holds out; NaN where there are none."""
    starts = packed.node_start[:-1]
    if grids is None or not grids.numbers:
        predicted = decisions(packed.value)
        right = np.add.reduceat(sums.held_out[np.arange(len(predicted)), predicted], starts)
        count = np.add.reduceat(sums.held_out.sum(axis=1), starts)
        return np.where(count > 0, right / np.maximum(count, 1), np.nan)
    scores = np.full(len(starts), np.nan)
    for t, begin in enumerate(starts.tolist()):
        nodes = slice(begin, int(packed.node_start[t + 1]))
        rows = sums.held_out[nodes].tolist()
        n = sum(row[0] for row in rows)
        if n < 2:  # one value has no variance to explain
            continue
        value = grids.held_out.value
        y = value(1, sum(row[1] for row in rows), sum(row[2] for row in rows))
        yy = value(2, sum(row[3] for row in rows), sum(row[4] for row in rows))
        residual = 0.0
        for (count, high, low, high2, low2), p in zip(rows, packed.value[nodes, 0].tolist(), strict=True):
            if count:
                own, own2 = value(1, high, low), value(2, high2, low2)
                residual += max(0.0, own2 - 2 * p * own + count * p * p)
        spread = yy - y * y / n
        scores[t] = 1 - residual / spread if spread > 0 else float(residual == 0)
    return scores
