"""Conformal prediction from the folds' models and the rows they hold out, without another fit.

CV+, jackknife+ and CV-minmax intervals (Barber, Candès, Ramdas and Tibshirani 2021), cross-conformal sets of
classes (Romano, Sesia and Candès 2020), and both out of bag. Weights are ignored: all rows count once.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from crosscut.statistics.measures import of_true_class

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from crosscut.statistics.validation import Validation

BLOCK = 2**22  # numbers that are partitioned at a time
MANY_FOLDS = 64  # with more folds, partitioning all residuals is faster than counting fold by fold
STEPS = 40  # of the bisection


def intervals(
    cv: Validation, predicted: NDArray[np.float64], level: float, method: str
) -> NDArray[np.float64]:
    """Return the ends of the prediction interval of each new row (rows, 2); see ``predict_interval``.

    ``cv`` holds the predictions of the folds' models for the rows they hold out, ``predicted`` (folds, rows)
    those for the new rows. Ends are infinite if there are too few held-out rows for the level.
    """
    fold, rank = _held_out_once(cv, level)
    residual = nonconformity_scores(cv)
    if method not in {"cv+", "jackknife+", "minmax"}:
        raise ValueError(f"method must be 'cv+', 'jackknife+' or 'minmax', not {method!r}")
    if method == "jackknife+" and np.bincount(fold).max() > 1:
        raise ValueError("method='jackknife+' needs folds of one row each (cv=LeaveOneOut()); use 'cv+'")
    if rank > len(residual):
        return np.tile([-np.inf, np.inf], (predicted.shape[1], 1))
    if method == "minmax":
        reach = np.partition(residual, rank - 1)[rank - 1]
        return np.stack([predicted.min(axis=0) - reach, predicted.max(axis=0) + reach], axis=1)
    distinct, which = np.unique(predicted, axis=1, return_inverse=True)
    ends = np.stack([-_nth(-distinct, residual, fold, rank), _nth(distinct, residual, fold, rank)], axis=1)
    return np.asarray(ends[which.reshape(-1)])


def class_sets(
    cv: Validation, predicted: NDArray[np.float64], level: float, method: str
) -> NDArray[np.bool_]:
    """Return whether each class is in each row's prediction set (rows, classes); see ``predict_set``.

    ``predicted`` (folds, rows, classes) are the class probabilities by the folds' models for the new rows. A
    class is excluded if at least rank = ⌈level · (n + 1)⌉ held-out rows conform better.
    """
    fold, rank = _held_out_once(cv, level)
    score, held_out_scores = _score_function(method), nonconformity_scores(cv, method)
    better = np.zeros(predicted.shape[1:], np.int64)
    for k, probability in enumerate(predicted):
        better += np.searchsorted(np.sort(held_out_scores[fold == k]), score(probability), side="left")
    return better < rank


def bagged_intervals(
    out_of_bag: Validation, predicted: NDArray[np.float64], level: float
) -> NDArray[np.float64]:
    """Return each row's interval by jackknife+-after-bootstrap (Kim, Xu and Barber 2020).

    The leave-one-out model of a training row is the mean of the trees that have not drawn it.
    ``out_of_bag`` holds the predictions of the trees for the rows they have not drawn, ``predicted`` (trees,
    rows) those for the new rows.
    """
    rows, without = _without_each_row(out_of_bag)
    rank = rank_of(level, len(rows))
    residual = np.abs(out_of_bag.y - out_of_bag.values[:, 0])[rows, None]
    if rank > len(rows):
        return np.tile([-np.inf, np.inf], (predicted.shape[1], 1))
    ends = []
    for block in _blocks(predicted, len(rows)):
        mean = without @ block
        low, high = np.partition(residual - mean, rank - 1, axis=0), mean + residual
        ends.append(np.stack([-low[rank - 1], np.partition(high, rank - 1, axis=0)[rank - 1]], axis=1))
    return np.concatenate(ends)


def bagged_sets(
    out_of_bag: Validation, predicted: NDArray[np.float64], level: float, method: str
) -> NDArray[np.bool_]:
    """Return whether each class is in each row's prediction set; see :func:`bagged_intervals`.

    ``predicted`` (trees, rows, classes) are the class probabilities of the trees.
    """
    rows, without = _without_each_row(out_of_bag)
    rank = rank_of(level, len(rows))
    score = _score_function(method)
    true_class = of_true_class(score(out_of_bag.values[rows]), out_of_bag.y[rows])[:, None]
    n_classes = predicted.shape[2]
    better = []
    for block in _blocks(predicted, len(rows) * n_classes):
        scores = score(np.einsum("rt,tnc->rnc", without, block, optimize=True).reshape(-1, n_classes))
        better.append((true_class[:, :, None] < scores.reshape(len(rows), -1, n_classes)).sum(axis=0))
    return np.asarray(np.concatenate(better) < rank)


def coverage(cv: Validation, level: float, method: str = "score") -> float:
    """Return the fraction of held-out rows that are covered when calibrated on the rows of other folds."""
    fold, _ = _held_out_once(cv, level)
    scores = nonconformity_scores(cv, method)
    better = np.searchsorted(np.sort(scores), scores, side="left")
    others = len(fold) - np.bincount(fold)
    for k in range(len(others)):
        of_fold = scores[fold == k]
        better[fold == k] -= np.searchsorted(np.sort(of_fold), of_fold, side="left")
    rank = np.array([rank_of(level, n) for n in others.tolist()])
    return float(np.mean(better < rank[fold]))


def nonconformity_scores(cv: Validation, method: str = "score") -> NDArray[np.float64]:
    """Return the nonconformity score of each held-out row: its absolute residual, or its class's score."""
    y = cv.y[cv.rows]
    if cv.classes is None:
        return np.asarray(np.abs(y - cv.decided))
    return of_true_class(_score_function(method)(cv.fold_values), y)


def _score_function(method: str) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    if method not in {"score", "adaptive"}:
        raise ValueError(f"method must be 'score' or 'adaptive', not {method!r}")
    return _by_score if method == "score" else _adaptive


def _without_each_row(out_of_bag: Validation) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows that some tree has not drawn, and the weights of these trees (rows, trees)."""
    times = out_of_bag.times_held_out
    tree = np.repeat(np.arange(len(out_of_bag.row_start) - 1), np.diff(out_of_bag.row_start))
    weight = np.zeros((len(times), len(out_of_bag.row_start) - 1))
    weight[out_of_bag.rows, tree] = 1.0
    rows = np.flatnonzero(times)
    return rows, weight[rows] / times[rows, None]


def _blocks(predicted: NDArray[np.float64], numbers: int) -> list[NDArray[np.float64]]:
    """Split the new rows into blocks of at most BLOCK numbers, at ``numbers`` per row."""
    step = max(1, BLOCK // numbers)
    return np.split(predicted, range(step, predicted.shape[1], step), axis=1)


def _by_score(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Score of each class: 1 minus its probability."""
    return 1.0 - probability


def _adaptive(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Score of each class: the probability of all more probable classes plus half its own probability.

    Romano, Sesia and Candès add a random fraction of the class's own probability, whose mean is half. Adding
    all of it would give every class of a pure leaf the score 1. Rounding makes the order of sums irrelevant.
    """
    total = probability / 2
    for c in range(probability.shape[1]):
        total[:, c] += np.where(probability > probability[:, [c]], probability, 0.0).sum(axis=1)
    return np.asarray(total.round(12))


def _held_out_once(cv: Validation, level: float) -> tuple[NDArray[np.int64], int]:
    """Return the fold of each held-out row, and the rank of the level; raise if folds repeat rows."""
    rank = rank_of(level, len(cv.rows))
    if cv.times_held_out.max(initial=0) > 1:
        raise ValueError("the guarantee needs folds that hold out each row once; use a cv without repeats")
    sizes = np.diff(cv.row_start)[1:]
    return np.repeat(np.arange(len(sizes)), sizes), rank


def rank_of(level: float, n_rows: int) -> int:
    """Return ⌈level · (n_rows + 1)⌉, the number of held-out rows that must conform."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level!r}")
    return math.ceil(level * (n_rows + 1) - 1e-9)  # minus a possible rounding error


def _nth(
    predicted: NDArray[np.float64], residual: NDArray[np.float64], fold: NDArray[np.int64], rank: int
) -> NDArray[np.float64]:
    """Return, for each new row, the number of this rank among predicted + residual of all folds."""
    if len(predicted) > MANY_FOLDS:
        parts = [
            np.partition(block.T[:, fold] + residual, rank - 1, axis=1)[:, rank - 1]
            for block in _blocks(predicted, len(residual))
        ]
        return np.concatenate(parts)
    # bisect, counting in each fold's sorted residuals; the exact number follows in the last step
    parts = [np.sort(residual[fold == k]) for k in range(len(predicted))]
    middle = np.partition(residual, rank - 1)[rank - 1]
    low, high = predicted.min(axis=0) + middle, predicted.max(axis=0) + middle
    low -= 1e-9 * (np.abs(low) + high - low)  # below the result despite rounding
    below = np.zeros(len(low), np.int64)
    for _ in range(STEPS):
        on = np.flatnonzero(below < rank - 1)  # otherwise the result is the next number above low
        half = (low[on] + high[on]) / 2
        count = np.zeros(len(on), np.int64)
        for residuals, centre in zip(parts, predicted, strict=True):
            count += np.searchsorted(residuals, half - centre[on], "right")
        enough = count >= rank
        high[on[enough]] = half[enough]
        low[on[~enough]], below[on[~enough]] = half[~enough], count[~enough]
    following = [
        centre + np.append(residuals, np.inf)[np.searchsorted(residuals, low - centre, "right")]
        for residuals, centre in zip(parts, predicted, strict=True)
    ]
    return np.asarray(np.min(following, axis=0))
