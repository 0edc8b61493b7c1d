"""After growth: trees that read codes, and the values of their nodes from exact sums."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from crosscut.engines.stream.growing_tree import impurity_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.grid import ExactGrid, Grids
    from crosscut.engines.stream.coding import Coding
    from crosscut.forest.forest import Packed
    from crosscut.tasks.growth import Criterion


def coded_trees(packed: Packed, coding: Coding) -> Packed:
    """Return the same trees with codes for thresholds: a threshold is the edge after some bin."""
    threshold = packed.threshold.copy()
    for f in np.unique(packed.feature[~np.isnan(threshold)]).tolist():
        nodes = packed.feature == f
        threshold[nodes] = np.searchsorted(coding.edges[f], packed.threshold[nodes], side="left")
    return replace(packed, threshold=threshold)


def with_values(packed: Packed, leaf_sums: NDArray[np.int64], grids: Grids, criterion: Criterion) -> Packed:
    """Fill in the values of every node: leaves from their rows, the others from their children."""
    total = leaf_sums.copy()
    for nodes, parents in reversed(list(packed.by_depth())):
        np.add.at(total, parents, total[nodes])
    if not grids.numbers:
        return _with_class_weights(packed, total, grids.trained, criterion)
    weight, mean, impurity = np.empty(len(total)), np.empty((len(total), 1)), np.empty(len(total))
    for i, digits in enumerate(total.tolist()):
        parts = pairwise(grids.trained.starts)
        wy, w, wyy = (grids.trained.value(q, digits[first:end]) for q, (first, end) in enumerate(parts))
        weight[i], mean[i, 0], impurity[i] = float(w), float(wy / w), float(wyy / w - (wy / w) ** 2)
    return replace(packed, weight=weight, value=mean, impurity=impurity)


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
