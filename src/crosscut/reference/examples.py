"""The examples: values as ranks, and what each example adds to the statistics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.table import Table
    from crosscut.data.target import Target
    from crosscut.tasks.growth import Growth


@dataclass(frozen=True, eq=False)
class Examples:
    """All examples of a run. Fields that are arrays have one entry per example."""

    table: Table
    growth: Growth
    n_classes: int  # 0: regression
    y: NDArray[Any]
    weights: NDArray[np.float64]
    amounts: NDArray[np.int64]  # (N, 1 + k): one row, then class weights, or weight and product, as integers
    scale: int  # 2**scale turns an improvement on the grids into one in units of y²

    @classmethod
    def of(cls, table: Table, target: Target, growth: Growth, largest_multiplicity: int = 1) -> Examples:
        """Put weights and targets on the grids, once for all tasks."""
        y: NDArray[Any] = np.asarray(target.values)
        w = np.ones(len(y)) if target.weights is None else np.asarray(target.weights, dtype=np.float64)
        weight, k_weight = grid(w, largest_multiplicity)
        if target.n_classes:
            sums = np.zeros((len(y), target.n_classes), dtype=np.int64)
            sums[np.arange(len(y)), y] = weight
            scale = 0
        else:
            product, k_product = grid(w * (y - centre(y[w > 0])), largest_multiplicity)
            sums = np.column_stack([weight, product])
            scale = 2 * (k_weight - k_product)
        amounts = np.column_stack([np.ones(len(y), dtype=np.int64), sums])
        return cls(table, growth, target.n_classes, y, w, amounts, scale)

    def is_nominal(self, column: int) -> bool:
        """Whether a column's values are categories."""
        return bool(self.table.kinds[column] == "nominal")


def grid(v: NDArray[np.float64], largest_multiplicity: int = 1) -> tuple[NDArray[np.int64], int]:
    """Round numbers to integers ``v * 2**k`` whose sums stay below 2**53, so that sums are exact.

    Examples
    --------
    >>> import numpy as np
    >>> grid(np.array([1.0, 2.0, 1.0]))  # integers stay themselves
    (array([1, 2, 1]), 0)
    >>> grid(np.array([0.5, 0.25]))[1]
    52
    """
    s = largest_multiplicity * math.fsum(np.abs(v))
    fits = s <= 2**52 and bool(np.all(v == np.rint(v)))
    k = 0 if fits else 52 - math.frexp(s)[1]
    return np.rint(np.ldexp(v, k)).astype(np.int64), k


def centre(y: NDArray[np.float64]) -> float:
    """Return the mean of the targets in float32; subtracting it keeps the products small."""
    with np.errstate(over="ignore"):
        c = float(np.float32(math.fsum(y) / len(y)))
    return c if math.isfinite(c) else 0.0
