"""Measures supported by ``cv_interval`` besides accuracy and R²: mean losses and ROC areas."""

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

LEAST = np.finfo(np.float64).eps  # smallest probability in the log loss, as in scikit-learn


def of_true_class(values: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
    """Return the value of the true class of each row."""
    return np.take_along_axis(values, y[:, None].astype(np.int64), axis=1)[:, 0]


def _brier(cv: Validation) -> NDArray[np.float64]:
    """Return Brier scores, the squared errors of class probabilities; halved for two classes like sklearn."""
    true_class = of_true_class(cv.fold_values, cv.y[cv.rows])
    total = (cv.fold_values**2).sum(axis=1) - true_class**2 + (1.0 - true_class) ** 2
    return np.asarray(total / 2 if cv.fold_values.shape[1] == 2 else total)


OF_CLASSES: dict[str, Callable[[Any], NDArray[Any]]] = {
    "zero_one": lambda cv: cv.decided != cv.y[cv.rows],
    "log": lambda cv: -np.log(np.clip(of_true_class(cv.fold_values, cv.y[cv.rows]), LEAST, 1.0)),
    "brier": _brier,
}
OF_NUMBERS: dict[str, Callable[[Any], NDArray[Any]]] = {
    "squared": lambda cv: (cv.y[cv.rows] - cv.decided) ** 2,
    "absolute": lambda cv: np.abs(cv.y[cv.rows] - cv.decided),
}
SCORINGS = {  # scorings of scikit-learn: the loss whose mean they are except for the sign, or "auc"
    "accuracy": "zero_one",
    "neg_log_loss": "log",
    "neg_brier_score": "brier",
    "neg_mean_squared_error": "squared",
    "neg_mean_absolute_error": "absolute",
    "roc_auc": "auc",
    "roc_auc_ovr": "auc",
}


def is_name(measure: Scoring, name: str) -> bool:
    """Whether a measure is this name."""
    return isinstance(measure, str) and measure == name


def kind_of(measure: Scoring) -> Kind:
    """Return the kind of a measure: "score" for accuracy and R², "rate" for 0-1 losses, or "loss"."""
    if measure is None or is_name(measure, "r2") or is_name(measure, "accuracy"):
        return "score"
    return "rate" if is_name(measure, "zero_one") else "loss"


def row_losses(cv: Validation, measure: Scoring) -> NDArray[np.float64]:
    """Return the loss of each held-out row.

    ``measure`` is a name in ``OF_CLASSES`` or ``OF_NUMBERS``, costs by class and predicted class, or a
    function of true and predicted values that returns one loss per row.
    """
    known = OF_NUMBERS if cv.classes is None else OF_CLASSES
    if callable(measure):
        y, predicted = cv.y[cv.rows], cv.decided
        result = (
            measure(y, predicted) if cv.classes is None else measure(cv.classes[y], cv.classes[predicted])
        )
    elif isinstance(measure, str) and measure in known:
        result = known[measure](cv)
    elif isinstance(measure, str) or cv.classes is None:
        raise ValueError(
            f"measure must be a function loss(y_true, y_pred), one of {[*known]} or, for classes, 'auc' or a "
            f"cost matrix, not {measure!r}"
        )
    else:
        cost = np.asarray(measure, dtype=np.float64)
        if cost.shape != (len(cv.classes), len(cv.classes)):
            raise ValueError(f"a cost matrix needs a row and a column per class: {cv.classes.tolist()}")
        result = cost[cv.y[cv.rows], cv.decided]
    losses = np.asarray(result, dtype=np.float64)
    if losses.shape != cv.rows.shape or not np.all(np.isfinite(losses)):
        raise ValueError(
            f"measure must return one finite loss for each of {len(cv.rows)} rows, not {result!r:.60}"
        )
    return losses


def within_range(
    measure: Scoring, classes: NDArray[Any] | None, interval: tuple[float, float]
) -> tuple[float, float]:
    """Return the part of an interval of a mean loss that the loss can have."""
    if callable(measure):
        return interval
    low, high = 0.0, math.inf
    if not isinstance(measure, str):
        low, high = float(np.min(measure)), float(np.max(measure))
    elif classes is not None and measure != "log":
        high = 2.0 if measure == "brier" and len(classes) > 2 else 1.0
    return max(interval[0], low), min(interval[1], high)


def fold_influence(cv: Validation, measure: Scoring) -> tuple[float, NDArray[np.float64]]:
    """Return the mean of the folds' measures, and the influence of each held-out row on it.

    Influences are deviations of losses from their mean or, for the area under the ROC curve, of placements
    from the mean of their side. The means are those of all folds, because a fold may have a single row of a
    class. With one fold, the variance of an area is that of DeLong (1988).
    """
    parts = [slice(begin, end) for begin, end in pairwise(cv.row_start[1:]) if end > begin]
    if measure == "auc":
        return _auc(cv, parts)
    loss, weight = row_losses(cv, measure), np.zeros(len(cv.rows))
    for part in parts:
        weight[part] = len(weight) / len(parts) / (part.stop - part.start)
    return float(np.mean([loss[part].mean() for part in parts])), weight * (loss - loss.mean())


def _auc(cv: Validation, parts: list[slice]) -> tuple[float, NDArray[np.float64]]:
    """Return the folds' mean area under the ROC curve, each class against the others, and the influences.

    The placement of a row is the fraction of rows of the other side in its fold that are ranked correctly
    against it; ties count half. Variances are divided by the number of rows, or groups, minus 1.
    """
    y, probability = cv.y[cv.rows], cv.fold_values
    unit, n_classes = cv.rows if cv.groups is None else cv.groups[cv.rows], probability.shape[1]
    classes = range(1 if n_classes == 2 else 0, n_classes)
    areas, influence = [], np.zeros(len(y))
    for k in classes:
        placed, weight = np.empty(len(y)), np.empty(len(y))
        for part in parts:
            positive, score = y[part] == k, probability[part, k]
            if positive.all() or not positive.any():
                return math.nan, np.full(len(y), np.nan)
            a, b = np.sort(score[positive]), np.sort(score[~positive])
            placed[part] = np.where(positive, _fraction_below(b, score), 1.0 - _fraction_below(a, score))
            weight[part] = len(y) / len(parts) / np.where(positive, len(a), len(b))
            areas.append(placed[part][positive].mean())
        for side in (y == k, y != k):
            n_units = len(np.unique(unit[side]))
            correction = math.sqrt(n_units / max(n_units - 1, 1)) / len(classes)
            influence[side] += (placed[side] - placed[side].mean()) * weight[side] * correction
    return float(np.mean(areas)), influence


def _fraction_below(values: NDArray[np.float64], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the fraction of sorted values below each number; equal ones count half."""
    below, up_to = (np.searchsorted(values, at, side) for side in ("left", "right"))
    return np.asarray((below + up_to) / (2 * len(values)))
