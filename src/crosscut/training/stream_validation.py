"""Out-of-fold results of a forest whose training rows are not in memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from crosscut.engines.stream.passes import HeldOutPass, by_fold
from crosscut.forest.held_out_losses import Prunings, table_from
from crosscut.forest.predict import HeldOut
from crosscut.statistics.intervals import LossSums
from crosscut.statistics.validation import TreeValidation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.engines.stream.coding import Batch
    from crosscut.engines.stream.level_wise import Rows
    from crosscut.engines.stream.passes import Pass, Sums
    from crosscut.forest.forest import Forest
    from crosscut.forest.held_out_losses import Losses
    from crosscut.forest.pruning_table import Objective, PruningTable

    RowsOfBatches = dict[int, tuple[Any, ...]]  # by the first row of the batch

Sum = TypeVar("Sum", "Losses", "LossSums")


class _RowPass(HeldOutPass["RowsOfBatches"]):
    """Collect leaf, target, fold, weight and group of each row, by the first row of its batch."""

    def start(self) -> RowsOfBatches:
        return {}

    def add(self, sums: RowsOfBatches, batch: Batch) -> None:
        order, _, reached = self.held_out(batch)
        leaf = np.empty_like(reached)
        leaf[order] = reached
        sums[batch.first_row] = (leaf, batch.target, batch.fold, batch.sample_weight, batch.keys)

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
        losses = self.prunings.losses(
            HeldOut(*self.held_out(batch)), batch.target, batch.weight, against=self.against
        )
        sums[:] = self.merge(sums, [losses])


@dataclass(kw_only=True)
class LossPass(_SumPass["LossSums"]):
    """Add up the losses of the held-out rows exactly, so the order of rows has no effect."""

    predictions: NDArray[Any]  # of each node
    units: tuple[int, int]  # exponents: weights and deviations of targets are below 2 ** exponent

    def add(self, sums: list[LossSums], batch: Batch) -> None:
        """Add the losses of a batch, without weights and with weights if there are any."""
        predicted, centred = self.predictions[self.nodes(batch)], None
        heaviest, largest = self.units
        if self.coding.classes is None:
            loss = np.ldexp(batch.target - predicted, -largest) ** 2
            centred = np.ldexp(batch.target - self.coded.value[0, 0], -largest)
        else:
            loss = (batch.target != predicted).astype(np.float64)
        weight = batch.sample_weight
        weights = [None] if weight is None else [None, np.ldexp(weight, -heaviest)]
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
        return self._run(_RowPass(name="out-of-fold", **self._trees))

    def _run(self, one_pass: Pass[Sums]) -> Sums:
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
        order, row_start = by_fold(self._column(2), self._trees["n_folds"])
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
        """Sample weights of all rows."""
        return self._column(3) if self._trees["coding"].roles.weight is not None else None

    @cached_property
    def groups(self) -> NDArray[np.int64] | None:  # type: ignore[override]
        """Groups of all rows."""
        grouped = self._trees["coding"].roles.group is not None
        return np.unique(self._column(4), return_inverse=True)[1] if grouped else None

    @cached_property
    def pruning_table(self) -> PruningTable:
        """The cross-validated pruning table, computed by two more passes."""
        return table_from(self._losses, self.prunings)

    def _losses(self, prunings: Prunings, against: int | None = None) -> Losses:
        one_pass = _PruningPass(name="pruning table", prunings=prunings, against=against, **self._trees)
        (losses,) = self._run(one_pass)
        return losses

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_rows": None}
