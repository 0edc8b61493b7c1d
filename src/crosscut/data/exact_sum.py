"""Sums of doubles that are exact, so that they do not depend on the order of the batches they came in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_UNIT = 1200  # sums are integers in units of 2**-1200, below any double's last bit
_HALF = 27


@dataclass(frozen=True)
class ExactSum:
    """A sum of doubles as one large integer.

    Examples
    --------
    >>> import numpy as np
    >>> float(ExactSum.of(np.array([1e100, 1.0])) + ExactSum.of(np.array([-1e100])))
    1.0
    """

    units: int = 0

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> ExactSum:
        """Sum finite values: mantissas are added as integers, one sum per exponent."""
        mantissa, exponent = np.frexp(values)
        exponents, where = np.unique(exponent, return_inverse=True)
        whole = np.ldexp(mantissa, 53).astype(np.int64)
        high, low = whole >> _HALF, whole & ((1 << _HALF) - 1)  # halves, so that 2**36 of them fit in 64 bits
        sums = np.zeros((2, len(exponents)), np.int64)
        for line, part in zip(sums, (high, low), strict=True):
            np.add.at(line, where, part)
        total = 0
        for e, up, down in zip(exponents.tolist(), *sums.tolist(), strict=True):
            total += ((up << _HALF) + down) << (e - 53 + _UNIT)
        return cls(total)

    def __add__(self, other: ExactSum) -> ExactSum:
        return ExactSum(self.units + other.units)

    def __float__(self) -> float:
        try:
            return self.units / (1 << _UNIT)  # rounded once
        except OverflowError:
            return float("inf") if self.units > 0 else float("-inf")
