"""Out-of-fold results of a forest whose rows are not held in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.engines.passes import held_out_nodes
from crosscut.estimators.cross_validation import CrossValidation
from crosscut.predict import HeldOut
from crosscut.pruning import PruningPaths, pruning_paths
from crosscut.pruning_table import PruningTable, pruning_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.engines.coding import Batch, Coding
    from crosscut.engines.level_wise import Rows
    from crosscut.forest import Forest, Packed


@dataclass
class HeldOutRows:
    """Leaf, target and fold of rows, by the number of the first row of their batch."""

    batches: dict[int, tuple[NDArray[np.int32], NDArray[Any], NDArray[np.uint8]]] = field(
        default_factory=dict
    )


@dataclass
class HeldOutPass:
    """Find the leaf of every row in the tree that holds it out."""

    name: str
    coded: Packed
    coding: Coding
    n_folds: int
    n_jobs: int | None = None

    def start(self) -> HeldOutRows:
        """Return no rows."""
        return HeldOutRows()

    def add(self, sums: HeldOutRows, batch: Batch) -> None:
        """Send rows down their trees."""
        node = held_out_nodes(self.coded, self.coding, batch, self.n_folds, self.n_jobs)
        leaf = node - self.coded.node_start[1 + batch.fold.astype(np.int64)]
        sums.batches[batch.first_row] = (leaf.astype(np.int32), batch.target, batch.fold)

    def merge(self, sums: HeldOutRows, others: HeldOutRows) -> HeldOutRows:
        """Put the batches of two parts together."""
        return HeldOutRows(sums.batches | others.batches)


@dataclass
class PruningSums:
    """Rows, losses and squared losses of every pruning."""

    n_rows: int = 0
    table: PruningTable | None = None
    losses: Any = 0.0
    squares: Any = 0.0


@dataclass
class PruningPass:
    """Judge every pruning of the final tree by the held-out rows."""

    name: str
    forest: Forest
    coded: Packed
    coding: Coding
    n_folds: int
    paths: PruningPaths
    n_jobs: int | None = None

    def start(self) -> PruningSums:
        """Return sums of no rows."""
        return PruningSums()

    def add(self, sums: PruningSums, batch: Batch) -> None:
        """Add the losses of a batch."""
        node = held_out_nodes(self.coded, self.coding, batch, self.n_folds, self.n_jobs)
        leaf = (node - self.coded.node_start[1 + batch.fold.astype(np.int64)]).astype(np.int32)
        held_out = by_fold(leaf, batch.fold, self.n_folds)
        table = pruning_table(
            self.forest, held_out, batch.target, n_classes=self.coding.n_classes, paths=self.paths
        )
        n = batch.n_rows
        squares = table.standard_error**2 * n + table.cv_error**2  # of losses, per row
        total = self.merge(sums, PruningSums(n, table, table.cv_error * n, squares * n))
        vars(sums).update(vars(total))

    def merge(self, sums: PruningSums, others: PruningSums) -> PruningSums:
        """Add up the losses of two parts of the data."""
        return PruningSums(
            sums.n_rows + others.n_rows,
            others.table if sums.table is None else sums.table,
            sums.losses + others.losses,
            sums.squares + others.squares,
        )


class StreamValidation(CrossValidation):
    """Out-of-fold results; what needs every row takes one more pass when it is first asked for."""

    def __init__(
        self,
        forest: Forest,
        coded: Packed,
        coding: Coding,
        rows: Rows,
        *,
        n_folds: int,
        scores: NDArray[np.float64],
        n_jobs: int | None,
    ) -> None:
        self.forest = forest
        self.classes = coding.classes
        self.weights = None
        self.all_scores = scores
        self._coded, self._coding, self._rows = coded, coding, rows
        self._n_folds, self._n_jobs = n_folds, n_jobs

    @cached_property
    def _every_row(self) -> HeldOutRows:
        found: HeldOutRows = self._run(
            HeldOutPass("out-of-fold", self._coded, self._coding, self._n_folds, self._n_jobs)
        )
        return found

    def _run(self, one_pass: Any) -> Any:
        if self._rows is None:
            raise AttributeError(
                "out-of-fold results of a stream need its rows, which are not pickled with a model"
            )
        return self._rows.run(one_pass)

    def _column(self, i: int) -> NDArray[Any]:
        batches = self._every_row.batches
        return np.concatenate([batches[row][i] for row in sorted(batches)])

    @cached_property
    def held_out(self) -> HeldOut:  # type: ignore[override]
        """Leaves of the held-out rows; needs 13 bytes per row."""
        return by_fold(self._column(0), self._column(2), self._n_folds)

    @cached_property
    def y(self) -> NDArray[Any]:  # type: ignore[override]
        """Class codes or numbers of all rows."""
        y = self._column(1)
        return y if self.classes is None else y.astype(np.int32)

    @cached_property
    def pruning_table(self) -> PruningTable:
        """The cross-validated pruning table, from one more pass."""
        one_pass = PruningPass(
            "pruning table",
            self.forest,
            self._coded,
            self._coding,
            self._n_folds,
            pruning_paths(self.forest),
            self._n_jobs,
        )
        sums: PruningSums = self._run(one_pass)
        assert sums.table is not None
        mean = sums.losses / sums.n_rows
        if self.classes is not None:
            mean = np.rint(sums.losses) / sums.n_rows
        spread = np.sqrt(np.maximum(sums.squares / sums.n_rows - mean * mean, 0.0))
        return PruningTable(
            sums.table.alpha,
            sums.table.n_leaves,
            sums.table.train_error,
            mean,
            spread / np.sqrt(sums.n_rows),
        )

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_rows": None}


def by_fold(leaf: NDArray[np.int32], fold: NDArray[np.uint8], n_folds: int) -> HeldOut:
    """Put rows in the order of the tasks that hold them out."""
    order = np.argsort(fold, kind="stable")
    row_start = np.concatenate([[0, 0], np.cumsum(np.bincount(fold, minlength=n_folds))]).astype(np.int64)
    return HeldOut(order, row_start, leaf[order])
