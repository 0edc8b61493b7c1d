"""Scores of one candidate on all splits at once, for the metrics people use most."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    accuracy_score,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
    root_mean_squared_error,
)
from sklearn.metrics._scorer import _BaseScorer, _MultimetricScorer, _PassthroughScorer

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Segments:
    """The rows on which each split is scored, split after split, with their true values."""

    rows: list[NDArray[np.int64]]  # of each split
    truth: NDArray[Any]  # class codes or numbers of all of them

    @classmethod
    def of(cls, rows: list[NDArray[np.int64]], codes: NDArray[Any]) -> Segments:
        """Gather the true values."""
        return cls(rows, codes[np.concatenate(rows)])

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of rows of each split."""
        return np.array([len(rows) for rows in self.rows])

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Offsets of the splits, and the end."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    def means(self, of_rows: NDArray[Any]) -> NDArray[np.float64]:
        """Return the mean over each split."""
        return self.sums(of_rows) / self.sizes

    def sums(self, of_rows: NDArray[Any]) -> NDArray[Any]:
        """Return the sum over each split."""
        return np.add.reduceat(of_rows, self.first[:-1])

    @cached_property
    def spread(self) -> NDArray[np.float64]:
        """Squared deviations of the truth from its mean, as scikit-learn's r2_score sums them."""
        parts = np.split(self.truth[:, None], self.first[1:-1])
        return np.array([((part - np.average(part, axis=0)) ** 2).sum() for part in parts])


def accuracy(segments: Segments, predicted: NDArray[Any]) -> NDArray[np.float64]:
    """Return the share of rows whose class is predicted."""
    return segments.means((segments.truth == predicted).astype(np.int64))


def squared_error(segments: Segments, predicted: NDArray[Any]) -> NDArray[np.float64]:
    """Return the mean squared error."""
    return segments.means((segments.truth - predicted) ** 2)


def root_squared_error(segments: Segments, predicted: NDArray[Any]) -> NDArray[np.float64]:
    """Return the root of the mean squared error."""
    return np.sqrt(squared_error(segments, predicted))


def absolute_error(segments: Segments, predicted: NDArray[Any]) -> NDArray[np.float64]:
    """Return the mean absolute error."""
    return segments.means(np.abs(segments.truth - predicted))


def r2(segments: Segments, predicted: NDArray[Any]) -> NDArray[np.float64]:
    """Return the coefficient of determination, with scikit-learn's values where it is not defined."""
    error = segments.sums((segments.truth - predicted) ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(segments.spread == 0, np.where(error == 0, 1.0, 0.0), 1 - error / segments.spread)
    single = np.flatnonzero(segments.sizes < 2)
    score[single] = np.nan
    for _ in single:
        warnings.warn(
            "R^2 score is not well-defined with less than two samples.", UndefinedMetricWarning, stacklevel=2
        )
    return score


QUICK: dict[Any, Any] = {
    accuracy_score: accuracy,
    r2_score: r2,
    mean_squared_error: squared_error,
    root_mean_squared_error: root_squared_error,
    mean_absolute_error: absolute_error,
}


def quick_metric(scorer: Any, *, classifier: bool) -> tuple[int, Any] | None:
    """Return the sign and the metric of a scorer that is known here, or None."""
    metric = None
    sign = 1
    if isinstance(scorer, _PassthroughScorer):
        score = getattr(type(scorer._estimator), "score", None)
        metric = {ClassifierMixin.score: accuracy, RegressorMixin.score: r2}.get(score)
    elif isinstance(scorer, _BaseScorer):
        plain = not scorer._kwargs and scorer._response_method == "predict"
        metric = QUICK.get(scorer._score_func) if plain else None
        sign = scorer._sign
    if metric is None or classifier != (metric is accuracy):
        return None
    return sign, metric


def needs_estimator(scorer: Any) -> bool:
    """Whether a scorer may look at more than predictions, as any function of the user's own may."""
    if isinstance(scorer, _MultimetricScorer):
        return any(needs_estimator(one) for one in scorer._scorers.values())
    return not isinstance(scorer, _BaseScorer | _PassthroughScorer)
