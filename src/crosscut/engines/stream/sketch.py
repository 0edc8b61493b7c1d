"""Bin edges of columns that are read once and in any order.

Columns with few distinct values are counted exactly. The others use a sample of rows, those with the lowest
hashes of their row numbers. So the sample does not depend on batches and their order, and two samples merge
into the sample of all rows. Quantile sketches such as KLL or t-digest depend on the order of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from crosscut import _core
from crosscut.tasks.fold_rule import mix

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLE_ROWS = 1 << 17  # standard error of quantiles: 0.14% of the rows
_SAMPLE_CELLS = 1 << 25  # with many columns, fewer rows are sampled, at least _LEAST_ROWS
_LEAST_ROWS = 1 << 14
MAX_DISTINCT = 1024  # columns with more distinct values are binned from the sample
_FIRST = 4096  # rows that usually show that there are many distinct values
_SAMPLE_SEED = 0x5EED


@dataclass
class DistinctValues:
    """Counts of a column's distinct values, which are dropped if there are too many."""

    values: NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))
    counts: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    many: bool = False

    def add(self, numbers: NDArray[np.float32]) -> None:
        """Count values that are not missing."""
        for begin, end in ((0, _FIRST), (_FIRST, len(numbers))):
            if self.many:
                break
            part = numbers[begin:end]
            values, counts = np.unique(part[~np.isnan(part)], return_counts=True)
            self.merge(DistinctValues(values, counts))

    def merge(self, other: DistinctValues) -> None:
        """Add the counts of another part of the column."""
        if not (self.many or other.many):
            values = np.concatenate([self.values, other.values])
            self.values, where = np.unique(values, return_inverse=True)
            counts = np.zeros(len(self.values), np.int64)
            np.add.at(counts, where, np.concatenate([self.counts, other.counts]))
            self.counts = counts
        if self.many or other.many or len(self.values) > MAX_DISTINCT:
            self.values, self.counts, self.many = np.empty(0, np.float32), np.empty(0, np.int64), True


@dataclass
class RowSample:
    """Sample of the rows with the lowest hashes of row numbers."""

    keys: NDArray[np.uint64]
    rows: NDArray[np.float32]  # (rows, numeric columns)
    size: int = SAMPLE_ROWS

    @classmethod
    def empty(cls, n_columns: int) -> RowSample:
        """Return an empty sample."""
        size = min(SAMPLE_ROWS, max(_LEAST_ROWS, _SAMPLE_CELLS // max(1, n_columns)))
        return cls(np.empty(0, np.uint64), np.empty((0, n_columns), np.float32), size)

    def add(self, first_row: int, columns: list[NDArray[np.float32]]) -> None:
        """Add rows with the numbers ``first_row``, ``first_row + 1``, …."""
        if not columns:
            return
        keys = mix(np.arange(first_row, first_row + len(columns[0])), _SAMPLE_SEED)
        if len(self.keys) == self.size:
            among = np.flatnonzero(keys < self.keys[-1])
        elif len(keys) > self.size:
            among = np.argpartition(keys, self.size)[: self.size]
        else:
            among = np.arange(len(keys))
        rows = np.stack([column[among] for column in columns], axis=1)
        self.merge(RowSample(keys[among], rows))

    def merge(self, other: RowSample) -> None:
        """Keep the rows with the lowest hashes of both samples."""
        keys = np.concatenate([self.keys, other.keys])
        lowest = np.argsort(keys)[: self.size]
        self.keys, self.rows = keys[lowest], np.concatenate([self.rows, other.rows])[lowest]


def edges_of(values: NDArray[np.float32], counts: NDArray[np.int64], max_bins: int) -> NDArray[np.float64]:
    """Return thresholds between bins of about equal row count, as in ``Table``.

    >>> edges_of(np.array([1, 2, 4], np.float32), np.array([5, 5, 5]), 255)
    array([1.5, 3. ])
    """
    if not len(values):
        return np.empty(0)
    total = int(counts.sum())
    ends = np.cumsum(counts)
    if total >= 2**32:
        ends = ends // (total // 2**31)
    first = np.empty(max_bins + 1, np.uint32)
    n_bins = _core.intervals(ends.astype(np.uint32), max_bins, first)
    cut = first[1:n_bins].astype(np.int64)
    low, high = values[cut - 1].astype(np.float64), values[cut].astype(np.float64)
    middle: NDArray[np.float64] = low / 2 + high / 2
    return middle


def edges_of_sample(numbers: NDArray[np.float32], max_bins: int) -> NDArray[np.float64]:
    """Return thresholds between bins of about equal row count in a sample."""
    values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    return edges_of(values, counts, max_bins)
