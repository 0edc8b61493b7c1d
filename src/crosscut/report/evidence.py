"""Results on held-out rows: ranking curves, calibration, predictions and the largest errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.statistics.validation import Validation
    from crosscut.training.fit import Fit

MAX_CURVES = 5  # classes with a curve
MAX_POINTS = 150  # of a curve
N_INTERVALS = 10  # of probability, in the calibration chart
MAX_DOTS = 1_500  # of the scatter chart


def ranking(fit: Fit) -> list[dict[str, Any]]:
    """Return ROC and precision-recall curves of the rarer of two classes, or of the most frequent classes."""
    from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

    cv, classes = fit.validated("report()"), fit.known_classes
    known = cv.times_held_out > 0
    actual, probabilities = cv.y[known], cv.values[known]
    order = np.argsort(-np.bincount(actual, minlength=len(classes)), kind="stable").tolist()
    curves = []
    for k in order[1:2] if len(classes) == 2 else order[:MAX_CURVES]:
        positive, probability = actual == k, probabilities[:, k]
        if positive.all() or not positive.any():
            continue
        false, true, _ = roc_curve(positive, probability)
        precision, recall, _ = precision_recall_curve(positive, probability)
        curves.append(
            {
                "class": str(classes[k]),
                "code": k,
                "share": float(positive.mean()),
                "roc_area": float(roc_auc_score(positive, probability)),
                "average_precision": float(average_precision_score(positive, probability)),
                "roc": _thinned(false, true),
                "precision_recall": _thinned(recall[::-1], precision[::-1]),
            }
        )
    return curves


def _thinned(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[tuple[float, float]]:
    """Return at most ``MAX_POINTS`` points of a curve."""
    at = np.unique(np.linspace(0, len(x) - 1, MAX_POINTS).astype(int))
    return list(zip(x[at].tolist(), y[at].tolist(), strict=True))


def calibration(cv: Validation) -> list[dict[str, float]]:
    """Return rows, mean probability and accuracy of the predictions in intervals of probability."""
    decided = np.asarray(cv.decided, np.int64)
    probability = cv.fold_values[np.arange(len(cv.rows)), decided]
    interval = np.minimum((probability * N_INTERVALS + 1e-9).astype(int), N_INTERVALS - 1)
    rows = np.bincount(interval, minlength=N_INTERVALS)
    sums, hits = (
        np.bincount(interval, each, N_INTERVALS) for each in (probability, decided == cv.y[cv.rows])
    )
    return [
        {"rows": int(rows[k]), "probability": float(sums[k] / rows[k]), "accuracy": float(hits[k] / rows[k])}
        for k in np.flatnonzero(rows)
    ]


def predictions(cv: Validation) -> list[tuple[float, float]]:
    """Return predicted and actual numbers of at most ``MAX_DOTS`` held-out rows."""
    step = -(-len(cv.rows) // MAX_DOTS)
    return list(zip(cv.decided[::step].tolist(), cv.y[cv.rows][::step].tolist(), strict=True))


def most_wrong(cv: Validation, most: int = 10) -> list[dict[str, Any]]:
    """Return the held-out rows with the largest errors: row (from 0), actual and predicted value, and error.

    For classes, the error is the probability of the predicted class less the probability of the actual one.
    """
    actual, predicted, classes = cv.y[cv.rows], cv.decided, cv.classes
    if classes is None:
        error = np.abs(actual - predicted)
    else:
        at = np.arange(len(actual))
        error = cv.fold_values[at, np.asarray(predicted, np.int64)] - cv.fold_values[at, actual]
        error = np.where(predicted != actual, error + 1e-9, -1.0)
    result: list[dict[str, Any]] = []
    for at in np.argsort(-error, kind="stable")[: 4 * most].tolist():
        row = int(cv.rows[at])
        if len(result) == most or error[at] <= 0 or any(each["row"] == row for each in result):
            continue
        a, p = actual[at], predicted[at]
        result.append(
            {
                "row": row,
                "number": row + 1,
                "cells": [],
                "actual": float(a) if classes is None else str(classes[a]),
                "predicted": float(p) if classes is None else str(classes[p]),
                "probability": None if classes is None else float(cv.fold_values[at, int(p)]),
                "error": float(p - a) if classes is None else None,
            }
        )
    return result
