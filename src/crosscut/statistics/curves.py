"""Points of the curves that pages and plots draw of held-out rows: ROC, precision and recall, calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.statistics.validation import Validation


class Curve(NamedTuple):
    """Points of a class against the others, the area below them, and the share of the class."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    area: float
    share: float


def frequent_classes(cv: Validation) -> list[int]:
    """Return the codes of the classes of held-out rows, the most frequent first."""
    actual, said = _known(cv)
    found: list[int] = np.argsort(-np.bincount(actual, minlength=said.shape[1]), kind="stable").tolist()
    return found


def roc_points(cv: Validation, code: int) -> Curve | None:
    """Return the true positive rate by the false one; None if all rows, or none, are of the class."""
    from sklearn.metrics import roc_auc_score, roc_curve

    own, said = _against_others(cv, code)
    if own.all() or not own.any():
        return None
    false, true, _ = roc_curve(own, said)
    return Curve(false, true, float(roc_auc_score(own, said)), float(own.mean()))


def precision_recall_points(cv: Validation, code: int) -> Curve | None:
    """Return precision by recall; None if all rows, or none, are of the class."""
    from sklearn.metrics import average_precision_score, precision_recall_curve

    own, said = _against_others(cv, code)
    if own.all() or not own.any():
        return None
    precision, recall, _ = precision_recall_curve(own, said)
    area = float(average_precision_score(own, said))
    return Curve(recall[::-1], precision[::-1], area, float(own.mean()))


def calibration_points(
    cv: Validation, code: int | None = None, n_bins: int = 10
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return rows, mean probability and share of hits, in intervals of probability that have any rows.

    The probability is that of a class, or else of the class that is decided for.
    """
    decided = np.asarray(cv.decided, np.int64) if code is None else np.full(len(cv.rows), code)
    sure = cv.said[np.arange(len(cv.rows)), decided]
    where = np.minimum((sure * n_bins + 1e-9).astype(int), n_bins - 1)
    rows = np.bincount(where, minlength=n_bins)
    some = rows > 0
    mean, hits = (np.bincount(where, each, n_bins)[some] for each in (sure, decided == cv.y[cv.rows]))
    return rows[some], mean / rows[some], hits / rows[some]


def _known(cv: Validation) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the class codes and the probabilities of the rows that some model holds out."""
    known = cv.times_held_out > 0
    return cv.y[known], cv.values[known]


def _against_others(cv: Validation, code: int) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    actual, said = _known(cv)
    return actual == code, said[:, code]
