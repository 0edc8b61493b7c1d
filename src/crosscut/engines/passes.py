"""Stateless passes: a batch of coded rows and the forest so far in, sums out.

A pass has three functions: ``start`` gives empty sums, ``add`` adds a batch of rows to them, ``merge``
adds up two sums. Sums are integers (or least and largest values), so neither batches nor their order
matter, and any part of a pass can be repeated on any worker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from crosscut import _core
from crosscut.predict import apply
from crosscut.threads import n_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.engines.coding import Batch, Coding, Grids
    from crosscut.forest import Packed

Sums = TypeVar("Sums")


class Pass(Protocol[Sums]):
    """What is done with every batch of coded rows."""

    name: str

    def start(self) -> Sums:
        """Return sums of no rows."""

    def add(self, sums: Sums, batch: Batch) -> None:
        """Add the rows of a batch."""

    def merge(self, sums: Sums, others: Sums) -> Sums:
        """Add up."""


@dataclass
class LevelSums:
    """Statistics of the frontier, and the rows of gathered bundles."""

    statistics: NDArray[Any]
    ranges: NDArray[np.float64] | None
    gathered: dict[int, list[tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[Any]]]]


@dataclass
class LevelPass:
    """Fill the statistics of frontier bundles, and gather the rows of small ones."""

    name: str
    arrays: dict[str, Any]  # of the bundles
    first_bin: NDArray[np.int64]
    n_channels: int
    n_statistics: int
    n_ranges: int
    wide: bool  # statistics need 64 bits
    task_masks: NDArray[np.uint64]  # tasks that the rows of each fold train
    grids: Grids | None  # regression
    n_jobs: int | None = None

    def start(self) -> LevelSums:
        """Return statistics of no rows."""
        statistics = np.zeros(self.n_statistics, np.int64 if self.wide else np.int32)
        ranges = None
        if self.grids is not None:
            ranges = np.tile([np.inf, -np.inf], self.n_ranges // 2)
        return LevelSums(statistics, ranges, {})

    def add(self, sums: LevelSums, batch: Batch) -> None:
        """Send the rows down the bundles, each to the statistics of the frontier."""
        masks = self.task_masks[batch.fold]
        amounts = target = None
        if self.grids is None:
            slot = batch.target.astype(np.int32)
        else:
            slot, target = np.zeros(batch.n_rows, np.int32), batch.target
            amounts = self.grids.products(target).astype(np.int64).reshape(-1, 1)
        found = _core.pass_batch(
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
        for place, rows, tasks in found:
            bundle = int(self.arrays["bundle"][place])
            sums.gathered.setdefault(bundle, []).append((batch.codes[:, rows], tasks, batch.target[rows]))

    def merge(self, sums: LevelSums, others: LevelSums) -> LevelSums:
        """Add up the statistics of two parts of the data."""
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


@dataclass
class LeafSums:
    """What the rows at each node (counted over all trees) add up to; only leaves get any.

    Classes: ``held_out[node, class]`` held-out rows. Regression: per node the number of rows and the parts
    (high, low) of the exact sums of y and y*y, of training rows (``trained``) and held-out ones, and the
    range of the training rows.
    """

    held_out: NDArray[np.int64]
    trained: NDArray[np.int64] | None = None
    least: NDArray[np.float64] | None = None
    largest: NDArray[np.float64] | None = None


@dataclass
class LeafPass:
    """Add up rows at the leaves: held-out rows for scores, training rows for the means of a regression."""

    name: str
    coded: Packed  # trees whose thresholds are codes
    coding: Coding
    n_folds: int
    grids: Grids | None
    n_jobs: int | None = None

    def start(self) -> LeafSums:
        """Return sums of no rows."""
        n = len(self.coded.feature)
        if self.grids is None:
            return LeafSums(np.zeros((n, self.coding.n_classes), np.int64))
        return LeafSums(
            np.zeros((n, 5), np.int64), np.zeros((n, 5), np.int64), np.full(n, np.inf), np.full(n, -np.inf)
        )

    def add(self, sums: LeafSums, batch: Batch) -> None:
        """Send the rows down the trees."""
        if self.grids is not None:
            self._add_numbers(sums, batch)
        elif self.n_folds:
            node = held_out_nodes(self.coded, self.coding, batch, self.n_folds, self.n_jobs)
            place = node * self.coding.n_classes + batch.target
            sums.held_out += np.bincount(place, minlength=sums.held_out.size).reshape(sums.held_out.shape)

    def _add_numbers(self, sums: LeafSums, batch: Batch) -> None:
        assert self.grids is not None
        assert sums.trained is not None
        assert sums.least is not None
        assert sums.largest is not None
        (_, _, _), (y, _, _), (yy, _, _) = self.grids.exact(batch.target)
        parts = (y[:, 0], y[:, 1], yy[:, 0], yy[:, 1])
        leaf = apply(self.coded, code_matrix(self.coding, batch.codes), n_jobs=self.n_jobs)
        for t, start in enumerate(self.coded.node_start[:-1].tolist()):
            node = start + leaf[t]
            own = batch.fold == t - 1 if t and self.n_folds else np.zeros(batch.n_rows, np.bool_)
            for rows, to in ((~own, sums.trained), (own, sums.held_out)):
                at = node[rows]
                to[:, 0] += np.bincount(at, minlength=len(to))
                for q, part in enumerate(parts, 1):
                    np.add.at(to[:, q], at, part[rows])
            np.minimum.at(sums.least, node[~own], batch.target[~own])
            np.maximum.at(sums.largest, node[~own], batch.target[~own])

    def merge(self, sums: LeafSums, others: LeafSums) -> LeafSums:
        """Add up the sums of two parts of the data."""
        held_out = sums.held_out + others.held_out
        if sums.trained is None or others.trained is None:
            return LeafSums(held_out)
        assert sums.least is not None
        assert others.least is not None
        assert sums.largest is not None
        assert others.largest is not None
        return LeafSums(
            held_out,
            sums.trained + others.trained,
            np.minimum(sums.least, others.least),
            np.maximum(sums.largest, others.largest),
        )


def code_matrix(coding: Coding, codes: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Codes as prediction reads them: NaN for missing values."""
    x = codes.T.astype(np.float32, order="C")
    for f, n in enumerate(coding.n_bins.tolist()):
        if coding.has_missing[f] or not n:
            x[codes[f] == n, f] = np.nan
    return x


def held_out_nodes(
    coded: Packed, coding: Coding, batch: Batch, n_folds: int, n_jobs: int | None
) -> NDArray[np.int64]:
    """Leaf of each row in the tree that holds it out, counted over all trees."""
    x = code_matrix(coding, batch.codes)
    order = np.argsort(batch.fold, kind="stable")
    row_start = np.concatenate([[0, 0], np.cumsum(np.bincount(batch.fold, minlength=n_folds))]).astype(
        np.int64
    )
    leaf = _core.apply(
        coded.node_start,
        coded.first_child,
        coded.children,
        coded.feature,
        coded.threshold,
        coded.missing,
        coded.first_branch,
        coded.branch_start,
        coded.branches,
        x,
        order,
        row_start,
        n_threads(n_jobs),
    )
    node = np.empty(batch.n_rows, np.int64)
    node[order] = np.repeat(coded.node_start[:-1], np.diff(row_start)) + leaf
    return node
