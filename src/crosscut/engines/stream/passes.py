"""Stateless passes, which turn batches of coded rows and the forest so far into sums.

A pass has three functions: ``start`` returns empty sums, ``add`` adds a batch of rows to them, ``merge`` adds
two sums. Sums are integers, minima or maxima. So the result does not depend on the batches or their order,
and any part of a pass can be repeated on any worker.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from crosscut import _core
from crosscut.data.threads import n_threads
from crosscut.forest.predict import apply

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.grid import Grids
    from crosscut.engines.stream.coding import Batch, Coding
    from crosscut.forest.forest import Packed

Sums = TypeVar("Sums")


@dataclass(kw_only=True)
class Pass(ABC, Generic[Sums]):
    """Functions that process every batch of coded rows."""

    name: str
    n_jobs: int | None = None

    @abstractmethod
    def start(self) -> Sums:
        """Return empty sums."""

    @abstractmethod
    def add(self, sums: Sums, batch: Batch) -> None:
        """Add the rows of a batch."""

    def merge(self, sums: Sums, others: Sums) -> Sums:
        """Return the total of the sums of two parts of the data."""
        return sums + others  # type: ignore[operator,no-any-return]


class GatheredRows(NamedTuple):
    """Rows of a bundle in one batch."""

    codes: NDArray[np.uint8]
    tasks: NDArray[np.uint64]  # bits of the tasks that each row trains
    target: NDArray[Any]
    weight: NDArray[np.float64] | None


@dataclass
class LevelSums:
    """Statistics of the frontier, and the rows of gathered bundles."""

    statistics: NDArray[Any]
    ranges: NDArray[np.float64] | None
    gathered: dict[int, list[GatheredRows]]


@dataclass(kw_only=True)
class LevelPass(Pass[LevelSums]):
    """Fill the statistics of frontier bundles and gather the rows of small ones."""

    arrays: dict[str, Any]  # the bundles
    first_bin: NDArray[np.int64]
    n_channels: int
    n_statistics: int
    n_ranges: int
    wide: bool  # whether statistics need 64 bits
    task_masks: NDArray[np.uint64]  # bits of the tasks that each fold trains
    grids: Grids | None  # None if rows are only counted

    def start(self) -> LevelSums:
        """Return empty statistics."""
        statistics = np.zeros(self.n_statistics, np.int64 if self.wide else np.int32)
        ranges = None
        if self.grids is not None and self.grids.numbers:
            ranges = np.tile([np.inf, -np.inf], self.n_ranges // 2)
        return LevelSums(statistics, ranges, {})

    def add(self, sums: LevelSums, batch: Batch) -> None:
        """Route the rows through the bundles to the statistics of the frontier."""
        masks = self.task_masks[batch.fold]
        if batch.weight is not None:
            masks = np.where(batch.weight > 0, masks, np.uint64(0))
        amounts = target = None
        if self.grids is not None:
            digits = self.grids.digits(batch.target, batch.weight)
            amounts = np.ascontiguousarray(digits[:, : self.grids.n_deciding])
        if self.grids is not None and self.grids.numbers:
            slot, target = np.zeros(batch.n_rows, np.int32), batch.target
        else:
            slot = batch.target.astype(np.int32)
        gathered = _core.pass_batch(
            self.arrays,
            batch.codes,
            masks,
            slot,
            amounts,
            target,
            self.first_bin,
            self.n_channels,
            sums.statistics,
            sums.ranges,
            n_threads(self.n_jobs),
        )
        for place, rows, tasks in gathered:
            bundle = int(self.arrays["bundle"][place])
            weight = None if batch.weight is None else batch.weight[rows]
            sums.gathered.setdefault(bundle, []).append(
                GatheredRows(batch.codes[:, rows], tasks, batch.target[rows], weight)
            )

    def merge(self, sums: LevelSums, others: LevelSums) -> LevelSums:
        """Return the total of the statistics of two parts of the data."""
        statistics = sums.statistics + others.statistics
        ranges = sums.ranges
        if ranges is not None and others.ranges is not None:
            ranges = ranges.copy()
            np.minimum(ranges[::2], others.ranges[::2], out=ranges[::2])
            np.maximum(ranges[1::2], others.ranges[1::2], out=ranges[1::2])
        gathered = {bundle: list(parts) for bundle, parts in sums.gathered.items()}
        for bundle, parts in others.gathered.items():
            gathered.setdefault(bundle, []).extend(parts)
        return LevelSums(statistics, ranges, gathered)


@dataclass(kw_only=True)
class LeafPass(Pass["NDArray[np.int64]"]):
    """Add up weights or targets of the training rows of each leaf (numbered over all trees).

    Sums are digits on the exact grids ``Grids.trained``, for each class or for the target.
    """

    coded: Packed  # trees whose thresholds are codes
    coding: Coding
    grids: Grids

    def start(self) -> NDArray[np.int64]:
        """Return empty sums."""
        width = (self.coding.n_classes or 1) * self.grids.trained.starts[-1]
        return np.zeros((len(self.coded.feature), width), np.int64)

    def add(self, sums: NDArray[np.int64], batch: Batch) -> None:
        """Route the rows through the trees."""
        digits = self.grids.digits(batch.target, batch.weight)
        leaf = apply(self.coded, code_matrix(self.coding, batch.codes), n_jobs=self.n_jobs)
        to = sums.reshape(len(sums), self.coding.n_classes or 1, -1)
        for t, start in enumerate(self.coded.node_start[:-1].tolist()):
            rows = np.ones(batch.n_rows, np.bool_) if batch.weight is None else batch.weight > 0
            if t:
                rows &= batch.fold != t - 1
            node = start + leaf[t][rows]
            place: NDArray[np.int64] = np.zeros_like(node)
            if self.coding.n_classes:
                place += batch.target[rows]
            np.add.at(to, (node, place), digits[rows])


def code_matrix(coding: Coding, codes: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return codes as a matrix for prediction, with NaN for missing values."""
    x = codes.T.astype(np.float32, order="C")
    for f, n in enumerate(coding.n_bins.tolist()):
        if coding.has_missing[f] or not n:
            x[codes[f] == n, f] = np.nan
    return x
