"""Correction of scores for the choice of a pruning by the same held-out rows.

The lowest of many cross-validated errors is too low, and its standard error ignores that other rows would
have chosen another tree. Tsamardinos et al. (2018), *Bootstrapping the out-of-sample predictions*, choose
again in bootstrap samples of the held-out rows, and evaluate each choice on the rows that the sample lacks.
The errors of the prunings are means of many rows, so the sample is represented by their joint normal
distribution; no tree is grown again.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crosscut.statistics.measures import fold_influence, is_name, row_losses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.held_out_losses import Prunings
    from crosscut.forest.pruning_table import PruningRule, PruningTable
    from crosscut.statistics.validation import TreeValidation
    from crosscut.typing import Scoring

MOST = 12  # prunings to choose from again
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
    others : tuple of Selection
        The same for other leaf sizes, among which the one with the lowest error was chosen.
    """

    before: TreeValidation
    table: PruningTable
    rule: PruningRule
    others: tuple[Selection, ...] = ()

    def correction(self, measure: Scoring = None) -> Correction:
        """Return the corrected mean loss.

        By default, the loss is that of the score: the 0-1 loss or the estimator's costs, or for numbers what
        R² depends on to first order, the squared error minus its ratio to the squared deviation times the
        latter.
        """
        parts = (self, *self.others)
        of_measure = (each.losses if measure is None else each.losses_by(measure) for each in parts)
        means, residuals = self._of_units(np.hstack([*of_measure]))
        chosen_by, deviations = self._of_units(np.hstack([each.chosen_losses for each in parts]))
        together = np.hstack([deviations, residuals])
        spread, axes = np.linalg.eigh(together.T @ together)
        normal = np.random.default_rng(0).normal(size=(DRAWS // 2, len(spread)))
        noise = normal @ (axes * np.sqrt(np.maximum(spread, 0.0))).T
        noise = np.concatenate([noise, -noise])
        n = len(means)
        errors, ends = chosen_by + noise[:, :n], np.cumsum([len(each.rows) for each in parts])
        choices, lowest = [], []
        for end, each in zip(ends, parts, strict=True):
            part = slice(end - len(each.rows), end)
            lowest.append(errors[:, part].min(axis=1))
            choices.append(part.start + self._choose(errors[:, part], deviations[:, part]))
        choice = np.array(choices)[np.argmin(lowest, axis=0), np.arange(len(errors))]
        # the rows that the sample lacks deviate the other way
        lacking = means[choice] - noise[np.arange(len(noise)), n + choice]
        here = self._here
        plain = float(residuals[:, here] @ residuals[:, here])
        return Correction(
            float(lacking.mean()), float(lacking.var() + LACKING * plain), float(means[here]), plain
        )

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The prunings that may be chosen, at most about `MOST` of them."""
        table, least = self.table, self.table.choose("best")
        near = table.cv_error - table.cv_error[least] <= REACH * table.paired_error
        rows = np.flatnonzero(near)
        if len(rows) > MOST:
            rows = rows[np.linspace(0, len(rows) - 1, MOST).astype(np.int64)]
        return np.union1d(rows, [least, table.choose(self.rule)])

    @property
    def n_leaves(self) -> int:
        """Number of leaves of the chosen tree."""
        return int(self.table.n_leaves[self.table.choose(self.rule)])

    @property
    def _here(self) -> int:
        """The position of the chosen pruning."""
        return int(np.searchsorted(self.rows, self.table.choose(self.rule)))

    @cached_property
    def _prunings(self) -> Prunings:
        prunings = copy(self.before.prunings)
        prunings.lane = (
            np.abs(prunings.strengths - self.table.shrinkage[:, None]).argmin(axis=1).astype(np.int32)
        )
        return prunings

    @cached_property
    def chosen_losses(self) -> NDArray[np.float64]:
        """The losses by which the pruning was chosen (held-out rows, prunings)."""
        if self.table.loss == "auc":
            return self.losses_by("auc")
        return self._prunings.row_losses(self.rows, self.before.held_out, self.before.y)

    @cached_property
    def losses(self) -> NDArray[np.float64]:
        """The losses of the score (held-out rows, prunings)."""
        if self._prunings.loss == "error":
            return self.chosen_losses
        if self.before.classes is None:
            before = self.before
            y, weights = (
                before.y[before.rows],
                None if before.weights is None else before.weights[before.rows],
            )
            squared = self._prunings.with_loss("squared").row_losses(self.rows, before.held_out, before.y)
            deviation = (y - np.average(y, weights=weights)) ** 2
            mean = np.average(deviation, weights=weights)
            loss = np.average(squared[:, self._here], weights=weights)
            ratio = loss / mean if mean > 0 else 0.0
            relative: NDArray[np.float64] = squared - ratio * (deviation - mean)[:, None]
            return relative
        of_errors = self._prunings.with_loss("error")
        return of_errors.row_losses(self.rows, self.before.held_out, self.before.y)

    def losses_by(self, measure: Scoring) -> NDArray[np.float64]:
        """Return the losses by another measure; "auc" gives numbers with the mean and spread of 1 - area."""
        every = (self.before.pruned(self.table, row) for row in self.rows.tolist())
        if is_name(measure, "auc"):
            areas = (fold_influence(each, "auc") for each in every)
            columns = [1 - area - influence for area, influence in areas]
        else:
            columns = [row_losses(each, measure) for each in every]
        losses: NDArray[np.float64] = np.stack(columns, axis=1)
        return losses

    def _of_units(self, losses: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the mean losses, and what each independent row or group adds to their deviations."""
        before = self.before
        rows = before.rows
        weight = np.ones(len(rows)) if before.weights is None else before.weights[rows]
        weight = weight / weight.sum()
        means = weight @ losses
        deviations = weight[:, None] * (losses - means)
        if before.groups is None and before.times_held_out.max(initial=0) <= 1:
            return means, deviations
        units = rows if before.groups is None else before.groups[rows]
        order = np.argsort(units, kind="stable")
        first = np.flatnonzero(np.diff(units[order], prepend=-1))
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
