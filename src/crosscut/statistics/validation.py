"""Predictions of the folds' models for the rows they hold out; computed when first used."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from crosscut.forest.forest import Forest
from crosscut.forest.held_out_losses import pruning_table
from crosscut.forest.predict import HeldOut
from crosscut.forest.tree import decisions, probabilities
from crosscut.statistics.intervals import (
    Estimate,
    LossSums,
    error_of,
    estimate_of,
    interval_of,
    mean_of_folds,
    quantile_of,
)
from crosscut.statistics.measures import SCORINGS, fold_influence, is_name, kind_of, row_losses
from crosscut.statistics.scores import scores_by_part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.pruning_table import PruningTable
    from crosscut.forest.smaller_trees import Measure
    from crosscut.typing import Scoring


class Validation:
    """Out-of-fold results. Rows are listed model by model, so a row that is held out twice is listed twice.

    Parameters
    ----------
    y : array (rows,)
        Class codes, or numbers, of all rows.
    classes : array, optional
        The classes; None for regression.
    rows : int64 array
        The rows that the models hold out, model by model.
    row_start : int64 array (models + 1,)
        Where the rows of each model begin; the final model holds out none.
    said : float64 array (len(rows), classes or 1)
        Class probabilities, or the mean, predicted for each of these rows.
    chosen_scores : float64 array, optional
        Score of each fold by the ``scoring`` of the estimator, instead of accuracy or R².

    Attributes
    ----------
    weights : float64 array (rows,) or None
        Row weights; they count in ``score``, ``error`` and the pruning table.
    groups : int64 array (rows,) or None
        The group of each row. Rows of a group are not independent, so standard errors and intervals come
        from the groups.
    scoring : str or callable, optional
        What gave the ``chosen_scores``.
    """

    weights: NDArray[np.float64] | None = None
    groups: NDArray[np.int64] | None = None
    scoring: Scoring = None

    def __init__(
        self,
        y: NDArray[Any],
        classes: NDArray[Any] | None,
        rows: NDArray[np.int64],
        row_start: NDArray[np.int64],
        said: NDArray[np.float64],
        *,
        chosen_scores: NDArray[np.float64] | None = None,
    ) -> None:
        self.y, self.classes = y, classes
        self.rows, self.row_start, self.said = rows, row_start, said
        self.chosen_scores = chosen_scores

    def scored(self, scores: NDArray[np.float64], scoring: Scoring) -> Self:
        """Return the same results with other scores of the folds, and what scored them."""
        made = object.__new__(type(self))
        known = {name: value for name, value in self.__dict__.items() if name != "_estimate"}
        made.__dict__.update(known, chosen_scores=scores, scoring=scoring)
        return made

    @cached_property
    def decided(self) -> NDArray[Any]:
        """Class code, or number, predicted for each held-out row."""
        return self.said[:, 0] if self.classes is None else self.said.argmax(axis=1)

    @cached_property
    def all_scores(self) -> NDArray[np.float64]:
        """Accuracy, or R², of every model on the rows it holds out; NaN where there are none."""
        y = self.y[self.rows]
        return scores_by_part(y, self.decided, self.row_start, classifies=self.classes is not None)

    @property
    def scores(self) -> NDArray[np.float64]:
        """Score of each fold's model on the rows it holds out."""
        return self.all_scores[1:] if self.chosen_scores is None else self.chosen_scores

    @property
    def score(self) -> float:
        """Accuracy, or R², of all held-out rows together; with another scoring, the mean of the folds'."""
        return self._estimate.value

    @property
    def standard_error(self) -> float:
        """Standard error of the score."""
        return self._estimate.standard_error

    @property
    def error(self) -> Estimate:
        """Rate of errors, or mean squared error, of all held-out rows together, and its standard error."""
        return error_of(self.row_sums)

    def interval(
        self, level: float = 0.9, method: str = "rows", measure: Scoring = None
    ) -> tuple[float, float]:
        """Return an interval of the score, or of another measure."""
        own = "r2" if self.classes is None else "accuracy"
        if is_name(measure, own) or (measure is None and self.chosen_scores is None):
            return interval_of(self.row_sums, self.fold_sums, level, method)
        if measure is not None and not is_name(measure, "auc"):
            losses = row_losses(self, measure)
            rows, folds = self.sums_by_row(losses), self.sums_by_fold(losses)
            return interval_of(rows, folds, level, method, kind_of(measure))
        if method != "rows":
            raise ValueError(f"method={method!r} needs a mean over rows or R², not a mean over folds")
        value, error = self._estimate if measure is None else self._by_folds("auc")
        reach = quantile_of(level) * error
        most = np.inf if measure is None else 1.0
        return value - reach, min(value + reach, most)

    @cached_property
    def _estimate(self) -> Estimate:
        if self.chosen_scores is None:
            return estimate_of(self.row_sums)
        known = SCORINGS.get(self.scoring) if isinstance(self.scoring, str) else None
        if known is not None:
            return Estimate(float(np.mean(self.scores)), self._by_folds(known).standard_error)
        return mean_of_folds(self.scores, self.rows_by_fold, int(self.row_sums.n_rows.sum()))

    def _by_folds(self, measure: str) -> Estimate:
        """Return the mean of the folds' measures, and its standard error from the rows; all count alike."""
        value, influence = fold_influence(self, measure)
        of_units = np.bincount(self.rows if self.groups is None else self.groups[self.rows], influence)
        return Estimate(value, float(np.sqrt(of_units @ of_units)) / len(influence))

    @cached_property
    def losses(self) -> NDArray[np.float64]:
        """Loss of each held-out row: whether it is given a wrong class, or its squared error."""
        y = self.y[self.rows]
        if self.classes is None:
            return np.asarray((y - self.decided) ** 2, dtype=np.float64)
        return np.asarray(self.decided != y, dtype=np.float64)

    @cached_property
    def fold_sums(self) -> LossSums:
        """Sums of the losses by fold, of every time that a row is held out."""
        return self.sums_by_fold(self.losses, self._centred)

    @cached_property
    def row_sums(self) -> LossSums:
        """Sums of the losses of rows, averaged over the times a row is held out: repeats are no new rows."""
        once = self.groups is None and self.times_held_out.max(initial=0) <= 1
        return self.fold_sums if once else self.sums_by_row(self.losses, self._centred)

    @property
    def _centred(self) -> NDArray[np.float64] | None:
        return None if self.classes is not None else self.y - self.y.mean()

    def sums_by_fold(
        self, losses: NDArray[np.float64], target: NDArray[np.float64] | None = None
    ) -> LossSums:
        """Add up losses of the held-out rows by fold; ``target`` is that of all rows, if it is wanted."""
        weight = None if self.weights is None else self.weights[self.rows]
        fold = np.repeat(np.arange(len(self.row_start) - 1), np.diff(self.row_start)) - 1
        n_folds = len(self.row_start) - 2
        own = None if target is None else target[self.rows]
        groups = None if self.groups is None else self.groups[self.rows]
        return LossSums.of(losses, own, weight, fold, n_folds, groups=groups)

    def sums_by_row(self, losses: NDArray[np.float64], target: NDArray[np.float64] | None = None) -> LossSums:
        """Add up losses of the held-out rows, averaged over the times a row is held out."""
        times = self.times_held_out
        rows = np.flatnonzero(times)
        loss = np.bincount(self.rows, losses, minlength=len(times))[rows] / times[rows]
        weight = times[rows].astype(np.float64)
        if self.weights is not None:
            weight *= self.weights[rows]
        own = None if target is None else target[rows]
        groups = None if self.groups is None else self.groups[rows]
        return LossSums.of(loss, own, weight, np.zeros(len(rows), np.int64), 1, groups=groups)

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
        """Out-of-fold class probabilities, or means, of every row; averages if it is held out repeatedly."""
        total = np.zeros((len(self.y), self.said.shape[1]))
        np.add.at(total, self.rows, self.said)
        with np.errstate(invalid="ignore", divide="ignore"):  # rows that no model holds out become NaN
            return np.asarray(total / self.times_held_out[:, None])

    @cached_property
    def predictions(self) -> NDArray[Any]:
        """Out-of-fold prediction of every row; NaN, or an error for classes, if some are never held out."""
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
    """Out-of-fold results of a forest, from the leaves that held-out rows reach.

    Parameters
    ----------
    forest : Forest
        Tree 0 is the final tree; the others hold rows out.
    held_out : HeldOut
        Leaves of the held-out rows.
    y, classes, chosen_scores
        As for :class:`Validation`.
    weights : float64 array (rows,), optional
        Row weights.
    prune_by : {"impurity", "error", "loss"}
        What the pruning table weighs against the number of leaves.
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
        prune_by: Measure = "impurity",
    ) -> None:
        self.forest, self.held_out, self.prune_by = forest, held_out, prune_by
        self.rows, self.row_start = held_out.rows, held_out.row_start
        self.y, self.classes, self.weights = y, classes, weights
        self.chosen_scores = chosen_scores

    def pruned(self, inner: NDArray[np.bool_]) -> TreeValidation:
        """Return the results of the smaller trees in which only the nodes marked ``inner`` have tests."""
        packed = self.forest.packed
        smaller, number = packed.cut(inner)
        leaf = number[packed.ends(inner & (packed.feature >= 0))[self.node]]
        validation = TreeValidation(
            Forest(smaller, self.forest.work),
            HeldOut(self.rows, self.row_start, leaf),
            self.y,
            self.classes,
            self.weights,
            chosen_scores=self.chosen_scores,
            prune_by=self.prune_by,
        )
        validation.groups = self.groups
        return validation

    @cached_property
    def node(self) -> NDArray[np.int64]:
        """The leaf of each held-out row, counted over all trees."""
        return self.held_out.node(self.forest.packed)

    @cached_property
    def said(self) -> NDArray[np.float64]:  # type: ignore[override]
        """Class probabilities, or the mean, in the leaf of each held-out row."""
        value = self.forest.packed.value
        return (value if self.classes is None else probabilities(value))[self.node]

    @cached_property
    def decided(self) -> NDArray[Any]:
        """Class code, or number, of the leaf of each held-out row."""
        packed = self.forest.packed
        decided = packed.value[:, 0] if self.classes is None else decisions(packed.value, packed.loss)
        return decided[self.node]

    @cached_property
    def pruning_table(self) -> PruningTable:
        """The cross-validated pruning table."""
        n_classes = 0 if self.classes is None else len(self.classes)
        return pruning_table(
            self.forest,
            self.held_out,
            self.y,
            n_classes=n_classes,
            weights=self.weights,
            by=self.prune_by,
        )

    @property
    def _loss(self) -> NDArray[np.float64] | None:
        return self.forest.packed.loss
