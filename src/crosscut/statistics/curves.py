"""ROC, precision-recall and calibration curves of held-out rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.statistics.validation import Validation


class Curve(NamedTuple):
    """Points of a class against the others, the area below them, and the fraction of the class."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    area: float
    share: float


def frequent_classes(cv: Validation) -> list[int]:
    """Return the codes of the classes of held-out rows, the most frequent first."""
    actual, probability = _known(cv)
    counts = np.bincount(actual, minlength=probability.shape[1])
    codes: list[int] = np.argsort(-counts, kind="stable").tolist()
    return codes


def roc_points(cv: Validation, code: int) -> Curve | None:
    """Return true positive rate by false positive rate; None if all or no rows are of the class."""
    from sklearn.metrics import roc_auc_score, roc_curve

    positive, probability = _against_others(cv, code)
    if positive.all() or not positive.any():
        return None
    false, true, _ = roc_curve(positive, probability)
    return Curve(false, true, float(roc_auc_score(positive, probability)), float(positive.mean()))


def precision_recall_points(cv: Validation, code: int) -> Curve | None:
    """Return precision by recall; None if all or no rows are of the class."""
    from sklearn.metrics import average_precision_score, precision_recall_curve

    positive, probability = _against_others(cv, code)
    if positive.all() or not positive.any():
        return None
    precision, recall, _ = precision_recall_curve(positive, probability)
    area = float(average_precision_score(positive, probability))
    return Curve(recall[::-1], precision[::-1], area, float(positive.mean()))


def calibration_points(
    cv: Validation, code: int | None = None, n_bins: int = 10
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return rows, mean probability and observed frequency in each nonempty interval of probability.

    The probability is that of class ``code``, or of the predicted class if ``code`` is None.
    """
    decided = np.asarray(cv.decided, np.int64) if code is None else np.full(len(cv.rows), code)
    probability = cv.fold_values[np.arange(len(cv.rows)), decided]
    where = np.minimum((probability * n_bins + 1e-9).astype(int), n_bins - 1)
    rows = np.bincount(where, minlength=n_bins)
    nonempty = rows > 0
    mean, hits = (
        np.bincount(where, each, n_bins)[nonempty] for each in (probability, decided == cv.y[cv.rows])
    )
    return rows[nonempty], mean / rows[nonempty], hits / rows[nonempty]


def _known(cv: Validation) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the class codes and probabilities of the rows that some model holds out."""
    known = cv.times_held_out > 0
    return cv.y[known], cv.values[known]


def _against_others(cv: Validation, code: int) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    actual, probability = _known(cv)
    return actual == code, probability[:, code]
