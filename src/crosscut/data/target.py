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
