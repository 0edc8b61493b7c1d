"""Predictions of the folds' models for the rows they hold out, and results computed from them on demand."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from crosscut.forest.forest import Forest
from crosscut.forest.held_out_losses import Prunings, table_from
from crosscut.forest.predict import HeldOut
from crosscut.forest.pruning_table import Objective
from crosscut.forest.shrinkage import shrunk
from crosscut.forest.tree import decisions, probabilities
from crosscut.statistics.intervals import (
    Estimate,
    LossSums,
    error_of,
    estimate_of,
    interval_of,
    mean_of_folds,
    quantile_of,
    student_quantile,
)
from crosscut.statistics.measures import SCORINGS, fold_influence, is_name, kind_of, row_losses, within_range
from crosscut.statistics.scores import scores_by_part
from crosscut.statistics.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from crosscut.forest.pruning_table import PruningRule, PruningTable
    from crosscut.statistics.selection import Correction
    from crosscut.typing import Scoring


MOST_SIZES = 200  # prunings whose area under the ROC curve is computed


class Validation:
    """Out-of-fold results. Rows are listed by model, so a row that is held out twice is listed twice.

    Parameters
    ----------
    y : array (rows,)
        Class codes or numbers of all rows.
    classes : array, optional
        The classes; None for regression.
    rows : int64 array
        The rows that the models hold out, model by model.
    row_start : int64 array (models + 1,)
        First position of each model in ``rows``; the final model holds out no rows.
    fold_values : float64 array (len(rows), classes or 1)
        Class probabilities or mean that the model predicts for each entry of ``rows``.
    chosen_scores : float64 array, optional
        Score of each fold by the ``scoring`` of the estimator instead of accuracy or R².

    Attributes
    ----------
    weights : float64 array (rows,) or None
        Sample weights, used in ``score`` and ``error``; class weights are not.
    groups : int64 array (rows,) or None
        The group of each row. Standard errors and intervals treat groups, not rows, as independent.
    scoring : str or callable, optional
        Scoring that gave the ``chosen_scores``.
    selection : Selection or None
        The choice of a pruning by these rows, for which ``score`` and ``error`` are corrected.
    """

    weights: NDArray[np.float64] | None = None
    groups: NDArray[np.int64] | None = None
    scoring: Scoring = None
    selection: Selection | None = None

    def __init__(
        self,
        y: NDArray[Any],
        classes: NDArray[Any] | None,
        rows: NDArray[np.int64],
        row_start: NDArray[np.int64],
        fold_values: NDArray[np.float64],
        *,
        chosen_scores: NDArray[np.float64] | None = None,
    ) -> None:
        self.y, self.classes = y, classes
        self.rows, self.row_start, self.fold_values = rows, row_start, fold_values
        self.chosen_scores = chosen_scores

    def scored(self, scores: NDArray[np.float64], scoring: Scoring) -> Self:
        """Return the same results with the fold scores of another scoring."""
        result = object.__new__(type(self))
        of_scoring = {"_estimate", "scoring_correction"}
        known = {name: value for name, value in self.__dict__.items() if name not in of_scoring}
        result.__dict__.update(known, chosen_scores=scores, scoring=scoring)
        return result

    @cached_property
    def decided(self) -> NDArray[Any]:
        """Class code or number predicted for each held-out row."""
        return self.fold_values[:, 0] if self.classes is None else self.fold_values.argmax(axis=1)

    @cached_property
    def all_scores(self) -> NDArray[np.float64]:
        """Accuracy or R² of each model on the rows it holds out; NaN without rows."""
        y = self.y[self.rows]
        return scores_by_part(y, self.decided, self.row_start, classifies=self.classes is not None)

    @property
    def scores(self) -> NDArray[np.float64]:
        """Score of each fold's model on the rows it holds out."""
        return self.all_scores[1:] if self.chosen_scores is None else self.chosen_scores

    @property
    def score(self) -> float:
        """Accuracy or R² of all held-out rows together; with another scoring, the mean over folds."""
        return self._estimate.value

    @property
    def standard_error(self) -> float:
        """Standard error of the score."""
        return self._estimate.standard_error

    def correction_of(self, measure: Scoring) -> Correction | None:
        """Return the correction of another mean loss."""
        if self.selection is None and self.correction is None:
            return None
        if self.selection is None:
            raise ValueError(
                f"the interval of measure={measure!r} for a pruned tree needs the trees before pruning, "
                "which model files do not contain; fit again"
            )
        return self.selection.correction(measure)

    @property
    def error(self) -> Estimate:
        """Error rate or mean squared error of all held-out rows together, and its standard error."""
        correction = self.error_correction
        if correction is None:
            return error_of(self.row_sums)
        return Estimate(correction.loss, math.sqrt(correction.variance))

    @cached_property
    def error_correction(self) -> Correction | None:
        """Correction of the error rate or mean squared error, like ``correction`` of the score."""
        return self.correction if self.classes is not None else self.correction_of("squared")

    def interval(
        self, level: float = 0.9, method: str = "rows", measure: Scoring = None
    ) -> tuple[float, float]:
        """Return an interval of the score, or of another measure."""
        usual = "r2" if self.classes is None else "accuracy"
        if is_name(measure, usual) or (measure is None and self.chosen_scores is None):
            return interval_of(self.row_sums, self.fold_sums, level, method, correction=self.correction)
        if measure is not None and not is_name(measure, "auc"):
            losses = row_losses(self, measure)
            rows, folds = self.sums_by_row(losses), self.sums_by_fold(losses)
            correction = self.correction_of(measure) if method == "rows" else None
            ends = interval_of(rows, folds, level, method, kind_of(measure), correction=correction)
            return within_range(measure, self.classes, ends)
        if method != "rows":
            raise ValueError(
                f"method={method!r} needs a mean over rows or R², not a mean over folds; use method='rows'"
            )
        value, error = self._estimate if measure is None else self._by_folds("auc")
        known = "auc" if measure is not None else self._known_scoring
        if known != "auc":
            half_width = quantile_of(level) * error
            if known is None:
                return value - half_width, value + half_width
            loss = float(known == "zero_one") - value
            low, high = within_range(known, self.classes, (loss - half_width, loss + half_width))
            return value + loss - high, value + loss - low
        y, units = self.y[self.rows], self.rows if self.groups is None else self.groups[self.rows]
        assert self.classes is not None
        rarest = min(len(np.unique(units[y == k])) for k in range(len(self.classes)))
        half_width = student_quantile(level, rarest - 1) * error
        return max(value - half_width, 0.0), min(value + half_width, 1.0)

    @cached_property
    def correction(self) -> Correction | None:
        """Correction of the mean loss for a choice of the pruning by these rows, if there was one."""
        if self.selection is None:
            return None
        correction = self.selection.correction()
        if self.classes is not None:
            return correction
        # squared errors also vary because the means of leaves do, in the final tree and in the folds' trees
        leaves, n = self.selection.n_leaves, len(self.y)
        return correction._replace(variance=correction.variance + 4 * leaves * (correction.loss / n) ** 2)

    @cached_property
    def scoring_correction(self) -> Correction | None:
        """Correction of the mean loss by which the scoring is known, like ``correction``."""
        return None if self._known_scoring is None else self.correction_of(self._known_scoring)

    @cached_property
    def _estimate(self) -> Estimate:
        if self.chosen_scores is None:
            return estimate_of(self.row_sums, self.correction)
        if self._known_scoring is not None:
            score, correction = float(np.mean(self.scores)), self.scoring_correction
            if correction is None:
                return Estimate(score, self._by_folds(self._known_scoring).standard_error)
            return Estimate(score - correction.loss + correction.plain, math.sqrt(correction.variance))
        return mean_of_folds(self.scores, self.rows_by_fold, int(self.row_sums.n_rows.sum()))

    @property
    def _known_scoring(self) -> str | None:
        """The loss whose mean the scoring is except for the sign, or "auc"; None for other scorings."""
        return SCORINGS.get(self.scoring) if isinstance(self.scoring, str) else None

    def _by_folds(self, measure: str) -> Estimate:
        """Return the mean of the folds' measures, and its standard error from the unweighted rows."""
        value, influence = fold_influence(self, measure)
        return Estimate(value, self._error_of(influence))

    def _error_of(self, influence: NDArray[np.float64]) -> float:
        """Return the standard error of a measure from the influences of the held-out rows on it."""
        of_units = np.bincount(self.rows if self.groups is None else self.groups[self.rows], influence)
        return float(np.sqrt(of_units @ of_units)) / len(influence)

    @cached_property
    def losses(self) -> NDArray[np.float64]:
        """Loss of each held-out row: 0-1 loss or squared error."""
        y = self.y[self.rows]
        if self.classes is None:
            return np.asarray((y - self.decided) ** 2, dtype=np.float64)
        return np.asarray(self.decided != y, dtype=np.float64)

    @cached_property
    def fold_sums(self) -> LossSums:
        """Sums of the losses by fold, over every time that a row is held out."""
        return self.sums_by_fold(self.losses, self._centred)

    @cached_property
    def row_sums(self) -> LossSums:
        """Sums of the losses of rows, averaged over the times a row is held out."""
        once = self.groups is None and self.times_held_out.max(initial=0) <= 1
        return self.fold_sums if once else self.sums_by_row(self.losses, self._centred)

    @property
    def _centred(self) -> NDArray[np.float64] | None:
        return None if self.classes is not None else self.y - self.y.mean()

    def sums_by_fold(
        self, losses: NDArray[np.float64], target: NDArray[np.float64] | None = None
    ) -> LossSums:
        """Add up losses of held-out rows by fold; ``target`` covers all rows, None for classes."""
        weight = None if self.weights is None else self.weights[self.rows]
        fold = np.repeat(np.arange(len(self.row_start) - 1), np.diff(self.row_start)) - 1
        n_folds = len(self.row_start) - 2
        held_out = None if target is None else target[self.rows]
        groups = None if self.groups is None else self.groups[self.rows]
        return LossSums.of(losses, held_out, weight, fold, n_folds, groups=groups)

    def sums_by_row(self, losses: NDArray[np.float64], target: NDArray[np.float64] | None = None) -> LossSums:
        """Add up losses of held-out rows, averaged over the times a row is held out."""
        times = self.times_held_out
        rows = np.flatnonzero(times)
        loss = np.bincount(self.rows, losses, minlength=len(times))[rows] / times[rows]
        weight = times[rows].astype(np.float64)
        if self.weights is not None:
            weight *= self.weights[rows]
        held_out = None if target is None else target[rows]
        groups = None if self.groups is None else self.groups[rows]
        return LossSums.of(loss, held_out, weight, np.zeros(len(rows), np.int64), 1, groups=groups)

    @property
    def rows_by_fold(self) -> NDArray[np.int64]:
        """Number of rows each fold holds out."""
        return self.fold_sums.n_rows

    @cached_property
    def times_held_out(self) -> NDArray[np.int64]:
        """How often each row is held out."""
        return np.bincount(self.rows, minlength=len(self.y))

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Out-of-fold class probabilities or means of every row, averaged over the times it is held out."""
        total = np.zeros((len(self.y), self.fold_values.shape[1]))
        np.add.at(total, self.rows, self.fold_values)
        with np.errstate(invalid="ignore", divide="ignore"):  # rows that no model holds out become NaN
            return np.asarray(total / self.times_held_out[:, None])

    @cached_property
    def predictions(self) -> NDArray[Any]:
        """Out-of-fold prediction of every row; rows never held out are NaN, or an error for classes."""
        if self.classes is None:
            return self.values[:, 0]
        never = int(np.count_nonzero(self.times_held_out == 0))
        if never:
            raise AttributeError(
                f"cv_predictions_ needs every row to be held out, but cv never holds out {never} of the "
                f"{len(self.y)} rows; cv_probabilities_ has NaN for those"
            )
        return np.asarray(self.classes[decisions(self.values, self._loss)])

    @cached_property
    def confusion(self) -> NDArray[np.int64]:
        """The confusion matrix: held-out rows by class (rows) and predicted class (columns)."""
        assert self.classes is not None
        n = len(self.classes)
        pairs = self.y[self.rows] * np.int64(n) + self.decided
        return np.bincount(pairs, minlength=n * n).astype(np.int64).reshape(n, n)

    @property
    def _loss(self) -> NDArray[np.float64] | None:
        return None

    @property
    def pruning_table(self) -> PruningTable:
        """The cross-validated pruning table; only trees have one."""
        raise AttributeError("these models are not pruned by cost complexity, so there is no pruning table")


class TreeValidation(Validation):
    """Out-of-fold results of a forest, computed from the leaves that held-out rows reach.

    Tree 0 of ``forest`` is the final tree; the others hold rows out. The pruning table minimises the
    ``objective``.
    """

    def __init__(
        self,
        forest: Forest,
        held_out: HeldOut,
        y: NDArray[Any],
        classes: NDArray[Any] | None,
        weights: NDArray[np.float64] | None,
        *,
        chosen_scores: NDArray[np.float64] | None = None,
        objective: Objective | None = None,
    ) -> None:
        self.forest, self.held_out, self.objective = forest, held_out, objective or Objective()
        self.rows, self.row_start = held_out.rows, held_out.row_start
        self.y, self.classes, self.weights = y, classes, weights
        self.chosen_scores = chosen_scores

    @property
    def training_weights(self) -> NDArray[np.float64] | None:
        """Sample weights times class weights, used in the pruning table."""
        if self.forest.packed.class_weights is None:
            return self.weights
        by_class: NDArray[np.float64] = self.forest.packed.class_weights[self.y]
        return by_class if self.weights is None else self.weights * by_class

    @cached_property
    def prunings(self) -> Prunings:
        """All prunings of the final tree."""
        n_classes = 0 if self.classes is None else len(self.classes)
        return Prunings(self.forest.packed, n_classes, self._additive)

    @property
    def _additive(self) -> Objective:
        """The objective, or one with a mean of losses instead of an area, which is none."""
        return replace(self.objective, loss="brier") if self.objective.loss == "auc" else self.objective

    def chosen(self, table: PruningTable, rule: PruningRule) -> TreeValidation:
        """Return the results of the pruning that a rule chooses, corrected for the choice."""
        result = self.pruned(table, table.choose(rule))
        result.selection = Selection(self, table, rule)
        return result

    def pruned(self, table: PruningTable, row: int) -> TreeValidation:
        """Return the results of the trees that are pruned and shrunk as in a row of the table."""
        packed, strength = self.forest.packed, float(table.shrinkage[row])
        inner = table.tests_kept(packed, row)
        smaller, number = packed.cut(inner)
        leaf = number[packed.ends(inner & (packed.feature >= 0))[self.node]]
        forest = shrunk(Forest(smaller, self.forest.work), strength, classifies=self.classes is not None)
        return self.with_forest(forest, HeldOut(self.rows, self.row_start, leaf))

    def with_forest(self, forest: Forest, held_out: HeldOut | None = None) -> TreeValidation:
        """Return the results of other trees; rows reach the same leaves unless ``held_out`` is given."""
        validation = TreeValidation(
            forest,
            held_out or self.held_out,
            self.y,
            self.classes,
            self.weights,
            chosen_scores=self.chosen_scores,
            objective=self.objective,
        )
        validation.groups = self.groups
        return validation

    @cached_property
    def node(self) -> NDArray[np.int64]:
        """The leaf of each held-out row, as an index into the nodes of all trees."""
        return self.held_out.node(self.forest.packed)

    @cached_property
    def fold_values(self) -> NDArray[np.float64]:  # type: ignore[override]
        """Class probabilities or mean in the leaf of each held-out row."""
        return self._of_leaves(lambda value: value if self.classes is None else probabilities(value))

    @cached_property
    def decided(self) -> NDArray[Any]:
        """Class code or number predicted by the leaf of each held-out row."""
        loss = self.forest.packed.loss
        return self._of_leaves(lambda value: value[:, 0] if self.classes is None else decisions(value, loss))

    def _of_leaves(self, of_values: Callable[[NDArray[np.float64]], NDArray[Any]]) -> NDArray[Any]:
        """Apply a function to each node's value, or to those of the reached leaves if they are fewer."""
        packed = self.forest.packed
        few = len(self.node) < packed.node_start[-1]
        return np.asarray(
            of_values(packed.value_of(self.node)) if few else of_values(packed.value)[self.node]
        )

    @cached_property
    def pruning_table(self) -> PruningTable:
        """The cross-validated pruning table."""
        losses_of = partial(Prunings.losses, held_out=self.held_out, y=self.y, weights=self.training_weights)
        table = table_from(losses_of, self.prunings)
        return self._by_area(table) if self.objective.loss == "auc" else table

    def _by_area(self, table: PruningTable) -> PruningTable:
        """Return at most `MOST_SIZES` prunings of a table with 1 minus their area under the ROC curve."""
        rows = np.unique(np.linspace(0, len(table) - 1, MOST_SIZES).astype(np.int64))
        table = table.take(rows)
        areas, influences = zip(
            *(fold_influence(self.pruned(table, row), "auc") for row in range(len(table))), strict=True
        )
        error, best = 1 - np.array(areas), int(np.argmax(areas))
        spread, paired = (
            np.array([self._error_of(each) for each in parts])
            for parts in (influences, [each - influences[best] for each in influences])
        )
        unknown = np.full(len(table), np.nan)
        return replace(
            table, train_error=unknown, cv_error=error, standard_error=spread, paired_error=paired, loss="auc"
        )

    @property
    def _loss(self) -> NDArray[np.float64] | None:
        return self.forest.packed.loss
