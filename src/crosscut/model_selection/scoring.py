"""Score candidates: supported metrics for all splits at once, other scorers one split at a time."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from crosscut.model_selection.metrics import (
    Cells,
    Segments,
    log_loss,
    needs_all_classes,
    needs_estimator,
    quick_metric,
)
from crosscut.sklearn_private import _check_method_params, _MultimetricScorer, _safe_split, _score

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from crosscut.forest.smaller_trees import LargestTrees
    from crosscut.model_selection.evaluation import CandidateTrees
    from crosscut.typing import ColumnLike, ErrorScore, TableLike


class ClassifierStandIn(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator with stored predictions for one test set; ``X`` holds positions in it."""

    def __init__(self, classes: NDArray[Any], labels: NDArray[Any], probability: NDArray[np.float64]) -> None:
        self.classes_ = classes
        self.labels = labels
        self.probability = probability

    def fit(self, X: TableLike, y: ColumnLike) -> ClassifierStandIn:
        """Do nothing: the predictions are stored."""
        del X, y
        return self

    def predict(self, X: NDArray[np.int64]) -> NDArray[Any]:
        """Return the class of each position."""
        return self.labels[X]

    def predict_proba(self, X: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the class probabilities of each position."""
        return self.probability[X]


class RegressorStandIn(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator with stored predictions for one test set; ``X`` holds positions in it."""

    def __init__(self, values: NDArray[np.float64]) -> None:
        self.values = values

    def fit(self, X: TableLike, y: ColumnLike) -> RegressorStandIn:
        """Do nothing: the predictions are stored."""
        del X, y
        return self

    def predict(self, X: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the value of each position."""
        return self.values[X]


class PartScores:
    """The scores of all candidates on the rows of one part of each split, "test" or "train"."""

    def __init__(
        self, trees: CandidateTrees, part: str, score_params: Mapping[str, Any], error_score: ErrorScore
    ) -> None:
        self.trees, self.scorer, self.error_score = trees, trees.call.scorer, error_score
        self.score_params = dict(score_params)
        self.multi = isinstance(self.scorer, _MultimetricScorer)
        self.scorers = self.scorer._scorers if self.multi else {"score": self.scorer}
        self.examples, self.part = trees.call.examples, part
        self.rows: list[NDArray[np.int64]] = getattr(trees.splits, part)
        # without metadata routing all scorers get the weights of the trees
        weighted = list(score_params) == ["sample_weight"] and not get_config()["enable_metadata_routing"]
        weights, classes = self.examples.weights if weighted else None, self.examples.classes
        self.segments = Segments.of(self.rows, self.examples.codes, weights)
        self.quick: dict[str, tuple[int, Any]] = {}
        if (weights is not None or not score_params) and self.segments.weight.all():
            metrics = {name: quick_metric(scorer, classes) for name, scorer in self.scorers.items()}
            self.quick = {name: metric for name, metric in metrics.items() if metric is not None}
        if not self.complete:
            self.quick = {name: one for name, one in self.quick.items() if not needs_all_classes(one[1])}

    @cached_property
    def leaves(self) -> dict[Any, NDArray[np.int64]]:
        """The leaf of each row, for each setting's largest trees."""
        return self.trees.leaves(self.part)

    @cached_property
    def present(self) -> list[NDArray[np.int64]]:
        """The classes in the training rows of each split."""
        return [np.unique(self.examples.codes[rows]) for rows in self.trees.splits.train]

    @property
    def complete(self) -> bool:
        """Whether every split trains on all classes, if that matters."""
        classes = self.examples.classes
        if classes is None or not any(needs_all_classes(metric) for _, metric in self.quick.values()):
            return True
        return all(len(present) == len(classes) for present in self.present)

    @cached_property
    def cells(self) -> dict[Any, Cells]:
        """The cells of each setting's largest trees."""
        classes = self.examples.classes
        assert classes is not None
        return {key: Cells.of(self.segments, leaves, len(classes)) for key, leaves in self.leaves.items()}

    @cached_property
    def single_rows(self) -> dict[Any, Cells]:
        """One cell per row of each setting's largest trees, for sums that are rounded."""
        classes = self.examples.classes
        assert classes is not None
        leaves = self.leaves.items()
        return {key: Cells.of_single_rows(self.segments, leaf, len(classes)) for key, leaf in leaves}

    def scores(self) -> list[Any]:
        """Return a score, or a dict of scores, for each split of each candidate."""
        scores: list[Any] = []
        for c in range(len(self.trees.candidates)):
            known = self._quick_scores(c)
            rest = [name for name in self.scorers if name not in known]
            one_by_one = self._one_by_one(c, rest) if rest else [{}] * len(self.rows)
            if not self.multi:
                scores += one_by_one if rest else known["score"]
                continue
            for s, others in enumerate(one_by_one):
                scores.append(
                    {name: known[name][s] if name in known else others[name] for name in self.scorers}
                )
        return scores

    def _quick_scores(self, c: int) -> dict[str, list[float]]:
        """Return the scores of supported metrics that are defined on every split."""
        if not self.quick:
            return {}
        candidate = self.trees.candidates[c]
        key = candidate.steps, candidate.setting
        largest = self.trees.by_setting[key]
        scores: dict[str, list[float]] = {}
        for name, (sign, metric) in self.quick.items():
            if self.examples.classes is None:
                values = metric(self.segments, largest.mean[largest.stopped(self.leaves[key], candidate)])
            else:
                # Cells belong to the largest trees. Equal smaller trees may have different cells, which must
                # not decide between them: only counts may be summed by cell.
                exact = metric is not log_loss and self.segments.weights is None
                cells = (self.cells if exact else self.single_rows)[key]
                values = metric(cells, largest, largest.stopped(cells.leaf, candidate))
            if values is not None:
                scores[name] = (sign * values).tolist()
        return scores

    def _one_by_one(self, c: int, names: list[str]) -> list[Any]:
        """Return the scores of scikit-learn's scorers of these names on each split."""
        candidate = self.trees.candidates[c]
        key = candidate.steps, candidate.setting
        largest = self.trees.by_setting[key]
        scorer = self.scorer
        if self.multi:
            some = {name: self.scorers[name] for name in names}
            scorer = _MultimetricScorer(scorers=some, raise_exc=scorer._raise_exc)
        real = self.trees.unfitted(c) if needs_estimator(scorer) else None
        places = largest.stopped(self.leaves[key], candidate) if real is None else None
        trees = None if real is None else largest.trees(candidate)
        ends = None if places is None else np.split(places, self.segments.first[1:-1])
        examples, splits = self.examples, self.trees.splits
        scores = []
        for s, rows in enumerate(self.rows):
            params = _check_method_params(examples.X, params=self.score_params, indices=rows)
            if ends is None:
                estimator = self.trees.fitted(c, s, like=real, trees=trees)
                X, y = _safe_split(estimator, examples.X, examples.passed_y, rows, splits.train[s])
            else:
                estimator, X, y = self._stand_in(largest, ends[s], s), np.arange(len(rows)), examples.y[rows]
            scores.append(_score(estimator, X, y, scorer, params, self.error_score))
        return scores

    def _stand_in(
        self, largest: LargestTrees, places: NDArray[Any], s: int
    ) -> ClassifierStandIn | RegressorStandIn:
        classes = self.examples.classes
        if classes is None:
            return RegressorStandIn(largest.mean[places])
        present = self.present[s]
        return ClassifierStandIn(
            classes[present], classes[largest.label[places]], largest.probability[places][:, present]
        )
