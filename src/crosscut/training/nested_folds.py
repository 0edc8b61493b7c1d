"""The interval of a nested cross-validation (Bates, Hastie and Tibshirani 2021) on an estimator's folds.

What a cross-validation's standard error leaves out is that its rows also train each other's trees. Leaving
out a second fold shows how much: with d the change of the other rows' mean loss when fold k does not train
their trees, and u their mean loss less that of fold k,

    squared error = s² / n + (1 - 1 / folds) · mean over k of d (d + 2 u)

s² being the variance of the rows' losses. This is Bates, Hastie and Tibshirani's estimate but for the term
u² less the variance of fold k's mean loss. Where rows fall into folds at random, it is s² / n on average, up
to their factor. It carries most of the noise of their estimate, which takes hundreds of repetitions to go.
The mean over few folds is still noisy, so its own standard error is added, and the result is at least s² / n.

Where the folds choose a pruning, the losses are those of trees that chose their own. The final tree's choice,
from all rows, may be another one. So the squared difference between the two cross-validated scores is added:
that of trees pruned by their own choice, and that of trees pruned by the final choice.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crosscut.forest.forest import Forest
from crosscut.statistics.intervals import LossSums, interval_about, value_of
from crosscut.statistics.measures import kind_of, row_losses
from crosscut.tasks import Tasks
from crosscut.training.parameters import measure_of
from crosscut.training.train import grow_trees, limited, prune_each, pruned_by, validate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.statistics.validation import Validation
    from crosscut.training.fit import Fit
    from crosscut.training.training_set import TrainingSet
    from crosscut.typing import Scoring, TreeEstimator


class NestedLosses(NamedTuple):
    """Losses of the rows, each out of fold, and how those of all other rows change without a fold."""

    loss: NDArray[np.float64]  # (rows,)
    change: NDArray[np.float64]  # (folds,)


def nested_interval(
    model: TreeEstimator, data: TrainingSet, level: float, measure: Scoring = None
) -> tuple[float, float]:
    """Return the interval of a measure of the estimator's procedure, choice of a pruning included."""
    chosen: Validation = model.fit_.validation
    chosen.interval(level, "rows", measure)  # refuses what is no measure of these rows
    partitions, of = _partitions(model.fit_), kind_of(measure)
    found = [nested_losses(model, data, fold, measure) for fold in partitions]
    y, weight = data.target.values, data.target.weights
    target = y - y.mean() if of == "score" and data.classes is None else None
    loss = np.mean([one.loss for one in found], axis=0)
    rows = LossSums.of(loss, target, weight, np.zeros(len(loss), np.int64), 1, groups=chosen.groups)
    value, direction = value_of(rows, of)
    added: list[float] = []
    for fold, (own, change) in zip(partitions, found, strict=True):
        products = LossSums.of(own, target, weight, fold, len(change)).products[:, 0]
        total, sums = products[:, 0], products @ direction
        others = (sums.sum() - sums) / (total.sum() - total)
        d = direction[1] * change
        added.extend((1 - 1 / len(change)) * d * (d + 2 * (others - sums / total)))
    plain, further = rows.variance(direction) / len(loss), np.array(added)
    further = further.mean() + further.std(ddof=1) / len(further) ** 0.5
    apart = value - value_of(chosen.sums_by_row(_losses(chosen, measure), target), of)[0]
    error = float(plain + max(further, 0.0) + apart**2) ** 0.5
    return interval_about(value, error, rows, level, of)


def _losses(cv: Validation, measure: Scoring) -> NDArray[np.float64]:
    return cv.losses if kind_of(measure) == "score" else row_losses(cv, measure)


def nested_losses(
    model: TreeEstimator, data: TrainingSet, fold: NDArray[np.int64], measure: Scoring = None
) -> NestedLosses:
    """Grow the trees that leave out one or two folds in one pass, and judge the rows they hold out.

    Where the pruning is chosen by cross-validation, that is done for each of these trees by the folds that
    are left: trees that leave out one fold more belong to the pass.
    """
    n_folds, chosen = int(fold.max()) + 1, model.prune in {"best", "1se"}
    sets = [out for size in range(1, 4 if chosen else 3) for out in combinations(range(n_folds), size)]
    tasks = limited(model, Tasks.leaving_out(fold, sets))
    forest = prune_each(model, grow_trees(model, data, tasks))
    judged = [out for out in sets if len(out) < 3]
    if chosen:
        forest = _each_chosen(model, data, fold, sets, forest)
    cv = validate(data, tasks.take(range(len(judged))), forest, n_jobs=model.n_jobs)
    losses, loss = _losses(cv, measure), np.empty(data.n_rows)
    single = slice(0, int(cv.row_start[n_folds]))
    loss[cv.rows[single]] = losses[single]
    weight = np.ones(data.n_rows) if data.target.weights is None else data.target.weights
    # a tree that leaves out folds i and j tells of the rows of i without j, and of the rows of j without i
    task = np.repeat(np.arange(len(judged)), np.diff(cv.row_start))
    pairs = np.array([out if len(out) == 2 else (-1, -1) for out in judged])[task]
    without = np.where(fold[cv.rows] == pairs[:, 0], pairs[:, 1], pairs[:, 0])
    change = weight[cv.rows] * (losses - loss[cv.rows])  # 0 where one fold is left out
    total = np.bincount(np.maximum(without, 0), change, minlength=n_folds)
    return NestedLosses(loss, total / (weight.sum() - np.bincount(fold, weight)))


def _each_chosen(
    model: TreeEstimator,
    data: TrainingSet,
    fold: NDArray[np.int64],
    sets: list[tuple[int, ...]],
    grown: Forest,
) -> Forest:
    """Prune each tree that leaves out one or two folds as a fit to its rows, with the same folds, would."""
    number = {frozenset(out): task for task, out in enumerate(sets)}
    assert model.prune == "best" or model.prune == "1se"  # noqa: PLR1714, mypy reads these
    rule = model.prune
    pruned = []
    for out in (out for out in sets if len(out) < 3):
        left = [k for k in range(fold.max() + 1) if k not in out]
        place = np.full(fold.max() + 1, -1)
        place[left] = np.arange(len(left))
        trees = [number[frozenset(out)], *(number[frozenset((*out, k))] for k in left)]
        own = Forest(grown.packed.select(trees))
        cv = validate(data, Tasks.from_folds(place[fold]), own, by=measure_of(model))
        pruned.append(pruned_by(rule, cv.pruning_table, Forest(grown.packed.only(trees[0])))[0])
    return Forest.joined(pruned)


def _partitions(fit: Fit) -> list[NDArray[np.int64]]:
    """Return the fold of every row, once for each time the folds hold all rows out."""
    cv = fit.validated("cv_interval()")
    n_rows, trained = len(cv.y), fit.grown.packed.n_rows[fit.grown.packed.node_start[:-1]]
    counted = np.ones(n_rows, bool) if cv.weights is None else cv.weights > 0
    found = [np.full(n_rows, -1)]
    for model in range(1, len(cv.row_start) - 1):
        test = cv.rows[cv.row_start[model] : cv.row_start[model + 1]]
        if found[-1].min() >= 0:
            found.append(np.full(n_rows, -1))
        if np.any(found[-1][test] >= 0) or trained[model] != trained[0] - np.count_nonzero(counted[test]):
            break
        found[-1][test] = found[-1].max() + 1
    least = 4 if fit.chosen_by is not None else 3
    if min(fold.min() for fold in found) < 0 or min(fold.max() + 1 for fold in found) < least:
        raise ValueError(
            f"method='nested' needs {least} or more folds that hold out every row once and train on the rest"
        )
    return found
