"""Training rows as bit sets, by condition and by class. All tasks share them, so each is computed once."""

from __future__ import annotations

import math
import zlib
from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut import _core
from crosscut.data.grid import exponent_of
from crosscut.data.memory import check_memory
from crosscut.rules.rule_set import Condition
from crosscut.tasks.fold_rule import mix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.data.table import Table
    from crosscut.data.target import Target
    from crosscut.rules.search import Request, Settings


SAME = 1e-9  # relative tolerance of multiples of a weight


def grid_exponent(weights: NDArray[np.float64]) -> int:
    """Return the exponent of a grid on which any sum of the weights is exact."""
    return exponent_of(math.fsum(weights), whole=bool(np.all(weights == np.rint(weights))))


def bits_of(truth: NDArray[np.bool_]) -> int:
    """Return booleans as a bit set: row i is bit i of an integer."""
    return int.from_bytes(np.packbits(truth, bitorder="little").tobytes(), "little")


class Rows(ABC):
    """Rows of a table or examples of a database, with a class and a weight; the search for rules about them.

    Weights are stored as multiples of 2**-exponent, so that their sums are exact. By default this exponent is
    computed from all rows.
    """

    def __init__(
        self,
        codes: NDArray[np.int32],
        n_classes: int,
        weights: NDArray[np.float64] | None = None,
        exponent: int | None = None,
    ) -> None:
        self.n_rows = len(codes)
        self.n_classes = n_classes
        self.codes = codes
        if weights is not None:
            exponent = grid_exponent(weights) if exponent is None else exponent
            positive = weights > 0
            weights = np.rint(np.ldexp(weights, exponent))
            weights[positive] = np.maximum(weights[positive], 1)
        self.weights = weights
        self.exponent = exponent or 0
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
        if self.weights is None:  # inlines `total`, because this is called for every rule
            return tuple([float((rows & members).bit_count()) for members in self.of_class])
        return tuple([self.total(rows & members) for members in self.of_class])

    def shown_totals(self, rows: int) -> tuple[float, ...]:
        """Return the weight of each class in a set of rows, in the user's unit."""
        totals = self.class_totals(rows)
        return tuple([math.ldexp(total, -self.exponent) for total in totals]) if self.exponent else totals

    def unit(self, rows: int) -> float:
        """Return the weight that counts as one row among a task's training rows.

        This is the smallest weight if all others are multiples of it, and otherwise the mean.
        """
        if self.weights is None or not rows:
            return 1.0
        weights = self.weights[self.members(rows)]
        least = float(weights.min())
        copies = weights / least
        whole = np.abs(copies - np.rint(copies)).max() <= SAME * copies.max()
        return least if whole else float(weights.sum()) / len(weights)

    @abstractmethod
    def search(self, requests: Sequence[Request], settings: Settings) -> list[tuple[Any, ...]]:
        """Return the conditions to add to the start of each request; none if nothing improves it.

        All requests are answered in shared passes over the rows.
        """

    @abstractmethod
    def truth(self, conditions: Sequence[Any]) -> int:
        """Return the rows that satisfy all conditions."""

    def covered(self, rules: Sequence[Sequence[Any]], train: NDArray[np.bool_]) -> list[int]:  # noqa: ARG002, overridden
        """Return the rows that each rule covers if it was learned from the rows of ``train``."""
        return [self.truth(conditions) for conditions in rules]

    @abstractmethod
    def n_conditions(self, rows: int) -> int:
        """Return the number of possible conditions on some rows."""

    @property
    @abstractmethod
    def keys(self) -> NDArray[np.uint64]:
        """A number for each row that depends only on its values."""

    @cached_property
    def _by_key(self) -> NDArray[np.int64]:
        """The rows sorted by key, then by class and weight; rows that tie are equal."""
        weights = np.zeros(self.n_rows) if self.weights is None else self.weights
        return np.lexsort((weights, self.codes, self.keys))

    def grow_parts(self, tasks: Sequence[int], seed: int, n: int) -> list[list[int]]:
        """Draw about two thirds of the training rows of each task to grow rules on, ``n`` times.

        The other rows are for pruning. The draw depends on the values of the rows, not on their order or
        number. So all tasks agree, and repeated rows give the same result as their copies. Two thirds of
        equal rows are drawn, too.
        """
        key = self.keys[self._by_key]
        first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
        starts = np.array([(seed * 1_000_003 + turn * 7919 + 1) % 2**63 for turn in range(n)], np.uint64)
        mixed = mix(key + mix(starts)[:, None])
        parts: list[list[int]] = []
        for rows in tasks:
            if parts and len(first) == len(key):  # without equal rows all tasks draw the same
                parts.append(parts[0])
                continue
            before = np.concatenate([[0], np.cumsum(self.flags(rows)[self._by_key])])
            copy = before[:-1] - np.repeat(before[first], np.diff([*first, len(key)]))
            grown = np.empty((n, len(key)), bool)
            grown[:, self._by_key] = mix(mixed + copy.astype(np.uint64)) % np.uint64(3) != 0
            parts.append([bits_of(part) for part in grown])
        return parts

    def members(self, rows: int) -> NDArray[np.int64]:
        """Return the rows of a set, in order."""
        return np.flatnonzero(self.flags(rows))

    def flags(self, rows: int) -> NDArray[np.bool_]:
        """Return whether each row is in a set."""
        octets = np.frombuffer(rows.to_bytes(self.n_words * 8, "little"), np.uint8)
        return np.unpackbits(octets, count=self.n_rows, bitorder="little").astype(bool)

    def flags_among(self, sets: Sequence[int], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return a matrix (sets, rows) that says whether each row is in each set."""
        octets = self.words(sets).view(np.uint8)
        return (octets[:, rows >> 3] >> (rows & 7) & 1).astype(bool)

    def words(self, sets: Sequence[int]) -> NDArray[np.uint64]:
        """Return sets of rows as a matrix of words, one row per set."""
        joined = b"".join(rows.to_bytes(self.n_words * 8, "little") for rows in sets)
        return np.frombuffer(joined, np.uint64).reshape(len(sets), self.n_words)


class TableRows(Rows):
    """The rows of a table, and the rows that satisfy conditions, computed once per rule."""

    def __init__(self, table: Table, target: Target, exponent: int | None = None) -> None:
        super().__init__(np.asarray(target.values, np.int32), target.n_classes, target.weights, exponent)
        self.table = table
        self._truth: dict[tuple[Condition, ...], int] = {}
        remedy = "learn from fewer rows, or grow trees"
        check_memory(24 * table.ranks.size, f"rules on {table.n_rows:,} rows", remedy)
        self._core = _core.RuleTable(
            table.ranks,
            table.n_values,
            np.array([kind == "nominal" for kind in table.kinds], np.uint8),
            table.values,
            np.ascontiguousarray(target.values, np.int32),
            target.n_classes,
            self.weights,
        )

    def truth(self, conditions: Sequence[Any]) -> int:
        """Return the rows that satisfy all conditions."""
        conditions = tuple(conditions)
        rows = self._truth.get(conditions)
        if rows is None:
            rows = int.from_bytes(self._core.truth(conditions), "little")
            self._truth[conditions] = rows
        return rows

    def covered(self, rules: Sequence[Sequence[Any]], train: NDArray[np.bool_]) -> list[int]:
        """Return the rows that each rule covers if it was learned from the rows of ``train``.

        A category that no training row has is missing, so no ``!=`` condition holds for it.
        """
        unequal = [{each.feature for each in rule if each.operator == "!="} for rule in rules]
        seen = {}
        if columns := set[int]().union(*unequal):
            trained = train & self.flags(self.weighted)
            for f in columns:
                ranks = self.table.ranks[f]
                seen[f] = bits_of(
                    np.bincount(ranks[trained], minlength=self.table.n_values[f] + 1)[ranks] > 0
                )
        covered = []
        for rule, of_rule in zip(rules, unequal, strict=True):
            rows = self.truth(rule)
            for f in of_rule:
                rows &= seen[f]
            covered.append(rows)
        return covered

    def n_conditions(self, rows: int) -> int:
        """Return the number of possible conditions on some rows."""
        return self._core.n_conditions(self.words([rows])[0])

    def search(self, requests: Sequence[Request], settings: Settings) -> list[tuple[Condition, ...]]:
        """Search for all requested rules in shared passes over the rows."""
        rules = self._core.search(
            self.words([request.rows for request in requests]),
            np.array([request.target for request in requests], np.int32),
            np.array([request.a for request in requests], np.float64),
            np.array([request.b for request in requests], np.float64),
            np.array([request.least for request in requests], np.float64),
            np.array([request.significance for request in requests], np.float64),
            settings.kind,
            settings.greedy,
            settings.width,
            settings.max_length or 0,
            settings.unequal,
        )
        return [tuple([Condition(*each) for each in rule]) for rule in rules]

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """A number for each row that depends only on its values."""
        table = self.table
        key = np.zeros(self.n_rows, np.uint64)
        for ranks, values, categories in zip(table.ranks, table.values, table.categories, strict=True):
            if categories:
                numbers = [zlib.crc32(repr(category).encode()) for category in categories]
            else:
                numbers = (values + np.float32(0)).view(np.uint32).tolist()  # turns -0.0 into 0.0
            key = mix(key + np.array([*numbers, 1 << 32], np.uint64)[ranks])
        return key

    @property
    def work(self) -> dict[str, int]:
        """States refined, passes, rows visited, and rows visited if each task searched alone."""
        return dict(zip(("states", "passes", "visits", "visits_alone"), self._core.work, strict=True))
