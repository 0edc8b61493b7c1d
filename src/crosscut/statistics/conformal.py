"""Predictions with guarantees, from the folds' models and the rows they hold out: no further fit.

CV+, jackknife+ and CV-minmax intervals (Barber, Candès, Ramdas and Tibshirani 2021), cross-conformal sets of
classes (Romano, Sesia and Candès 2020), and both out of bag. Rows count alike, whatever their weights.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from crosscut.statistics.validation import Validation

BLOCK = 2**22  # numbers that are ordered at a time
MANY_FOLDS = 64  # beyond that, ordering all residuals is faster than counting fold by fold
STEPS = 40  # of the bisection


def intervals(
    cv: Validation, predicted: NDArray[np.float64], level: float, method: str
) -> NDArray[np.float64]:
    """Return the low and the high end of each row's interval.

    Parameters
    ----------
    cv : Validation
        What the folds' models say of the rows they hold out.
    predicted : float64 array (folds, rows)
        What they say of the rows to predict.
    level, method
        As ``TreeRegressor.predict_interval`` takes them.

    Returns
    -------
    float64 array (rows, 2)
        Infinite ends if there are too few held-out rows for the level.
    """
    fold, rank = _held_out_once(cv, level)
    residual = own_strangeness(cv)
    if method not in {"cv+", "jackknife+", "minmax"}:
        raise ValueError(f"method must be 'cv+', 'jackknife+' or 'minmax', but {method!r} was given")
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
    """Return whether each class is in each row's set.

    Parameters
    ----------
    cv : Validation
        What the folds' models say of the rows they hold out.
    predicted : float64 array (folds, rows, classes)
        Class probabilities that they give the rows to predict.
    level, method
        As ``TreeClassifier.predict_set`` takes them.

    Returns
    -------
    bool array (rows, classes)
        A class is left out if at least rank = ⌈level · (n + 1)⌉ held-out rows conform better.
    """
    fold, rank = _held_out_once(cv, level)
    strangeness, own = _strangeness(method), own_strangeness(cv, method)
    better = np.zeros(predicted.shape[1:], np.int64)
    for k, said in enumerate(predicted):
        better += np.searchsorted(np.sort(own[fold == k]), strangeness(said), side="left")
    return better < rank


def bagged_intervals(
    out_of_bag: Validation, predicted: NDArray[np.float64], level: float
) -> NDArray[np.float64]:
    """Return the ends of each row's interval by the jackknife+ after the bootstrap (Kim, Xu and Barber 2020).

    The model without a training row is the mean of the trees that have not drawn it.

    Parameters
    ----------
    out_of_bag : Validation
        What the trees say of the rows they have not drawn.
    predicted : float64 array (trees, rows)
        What they say of the rows to predict.
    level : float
        Coverage.
    """
    rows, without = _without_each_row(out_of_bag)
    rank = rank_of(level, len(rows))
    residual = np.abs(out_of_bag.y - out_of_bag.values[:, 0])[rows, None]
    if rank > len(rows):
        return np.tile([-np.inf, np.inf], (predicted.shape[1], 1))
    ends = []
    for own in _blocks(predicted, len(rows)):
        mean = without @ own
        low, high = np.partition(residual - mean, rank - 1, axis=0), mean + residual
        ends.append(np.stack([-low[rank - 1], np.partition(high, rank - 1, axis=0)[rank - 1]], axis=1))
    return np.concatenate(ends)


def bagged_sets(
    out_of_bag: Validation, predicted: NDArray[np.float64], level: float, method: str
) -> NDArray[np.bool_]:
    """Return whether each class is in each row's set; the counterpart of :func:`bagged_intervals`.

    ``predicted`` (trees, rows, classes) are the class probabilities that the trees give.
    """
    rows, without = _without_each_row(out_of_bag)
    rank = rank_of(level, len(rows))
    strangeness = _strangeness(method)
    own = _own(strangeness(out_of_bag.values[rows]), out_of_bag.y[rows])[:, None]
    n_classes = predicted.shape[2]
    better = []
    for said in _blocks(predicted, len(rows) * n_classes):
        strange = strangeness(np.einsum("rt,tnc->rnc", without, said, optimize=True).reshape(-1, n_classes))
        better.append((own[:, :, None] < strange.reshape(len(rows), -1, n_classes)).sum(axis=0))
    return np.asarray(np.concatenate(better) < rank)


def coverage(cv: Validation, level: float, method: str = "score") -> float:
    """Return the share of held-out rows that are covered, each by what the rows of other folds allow."""
    fold, _ = _held_out_once(cv, level)
    strange = own_strangeness(cv, method)
    better = np.searchsorted(np.sort(strange), strange, side="left")
    others = len(fold) - np.bincount(fold)
    for k in range(len(others)):
        own = strange[fold == k]
        better[fold == k] -= np.searchsorted(np.sort(own), own, side="left")
    rank = np.array([rank_of(level, n) for n in others.tolist()])
    return float(np.mean(better < rank[fold]))


def own_strangeness(cv: Validation, method: str = "score") -> NDArray[np.float64]:
    """Return how strange each held-out row is: the size of its residual, or the strangeness of its class."""
    y = cv.y[cv.rows]
    return np.abs(y - cv.decided) if cv.classes is None else _own(_strangeness(method)(cv.said), y)


def _strangeness(method: str) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    if method not in {"score", "adaptive"}:
        raise ValueError(f"method must be 'score' or 'adaptive', but {method!r} was given")
    return _by_score if method == "score" else _adaptive


def _own(strange: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
    """Return how strange the true class of each row is."""
    return np.take_along_axis(strange, y[:, None].astype(np.int64), axis=1)[:, 0]


def _without_each_row(out_of_bag: Validation) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows that some tree has not drawn, and the weights of these trees: (rows, trees)."""
    times = out_of_bag.times_held_out
    tree = np.repeat(np.arange(len(out_of_bag.row_start) - 1), np.diff(out_of_bag.row_start))
    weight = np.zeros((len(times), len(out_of_bag.row_start) - 1))
    weight[out_of_bag.rows, tree] = 1.0
    rows = np.flatnonzero(times)
    return rows, weight[rows] / times[rows, None]


def _blocks(predicted: NDArray[np.float64], numbers: int) -> list[NDArray[np.float64]]:
    """Split the rows to predict, so that so many numbers for each of them fit in a block."""
    step = max(1, BLOCK // numbers)
    return np.split(predicted, range(step, predicted.shape[1], step), axis=1)


def _by_score(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """How strange each class would be: one less its probability."""
    return 1.0 - probability


def _adaptive(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """How strange each class would be: the probability of all more probable classes, and half its own.

    Half is the mean of the random share that Romano, Sesia and Candès take: with all of it, every class of a
    pure leaf would be as strange as any. Rounded, so that the order in which they are added does not matter.
    """
    total = probability / 2
    for c in range(probability.shape[1]):
        total[:, c] += np.where(probability > probability[:, [c]], probability, 0.0).sum(axis=1)
    return np.asarray(total.round(12))


def _held_out_once(cv: Validation, level: float) -> tuple[NDArray[np.int64], int]:
    """Return the fold of each held-out row, and how many of them must conform; refuse repeated folds."""
    rank = rank_of(level, len(cv.rows))
    if cv.times_held_out.max(initial=0) > 1:
        raise ValueError("the guarantee needs folds that hold a row out once, but cv holds some out again")
    sizes = np.diff(cv.row_start)[1:]
    return np.repeat(np.arange(len(sizes)), sizes), rank


def rank_of(level: float, n_rows: int) -> int:
    """Return how many of so many held-out rows must conform."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, but {level!r} was given")
    return math.ceil(level * (n_rows + 1) - 1e-9)  # less what rounding adds


def _nth(
    predicted: NDArray[np.float64], residual: NDArray[np.float64], fold: NDArray[np.int64], rank: int
) -> NDArray[np.float64]:
    """Return, for each row, the number of this rank among all predicted + residual of the same fold."""
    if len(predicted) > MANY_FOLDS:
        parts = [
            np.partition(own.T[:, fold] + residual, rank - 1, axis=1)[:, rank - 1]
            for own in _blocks(predicted, len(residual))
        ]
        return np.concatenate(parts)
    # bisect by counting, as each fold's residuals are sorted once; the last step takes the exact number
    parts = [np.sort(residual[fold == k]) for k in range(len(predicted))]
    middle = np.partition(residual, rank - 1)[rank - 1]
    low, high = predicted.min(axis=0) + middle, predicted.max(axis=0) + middle
    low -= 1e-9 * (np.abs(low) + high - low)  # below the number looked for, whatever rounding does
    below = np.zeros(len(low), np.int64)
    for _ in range(STEPS):
        on = np.flatnonzero(below < rank - 1)  # elsewhere the next number above is the one
        half = (low[on] + high[on]) / 2
        count = np.zeros(len(on), np.int64)
        for own, said in zip(parts, predicted, strict=True):
            count += np.searchsorted(own, half - said[on], "right")
        enough = count >= rank
        high[on[enough]] = half[enough]
        low[on[~enough]], below[on[~enough]] = half[~enough], count[~enough]
    following = [
        said + np.append(own, np.inf)[np.searchsorted(own, low - said, "right")]
        for own, said in zip(parts, predicted, strict=True)
    ]
    return np.asarray(np.min(following, axis=0))
