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
from sklearn.utils.validation import _check_method_params, _get_feature_names

from crosscut.model_selection.examples import weight_name
from crosscut.model_selection.pipelines import Transformed
from crosscut.model_selection.plan import grow_settings
from crosscut.model_selection.scores import Segments, needs_estimator, quick_metric
from crosscut.model_selection.settings import is_scikit, tree_of
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
    """Every tree a call needs: of each setting (and choice of steps) one per training set."""

    estimator: Any
    candidates: list[Candidate]
    parameters: Sequence[Mapping[str, Any]]
    examples: Examples
    splits: Splits
    fit_params: Mapping[str, Any]
    groves: dict[tuple[int, Setting], Grove]
    views: list[Transformed]  # of a pipeline: the rows as each choice of steps shows them
    seconds: float

    @classmethod
    def of(
        cls,
        estimator: Any,
        parameters: Sequence[Mapping[str, Any]],
        candidates: list[Candidate],
        steps: list[Any],
        examples: Examples,
        splits: Splits,
        fit_params: Mapping[str, Any],
    ) -> Grown:
        """Grow the trees of all candidates on all training sets."""
        start = time.perf_counter()
        of_steps = {name: one for name, one in fit_params.items() if name != weight_name(estimator)}
        tree = tree_of(estimator)
        views = [Transformed(one, tree, examples, splits, of_steps) for one in steps]
        groves: dict[tuple[int, Setting], Grove] = {}
        for k, view in enumerate(views or [None]):
            own = [candidate for candidate in candidates if candidate.steps == k]
            found = view.grow(own) if view else grow_settings(examples, own, splits.sets)
            groves |= {(k, setting): grove for setting, grove in found.items()}
        seconds = time.perf_counter() - start
        return cls(estimator, candidates, parameters, examples, splits, fit_params, groves, views, seconds)

    def grove(self, candidate: Candidate) -> Grove:
        """Return the trees that a candidate's are inside."""
        return self.groves[candidate.steps, candidate.setting]

    def leaves(self, part: str) -> dict[tuple[int, Setting], NDArray[np.int64]]:
        """Return the leaves that the "test" or "train" rows of each split reach, split after split."""
        found = {}
        for key, grove in self.groves.items():
            if self.views:
                x, rows = self.views[key[0]].stacked(part)
            else:
                x, rows = self.examples.rows, getattr(self.splits, part)
            found[key] = grove.leaves(x, self.splits.trees[: len(rows)], rows, self.examples.n_jobs)
        return found

    def fitted(self, c: int, s: int) -> Any:
        """Return candidate ``c`` fitted on split ``s``, or on all rows (the final tree) if ``s`` is -1."""
        estimator = clone(self.estimator).set_params(**clone(dict(self.parameters[c]), safe=False))
        if not is_scikit(tree_of(estimator)):
            X, y = self.examples.X, self.examples.given_y
            params = dict(self.fit_params)
            if s >= 0:
                rows = self.splits.train[s]
                params = _check_method_params(X, params=params, indices=rows)
                X, y = _safe_split(estimator, X, y, rows)
            return estimator.fit(X, y, **params)
        from crosscut.model_selection.fitted import fit_scikit

        candidate, t = self.candidates[c], int(self.splits.trees[s])
        rows = np.arange(self.examples.n_rows) if s < 0 else self.splits.train[s]
        tree = self.grove(candidate).tree(t, candidate.limits, candidate.ccp_alpha)
        if not self.views:
            names = _get_feature_names(self.examples.X)
            return fit_scikit(estimator, tree, self.examples, rows, names, self.examples.n_features)
        prepared = self.views[candidate.steps].prepared[t]
        fit_scikit(tree_of(estimator), tree, self.examples, rows, prepared.names, prepared.matrix.shape[1])
        estimator.steps[:-1] = prepared.steps.steps
        return estimator


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
        grove = self.grown.grove(candidate)
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
            grove = self.grown.grove(self.grown.candidates[c])
            present = np.unique(examples.codes[splits.train[s]])
            probability = grove.probability[places][:, present]
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
        places = grown.leaves(key.removesuffix("_scores"))
        scores[key] = [
            score
            for c, candidate in enumerate(grown.candidates)
            for score in scoring.split_scores(c, rows, segments, places[candidate.steps, candidate.setting])
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
