"""The examples: values as ranks, and the contribution of each example to the statistics."""

from __future__ import annotations

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
    amounts: NDArray[Any]  # (N, 1 + k) integers: 1, then class weights, or weight and w * y
    squares: NDArray[Any]  # regression: w * y * y as integers
    counted: bool  # classes without weights: qualities are computed from counts
    units: tuple[int, int]  # integers of weights and of targets are in units of 2**unit

    @classmethod
    def of(cls, table: Table, target: Target, growth: Growth) -> Examples:
        """Convert weights and targets to integers of any size, so that their sums are exact."""
        y: NDArray[Any] = np.asarray(target.values)
        counted = bool(target.n_classes) and target.weights is None
        w = np.ones(len(y)) if target.weights is None else np.asarray(target.weights, dtype=np.float64)
        weight, weight_unit = integers(w)
        squares, unit = np.zeros(0), 0
        if target.n_classes:
            sums = np.zeros((len(y), target.n_classes), dtype=object)
            sums[np.arange(len(y)), y] = weight
        else:
            number, unit = integers(y)
            sums = np.column_stack([weight, weight * number])
            squares = weight * number * number
        amounts = np.column_stack([np.ones(len(y), dtype=np.int64), sums])
        amounts = amounts.astype(np.int64) if counted else amounts.astype(object)
        return cls(table, growth, target.n_classes, y, w, amounts, squares, counted, (weight_unit, unit))

    def is_nominal(self, column: int) -> bool:
        """Whether the values of a column are categories."""
        return bool(self.table.kinds[column] == "nominal")


def integers(v: NDArray[np.float64]) -> tuple[NDArray[Any], int]:
    """Return integers and a unit with ``v == integers * 2**unit``.

    Examples
    --------
    >>> import numpy as np
    >>> integers(np.array([1.0, 0.75, -2.5]))
    (array([4, 3, -10], dtype=object), -2)
    """
    ratios = [number.as_integer_ratio() for number in v.tolist()]
    unit = max((below.bit_length() - 1 for _, below in ratios), default=0)
    return np.array([(above << unit) // below for above, below in ratios], dtype=object), -unit
