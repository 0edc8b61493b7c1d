"""Hierarchical shrinkage: move the predictions of nodes towards those of their ancestors.

Agarwal et al. (2022), *Hierarchical shrinkage: improving the accuracy and interpretability of tree-based
models*. With strength λ, the prediction of a node is that of its parent plus the difference between both
nodes' training rows, divided by 1 + λ / N, where N is the weight of the parent's training rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from crosscut.forest.forest import Forest
from crosscut.forest.tree import probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.forest import Packed

Shrinkage = float | Literal["auto"] | None
_STRENGTHS = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)  # rows; the core compares eight at once


def strengths(packed: Packed, shrinkage: Shrinkage) -> NDArray[np.float64]:
    """Return the strengths to compare: with "auto" a range in units of a row's mean weight, else only one."""
    if shrinkage == "auto":
        return np.asarray(_STRENGTHS) * float(packed.weight[0] / max(int(packed.n_rows[0]), 1))
    return np.full(len(_STRENGTHS), shrinkage or 0.0)


def shrunk(forest: Forest, strength: float, *, classifies: bool) -> Forest:
    """Return the same trees with shrunk predictions.

    ``value`` then has the shrunk means, or the shrunk probabilities times the weight of the node, so
    everything that predicts from ``value`` predicts shrunk values.
    """
    if strength <= 0:
        return forest
    packed = forest.packed
    means = probabilities(packed.value) if classifies else np.ascontiguousarray(packed.value)
    value = packed.core.shrink(means, strength)
    if classifies:
        value *= packed.weight[:, None]
    return Forest(replace(packed, value=value), forest.work)
