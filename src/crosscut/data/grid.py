"""Convert weights and targets to integers, whose sums are exact in any order (docs/semantics.md).

A number ``v`` becomes the integer ``rint(v * 2**k)``, stored as a double. The exponent ``k`` is such that
sums of any of the numbers stay below 2**53 and are exact. Because such a grid may round, it only proposes
tests: ties and all reported numbers are decided by exact sums, which are stored as digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crosscut import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.data.target import Target

_FLOAT32_MAX = float(np.finfo(np.float32).max)


def on_grid(
    values: NDArray[np.float64], *, centre: float = 0.0, most: int = 1
) -> tuple[NDArray[np.float64], bool]:
    """Return ``values - centre`` as integers, each counted ``most`` times, and whether none was rounded.

    Examples
    --------
    >>> on_grid(np.array([1.0, 2.0, 1.0]))  # integers do not change
    (array([1., 2., 1.]), True)
    >>> on_grid(np.array([0.5, 0.25]))[0] / 2**52
    array([0.5 , 0.25])
    """
    _, total, whole = _core.spread_of(values, centre)
    exponent = exponent_of(most * _finite(total, values), whole=whole)
    return _core.on_grid(values, centre, exponent)


def _finite(total: float, values: NDArray[np.float64]) -> float:
    """Return a total, which may be rounded when choosing a grid; raise if it is not finite."""
    if math.isfinite(total):
        return total
    most = float(np.abs(values).max())
    what = f"{len(values)} targets or weights, the largest of which is {most:.3g}, add up to more than"
    raise ValueError(f"{what} a double can hold (1.8e308); divide them by a power of ten")


def exponent_of(total: float, *, whole: bool) -> int:
    """Return the exponent for numbers whose absolute values add up to ``total``."""
    return 0 if whole and total <= 2**52 else 52 - math.frexp(total)[1]


def centre_of(total: float, n: int) -> float:
    """Return the mean of targets as float32; subtracting it keeps the numbers small."""
    mean = total / n if n else 0.0
    return float(np.float32(mean)) if abs(mean) <= _FLOAT32_MAX else 0.0


class Bits(NamedTuple):
    """Bits of some numbers: they are multiples of 2**low and below 2**high in magnitude."""

    low: int
    high: int

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Bits:
        """Return the bits of finite numbers.

        Examples
        --------
        >>> Bits.of(np.array([0.75, 5.0, 0.0]))
        Bits(low=-2, high=3)
        """
        return cls(*(_core.bits_of(values) or NO_BITS))

    @classmethod
    def of_weights(cls, weight: NDArray[np.float64] | None) -> Bits:
        """Return the bits of weights; without weights, each row counts once."""
        return cls(0, 1) if weight is None else cls.of(weight)

    def merge(self, other: Bits) -> Bits:
        """Return the bits of both."""
        return Bits(min(self.low, other.low), max(self.high, other.high))

    def times(self, other: Bits) -> Bits:
        """Return the bits of products."""
        return Bits(self.low + other.low, self.high + other.high)


NO_BITS = Bits(10**6, -(10**6))


@dataclass(frozen=True)
class ExactGrid:
    """Grid of integers of any size, stored as digits that add up without carries, in any order.

    The grid of a quantity is (unit, bits, n): n digits of ``bits`` bits, the lowest in units of 2**unit. The
    quantities are the weight w; for regression w * y, w and w * y * y.
    """

    grids: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, n_rows: int, weight: Bits, target: Bits | None, *, bits: int = 61) -> ExactGrid:
        """Choose grids that round no number; digits of ``n_rows`` rows add up to ``bits`` bits at most."""
        width = bits - math.frexp(max(1, n_rows))[1]
        product = None if target is None else weight.times(target)
        square = None if target is None or product is None else product.times(target)
        grids = []
        for low, high in (b for b in (product, weight, square) if b is not None):
            grids.append((low, width, -(-(high - low) // width)) if low < high else (0, width, 1))
        return cls(tuple(grids))

    @property
    def starts(self) -> tuple[int, ...]:
        """First digit of each quantity, then the total number of digits."""
        return tuple(accumulate((n for _, _, n in self.grids), initial=0))

    def digits(
        self, target: NDArray[np.float64] | None, weight: NDArray[np.float64] | None, n_rows: int
    ) -> NDArray[np.int64]:
        """Return the digits of each row, (rows, digits)."""
        return _core.exact_digits(target, weight, n_rows, list(self.grids))

    def value(self, q: int, digits: Sequence[int]) -> Fraction:
        """Return the sum of quantity ``q`` that these digits represent."""
        unit, bits, _ = self.grids[q]
        return sum(d << (bits * i) for i, d in enumerate(digits)) * Fraction(2) ** unit


class RowStatistics(NamedTuple):
    """Contribution of each row of a table in memory to the statistics."""

    values: NDArray[Any]  # class codes or numbers
    weight: NDArray[np.float64] | None  # on the grid
    product: NDArray[np.float64] | None  # on the grid; for numbers
    digits: NDArray[np.int64] | None  # of exact sums
    grid: ExactGrid
    weight_rounded: bool  # the grid rounds some weights
    product_rounded: bool

    @classmethod
    def of(cls, target: Target, most: int) -> RowStatistics:
        """Choose grids for rows that a task counts at most ``most`` times each."""
        w, numbers = target.weights, not target.n_classes
        y: NDArray[Any] = np.ascontiguousarray(target.values, dtype=np.float64 if numbers else np.int32)
        exact = ExactGrid.of(len(y) * most, Bits.of_weights(w), Bits.of(y) if numbers else None)
        if not numbers and w is None:
            return cls(y, None, None, None, exact, weight_rounded=False, product_rounded=False)
        weight, weight_rounded = None, False
        if w is not None:
            weight, is_exact = on_grid(w, most=most)
            weight_rounded = not is_exact
            weight[w > 0] = np.maximum(weight[w > 0], 1)
        digits = exact.digits(y if numbers else None, w, len(y))
        if not numbers:
            return cls(y, weight, None, digits, exact, weight_rounded=weight_rounded, product_rounded=False)
        trained = y if w is None else y[w > 0]
        centre = centre_of(_core.spread_of(trained, 0.0)[0], len(trained))
        if w is None:
            product, is_exact = on_grid(y, centre=centre, most=most)
        else:
            product, is_exact = on_grid((y - centre) * w, most=most)[0], False
        return cls(
            y, weight, product, digits, exact, weight_rounded=weight_rounded, product_rounded=not is_exact
        )


class ClassGrid(NamedTuple):
    """Class weights of tasks as integers; the sum of a class is the product of its count and its weight."""

    weight: NDArray[np.float64]  # (tasks, classes)
    digits: NDArray[np.int64]  # (tasks, classes * digits) of the exact weights
    rounded: NDArray[np.bool_]  # (tasks,): whether the grid of a task rounds some weight
    grid: ExactGrid

    @classmethod
    def of(cls, class_weights: NDArray[np.float64], rows: NDArray[np.int64]) -> ClassGrid:
        """Choose grids for positive class weights, (tasks, classes), and the number of rows of each class.

        Examples
        --------
        >>> ClassGrid.of(np.array([[1.0, 3.0]]), np.array([5, 2])).weight
        array([[1., 3.]])
        """
        totals = (class_weights * np.maximum(rows, 1)).sum(axis=1)
        whole = (class_weights == np.rint(class_weights)).all(axis=1)
        exponents = [
            exponent_of(_finite(total, one), whole=bool(is_whole))
            for total, one, is_whole in zip(totals.tolist(), class_weights, whole, strict=True)
        ]
        scaled = np.ldexp(class_weights, np.array(exponents)[:, None])
        weight = np.maximum(np.rint(scaled), 1)
        grid = ExactGrid.of(int(rows.sum()), Bits.of(class_weights.ravel()), None)
        digits = grid.digits(None, class_weights.ravel(), class_weights.size).reshape(len(weight), -1)
        return cls(weight, digits, (weight != scaled).any(axis=1), grid)


@dataclass
class Totals:
    """Input for choosing exact grids; totals of parts of the data can be merged in any order."""

    n_rows: int = 0
    weight: Bits = NO_BITS
    target: Bits = NO_BITS

    def add(
        self, target: NDArray[np.float64] | None, weight: NDArray[np.float64] | None, n_rows: int
    ) -> None:
        """Add a batch; ``target`` is None for classes."""
        self.n_rows += n_rows
        self.weight = self.weight.merge(Bits.of_weights(weight))
        if target is not None:
            self.target = self.target.merge(Bits.of(target))

    def merge(self, other: Totals) -> Totals:
        """Add the totals of another part of the data."""
        n_rows = self.n_rows + other.n_rows
        return Totals(n_rows, self.weight.merge(other.weight), self.target.merge(other.target))

    def to_notes(self) -> list[Any]:
        """Return a list that can be written as JSON."""
        return [self.n_rows, self.weight, self.target]

    @classmethod
    def from_notes(cls, notes: list[Any]) -> Totals:
        """Return the totals written by :meth:`to_notes`."""
        return cls(notes[0], Bits(*notes[1]), Bits(*notes[2]))


@dataclass(frozen=True)
class Grids:
    """Exact grids of a stream with weights or a numeric target; otherwise rows are only counted."""

    numbers: bool  # targets are numbers, not classes
    trained: ExactGrid

    @classmethod
    def of(cls, totals: Totals, *, numbers: bool, weighted: bool) -> Grids | None:
        """Choose grids on which no sum can overflow; None if rows are only counted."""
        if not numbers and not weighted:
            return None
        target = totals.target if numbers else None
        return cls(numbers, ExactGrid.of(totals.n_rows, totals.weight, target))

    @property
    def deciding(self) -> list[tuple[int, int, int]]:
        """Grids of the quantities that tests are compared by: all but the squares of regression."""
        return list(self.trained.grids[:2])

    @property
    def n_deciding(self) -> int:
        """Number of digits of the deciding quantities."""
        return sum(n for _, _, n in self.deciding)

    def digits(self, target: NDArray[Any], weight: NDArray[np.float64] | None) -> NDArray[np.int64]:
        """Return the digits that training rows add to exact sums."""
        return self.trained.digits(target if self.numbers else None, weight, len(target))
