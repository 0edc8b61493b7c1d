"""Out-of-fold results of a forest whose training rows are not in memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from crosscut.data.threads import n_threads
from crosscut.engines.stream.passes import Pass, Sums, code_matrix
from crosscut.forest.held_out_losses import Prunings, table_from
from crosscut.forest.predict import HeldOut
from crosscut.statistics.intervals import LossSums
from crosscut.statistics.validation import TreeValidation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.engines.stream.coding import Batch, Coding
    from crosscut.engines.stream.level_wise import Rows
    from crosscut.forest.forest import Forest, Packed
    from crosscut.forest.held_out_losses import Losses
    from crosscut.forest.pruning_table import Objective, PruningTable

    RowsOfBatches = dict[int, tuple[Any, ...]]  # by the first row of the batch

Sum = TypeVar("Sum", "Losses", "LossSums")


@dataclass(kw_only=True)
class HeldOutPass(Pass[Sums]):
    """A pass that finds the leaf of each row in the tree that holds it out."""

    coded: Packed  # the trees, with codes as thresholds
    coding: Coding
    n_folds: int

    def held_out(self, batch: Batch) -> HeldOut:
        """Return the leaves of a batch, fold by fold."""
        order, row_start = _by_fold(batch.fold, self.n_folds)
        x = code_matrix(self.coding, batch.codes)
        return HeldOut(order, row_start, self.coded.core.apply(x, order, row_start, n_threads(self.n_jobs)))


class _RowPass(HeldOutPass["RowsOfBatches"]):
    """Collect leaf, target, fold, weight and group of each row, by the first row of its batch."""

    def start(self) -> RowsOfBatches:
        return {}

    def add(self, sums: RowsOfBatches, batch: Batch) -> None:
        held_out = self.held_out(batch)
        leaf = np.empty_like(held_out.leaf)
        leaf[held_out.rows] = held_out.leaf
        sums[batch.first_row] = (leaf, batch.target, batch.fold, batch.weight, batch.keys)

    def merge(self, sums: RowsOfBatches, others: RowsOfBatches) -> RowsOfBatches:
        return sums | others


class _SumPass(HeldOutPass[list[Sum]]):
    """Add up a list of losses, which is empty without rows."""

    def start(self) -> list[Sum]:
        return []

    def merge(self, sums: list[Sum], others: list[Sum]) -> list[Sum]:
        if not (sums and others):
            return sums or others
        return [a + b for a, b in zip(sums, others, strict=True)]


@dataclass(kw_only=True)
class _PruningPass(_SumPass["Losses"]):
    """Compute the loss of every pruning of the final tree on the held-out rows."""

    prunings: Prunings
    against: int | None

    def add(self, sums: list[Losses], batch: Batch) -> None:
        losses = self.prunings.losses(self.held_out(batch), batch.target, batch.weight, against=self.against)
        sums[:] = self.merge(sums, [losses])


@dataclass(kw_only=True)
class LossPass(_SumPass["LossSums"]):
    """Add up the losses of the held-out rows exactly, so the order of rows has no effect."""

    predictions: NDArray[Any]  # of each node
    units: tuple[int, int]  # exponents: weights and deviations of targets are below 2 ** exponent

    def add(self, sums: list[LossSums], batch: Batch) -> None:
        """Add the losses of a batch, without weights and with weights if there are any."""
        held_out = self.held_out(batch)
        predicted = np.empty(batch.n_rows, self.predictions.dtype)
        predicted[held_out.rows] = self.predictions[held_out.node(self.coded)]
        centred, (heaviest, largest) = None, self.units
        if self.coding.classes is None:
            loss = np.ldexp(batch.target - predicted, -largest) ** 2
            centred = np.ldexp(batch.target - self.coded.value[0, 0], -largest)
        else:
            loss = (batch.target != predicted).astype(np.float64)
        weights = [None] if batch.weight is None else [None, np.ldexp(batch.weight, -heaviest)]
        added = [
            LossSums.of(loss, centred, weight, batch.fold, self.n_folds, groups=batch.keys, exact=True)
            for weight in weights
        ]
        sums[:] = self.merge(sums, added)


class StreamValidation(TreeValidation):
    """Out-of-fold results; those that need each row take one more pass when first used."""

    def __init__(
        self, forest: Forest, rows: Rows, losses: LossPass, sums: list[LossSums], objective: Objective
    ) -> None:
        self.forest, self.objective = forest, objective
        self.classes = losses.coding.classes
        weight, target = losses.units
        measured = [one.in_units(unit, target) for one, unit in zip(sums, (0, weight), strict=False)]
        self.all_scores = np.append(np.nan, measured[0].scores)
        self.fold_sums = self.row_sums = measured[-1]  # a row of a stream is held out once
        names = ("coded", "coding", "n_folds", "n_jobs")
        self._trees, self._rows = {name: getattr(losses, name) for name in names}, rows
        self.chosen_scores = None

    @cached_property
    def _every_row(self) -> RowsOfBatches:
        rows: RowsOfBatches = self._run(_RowPass(name="out-of-fold", **self._trees))
        return rows

    def _run(self, one_pass: HeldOutPass[Any]) -> Any:
        if self._rows is None:
            raise AttributeError(
                "out-of-fold results of a stream need its rows, which are not pickled with a model; fit again"
            )
        return self._rows.run(one_pass)

    def _column(self, i: int) -> NDArray[Any]:
        return np.concatenate([self._every_row[row][i] for row in sorted(self._every_row)])

    @cached_property
    def held_out(self) -> HeldOut:  # type: ignore[override]
        """Leaves of the held-out rows: 13 bytes per row, plus 8 each for weights and groups."""
        order, row_start = _by_fold(self._column(2), self._trees["n_folds"])
        return HeldOut(order, row_start, self._column(0)[order])

    @property
    def rows(self) -> NDArray[np.int64]:  # type: ignore[override]
        """The held-out rows of each tree, tree by tree."""
        return self.held_out.rows

    @property
    def row_start(self) -> NDArray[np.int64]:  # type: ignore[override]
        """First position of each tree in ``rows``."""
        return self.held_out.row_start

    @cached_property
    def y(self) -> NDArray[Any]:  # type: ignore[override]
        """Class codes or numbers of all rows."""
        y = self._column(1)
        return y if self.classes is None else y.astype(np.int32)

    @cached_property
    def weights(self) -> NDArray[np.float64] | None:  # type: ignore[override]
        """Weights of all rows."""
        return self._column(3) if self._trees["coding"].weighted else None

    @cached_property
    def groups(self) -> NDArray[np.int64] | None:  # type: ignore[override]
        """Groups of all rows."""
        grouped = self._trees["coding"].roles.group is not None
        return np.unique(self._column(4), return_inverse=True)[1] if grouped else None

    @cached_property
    def pruning_table(self) -> PruningTable:
        """The cross-validated pruning table, computed by two more passes."""
        return table_from(self._losses, self.forest.packed, self._trees["coding"].n_classes, self.objective)

    def _losses(self, prunings: Prunings, against: int | None = None) -> Losses:
        one_pass = _PruningPass(name="pruning table", prunings=prunings, against=against, **self._trees)
        (losses,) = self._run(one_pass)
        total: Losses = losses
        return total

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_rows": None}


def _by_fold(fold: NDArray[np.uint8], n_folds: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows sorted by the task that holds them out, and the offsets of the tasks."""
    row_start = np.concatenate([[0, 0], np.cumsum(np.bincount(fold, minlength=n_folds))])
    return np.argsort(fold, kind="stable"), row_start.astype(np.int64)
