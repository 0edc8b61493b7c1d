"""Accuracy and R² of a set of rows, and of all folds at once."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def accuracy(y: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Return the fraction of rows that are predicted correctly; NaN without rows."""
    return float(np.mean(y == predicted)) if len(y) else math.nan


def r_squared(y: NDArray[np.float64], predicted: NDArray[np.float64]) -> float:
    """Return the coefficient of determination; NaN for fewer than two rows.

    If all values of ``y`` are equal, the result is 1 for exact predictions, else 0, as in scikit-learn.

    Examples
    --------
    >>> r_squared(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
    0.5
    """
    if not len(y):
        return math.nan
    residual, total = ((y - predicted) ** 2).sum(), ((y - y.mean()) ** 2).sum()
    return float(explained(residual, total, len(y)))


def explained(
    residual: NDArray[np.float64] | float,
    total: NDArray[np.float64] | float,
    n_rows: NDArray[np.int64] | int,
) -> NDArray[np.float64]:
    """Return R² from the sums of squares about the predictions and about the mean."""
    r2 = np.where(total > 0, 1 - residual / np.where(total > 0, total, 1), residual == 0)
    return np.where(np.asarray(n_rows) < 2, np.nan, r2)


def scores_by_part(
    y: NDArray[Any], predicted: NDArray[Any], start: NDArray[np.int64], *, classifies: bool
) -> NDArray[np.float64]:
    """Return accuracy or R² of the rows between successive offsets; NaN without rows."""
    if not classifies:
        return np.array([r_squared(y[begin:end], predicted[begin:end]) for begin, end in pairwise(start)])
    counts = np.diff(start)
    correct = np.diff(np.concatenate([[0], np.cumsum(predicted == y)])[start])
    return np.where(counts > 0, correct / np.maximum(counts, 1), np.nan)
