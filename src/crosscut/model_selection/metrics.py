"""Scores of one candidate on all splits at once, for the metrics people use most."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import metrics
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import UndefinedMetricWarning

from crosscut.sklearn_private import _BaseScorer, _MultimetricScorer, _PassthroughScorer
from crosscut.statistics.scores import explained

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from crosscut.forest.smaller_trees import LargestTrees
    from crosscut.typing import Scorer


@dataclass(frozen=True, eq=False)
class Segments:
    """The rows on which each split is scored, split after split, with their true values and weights."""

    sizes: NDArray[np.int64]  # number of rows of each split
    truth: NDArray[Any]  # class codes or numbers of all of them
    weights: NDArray[np.float64] | None

    @classmethod
    def of(
        cls,
        rows: list[NDArray[np.int64]],
        codes: NDArray[Any],
        weights: NDArray[np.float64] | None = None,
    ) -> Segments:
        """Gather the true values."""
        every = np.concatenate(rows)
        sizes = np.array([len(own) for own in rows])
        return cls(sizes, codes[every], None if weights is None else weights[every])

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Offsets of the splits, and the end."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def weight(self) -> NDArray[Any]:
        """Weight of each split: its number of rows if they all count the same."""
        return self.sizes if self.weights is None else np.add.reduceat(self.weights, self.first[:-1])

    def sums(self, of_rows: NDArray[Any]) -> NDArray[Any]:
        """Return the sum over each split."""
        weighted = of_rows if self.weights is None else of_rows * self.weights
        return np.add.reduceat(weighted, self.first[:-1])

    @cached_property
    def spread(self) -> NDArray[np.float64]:
        """Squared deviations of the truth from its mean, as scikit-learn's r2_score sums them."""
        parts = np.split(self.truth, self.first[1:-1])
        weights = [None] * len(parts) if self.weights is None else np.split(self.weights, self.first[1:-1])
        means = [np.average(part, weights=own) for part, own in zip(parts, weights, strict=True)]
        return self.sums((self.truth - np.repeat(means, self.sizes)) ** 2)


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows of a split that end in the same leaf: all that the scores of a classifier depend on."""

    segment: NDArray[np.int64]  # the split of each cell, ascending
    leaf: NDArray[np.int64]  # the place where its rows end
    counts: NDArray[Any]  # (cells, classes): the weight of its rows of each class
    n_segments: int

    @classmethod
    def of(cls, segments: Segments, leaves: NDArray[np.int64], n_classes: int) -> Cells:
        """Count the rows of each leaf and split."""
        n_places = int(leaves.max()) + 1
        n_segments = len(segments.sizes)
        key = np.repeat(np.arange(n_segments), segments.sizes) * n_places + leaves
        found, cell = np.unique(key, return_inverse=True)
        counts = np.bincount(cell * n_classes + segments.truth, segments.weights, len(found) * n_classes)
        return cls(found // n_places, found % n_places, counts.reshape(-1, n_classes), n_segments)

    @classmethod
    def of_single_rows(cls, segments: Segments, leaves: NDArray[np.int64], n_classes: int) -> Cells:
        """Give each row a cell of its own, so that rounded sums of equal trees are equal."""
        n_segments = len(segments.sizes)
        counts = np.zeros((len(leaves), n_classes))
        counts[np.arange(len(leaves)), segments.truth] = 1 if segments.weights is None else segments.weights
        return cls(np.repeat(np.arange(n_segments), segments.sizes), leaves, counts, n_segments)

    def by_segment(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the sum over the cells of each split, of one value per cell."""
        return np.bincount(self.segment, values, self.n_segments)

    def by_class(self, label: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
        """Return sums over the cells of each split and class ``label``."""
        n_classes = self.counts.shape[1]
        sums = np.bincount(self.segment * n_classes + label, values, self.n_segments * n_classes)
        return sums.reshape(-1, n_classes)

    @cached_property
    def truth(self) -> NDArray[Any]:
        """Weight of each class in each split."""
        first = np.searchsorted(self.segment, np.arange(self.n_segments))
        return np.add.reduceat(self.counts, first, axis=0)


def accuracy(cells: Cells, largest: LargestTrees, places: NDArray[Any]) -> NDArray[Any]:
    """Return the share of rows whose class is predicted."""
    right = cells.counts[np.arange(len(places)), largest.label[places]]
    return np.asarray(cells.by_segment(right) / cells.truth.sum(axis=1))


def f1(
    cells: Cells, largest: LargestTrees, places: NDArray[Any], *, average: str, positive: int
) -> NDArray[Any] | None:
    """Return the harmonic mean of precision and recall: of the positive class, or of all classes."""
    label = largest.label[places]
    right = cells.by_class(label, cells.counts[np.arange(len(places)), label])
    total = cells.truth + cells.by_class(label, cells.counts.sum(axis=1))
    if average == "micro":
        right, total = right.sum(axis=1, keepdims=True), total.sum(axis=1, keepdims=True)
    elif average == "binary":
        right, total = right[:, [positive]], total[:, [positive]]
        if not total.all():
            return None
    present = total > 0
    each = 2 * right / np.where(present, total, 1)
    weight = cells.truth if average == "weighted" else present
    return np.asarray((each * weight).sum(axis=1) / weight.sum(axis=1))


def log_loss(cells: Cells, largest: LargestTrees, places: NDArray[Any]) -> NDArray[Any] | None:
    """Return the mean of minus the logarithm of the true class's probability."""
    if not cells.truth.all():
        return None
    tiny = np.finfo(np.float64).eps
    loss = -(cells.counts * np.log(np.clip(largest.probability[places], tiny, 1 - tiny))).sum(axis=1)
    return np.asarray(cells.by_segment(loss) / cells.truth.sum(axis=1))


def roc_auc(cells: Cells, largest: LargestTrees, places: NDArray[Any]) -> NDArray[Any] | None:
    """Return the probability that a row of class 1 scores higher than one of class 0; ties are halves."""
    if not cells.truth.all():
        return None
    score = largest.probability[places, 1]
    order = np.lexsort((score, cells.segment))
    segment, score = cells.segment[order], score[order]
    new = np.concatenate([[True], (segment[1:] != segment[:-1]) | (score[1:] != score[:-1])])
    negative, positive = (
        np.add.reduceat(of_class[order], np.flatnonzero(new)) for of_class in cells.counts.T
    )
    segment = segment[new]
    starts = np.flatnonzero(segment[1:] != segment[:-1]) + 1
    lower = np.concatenate([np.cumsum(part) for part in np.split(positive, starts)])  # of each split alone
    higher = cells.truth[segment, 1] - lower + positive / 2
    area = np.bincount(segment, negative * higher, cells.n_segments)
    return np.asarray(area / cells.truth.prod(axis=1))


def r2(segments: Segments, predicted: NDArray[Any]) -> NDArray[np.float64]:
    """Return the coefficient of determination, with scikit-learn's warning where it is not defined."""
    for _ in range(int(np.count_nonzero(segments.sizes < 2))):
        warnings.warn(
            "R^2 score is not well-defined with less than two samples.", UndefinedMetricWarning, stacklevel=2
        )
    error = segments.sums((segments.truth - predicted) ** 2)
    return explained(error, segments.spread, segments.sizes)


def squared_error(segments: Segments, predicted: NDArray[Any]) -> NDArray[np.float64]:
    """Return the mean squared error."""
    mean: NDArray[np.float64] = segments.sums((segments.truth - predicted) ** 2) / segments.weight
    return mean


def root_squared_error(segments: Segments, predicted: NDArray[Any]) -> NDArray[np.float64]:
    """Return the root of the mean squared error."""
    return np.sqrt(squared_error(segments, predicted))


def absolute_error(segments: Segments, predicted: NDArray[Any]) -> NDArray[np.float64]:
    """Return the mean absolute error."""
    mean: NDArray[np.float64] = segments.sums(np.abs(segments.truth - predicted)) / segments.weight
    return mean


OF_NUMBERS: dict[Any, Any] = {
    metrics.r2_score: r2,
    RegressorMixin.score: r2,
    metrics.mean_squared_error: squared_error,
    metrics.root_mean_squared_error: root_squared_error,
    metrics.mean_absolute_error: absolute_error,
}
OF_CLASSES: dict[Any, Any] = {metrics.accuracy_score: accuracy, ClassifierMixin.score: accuracy}
OF_PROBABILITIES: dict[Any, Any] = {metrics.log_loss: log_loss, metrics.roc_auc_score: roc_auc}


def needs_all_classes(metric: Callable[..., Any]) -> bool:
    """Whether scikit-learn's metric fails for an estimator that lacks a class."""
    return metric in OF_PROBABILITIES.values() or getattr(metric, "keywords", {}).get("average") == "binary"


def quick_metric(scorer: Scorer, classes: NDArray[Any] | None) -> tuple[int, Callable[..., Any]] | None:
    """Return the sign and the metric of a scorer that is known here, or None.

    The metric takes segments and predictions of numbers (``classes`` is None), or else cells, the largest and
    the places where the cells stop. It may return None, where scikit-learn warns or fails.
    """
    if isinstance(scorer, _PassthroughScorer):
        function, options, response, sign = getattr(type(scorer._estimator), "score", None), {}, "predict", 1
    elif isinstance(scorer, _BaseScorer):
        function, options = scorer._score_func, scorer._kwargs
        response, sign = scorer._response_method, scorer._sign
    else:
        return None
    metric = None
    if function is metrics.f1_score and classes is not None and response == "predict":
        metric = _f1(classes, **options)
    elif not options and response == "predict":
        metric = (OF_NUMBERS if classes is None else OF_CLASSES).get(function)
    elif not options and classes is not None and "predict_proba" in response:
        metric = OF_PROBABILITIES.get(function)
        if metric is roc_auc and len(classes) != 2:
            metric = None
    return None if metric is None else (sign, metric)


def _f1(classes: NDArray[Any], average: str = "binary", pos_label: Any = 1, **other: Any) -> Any:
    positive = np.flatnonzero(classes == pos_label)
    if other or average not in {"binary", "macro", "micro", "weighted"}:
        return None
    if average == "binary" and (len(classes) != 2 or not len(positive)):
        return None
    return partial(f1, average=average, positive=int(positive[0]) if len(positive) else 0)


def needs_estimator(scorer: Scorer) -> bool:
    """Whether a scorer may look at more than predictions, as any function of the user's own may."""
    if isinstance(scorer, _MultimetricScorer):
        return any(needs_estimator(one) for one in scorer._scorers.values())
    return not isinstance(scorer, _BaseScorer | _PassthroughScorer)
