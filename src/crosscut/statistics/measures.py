"""What an interval can be of besides accuracy and R²: means of any loss, and areas under ROC curves."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from crosscut.statistics.intervals import Kind
    from crosscut.statistics.validation import Validation
    from crosscut.typing import Scoring

LEAST = np.finfo(np.float64).eps  # probability whose logarithm is taken, as in scikit-learn


def _of_own_class(cv: Validation) -> NDArray[np.float64]:
    return np.asarray(cv.said[np.arange(len(cv.rows)), cv.y[cv.rows]])


def _brier(cv: Validation) -> NDArray[np.float64]:
    """Return squared errors of probabilities, of all classes; half of that for two, as in scikit-learn."""
    own = _of_own_class(cv)
    total = (cv.said**2).sum(axis=1) - own**2 + (1.0 - own) ** 2
    return np.asarray(total / 2 if cv.said.shape[1] == 2 else total)


OF_CLASSES: dict[str, Callable[[Any], NDArray[Any]]] = {
    "zero_one": lambda cv: cv.decided != cv.y[cv.rows],
    "log": lambda cv: -np.log(np.clip(_of_own_class(cv), LEAST, 1.0)),
    "brier": _brier,
}
OF_NUMBERS: dict[str, Callable[[Any], NDArray[Any]]] = {
    "squared": lambda cv: (cv.y[cv.rows] - cv.decided) ** 2,
    "absolute": lambda cv: np.abs(cv.y[cv.rows] - cv.decided),
}
SCORINGS = {  # of scikit-learn: the loss whose mean over a fold they are, less its sign, and "auc"
    "accuracy": "zero_one",
    "neg_log_loss": "log",
    "neg_brier_score": "brier",
    "neg_mean_squared_error": "squared",
    "neg_mean_absolute_error": "absolute",
    "roc_auc": "auc",
    "roc_auc_ovr": "auc",
}


def is_name(measure: Scoring, name: str) -> bool:
    """Whether a measure is the one of this name."""
    return isinstance(measure, str) and measure == name


def kind_of(measure: Scoring) -> Kind:
    """Return what a measure is: "score" for accuracy and R², "rate" for losses of 0 and 1, or "loss"."""
    if measure is None or is_name(measure, "r2") or is_name(measure, "accuracy"):
        return "score"
    return "rate" if is_name(measure, "zero_one") else "loss"


def row_losses(cv: Validation, measure: Scoring) -> NDArray[np.float64]:
    """Return the loss of each held-out row.

    Parameters
    ----------
    cv : Validation
        The rows and what is said of them.
    measure : str, matrix or callable
        A name of ``OF_CLASSES`` or ``OF_NUMBERS``; costs by class and predicted class; or a function of the
        true and the predicted labels, or numbers, that returns one loss per row.
    """
    known = OF_NUMBERS if cv.classes is None else OF_CLASSES
    if callable(measure):
        y, said = cv.y[cv.rows], cv.decided
        found = measure(y, said) if cv.classes is None else measure(cv.classes[y], cv.classes[said])
    elif isinstance(measure, str) and measure in known:
        found = known[measure](cv)
    elif isinstance(measure, str) or cv.classes is None:
        raise ValueError(
            f"measure must be a function loss(y_true, y_pred), one of {[*known]} or, for classes, 'auc' or a "
            f"matrix of costs, but {measure!r} was given"
        )
    else:
        cost = np.asarray(measure, dtype=np.float64)
        if cost.shape != (len(cv.classes), len(cv.classes)):
            raise ValueError(f"a matrix of costs has a line and a column per class: {cv.classes.tolist()}")
        found = cost[cv.y[cv.rows], cv.decided]
    losses = np.asarray(found, dtype=np.float64)
    if losses.shape != cv.rows.shape or not np.all(np.isfinite(losses)):
        raise ValueError(
            f"measure must return one finite loss for each of {len(cv.rows)} rows, not {found!r:.60}"
        )
    return losses


def fold_influence(cv: Validation, measure: Scoring) -> tuple[float, NDArray[np.float64]]:
    """Return the mean of the folds' own measures, and what each held-out row adds to it.

    The mean of all rows' influences is 0 in every fold. For means they are the deviations of the losses, for
    the area under the ROC curve those of the placements, so that their variance is DeLong's (1988).
    """
    of_fold = _auc if measure == "auc" else _mean
    given = cv.said if measure == "auc" else row_losses(cv, measure)
    y, influence, found = cv.y[cv.rows], np.zeros(len(cv.rows)), []
    unit = cv.rows if cv.groups is None else cv.groups[cv.rows]
    for begin, end in pairwise(cv.row_start[1:]):
        if end > begin:
            own = slice(begin, end)
            value, influence[own] = of_fold(y[own], given[own], unit[own])
            influence[own] *= len(cv.rows) / (end - begin)
            found.append(value)
    return float(np.mean(found)), influence / len(found)


def _mean(
    _y: NDArray[Any], loss: NDArray[np.float64], _unit: NDArray[np.int64]
) -> tuple[float, NDArray[np.float64]]:
    return float(loss.mean()), loss - loss.mean()


def _auc(
    y: NDArray[Any], said: NDArray[np.float64], unit: NDArray[np.int64]
) -> tuple[float, NDArray[np.float64]]:
    """Return the area under the ROC curve, each class against the others, and the rows' influences.

    A row's placement is the share of rows on the other side that are ranked as they should be; ties count
    half. ``unit`` is the row, or its group: variances are those of so many units less one.
    """
    if np.bincount(y, minlength=said.shape[1]).min() == 0:
        return math.nan, np.full(len(y), np.nan)
    areas, influence = [], np.zeros(len(y))
    for k in range(1 if said.shape[1] == 2 else 0, said.shape[1]):
        own, others = y == k, y != k
        a, b = np.sort(said[own, k]), np.sort(said[others, k])
        placed = np.empty(len(y))
        placed[own] = _share_below(b, said[own, k])
        placed[others] = 1.0 - _share_below(a, said[others, k])
        areas.append(placed[own].mean())
        for side in (own, others):
            n, n_units = int(np.count_nonzero(side)), len(np.unique(unit[side]))
            factor = len(y) / n * math.sqrt(n_units / max(n_units - 1, 1))
            influence[side] += (placed[side] - areas[-1]) * factor
    return float(np.mean(areas)), influence / len(areas)


def _share_below(values: NDArray[np.float64], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of sorted values that are below each number; equal ones count half."""
    below, up_to = (np.searchsorted(values, at, side) for side in ("left", "right"))
    return np.asarray((below + up_to) / (2 * len(values)))
