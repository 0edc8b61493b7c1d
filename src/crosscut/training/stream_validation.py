"""Out-of-fold results of a forest whose training rows are not in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.engines.stream.passes import held_out_nodes
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
    from crosscut.forest.pruning_table import PruningTable
    from crosscut.forest.smaller_trees import Measure


@dataclass
class HeldOutRows:
    """Leaf, target, fold, weight and group of the rows of each batch, by its first row."""

    batches: dict[int, tuple[NDArray[Any] | None, ...]] = field(default_factory=dict)


@dataclass
class HeldOutPass:
    """Find the leaf of each row in the tree that holds it out."""

    name: str
    coded: Packed
    coding: Coding
    n_folds: int
    n_jobs: int | None = None

    def start(self) -> HeldOutRows:
        """Return empty results."""
        return HeldOutRows()

    def add(self, sums: HeldOutRows, batch: Batch) -> None:
        """Find the leaves of a batch."""
        leaf = _leaves(self, batch)
        sums.batches[batch.first_row] = (leaf, batch.target, batch.fold, batch.weight, batch.keys)

    def merge(self, sums: HeldOutRows, others: HeldOutRows) -> HeldOutRows:
        """Combine the batches of two parts of the data."""
        return HeldOutRows(sums.batches | others.batches)


@dataclass
class PruningSums:
    """Losses of every pruning; None without rows."""

    losses: Losses | None = None


@dataclass
class PruningPass:
    """Compute the loss of every pruning of the final tree on the held-out rows."""

    name: str
    prunings: Prunings
    coded: Packed
    coding: Coding
    n_folds: int
    n_jobs: int | None = None
    against: int | None = None

    def start(self) -> PruningSums:
        """Return empty sums."""
        return PruningSums()

    def add(self, sums: PruningSums, batch: Batch) -> None:
        """Add the losses of a batch."""
        held_out = by_fold(_leaves(self, batch), batch.fold, self.n_folds)
        losses = self.prunings.losses(held_out, batch.target, batch.weight, against=self.against)
        sums.losses = losses if sums.losses is None else sums.losses + losses

    def merge(self, sums: PruningSums, others: PruningSums) -> PruningSums:
        """Add up the losses of two parts of the data."""
        if sums.losses is None or others.losses is None:
            return PruningSums(others.losses if sums.losses is None else sums.losses)
        return PruningSums(sums.losses + others.losses)


@dataclass
class LossPass:
    """Add up the losses of the held-out rows exactly, so the order of rows has no effect."""

    name: str
    decided: NDArray[Any]  # prediction of each node
    coded: Packed
    coding: Coding
    n_folds: int
    units: tuple[int, int]  # exponents: weights and deviations of targets are below 2 ** exponent
    n_jobs: int | None = None

    def start(self) -> list[LossSums]:
        """Return empty sums."""
        return []

    def add(self, sums: list[LossSums], batch: Batch) -> None:
        """Add the losses of a batch, without weights and with weights if there are any."""
        node = held_out_nodes(self.coded, self.coding, batch, self.n_folds, self.n_jobs)
        decided, centred, (heaviest, largest) = self.decided[node], None, self.units
        if self.coding.classes is None:
            loss = np.ldexp(batch.target - decided, -largest) ** 2
            centred = np.ldexp(batch.target - self.coded.value[0, 0], -largest)
        else:
            loss = (batch.target != decided).astype(np.float64)
        weights = [None] if batch.weight is None else [None, np.ldexp(batch.weight, -heaviest)]
        added = [
            LossSums.of(loss, centred, weight, batch.fold, self.n_folds, groups=batch.keys, exact=True)
            for weight in weights
        ]
        sums[:] = self.merge(sums, added)

    def merge(self, sums: list[LossSums], others: list[LossSums]) -> list[LossSums]:
        """Add up the losses of two parts of the data."""
        return [a + b for a, b in zip(sums, others, strict=True)] if sums and others else sums or others


class StreamValidation(TreeValidation):
    """Out-of-fold results; those that need each row take one more pass when first used."""

    def __init__(
        self,
        forest: Forest,
        coded: Packed,
        coding: Coding,
        rows: Rows,
        *,
        n_folds: int,
        sums: list[LossSums],
        units: tuple[int, int],
        n_jobs: int | None,
        prune_by: Measure = "impurity",
    ) -> None:
        self.forest, self.prune_by = forest, prune_by
        self.classes = coding.classes
        weight, target = units
        measured = [one.in_units(unit, target) for one, unit in zip(sums, (0, weight), strict=False)]
        self.all_scores = np.append(np.nan, measured[0].scores)
        self.fold_sums = self.row_sums = measured[-1]  # a row of a stream is held out once
        self._coded, self._coding, self._rows = coded, coding, rows
        self._n_folds, self._n_jobs = n_folds, n_jobs
        self.chosen_scores = None

    @cached_property
    def _every_row(self) -> HeldOutRows:
        one_pass = HeldOutPass("out-of-fold", self._coded, self._coding, self._n_folds, self._n_jobs)
        rows: HeldOutRows = self._run(one_pass)
        return rows

    def _run(self, one_pass: Any) -> Any:
        if self._rows is None:
            raise AttributeError(
                "out-of-fold results of a stream need its rows, which are not pickled with a model; fit again"
            )
        return self._rows.run(one_pass)

    def _column(self, i: int) -> NDArray[Any]:
        batches: dict[int, Any] = self._every_row.batches
        return np.concatenate([batches[row][i] for row in sorted(batches)])

    @cached_property
    def held_out(self) -> HeldOut:  # type: ignore[override]
        """Leaves of the held-out rows: 13 bytes per row, plus 8 each for weights and groups."""
        return by_fold(self._column(0), self._column(2), self._n_folds)

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
        return self._column(3) if self._coding.weighted else None

    @cached_property
    def groups(self) -> NDArray[np.int64] | None:  # type: ignore[override]
        """Groups of all rows."""
        grouped = self._coding.roles.group is not None
        return np.unique(self._column(4), return_inverse=True)[1] if grouped else None

    @cached_property
    def pruning_table(self) -> PruningTable:
        """The cross-validated pruning table, computed by two more passes."""
        return table_from(self._losses, self.forest.packed, self._coding.n_classes, self.prune_by)

    def _losses(self, prunings: Prunings, against: int | None = None) -> Losses:
        one_pass = PruningPass(
            "pruning table", prunings, self._coded, self._coding, self._n_folds, self._n_jobs, against
        )
        sums: PruningSums = self._run(one_pass)
        assert sums.losses is not None
        return sums.losses

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_rows": None}


def _leaves(one_pass: HeldOutPass | PruningPass, batch: Batch) -> NDArray[np.int32]:
    """Return the leaf of each row in the tree that holds it out."""
    coded = one_pass.coded
    node = held_out_nodes(coded, one_pass.coding, batch, one_pass.n_folds, one_pass.n_jobs)
    return (node - coded.node_start[1 + batch.fold.astype(np.int64)]).astype(np.int32)


def by_fold(leaf: NDArray[np.int32], fold: NDArray[np.uint8], n_folds: int) -> HeldOut:
    """Sort rows by the task that holds them out."""
    order = np.argsort(fold, kind="stable")
    row_start = np.concatenate([[0, 0], np.cumsum(np.bincount(fold, minlength=n_folds))]).astype(np.int64)
    return HeldOut(order, row_start, leaf[order])
