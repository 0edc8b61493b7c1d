"""What is learnt, classes or numbers, as the core takes it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from crosscut.data.grid import centre_of, on_grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut import _core
    from crosscut.relational.language.terms import Constant


class Classes:
    """A target of classes."""

    def __init__(self, codes: NDArray[np.int32], classes: tuple[Constant, ...]) -> None:
        self.codes = np.ascontiguousarray(codes)
        self.critical_f: list[float] = []
        self.classes = classes

    def place(self, store: _core.QueryStore, folds: NDArray[np.int32]) -> None:
        """Hand the target to the core."""
        store.set_classes(self.codes, len(self.classes), folds)

    def shown(self, statistics: list[float], prediction: float) -> tuple[tuple[float, ...], float]:
        """Return a node's statistics and prediction as the user sees them."""
        return tuple(statistics), prediction

    def predictions(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the core's predictions as the user sees them."""
        return values


class Numbers:
    """A numeric target: deviations from the mean on a fixed-point grid, so that their sums are exact."""

    classes: tuple[Constant, ...] = ()

    def __init__(self, values: NDArray[np.float64], ftest: float) -> None:
        from scipy.special import fdtri

        if not np.isfinite(values).all():
            raise ValueError("the target has values that are missing or infinite; leave those examples out")
        self.centre = centre_of(math.fsum(values), len(values))
        self.values, exponent = on_grid(values - self.centre, keep_whole=False)
        self.unit = math.ldexp(1.0, -exponent)
        squares, square_exponent = on_grid((values - self.centre) ** 2, keep_whole=False)
        self.squares = squares * (math.ldexp(1.0, -square_exponent) / self.unit**2)
        freedom = np.maximum(np.arange(len(values) + 1) - 2, 1)
        self.critical_f: list[float] = fdtri(1, freedom, 1 - ftest).tolist()

    def place(self, store: _core.QueryStore, folds: NDArray[np.int32]) -> None:
        """Hand the target to the core."""
        store.set_values(self.values, self.squares, folds)

    def shown(self, statistics: list[float], prediction: float) -> tuple[tuple[float, ...], float]:
        """Return the number of examples, their mean and squared deviations; and the mean."""
        n, total, squares = statistics
        mean = self.centre + prediction * self.unit
        return (n, mean, max(squares - total * total / n, 0.0) * self.unit**2 if n else 0.0), mean

    def predictions(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return means in the target's units."""
        return self.centre + values * self.unit
