"""The scores of all candidates on all splits, from one plan."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.model_selection._validation import _score
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params

from crosscut.model_selection.plan import grow_settings
from crosscut.model_selection.scores import Segments, needs_estimator, quick_metric
from crosscut.model_selection.settings import is_scikit
from crosscut.model_selection.stand_in import ClassifierStandIn, RegressorStandIn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from crosscut.model_selection.examples import Examples
    from crosscut.model_selection.grove import Grove
    from crosscut.model_selection.settings import Candidate, Setting
    from crosscut.model_selection.splits import Splits


@dataclass(frozen=True, eq=False)
class Grown:
    """Every tree a call needs: of each setting one per training set."""

    estimator: Any
    candidates: list[Candidate]
    parameters: Sequence[Mapping[str, Any]]
    examples: Examples
    splits: Splits
    fit_params: Mapping[str, Any]
    groves: dict[Setting, Grove]
    seconds: float

    @classmethod
    def of(
        cls,
        estimator: Any,
        parameters: Sequence[Mapping[str, Any]],
        candidates: list[Candidate],
        examples: Examples,
        splits: Splits,
        fit_params: Mapping[str, Any],
    ) -> Grown:
        """Grow the trees of all candidates on all training sets."""
        start = time.perf_counter()
        groves = grow_settings(examples, candidates, splits.sets)
        seconds = time.perf_counter() - start
        return cls(estimator, candidates, parameters, examples, splits, fit_params, groves, seconds)

    def places(self, setting: Setting, rows: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Return the leaves that the rows of each split reach in the setting's trees, split after split."""
        trees = self.splits.trees[: len(rows)]
        return self.groves[setting].leaves(self.examples.rows, trees, rows, self.examples.n_jobs)

    def fitted(self, c: int, s: int) -> Any:
        """Return candidate ``c`` fitted on split ``s``, or on all rows (the final tree) if ``s`` is -1."""
        estimator = clone(self.estimator).set_params(**clone(dict(self.parameters[c]), safe=False))
        if not is_scikit(estimator):
            X, y = self.examples.X, self.examples.given_y
            params = dict(self.fit_params)
            if s >= 0:
                rows = self.splits.train[s]
                params = _check_method_params(X, params=params, indices=rows)
                X, y = _safe_split(estimator, X, y, rows)
            return estimator.fit(X, y, **params)
        from crosscut.model_selection.fitted import fit_scikit

        setting, limits, ccp_alpha = self.candidates[c]
        rows = np.arange(self.examples.n_rows) if s < 0 else self.splits.train[s]
        tree = self.groves[setting].tree(int(self.splits.trees[s]), limits, ccp_alpha)
        return fit_scikit(estimator, tree, self.examples, rows)


class Scoring:
    """How candidates are scored: known metrics for all splits at once, other scorers split after split."""

    def __init__(self, grown: Grown, scorer: Any, score_params: Mapping[str, Any], error_score: Any) -> None:
        self.grown = grown
        self.error_score = error_score
        self.score_params = dict(score_params)
        self.multi = isinstance(scorer, _MultimetricScorer)
        scorers = scorer._scorers if self.multi else {"score": scorer}
        self.names = list(scorers)
        classifier = grown.examples.classes is not None
        self.quick: dict[str, tuple[int, Any]] = {}
        if not self.score_params:
            for name, one in scorers.items():
                metric = quick_metric(one, classifier=classifier)
                if metric is not None:
                    self.quick[name] = metric
        rest = {name: one for name, one in scorers.items() if name not in self.quick}
        self.rest: Any = None
        if rest:
            self.rest = (
                _MultimetricScorer(scorers=rest, raise_exc=scorer._raise_exc) if self.multi else scorer
            )
        self.real = self.rest is not None and needs_estimator(self.rest)

    def split_scores(
        self, c: int, rows: list[NDArray[np.int64]], segments: Segments, places: NDArray[np.int64]
    ) -> list[Any]:
        """Return the scores of candidate ``c`` on each split: numbers, or dicts of several metrics."""
        examples = self.grown.examples
        candidate = self.grown.candidates[c]
        grove = self.grown.groves[candidate.setting]
        stopped = grove.stopped(places, candidate)
        predicted = (grove.mean if examples.classes is None else grove.label)[stopped]
        known = {
            name: (sign * metric(segments, predicted)).tolist() for name, (sign, metric) in self.quick.items()
        }
        if self.rest is None:
            if not self.multi:
                return list(known["score"])
            return [dict(zip(known, values, strict=True)) for values in zip(*known.values(), strict=True)]
        scores = []
        for s in range(len(rows)):
            part = slice(segments.first[s], segments.first[s + 1])
            score = self._score_one(c, s, rows[s], stopped[part], predicted[part])
            if self.multi:
                score = {name: known[name][s] if name in known else score[name] for name in self.names}
            scores.append(score)
        return scores

    def _score_one(
        self, c: int, s: int, rows: NDArray[np.int64], places: NDArray[Any], predicted: NDArray[Any]
    ) -> Any:
        examples, splits = self.grown.examples, self.grown.splits
        params = _check_method_params(examples.X, params=self.score_params, indices=rows)
        if self.real:
            estimator = self.grown.fitted(c, s)
            X, y = _safe_split(estimator, examples.X, examples.given_y, rows, splits.train[s])
            return _score(estimator, X, y, self.rest, params, self.error_score)
        stand_in: Any
        if examples.classes is None:
            stand_in = RegressorStandIn(predicted)
        else:
            setting = self.grown.candidates[c].setting
            present = np.unique(examples.codes[splits.train[s]])
            probability = self.grown.groves[setting].probability[places][:, present]
            stand_in = ClassifierStandIn(examples.classes[present], examples.classes[predicted], probability)
        return _score(stand_in, np.arange(len(rows)), examples.y[rows], self.rest, params, self.error_score)


def evaluate(
    grown: Grown,
    scorer: Any,
    *,
    score_params: Mapping[str, Any],
    error_score: Any,
    return_train_score: bool,
    return_estimator: bool = False,
) -> list[dict[str, Any]]:
    """Return what scikit-learn's ``_fit_and_score`` would, for every split of every candidate.

    Nothing is fitted or scored one by one, so the seconds that growing and scoring took are shared out
    evenly.
    """
    scoring = Scoring(grown, scorer, score_params, error_score)
    examples, splits = grown.examples, grown.splits
    n_splits = len(splits)
    n_fits = len(grown.candidates) * n_splits
    sets = {"test_scores": splits.test}
    if return_train_score:
        sets["train_scores"] = splits.train
    scores: dict[str, list[Any]] = {}
    seconds = {}
    for key, rows in sets.items():
        start = time.perf_counter()
        segments = Segments.of(rows, examples.codes)
        places = {setting: grown.places(setting, rows) for setting in grown.groves}
        scores[key] = [
            score
            for c, candidate in enumerate(grown.candidates)
            for score in scoring.split_scores(c, rows, segments, places[candidate.setting])
        ]
        seconds[key] = time.perf_counter() - start
    results = []
    for k in range(n_fits):
        result = {"fit_error": None, **{key: values[k] for key, values in scores.items()}}
        result["n_test_samples"] = len(splits.test[k % n_splits])
        result["fit_time"] = grown.seconds / n_fits
        result["score_time"] = seconds["test_scores"] / n_fits
        if return_estimator:
            result["estimator"] = grown.fitted(k // n_splits, k % n_splits)
        results.append(result)
    return results
