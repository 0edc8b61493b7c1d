"""The most common metrics, computed for one candidate on all splits at once."""

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
    """The rows on which each split is scored, split after split, with their actual values and weights."""

    sizes: NDArray[np.int64]  # number of rows of each split
    actual: NDArray[Any]  # class codes or numbers of all rows
    weights: NDArray[np.float64] | None

    @classmethod
    def of(
        cls, rows: list[NDArray[np.int64]], codes: NDArray[Any], weights: NDArray[np.float64] | None = None
    ) -> Segments:
        """Gather the actual values."""
        every = np.concatenate(rows)
        sizes = np.array([len(part) for part in rows])
        return cls(sizes, codes[every], None if weights is None else weights[every])

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Start of each split, and the end of the last."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def weight(self) -> NDArray[Any]:
        """Weight of each split; without weights, its number of rows."""
        return self.sizes if self.weights is None else np.add.reduceat(self.weights, self.first[:-1])

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the sum over each split."""
        weighted = values if self.weights is None else values * self.weights
        return np.add.reduceat(weighted, self.first[:-1])

    @cached_property
    def spread(self) -> NDArray[np.float64]:
        """Sum of squared deviations from the mean of each split, in the order of scikit-learn's r2_score."""
        parts = np.split(self.actual, self.first[1:-1])
        weights = [None] * len(parts) if self.weights is None else np.split(self.weights, self.first[1:-1])
        means = [np.average(part, weights=w) for part, w in zip(parts, weights, strict=True)]
        return self.sums((self.actual - np.repeat(means, self.sizes)) ** 2)


@dataclass(frozen=True, eq=False)
class Cells:
    """Class weights of each leaf in each split: the scores of a classifier depend on nothing else."""

    segment: NDArray[np.int64]  # the split of each cell, ascending
    leaf: NDArray[np.int64]  # the leaf that its rows reach
    counts: NDArray[Any]  # (cells, classes): the weight of its rows of each class
    n_segments: int

    @classmethod
    def of(cls, segments: Segments, leaves: NDArray[np.int64], n_classes: int) -> Cells:
        """Count the rows of each leaf and split."""
        n_places = int(leaves.max()) + 1
        n_segments = len(segments.sizes)
        key = np.repeat(np.arange(n_segments), segments.sizes) * n_places + leaves
        keys, cell = np.unique(key, return_inverse=True)
        counts = np.bincount(cell * n_classes + segments.actual, segments.weights, len(keys) * n_classes)
        return cls(keys // n_places, keys % n_places, counts.reshape(-1, n_classes), n_segments)

    @classmethod
    def of_single_rows(cls, segments: Segments, leaves: NDArray[np.int64], n_classes: int) -> Cells:
        """Give each row a cell of its own, so that rounded sums of equal trees are equal."""
        n_segments = len(segments.sizes)
        counts = np.zeros((len(leaves), n_classes))
        counts[np.arange(len(leaves)), segments.actual] = 1 if segments.weights is None else segments.weights
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
    def actual(self) -> NDArray[Any]:
        """Weight of each class in each split."""
        first = np.searchsorted(self.segment, np.arange(self.n_segments))
        return np.add.reduceat(self.counts, first, axis=0)


def accuracy(cells: Cells, largest: LargestTrees, places: NDArray[Any]) -> NDArray[Any]:
    """Return the fraction of rows that are predicted correctly."""
    correct = cells.counts[np.arange(len(places)), largest.label[places]]
    return np.asarray(cells.by_segment(correct) / cells.actual.sum(axis=1))


def f1(
    cells: Cells, largest: LargestTrees, places: NDArray[Any], *, average: str, positive: int
) -> NDArray[Any] | None:
    """Return the F1 score of the positive class, or an average over classes."""
    label = largest.label[places]
    correct = cells.by_class(label, cells.counts[np.arange(len(places)), label])
    total = cells.actual + cells.by_class(label, cells.counts.sum(axis=1))
    if average == "micro":
        correct, total = correct.sum(axis=1, keepdims=True), total.sum(axis=1, keepdims=True)
    elif average == "binary":
        correct, total = correct[:, [positive]], total[:, [positive]]
        if not total.all():
            return None
    present = total > 0
    each = 2 * correct / np.where(present, total, 1)
    weight = cells.actual if average == "weighted" else present
    return np.asarray((each * weight).sum(axis=1) / weight.sum(axis=1))


def log_loss(cells: Cells, largest: LargestTrees, places: NDArray[Any]) -> NDArray[Any] | None:
    """Return the mean negative log-probability of the actual class."""
    if not cells.actual.all() or cells.actual.shape[1] == 1:
        return None
    tiny = np.finfo(np.float64).eps
    loss = -(cells.counts * np.log(np.clip(largest.probability[places], tiny, 1 - tiny))).sum(axis=1)
    return np.asarray(cells.by_segment(loss) / cells.actual.sum(axis=1))


def roc_auc(cells: Cells, largest: LargestTrees, places: NDArray[Any]) -> NDArray[Any] | None:
    """Return the area under the ROC curve: P(score of class 1 > score of class 0), ties counting half."""
    if not cells.actual.all():
        return None
    score = largest.probability[places, 1]
    order = np.lexsort((score, cells.segment))
    segment, score = cells.segment[order], score[order]
    new = np.concatenate([[True], (segment[1:] != segment[:-1]) | (score[1:] != score[:-1])])
    negative, positive = (np.add.reduceat(weight[order], np.flatnonzero(new)) for weight in cells.counts.T)
    segment = segment[new]
    starts = np.flatnonzero(segment[1:] != segment[:-1]) + 1
    lower = np.concatenate([np.cumsum(part) for part in np.split(positive, starts)])  # of each split alone
    higher = cells.actual[segment, 1] - lower + positive / 2
    area = np.bincount(segment, negative * higher, cells.n_segments)
    return np.asarray(area / cells.actual.prod(axis=1))


def r2(segments: Segments, predicted: NDArray[Any]) -> NDArray[np.float64]:
    """Return R², with scikit-learn's warning where it is undefined."""
    for _ in range(int(np.count_nonzero(segments.sizes < 2))):
        warnings.warn(
            "R^2 score is not well-defined with less than two samples.", UndefinedMetricWarning, stacklevel=2
        )
    error = segments.sums((segments.actual - predicted) ** 2)
    return explained(error, segments.spread, segments.sizes)


def squared_error(segments: Segments, predicted: NDArray[Any]) -> NDArray[np.float64]:
    """Return the mean squared error."""
    mean: NDArray[np.float64] = segments.sums((segments.actual - predicted) ** 2) / segments.weight
    return mean


def root_squared_error(segments: Segments, predicted: NDArray[Any]) -> NDArray[np.float64]:
    """Return the root of the mean squared error."""
    return np.sqrt(squared_error(segments, predicted))


def absolute_error(segments: Segments, predicted: NDArray[Any]) -> NDArray[np.float64]:
    """Return the mean absolute error."""
    mean: NDArray[np.float64] = segments.sums(np.abs(segments.actual - predicted)) / segments.weight
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
    """Return the sign and the metric of a scorer, or None for scorers that are not supported here.

    For numbers (``classes`` is None) the metric takes segments and predictions. For classes it takes cells,
    the largest trees and the node where each cell ends. It returns None where scikit-learn warns or fails.
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
    """Whether a scorer may use more than predictions, as a user's function may."""
    if isinstance(scorer, _MultimetricScorer):
        return any(needs_estimator(each) for each in scorer._scorers.values())
    return not isinstance(scorer, _BaseScorer | _PassthroughScorer)
