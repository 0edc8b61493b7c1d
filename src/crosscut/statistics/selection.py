"""Correction of scores for the choice of a pruning by the same held-out rows.

The lowest of many cross-validated errors is too low, and its standard error ignores that other rows would
have chosen another tree. Tsamardinos et al. (2018), *Bootstrapping the out-of-sample predictions*, choose
again in bootstrap samples of the held-out rows, and evaluate each choice on the rows that the sample lacks.
The errors of the prunings are means of many rows, so the sample is represented by their joint normal
distribution; no tree is grown again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crosscut.statistics.measures import row_losses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.held_out_losses import Prunings
    from crosscut.forest.pruning_table import PruningRule, PruningTable
    from crosscut.statistics.validation import TreeValidation
    from crosscut.typing import Scoring

MOST = 24  # prunings to choose from again
REACH = 4.0  # standard errors of the difference within which a pruning may be chosen again
DRAWS = 500
# rows that a bootstrap sample lacks are 1 / e of all rows: their mean varies this much more, given the sample
LACKING = np.e - 2


class Correction(NamedTuple):
    """Mean loss of new rows: corrected estimate, its variance, and the uncorrected estimate and variance."""

    loss: float
    variance: float
    plain: float
    plain_variance: float


@dataclass(eq=False)
class Selection:
    """The choice of a pruning, to be repeated in bootstrap samples of the held-out rows.

    Attributes
    ----------
    before : TreeValidation
        Results of the trees before pruning.
    table : PruningTable
        The prunings to choose from.
    rule : {"best", "1se"}
    """

    before: TreeValidation
    table: PruningTable
    rule: PruningRule

    def correction(self, measure: Scoring = None) -> Correction:
        """Return the corrected mean loss.

        By default, the loss is that of the score: the 0-1 loss or the estimator's costs, or for numbers what
        R² depends on to first order, the squared error minus its ratio to the squared deviation times the
        latter.
        """
        means, residuals = self._of_units(self._losses if measure is None else self._losses_by(measure))
        chosen_by, deviations = self._of_units(self._chosen_losses)
        together = np.hstack([deviations, residuals])
        spread, axes = np.linalg.eigh(together.T @ together)
        normal = np.random.default_rng(0).normal(size=(DRAWS // 2, len(spread)))
        noise = normal @ (axes * np.sqrt(np.maximum(spread, 0.0))).T
        noise = np.concatenate([noise, -noise])
        n = len(means)
        choice = self._choose(chosen_by + noise[:, :n], deviations)
        # the rows that the sample lacks deviate the other way
        lacking = means[choice] - noise[np.arange(len(noise)), n + choice]
        here = self._here
        plain = float(residuals[:, here] @ residuals[:, here])
        return Correction(
            float(lacking.mean()), float(lacking.var() + LACKING * plain), float(means[here]), plain
        )

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        """The prunings that may be chosen, at most about `MOST` of them."""
        table, least = self.table, self.table.choose("best")
        near = table.cv_error - table.cv_error[least] <= REACH * table.paired_error
        rows = np.flatnonzero(near)
        if len(rows) > MOST:
            rows = rows[np.linspace(0, len(rows) - 1, MOST).astype(np.int64)]
        return np.union1d(rows, [least, table.choose(self.rule)])

    @property
    def _here(self) -> int:
        """The position of the chosen pruning."""
        return int(np.searchsorted(self._rows, self.table.choose(self.rule)))

    @cached_property
    def _prunings(self) -> Prunings:
        prunings = self.before.prunings
        prunings.lane = (
            np.abs(prunings.strengths - self.table.shrinkage[:, None]).argmin(axis=1).astype(np.int32)
        )
        return prunings

    @cached_property
    def _chosen_losses(self) -> NDArray[np.float64]:
        return self._prunings.row_losses(self._rows, self.before.held_out, self.before.y)

    @cached_property
    def _losses(self) -> NDArray[np.float64]:
        if self._prunings.loss == "error":
            return self._chosen_losses
        if self._prunings.loss == "squared":
            before = self.before
            y, weights = (
                before.y[before.rows],
                None if before.weights is None else before.weights[before.rows],
            )
            deviation = (y - np.average(y, weights=weights)) ** 2
            mean = np.average(deviation, weights=weights)
            loss = np.average(self._chosen_losses[:, self._here], weights=weights)
            ratio = loss / mean if mean > 0 else 0.0
            relative: NDArray[np.float64] = self._chosen_losses - ratio * (deviation - mean)[:, None]
            return relative
        of_errors = self._prunings.with_loss("error")
        return of_errors.row_losses(self._rows, self.before.held_out, self.before.y)

    def _losses_by(self, measure: Scoring) -> NDArray[np.float64]:
        every = (self.before.pruned(self.table, row) for row in self._rows.tolist())
        losses: NDArray[np.float64] = np.stack([row_losses(each, measure) for each in every], axis=1)
        return losses

    def _of_units(self, losses: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the mean losses, and what each independent row or group adds to their deviations."""
        before = self.before
        rows = before.rows
        weight = np.ones(len(rows)) if before.weights is None else before.weights[rows]
        weight = weight / weight.sum()
        means = weight @ losses
        deviations = weight[:, None] * (losses - means)
        units = rows if before.groups is None else before.groups[rows]
        order = np.argsort(units, kind="stable")
        first = np.flatnonzero(np.diff(units[order], prepend=-1))
        if len(first) == len(units):
            return means, deviations
        return means, np.add.reduceat(deviations[order], first)

    def _choose(self, errors: NDArray[np.float64], deviations: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the pruning that the rule chooses by each row of errors; the last is the smallest tree."""
        last = errors.shape[1] - 1
        best: NDArray[np.int64] = last - errors[:, ::-1].argmin(axis=1)
        if self.rule == "best":
            return best
        products = deviations.T @ deviations
        variance = np.diag(products)
        apart = np.sqrt(np.maximum(variance[:, None] + variance - 2 * products, 0.0))
        within = errors - errors[np.arange(len(errors)), best][:, None] <= apart[best]
        return np.asarray(last - within[:, ::-1].argmax(axis=1))
