"""Settings of growth that all tasks share, and limits of each task."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from crosscut import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

Criterion = str  # a name among CRITERIA
Splits = Literal["binary", "multiway"]


class CriterionInfo(NamedTuple):
    """Properties of a criterion of the core."""

    least_classes: int  # 0 for numeric targets
    most_classes: int
    squares: bool  # whether qualities are fractions of sums of squares

    @property
    def numbers(self) -> bool:
        """Whether the criterion is for regression."""
        return self.most_classes == 0


CRITERIA = {name: CriterionInfo(*info) for name, info in _core.criteria().items()}
CLASS_CRITERIA = tuple(name for name, info in CRITERIA.items() if not info.numbers)


@dataclass(frozen=True)
class Growth:
    """Kind of tests and split criterion of all tasks."""

    criterion: Criterion = "gini"
    splits: Splits = "binary"  # kind of tests of nominal columns


@dataclass(frozen=True)
class Limits:
    """Limits of growth. As in scikit-learn, a float is a fraction of the training rows.

    Examples
    --------
    >>> Limits(min_samples_leaf=0.05).of_rows(90)
    Limits(max_depth=None, min_samples_split=2, min_samples_leaf=5, min_impurity_decrease=0.0)
    """

    max_depth: int | None = None
    min_samples_split: int | float = 2
    min_samples_leaf: int | float = 1
    min_impurity_decrease: float = 0.0

    @property
    def has_fractions(self) -> bool:
        """Whether a limit is a fraction of the rows."""
        return isinstance(self.min_samples_leaf, float) or isinstance(self.min_samples_split, float)

    def of_rows(self, n_rows: int) -> Limits:
        """Return the limits of a task with ``n_rows`` training rows; fractions become numbers, rounded up."""
        if not self.has_fractions:
            return self
        leaf, split = self.min_samples_leaf, self.min_samples_split
        return replace(
            self,
            min_samples_split=max(2, math.ceil(split * n_rows)) if isinstance(split, float) else split,
            min_samples_leaf=math.ceil(leaf * n_rows) if isinstance(leaf, float) else leaf,
        )

    @classmethod
    def loosest(cls, limits: Sequence[Limits]) -> Limits:
        """Return limits whose tree contains the trees of all ``limits``, which share ``min_samples_leaf``."""
        depths = [one.max_depth for one in limits]
        return cls(
            None if None in depths else max(depth for depth in depths if depth is not None),
            min(one.min_samples_split for one in limits),
            limits[0].min_samples_leaf,
            min(one.min_impurity_decrease for one in limits),
        )
