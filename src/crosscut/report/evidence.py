"""What held-out rows show of a fit: ranking, calibration, predictions and the rows that are most wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.statistics.curves import (
    calibration_points,
    frequent_classes,
    precision_recall_points,
    roc_points,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.statistics.validation import Validation
    from crosscut.training.fit import Fit

MAX_CURVES = 5  # classes with a curve of their own
MAX_POINTS = 150  # of a curve
MAX_DOTS = 1_500  # of predictions against actual values


def ranking(fit: Fit) -> list[dict[str, Any]]:
    """Return ROC and precision-recall curves: of the rarer of two classes, or of the most frequent."""
    cv, classes = fit.validated("report()"), fit.known_classes
    order, found = frequent_classes(cv), []
    for k in order[1:2] if len(classes) == 2 else order[:MAX_CURVES]:
        roc, precision_recall = roc_points(cv, k), precision_recall_points(cv, k)
        if roc is not None and precision_recall is not None:
            found.append(
                {
                    "class": str(classes[k]),
                    "code": k,
                    "share": roc.share,
                    "roc_area": roc.area,
                    "average_precision": precision_recall.area,
                    "roc": _thinned(roc.x, roc.y),
                    "precision_recall": _thinned(precision_recall.x, precision_recall.y),
                }
            )
    return found


def _thinned(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[tuple[float, float]]:
    """Return at most so many points of a curve."""
    at = np.unique(np.linspace(0, len(x) - 1, MAX_POINTS).astype(int))
    return list(zip(x[at].tolist(), y[at].tolist(), strict=True))


def calibration(cv: Validation) -> list[dict[str, float]]:
    """Return how sure answers were and how often they were right, in intervals of probability."""
    points = zip(*(each.tolist() for each in calibration_points(cv)), strict=True)
    return [{"rows": rows, "sure": sure, "right": right} for rows, sure, right in points]


def predictions(cv: Validation) -> list[tuple[float, float]]:
    """Return predicted and actual numbers of held-out rows, of some rows if there are many."""
    step = -(-len(cv.rows) // MAX_DOTS)
    return list(zip(cv.decided[::step].tolist(), cv.y[cv.rows][::step].tolist(), strict=True))


def most_wrong(cv: Validation, most: int = 10) -> list[dict[str, Any]]:
    """Return the held-out rows that are furthest from the truth: row (from 0), truth, answer, by how much."""
    truth, said = cv.y[cv.rows], cv.decided
    if cv.classes is None:
        far = np.abs(truth - said)
    else:
        each = np.arange(len(truth))
        far = cv.fold_values[each, np.asarray(said, np.int64)] - cv.fold_values[each, truth]
        far = np.where(said != truth, far + 1e-9, -1.0)
    order = np.argsort(-far, kind="stable")
    found: list[dict[str, Any]] = []
    for at in order[: 4 * most].tolist():
        row = int(cv.rows[at])
        if len(found) == most or far[at] <= 0 or any(each["row"] == row for each in found):
            continue
        named = cv.classes is not None
        found.append(
            {
                "row": row,
                "number": row + 1,
                "cells": [],
                "truth": str(cv.classes[truth[at]]) if named else float(truth[at]),  # type: ignore[index]
                "answer": str(cv.classes[said[at]]) if named else float(said[at]),  # type: ignore[index]
                "sure": float(cv.fold_values[at, int(said[at])]) if named else None,
                "off": None if named else float(said[at] - truth[at]),
            }
        )
    return found
