"""Interval of a nested cross-validation (Bates, Hastie and Tibshirani 2021) on an estimator's folds.

The standard error of a cross-validation ignores that held-out rows also train the trees of other folds.
Leaving out a second fold measures this effect:

    squared error = s² / n + (1 - 1 / folds) · mean over k of d (d + 2 u)

Here s² is the variance of the rows' losses, d is the change of the other rows' mean loss if fold k does not
train their trees, and u is the other rows' mean loss minus that of fold k. The estimate of Bates, Hastie and
Tibshirani also has the term u² minus the variance of fold k's mean loss. With random folds, this term is s² /
n on average, up to their factor, but it causes most of the noise, which takes hundreds of repetitions to
remove. Because the mean over few folds is still noisy, its standard error is added. The result is at least s²
/ n.

If the folds choose a pruning, the losses are those of trees with their own choice, which may differ from the
choice of the final tree. So the squared difference between two cross-validated scores is added: trees pruned
by their own choice, and trees pruned by the final choice.
"""

from __future__ import annotations

from copy import copy
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.base import clone

from crosscut.forest.forest import Forest
from crosscut.statistics.conformal import class_sets, intervals
from crosscut.statistics.intervals import LossSums, interval_about, value_of
from crosscut.statistics.measures import kind_of, row_losses
from crosscut.statistics.validation import TreeValidation, Validation
from crosscut.tasks import Tasks
from crosscut.training.parameters import chooses, leaf_sizes, limits_of, objective_of
from crosscut.training.train import grow_trees, prune_each, pruned_by, validate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.training.fit import Fit
    from crosscut.training.training_set import TrainingSet
    from crosscut.typing import Scoring, TreeEstimator


class NestedLosses(NamedTuple):
    """Out-of-fold losses of the rows, and the change of all other rows' losses without each fold."""

    loss: NDArray[np.float64]  # (rows,)
    change: NDArray[np.float64]  # (folds,)


def nested_interval(
    model: TreeEstimator, data: TrainingSet, level: float, measure: Scoring = None
) -> tuple[float, float]:
    """Return the interval of a measure for the whole procedure, including the choice of a pruning."""
    if leaf_sizes(model):
        raise ValueError(
            f"method='nested' needs one leaf size, not min_samples_leaf={model.min_samples_leaf!r}; "
            "method='rows' accounts for the choice"
        )
    chosen: Validation = model.fit_.validation
    chosen.interval(level, "rows", measure)  # raises for invalid measures
    partitions, of = _partitions(model.fit_), kind_of(measure)
    losses = [nested_losses(model, data, fold, measure) for fold in partitions]
    y, weight = data.target.values, data.sample_weight
    target = y - y.mean() if of == "score" and data.classes is None else None
    loss = np.mean([one.loss for one in losses], axis=0)
    rows = LossSums.of(loss, target, weight, np.zeros(len(loss), np.int64), 1, groups=chosen.groups)
    value, direction = value_of(rows, of)
    corrections: list[float] = []
    for fold, (out_of_fold, change) in zip(partitions, losses, strict=True):
        products = LossSums.of(out_of_fold, target, weight, fold, len(change)).products[:, 0]
        total, sums = products[:, 0], products @ direction
        others = (sums.sum() - sums) / (total.sum() - total)
        d = direction[1] * change
        corrections.extend((1 - 1 / len(change)) * d * (d + 2 * (others - sums / total)))
    correction = np.mean(corrections) + np.std(corrections, ddof=1) / len(corrections) ** 0.5
    by_choice = value - value_of(chosen.sums_by_row(_losses(chosen, measure), target), of)[0]
    variance = rows.variance(direction) / rows.effective_rows
    error = float(variance + max(correction, 0.0) + by_choice**2) ** 0.5
    return interval_about(value, error, rows, level, of)


def _losses(cv: Validation, measure: Scoring) -> NDArray[np.float64]:
    return cv.losses if kind_of(measure) == "score" else row_losses(cv, measure)


def nested_coverage(model: TreeEstimator, data: TrainingSet, level: float, method: str) -> float:
    """Return the fraction of rows covered by the trees that leave out their fold and one more.

    For each fold, the trees that leave out it and another fold are the models of a cross-validation without
    it, which predicts sets or intervals for its rows. They are pruned and shrunk like the final tree.
    """
    fit = model.fit_.smooth
    fold, *repeats = _partitions(fit)
    if repeats:
        raise ValueError(
            "cv_coverage(X, y) needs folds that hold out every row once; use a cv without repeats"
        )
    if chooses(model):
        model = clone(model).set_params(prune=None, ccp_alpha=fit.alpha)
    model = copy(model)
    model.shrinkage = fit.shrinkage
    pairs = list(combinations(range(int(fold.max()) + 1), 2))
    tasks = Tasks.leaving_out(fold, pairs).with_limits([limits_of(model)])
    cv = validate(data, tasks, prune_each(model, grow_trees(model, data, tasks)), n_jobs=model.n_jobs)
    covered = []
    for out in range(int(fold.max()) + 1):
        tests, calibration, predicted = np.flatnonzero(fold == out), [], []
        for task, pair in enumerate(pairs):
            if out in pair:
                of_task = np.arange(cv.row_start[task], cv.row_start[task + 1])
                test = fold[cv.rows[of_task]] == out
                calibration.append(of_task[~test])
                predicted.append(cv.fold_values[of_task[test][np.argsort(cv.rows[of_task[test]])]])
        start = np.cumsum([0, 0, *map(len, calibration)])
        held_out = np.concatenate(calibration)
        others = Validation(cv.y, cv.classes, cv.rows[held_out], start, cv.fold_values[held_out])
        if cv.classes is None:
            ends = intervals(others, np.stack(predicted)[:, :, 0], level, "cv+")
            covered.append((ends[:, 0] <= cv.y[tests]) & (cv.y[tests] <= ends[:, 1]))
        else:
            sets = class_sets(others, np.stack(predicted), level, method)
            covered.append(sets[np.arange(len(tests)), cv.y[tests]])
    return float(np.mean(np.concatenate(covered)))


def nested_losses(
    model: TreeEstimator, data: TrainingSet, fold: NDArray[np.int64], measure: Scoring = None
) -> NestedLosses:
    """Grow the trees that leave out one or two folds in one pass, and evaluate them on the held-out rows.

    If the pruning is chosen by cross-validation, each of these trees chooses its own by the remaining folds.
    The trees that leave out one more fold are grown in the same pass.
    """
    n_folds, chosen = int(fold.max()) + 1, chooses(model)
    sets = [out for size in range(1, 4 if chosen else 3) for out in combinations(range(n_folds), size)]
    tasks = Tasks.leaving_out(fold, sets).with_limits([limits_of(model)])
    forest = prune_each(model, grow_trees(model, data, tasks))
    evaluated = [out for out in sets if len(out) < 3]
    if chosen:
        forest = _pruned_separately(model, data, fold, sets, forest)
    cv = validate(data, tasks.take(range(len(evaluated))), forest, n_jobs=model.n_jobs)
    losses, loss = _losses(cv, measure), np.empty(data.n_rows)
    single = slice(0, int(cv.row_start[n_folds]))
    loss[cv.rows[single]] = losses[single]
    weight = np.ones(data.n_rows) if data.sample_weight is None else data.sample_weight
    # a tree that leaves out folds i and j evaluates the rows of i without j, and the rows of j without i
    task = np.repeat(np.arange(len(evaluated)), np.diff(cv.row_start))
    pairs = np.array([out if len(out) == 2 else (-1, -1) for out in evaluated])[task]
    without = np.where(fold[cv.rows] == pairs[:, 0], pairs[:, 1], pairs[:, 0])
    change = weight[cv.rows] * (losses - loss[cv.rows])  # 0 if one fold is left out
    total = np.bincount(np.maximum(without, 0), change, minlength=n_folds)
    return NestedLosses(loss, total / (weight.sum() - np.bincount(fold, weight)))


def _pruned_separately(
    model: TreeEstimator,
    data: TrainingSet,
    fold: NDArray[np.int64],
    sets: list[tuple[int, ...]],
    grown: Forest,
) -> Forest:
    """Prune each tree that leaves out one or two folds like a fit to its rows with the same folds."""
    number = {frozenset(out): task for task, out in enumerate(sets)}
    assert model.prune == "best" or model.prune == "1se"  # noqa: PLR1714, mypy reads these
    rule = model.prune
    pruned = []
    for out in (out for out in sets if len(out) < 3):
        left = [k for k in range(fold.max() + 1) if k not in out]
        place = np.full(fold.max() + 1, -1)
        place[left] = np.arange(len(left))
        trees = [number[frozenset(out)], *(number[frozenset((*out, k))] for k in left)]
        forest = Forest(grown.packed.select(trees))
        cv = validate(data, Tasks.from_folds(place[fold]), forest, objective=objective_of(model))
        pruned.append(pruned_by(rule, cv.pruning_table, Forest(grown.packed.only(trees[0]))))
    return Forest.joined(pruned)


def _partitions(fit: Fit) -> list[NDArray[np.int64]]:
    """Return the fold of each row, once for each repetition that holds out all rows."""
    cv = fit.validated("cv_interval()")
    n_rows, trained = len(cv.y), fit.grown.packed.n_rows[fit.grown.packed.node_start[:-1]]
    weights = cv.training_weights if isinstance(cv, TreeValidation) else cv.weights
    counted = np.ones(n_rows, bool) if weights is None else weights > 0
    partitions = [np.full(n_rows, -1)]
    for model in range(1, len(cv.row_start) - 1):
        test = cv.rows[cv.row_start[model] : cv.row_start[model + 1]]
        if partitions[-1].min() >= 0:
            partitions.append(np.full(n_rows, -1))
        if np.any(partitions[-1][test] >= 0) or trained[model] != trained[0] - np.count_nonzero(
            counted[test]
        ):
            break
        partitions[-1][test] = partitions[-1].max() + 1
    least = 4 if fit.chosen_by is not None else 3
    if min(fold.min() for fold in partitions) < 0 or min(fold.max() + 1 for fold in partitions) < least:
        raise ValueError(
            f"method='nested' needs {least} or more folds that hold out every row once and train on the rest"
        )
    return partitions
