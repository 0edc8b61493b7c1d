"""The target (classes or numbers) in the representation of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosscut.data.grid import Bits, ExactGrid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut_relational import _core
    from crosscut_relational.language.terms import Constant


class Classes:
    """A target of classes."""

    def __init__(self, codes: NDArray[np.int32], classes: tuple[Constant, ...]) -> None:
        self.codes = np.ascontiguousarray(codes)
        self.critical_f: list[float] = []
        self.classes = classes

    def load_into(self, store: _core.QueryStore, folds: NDArray[np.int32]) -> None:
        """Hand the target to the core."""
        store.set_classes(self.codes, len(self.classes), folds)

    def node_values(self, statistics: list[float], prediction: float) -> tuple[tuple[float, ...], float]:
        """Return the statistics and prediction of a node as they are reported."""
        return tuple(statistics), prediction


class Numbers:
    """A numeric target in exact digits, so that sums over the examples of a task are not rounded."""

    classes: tuple[Constant, ...] = ()

    def __init__(self, values: NDArray[np.float64], ftest: float) -> None:
        from scipy.special import fdtri

        if not np.isfinite(values).all():
            raise ValueError("the target has missing or infinite values; drop those examples")
        # doubles add 52 bits without rounding
        self.grid = ExactGrid.of(len(values), Bits.of_weights(None), Bits.of(values), bits=52)
        self.digits = self.grid.digits(values, None, len(values)).astype(np.float64)
        freedom = np.maximum(np.arange(len(values) + 1) - 2, 1)
        self.critical_f: list[float] = fdtri(1, freedom, 1 - ftest).tolist()

    def load_into(self, store: _core.QueryStore, folds: NDArray[np.int32]) -> None:
        """Hand the target to the core."""
        store.set_numbers(self.digits, list(self.grid.grids), folds)

    def node_values(self, statistics: list[float], prediction: float) -> tuple[tuple[float, ...], float]:
        """Return (number of examples, mean, squared deviations from the mean), and the mean."""
        starts, digits = self.grid.starts, [int(digit) for digit in statistics]
        total, n, squares = (self.grid.value(q, digits[starts[q] : starts[q + 1]]) for q in range(3))
        return (float(n), prediction, float(squares - total * total / n) if n else 0.0), prediction
