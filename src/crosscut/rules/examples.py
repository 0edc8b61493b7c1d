"""Bit sets of training rows, by condition and by class, shared by all tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut import _core
from crosscut.data.grid import on_grid
from crosscut.rules.condition import Condition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.data.table import Table
    from crosscut.data.target import Target
    from crosscut.rules.search import Request, Settings


def bits_of(truth: NDArray[np.bool_]) -> int:
    """Return booleans as a bit set: row i is bit i of an integer."""
    return int.from_bytes(np.packbits(truth, bitorder="little").tobytes(), "little")


class Rows:
    """Rows with a class and a weight, and sums over sets of them.

    Parameters
    ----------
    codes : int32 array (rows,)
        Class codes.
    n_classes : int
        Number of classes.
    weights : float64 array (rows,), optional
        Weights on a grid, so that their sums are exact.
    """

    def __init__(
        self, codes: NDArray[np.int32], n_classes: int, weights: NDArray[np.float64] | None = None
    ) -> None:
        self.n_rows = len(codes)
        self.n_classes = n_classes
        self.weights = weights
        self.n_words = (self.n_rows + 63) // 64
        self.of_class = [bits_of(codes == code) for code in range(n_classes)]
        self.weighted = (1 << self.n_rows) - 1 if weights is None else bits_of(weights > 0)

    def total(self, rows: int) -> float:
        """Return the weight of a set of rows."""
        if self.weights is None:
            return float(rows.bit_count())
        return float(self.weights[self.members(rows)].sum())

    def class_totals(self, rows: int) -> tuple[float, ...]:
        """Return the weight of each class in a set of rows."""
        return tuple(self.total(rows & own) for own in self.of_class)

    def members(self, rows: int) -> NDArray[np.int64]:
        """Return the rows of a set, in order."""
        return np.flatnonzero(self.flags(rows))

    def flags(self, rows: int) -> NDArray[np.bool_]:
        """Return whether each row is in a set."""
        octets = np.frombuffer(rows.to_bytes(self.n_words * 8, "little"), np.uint8)
        return np.unpackbits(octets, count=self.n_rows, bitorder="little").astype(bool)

    def flags_among(self, sets: Sequence[int], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each of some rows is in each of several sets, as a matrix with a row per set."""
        octets = self.words(sets).view(np.uint8)
        return (octets[:, rows >> 3] >> (rows & 7) & 1).astype(bool)

    def words(self, sets: Sequence[int]) -> NDArray[np.uint64]:
        """Return sets of rows as a matrix of words, one row per set."""
        joined = b"".join(rows.to_bytes(self.n_words * 8, "little") for rows in sets)
        return np.frombuffer(joined, np.uint64).reshape(len(sets), self.n_words)


class Examples(Rows):
    """The rows of a table, and the truth of conditions on them, each computed once.

    Parameters
    ----------
    table : Table
        The columns.
    target : Target
        Class codes and weights.
    """

    def __init__(self, table: Table, target: Target) -> None:
        weights = None
        if target.weights is not None:
            integers, exponent = on_grid(target.weights)
            weights = np.ldexp(integers, -exponent)
        super().__init__(np.asarray(target.values, np.int32), target.n_classes, weights)
        self.table = table
        self._truth: dict[tuple[Condition, ...], int] = {}
        self._core = _core.RuleTable(
            table.ranks,
            table.n_values,
            np.array([kind == "nominal" for kind in table.kinds], np.uint8),
            table.values,
            np.ascontiguousarray(target.values, np.int32),
            target.n_classes,
            weights,
        )

    def truth(self, conditions: Sequence[Any]) -> int:
        """Return the rows that satisfy all conditions."""
        conditions = tuple(conditions)
        rows = self._truth.get(conditions)
        if rows is None:
            rows = self.weighted
            if conditions:
                rows &= int.from_bytes(self._core.truth(conditions), "little")
            self._truth[conditions] = rows
        return rows

    def n_conditions(self, rows: int) -> int:
        """Return the number of possible conditions on some rows."""
        return self._core.n_conditions(self.words([rows])[0])

    def search(self, requests: Sequence[Request], settings: Settings) -> list[tuple[Condition, ...]]:
        """Search for all requested rules in shared passes over the rows."""
        found = self._core.search(
            self.words([request.rows for request in requests]),
            np.array([request.target for request in requests], np.int32),
            np.array([request.a for request in requests], np.float64),
            np.array([request.b for request in requests], np.float64),
            settings.kind,
            settings.greedy,
            settings.width,
            settings.max_length or 0,
            settings.min_weight,
            settings.significance,
            settings.unequal,
        )
        return [tuple([Condition(*each) for each in rule]) for rule in found]

    @property
    def work(self) -> dict[str, int]:
        """The work of the search: states refined, passes, rows visited, and visits if each searched alone."""
        return dict(zip(("states", "passes", "visits", "visits_alone"), self._core.work, strict=True))
