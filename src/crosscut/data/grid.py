"""Fixed-point grids of weights and targets (docs/semantics.md), for rows in memory and in batches.

A number ``v`` becomes the integer ``rint(v * 2**k)``, held as a double. The exponent ``k`` is chosen so that
sums of any of the numbers stay below 2**53 and are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crosscut.data.exact_sum import ExactSum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.target import Target


def on_grid(
    values: NDArray[np.float64], *, most: int = 1, keep_whole: bool = True
) -> tuple[NDArray[np.float64], int]:
    """Return the integers of some numbers, each counted at most so many times, and their exponent.

    Examples
    --------
    >>> on_grid(np.array([1.0, 2.0, 1.0]))  # integers stay what they are
    (array([1., 2., 1.]), 0)
    >>> on_grid(np.array([0.5, 0.25]))[1]
    52
    """
    whole = keep_whole and bool(np.all(values == np.rint(values)))
    exponent = exponent_of(most * math.fsum(np.abs(values)), whole=whole)
    return np.rint(np.ldexp(values, exponent)), exponent


def exponent_of(total: float, *, whole: bool) -> int:
    """Return the exponent for numbers of which the absolute values add up to a total."""
    return 0 if whole and total <= 2**52 else 52 - math.frexp(total)[1]


def centre_of(total: float, n: int) -> float:
    """Return the mean of targets as float32: measured from it, they are small."""
    with np.errstate(over="ignore"):
        centre = float(np.float32(total / n)) if n else 0.0
    return centre if math.isfinite(centre) else 0.0


class RowStatistics(NamedTuple):
    """What each row of a table in memory adds to the statistics."""

    values: NDArray[Any]  # class codes or numbers
    weight: NDArray[np.float64] | None  # on the grid
    product: NDArray[np.float64] | None  # on the grid; for numbers
    exact: list[tuple[NDArray[np.int64], int, int]]  # parts, shift and bits: leaf values come from these
    decrease_scale: float

    @classmethod
    def of(cls, target: Target, most: int) -> RowStatistics:
        """Choose grids for the rows, each of which a task counts at most so many times."""
        w, numbers = target.weights, not target.n_classes
        y: NDArray[Any] = np.ascontiguousarray(target.values, dtype=np.float64 if numbers else np.int32)
        weight, weight_exponent = (None, 0) if w is None else on_grid(w, most=most)
        if not numbers and w is None:
            return cls(y, None, None, [], 1.0)
        quantities = _quantities(y, w, numbers=numbers)
        grid = ExactGrid.of(len(y) * most, tuple(float(np.abs(v).max(initial=0.0)) for v in quantities))
        exact = [(grid.parts(q, v), grid.shifts[q], grid.bits) for q, v in enumerate(quantities)]
        if not numbers:
            return cls(y, weight, None, exact, 1.0)
        trained = y if w is None else y[w > 0]
        centre = centre_of(math.fsum(trained), len(trained))
        product, exponent = on_grid((y - centre) * quantities[0], most=most)
        return cls(y, weight, product, exact, _decrease_scale(weight_exponent, exponent))


@dataclass
class Magnitude:
    """What the grid of some numbers depends on; magnitudes of parts of the data add up in any order."""

    total: ExactSum = field(default_factory=ExactSum)  # of absolute values
    whole: bool = True  # all are integers

    def add(self, values: NDArray[np.float64]) -> None:
        """Look at the numbers of a batch."""
        self.total += ExactSum.of(np.abs(values))
        self.whole = self.whole and bool(np.all(values == np.rint(values)))

    def merge(self, other: Magnitude) -> Magnitude:
        """Add the numbers of another part of the data."""
        return Magnitude(self.total + other.total, self.whole and other.whole)

    @property
    def exponent(self) -> int:
        """Exponent of their grid."""
        return exponent_of(float(self.total), whole=self.whole)


@dataclass
class Totals:
    """Sums over all rows from which the grids follow; for classes those of the weights only."""

    n_rows: int = 0
    weights: Magnitude = field(default_factory=Magnitude)
    products: Magnitude = field(default_factory=Magnitude)  # w * (y - centre)
    largest: tuple[float, float, float] = (0.0, 0.0, 0.0)  # magnitude of w, w * y and w * y * y
    largest_target: float = 0.0

    def add(self, target: NDArray[Any], weight: NDArray[np.float64] | None, centre: float | None) -> None:
        """Look at a batch; there is no centre if the targets are classes."""
        self.n_rows += len(target)
        if weight is not None:
            self.weights.add(weight)
        quantities = _quantities(target, weight, numbers=centre is not None)
        if centre is not None:
            self.products.add((target - centre) * quantities[0])
            self.largest_target = max(self.largest_target, float(np.abs(target).max(initial=0.0)))
        found = [float(np.abs(v).max(initial=0.0)) for v in quantities]
        w, wy, wyy = (max(pair) for pair in zip(self.largest, [*found, 0.0, 0.0], strict=False))
        self.largest = (w, wy, wyy)

    def merge(self, other: Totals) -> Totals:
        """Add the totals of another part of the data."""
        w, wy, wyy = (max(pair) for pair in zip(self.largest, other.largest, strict=True))
        return Totals(
            self.n_rows + other.n_rows,
            self.weights.merge(other.weights),
            self.products.merge(other.products),
            (w, wy, wyy),
            max(self.largest_target, other.largest_target),
        )

    def to_notes(self) -> list[Any]:
        """Return what can be written as JSON."""
        magnitudes = [[str(m.total.units), m.whole] for m in (self.weights, self.products)]
        return [self.n_rows, *magnitudes, self.largest, self.largest_target]

    @classmethod
    def from_notes(cls, notes: list[Any]) -> Totals:
        """Return the totals that were written."""
        weights, products = (Magnitude(ExactSum(int(units)), whole) for units, whole in notes[1:3])
        return cls(notes[0], weights, products, tuple(notes[3]), notes[4])


@dataclass(frozen=True)
class ExactGrid:
    """Sums of some quantities as pairs of integers (high, low) that neither overflow nor depend on order."""

    shifts: tuple[int, ...]  # of each quantity
    bits: int

    @classmethod
    def of(cls, n_rows: int, largest: tuple[float, ...]) -> ExactGrid:
        """Choose the grid for so many rows of quantities up to these."""
        bits = 61 - math.frexp(max(1, n_rows))[1]
        return cls(tuple(math.frexp(v)[1] - bits for v in largest), bits)

    def parts(self, q: int, v: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the two integers of each value of quantity ``q``, as (rows, 2)."""
        scaled = np.ldexp(v, -self.shifts[q])
        high = np.floor(scaled)
        low = np.rint(np.ldexp(scaled - high, self.bits))
        return np.stack([high, low], axis=1).astype(np.int64)

    def value(self, q: int, high: int, low: int) -> float:
        """Return the sum of quantity ``q``, rounded once."""
        return math.ldexp(float((high << self.bits) + low), self.shifts[q] - self.bits)


@dataclass(frozen=True)
class Grids:
    """How rows enter the statistics where they do not simply count: weights, and targets of a regression."""

    numbers: bool  # targets are numbers, not classes
    weighted: bool
    centre: float  # products are measured from it
    weight_exponent: int
    exponent: int  # products are rint(w * (y - centre) * 2**exponent)
    trained: ExactGrid  # of w, and for numbers w * y and w * y * y: leaf values come from these
    held_out: ExactGrid  # of 1, y and y * y: scores do

    @classmethod
    def of(cls, totals: Totals, *, numbers: bool, weighted: bool, centre: float) -> Grids | None:
        """Choose grids on which no sum can overflow; None where rows simply count."""
        if not numbers and not weighted:
            return None
        y = totals.largest_target
        return cls(
            numbers,
            weighted,
            centre,
            totals.weights.exponent,
            totals.products.exponent,
            ExactGrid.of(totals.n_rows, totals.largest if numbers else totals.largest[:1]),
            ExactGrid.of(totals.n_rows, (1.0, y, y * y)),
        )

    @property
    def decrease_scale(self) -> float:
        """What turns a difference of qualities into the target's units."""
        return _decrease_scale(self.weight_exponent, self.exponent) if self.numbers else 1.0

    def weights(self, weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        """Integer weights, as doubles."""
        return None if weight is None else np.asarray(np.rint(np.ldexp(weight, self.weight_exponent)))

    def products(
        self, target: NDArray[np.float64], weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Integer statistics of targets, as doubles."""
        product = target - self.centre
        if weight is not None:
            product = product * weight
        return np.asarray(np.rint(np.ldexp(product, self.exponent)))

    def amounts(self, target: NDArray[Any], weight: NDArray[np.float64] | None) -> NDArray[np.int64]:
        """Return what each row adds to the statistics of a pass, beside itself."""
        own = [self.products(target, weight)] if self.numbers else []
        on_grid = self.weights(weight)
        return np.stack([*own, *([] if on_grid is None else [on_grid])], axis=1).astype(np.int64)

    def exact(self, target: NDArray[Any], weight: NDArray[np.float64] | None) -> list[NDArray[np.int64]]:
        """Return the parts of each quantity that leaf values come from."""
        quantities = _quantities(target, weight, numbers=self.numbers)
        return [self.trained.parts(q, v) for q, v in enumerate(quantities)]


def _decrease_scale(weight_exponent: int, exponent: int) -> float:
    """2**(2 * difference), infinite where Python would refuse: weights may be as small as 1e-300."""
    with np.errstate(over="ignore"):
        return float(np.ldexp(1.0, 2 * (weight_exponent - exponent)))


def _quantities(
    target: NDArray[Any], weight: NDArray[np.float64] | None, *, numbers: bool
) -> list[NDArray[np.float64]]:
    """W, and for numbers w * y and (w * y) * y."""
    w = np.ones(len(target)) if weight is None else weight
    return [w, w * target, w * target * target] if numbers else [w]
