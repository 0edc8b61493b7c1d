"""Predictions with guarantees, from the folds' models and the rows they hold out: no further fit.

CV+, jackknife+ and CV-minmax intervals (Barber, Candès, Ramdas and Tibshirani 2021), and cross-conformal sets
of classes (Romano, Sesia and Candès 2020). Rows count alike, whatever their weights.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.training.validation import Validation

BLOCK = 2**22  # numbers that are ordered at a time


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
    residual = np.abs(cv.y[cv.rows] - cv.decided)
    if method not in {"cv+", "jackknife+", "minmax"}:
        raise ValueError(f"method must be 'cv+', 'jackknife+' or 'minmax', but {method!r} was given")
    if method == "jackknife+" and np.bincount(fold).max() > 1:
        raise ValueError("method='jackknife+' needs folds of one row each (cv=LeaveOneOut()); use 'cv+'")
    if rank > len(residual):
        return np.tile([-np.inf, np.inf], (predicted.shape[1], 1))
    if method == "minmax":
        reach = np.partition(residual, rank - 1)[rank - 1]
        return np.stack([predicted.min(axis=0) - reach, predicted.max(axis=0) + reach], axis=1)
    distinct, which = np.unique(predicted.T, axis=0, return_inverse=True)
    ends = np.empty((len(distinct), 2))
    step = max(1, BLOCK // len(residual))
    for begin in range(0, len(distinct), step):
        own = distinct[begin : begin + step][:, fold]
        ends[begin : begin + step, 0] = _nth(own - residual, len(residual) - rank)
        ends[begin : begin + step, 1] = _nth(own + residual, rank - 1)
    return ends[which.reshape(-1)]


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
    if method not in {"score", "adaptive"}:
        raise ValueError(f"method must be 'score' or 'adaptive', but {method!r} was given")
    strangeness = _by_score if method == "score" else _adaptive
    own = np.take_along_axis(strangeness(cv.said), cv.y[cv.rows][:, None].astype(np.int64), axis=1)[:, 0]
    better = np.zeros(predicted.shape[1:], np.int64)
    for k, said in enumerate(predicted):
        better += np.searchsorted(np.sort(own[fold == k]), strangeness(said), side="left")
    return better < rank


def _by_score(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """How strange each class would be: one less its probability."""
    return 1.0 - probability


def _adaptive(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """How strange each class would be: the probability of all classes that are at least as probable.

    Rounded, so that sums of the same probabilities in another order are the same.
    """
    total = np.empty_like(probability)
    for c in range(probability.shape[1]):
        total[:, c] = np.where(probability >= probability[:, [c]], probability, 0.0).sum(axis=1)
    return np.asarray(total.round(12))


def _held_out_once(cv: Validation, level: float) -> tuple[NDArray[np.int64], int]:
    """Return the fold of each held-out row, and how many of them must conform; refuse repeated folds."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, but {level!r} was given")
    if cv.times_held_out.max(initial=0) > 1:
        raise ValueError("the guarantee needs folds that hold a row out once, but cv holds some out again")
    sizes = np.diff(cv.row_start)[1:]
    rank = math.ceil(level * (len(cv.rows) + 1) - 1e-9)  # less what rounding adds
    return np.repeat(np.arange(len(sizes)), sizes), rank


def _nth(values: NDArray[np.float64], n: int) -> Any:
    """Return the number at place ``n`` of each line in ascending order."""
    values.partition(n, axis=1)
    return values[:, n]
