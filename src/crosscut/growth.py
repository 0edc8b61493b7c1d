"""What to grow: the settings all tasks share, the limits each task has, and the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Criterion = Literal["gini", "entropy", "gain_ratio", "variance"]
Splits = Literal["binary", "multiway"]


@dataclass(frozen=True)
class Growth:
    """How tests are made and judged; the same for every task of a run."""

    criterion: Criterion = "gini"
    splits: Splits = "binary"  # of nominal columns


@dataclass(frozen=True)
class Limits:
    """When a task stops growing."""

    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_impurity_decrease: float = 0.0


@dataclass(frozen=True, eq=False)
class Target:
    """What is predicted: class codes, or numbers (``n_classes == 0``); and the rows' weights."""

    values: NDArray[np.int32] | NDArray[np.float64]
    n_classes: int
    weights: NDArray[np.float64] | None = None
