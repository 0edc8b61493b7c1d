"""What to grow: the settings all tasks share, and the limits each task has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
