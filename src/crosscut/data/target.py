"""The target and the weights of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut import _core
from crosscut.data.threads import n_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_CLASSES = 65_535  # that the core has codes for
_MANY_CODES = 1 << 16  # integer labels in a range of at most this size are counted, not sorted


@dataclass(frozen=True, eq=False)
class Target:
    """Class codes or numbers (``n_classes == 0``) to predict, and the weights of the rows."""

    values: NDArray[np.int32] | NDArray[np.float64]
    n_classes: int
    weights: NDArray[np.float64] | None = None

    def take(self, rows: NDArray[np.int64]) -> Target:
        """Return the target of some rows."""
        weights = None if self.weights is None else self.weights[rows]
        return Target(self.values[rows], self.n_classes, weights)


def coded_classes(y: NDArray[Any], n_jobs: int | None = None) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the classes in sorted order, and each row's class code.

    >>> coded_classes(np.array([7, -1, 7]))
    (array([-1,  7]), array([1, 0, 1], dtype=int32))
    """
    if y.dtype.kind in "iu" and len(y):
        codes = np.empty(len(y), np.int32)
        integers = np.ascontiguousarray(y, dtype=np.int64)
        labels = _core.code_classes(integers, _MANY_CODES, codes, n_threads(n_jobs, len(y)))
        if labels is not None:
            return np.array(labels).astype(y.dtype), codes
    if y.dtype.kind in "UO":  # hashing is faster than sorting
        cells = y.tolist()
        names = sorted(dict.fromkeys(cells))
        code = {name: c for c, name in enumerate(names)}
        return np.array(names, y.dtype), np.fromiter(map(code.__getitem__, cells), np.int32, len(cells))
    classes, where = np.unique(y, return_inverse=True)
    return classes, where.ravel().astype(np.int32)
