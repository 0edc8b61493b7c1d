"""What is predicted, and how much each row counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Target:
    """What is predicted: class codes, or numbers (``n_classes == 0``); and the rows' weights."""

    values: NDArray[np.int32] | NDArray[np.float64]
    n_classes: int
    weights: NDArray[np.float64] | None = None

    def take(self, rows: NDArray[np.int64]) -> Target:
        """Return the target of some rows."""
        weights = None if self.weights is None else self.weights[rows]
        return Target(self.values[rows], self.n_classes, weights)
