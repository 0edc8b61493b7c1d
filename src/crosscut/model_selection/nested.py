"""Nested cross-validation: the honest error of the tuned tree."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import model_selection as scikit
from sklearn.base import is_classifier
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from crosscut.model_selection.call import Call
from crosscut.model_selection.delegation import NotShared, warn_delegated
from crosscut.model_selection.evaluation import Grown, evaluate
from crosscut.model_selection.examples import Splits
from crosscut.model_selection.settings import check_estimator, read_candidates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Pair = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class NestedResult:
    """What :func:`nested_cross_validate` returns.

    Attributes
    ----------
    test_scores : dict of str to array (n_outer,)
        Scores of the tuned trees on the outer test sets, per metric ("score" if there is one).
    best_params : list of dict
        Parameters chosen on each outer training set.
    inner_score : array (n_outer,)
        Mean inner score of those parameters; optimistic, as they were chosen by it.
    estimator : estimator
        The tree tuned on all rows by the outer splits, and fitted on all rows.
    params : dict
        Its parameters.
    metric : str
        The metric that chose.
    seconds : float
        Time of the whole call.
    """

    test_scores: dict[str, NDArray[np.float64]]
    best_params: list[Mapping[str, Any]]
    inner_score: NDArray[np.float64]
    estimator: Any
    params: Mapping[str, Any]
    metric: str
    seconds: float

    @property
    def test_score(self) -> NDArray[np.float64]:
        """Outer scores of the metric that chose."""
        return self.test_scores[self.metric]

    @property
    def score(self) -> float:
        """Mean outer score: the honest estimate for the tuned tree."""
        return float(self.test_score.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of that mean over the outer splits."""
        return float(self.test_score.std(ddof=1) / np.sqrt(len(self.test_score)))

    def __str__(self) -> str:
        lines = [f"nested cross-validation: {self.score:.4f} ± {self.standard_error:.4f}"]
        lines += [
            f"  outer split {i}: {score:.4f} with {dict(params)}"
            for i, (score, params) in enumerate(zip(self.test_score, self.best_params, strict=True))
        ]
        return "\n".join([*lines, f"final tree: {dict(self.params)}"])


def nested_cross_validate(
    estimator: Any,
    param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    inner_cv: Any = None,
    refit: str | None = None,
    n_jobs: int | None = None,
    params: dict[str, Any] | None = None,
) -> NestedResult:
    """Estimate how well a *tuned* tree predicts: parameters are chosen anew inside every outer training set.

    Without ``inner_cv`` the outer folds serve inside too: outer fold i, inner fold j trains on all rows but
    those two folds, so n outer folds need only n(n+1)/2 + 1 trees per lane of the grid, the final one
    included, and groups that the outer splitter keeps together stay together inside. All trees come from one
    growth where the parameters allow.

    Parameters
    ----------
    estimator : estimator
        scikit-learn's or crosscut's tree.
    param_grid : dict or list of dicts
        As in :class:`GridSearchCV`.
    X, y, groups, scoring, params
        As in :func:`cross_validate`.
    cv : int, splitter or iterable
        The outer splits.
    inner_cv : int, splitter or None
        The inner splits of each outer training set. None: the other outer folds.
    refit : str, optional
        The metric that chooses, if ``scoring`` names several.
    n_jobs : int, optional
        Threads; None is one.

    Returns
    -------
    NestedResult

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from crosscut import nested_cross_validate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = nested_cross_validate(DecisionTreeClassifier(), {"max_depth": [1, 2, 4]}, X, y, cv=5)
    >>> len(result.test_score), len(result.best_params), type(result.estimator).__name__
    (5, 5, 'DecisionTreeClassifier')
    """
    start = time.perf_counter()
    candidates = list(ParameterGrid(param_grid))
    try:
        check_estimator(estimator)
        call = Call.of("nested_cross_validate", estimator, X, y, groups, cv, params, scoring, n_jobs=n_jobs)
        return _shared(call, candidates, groups, inner_cv, refit, start)
    except NotShared as reason:
        warn_delegated("nested_cross_validate", reason)
        cv = cv if reason.splits is None else reason.splits
        return _one_by_one(
            estimator, candidates, X, y, groups, scoring, cv, inner_cv, refit, n_jobs, params, start
        )


def _shared(
    call: Call,
    candidates: list[Mapping[str, Any]],
    groups: Any,
    inner_cv: Any,
    refit: str | None,
    start: float,
) -> NestedResult:
    """Grow the trees of all inner and outer training sets, and the final ones, at once."""
    estimator, examples = call.estimator, call.examples
    read = read_candidates(estimator, candidates, examples.n_features)
    given = list(call.cv.split(call.X, call.y, **call.routed.splitter.split))
    try:
        outer = Splits.of(given, examples.n_rows)
        pairs = [
            pair
            for i in range(len(outer))
            for pair in _inner_pairs(estimator, call.X, call.y, groups, outer, inner_cv, i)
        ]
        every = [*(pair for _, pair in pairs), *zip(outer.train, outer.test, strict=True)]
        splits = Splits(list(every), [train for train, _ in every], [test for _, test in every])
        fit_params = call.routed.estimator.fit
        grown = Grown.of(estimator, candidates, read, examples, splits, fit_params, final=True)
    except NotShared as reason:
        reason.splits = given
        raise
    results = evaluate(
        grown,
        call.scorer,
        score_params=call.routed.scorer.score,
        error_score="raise",
        return_train_score=False,
    )
    scores = _by_metric([result["test_scores"] for result in results], len(candidates))
    metric = _metric(scores, refit)
    n_outer, owner = len(outer), np.array([i for i, _ in pairs])
    inner = np.stack(
        [scores[metric][:, :-n_outer][:, owner == i].mean(axis=1) for i in range(n_outer)], axis=1
    )
    best = inner.argmax(axis=0)
    final = int(scores[metric][:, -n_outer:].mean(axis=1).argmax())
    at = best, np.arange(n_outer)
    return NestedResult(
        {name: values[:, -n_outer:][at] for name, values in scores.items()},
        [candidates[c] for c in best],
        inner[at],
        grown.fitted(final, -1),
        candidates[final],
        metric,
        time.perf_counter() - start,
    )


def _inner_pairs(
    estimator: Any, X: Any, y: Any, groups: Any, outer: Splits, inner_cv: Any, i: int
) -> list[tuple[int, Pair]]:
    """Return the inner (train, test) rows of outer split ``i``, each with ``i``."""
    if inner_cv is not None:
        rows = outer.train[i]
        inner_y = _safe_indexing(y, rows)
        splitter = check_cv(inner_cv, inner_y, classifier=is_classifier(estimator))
        inner_groups = None if groups is None else _safe_indexing(groups, rows)
        pairs = splitter.split(_safe_indexing(X, rows), inner_y, inner_groups)
        return [(i, (rows[train], rows[test])) for train, test in pairs]
    return [(i, (outer.without(i, j), outer.test[j])) for j in range(len(outer)) if j != i]


def _by_metric(scores: list[Any], n_candidates: int) -> dict[str, NDArray[np.float64]]:
    names = list(scores[0]) if isinstance(scores[0], dict) else ["score"]
    return {
        name: np.array([score[name] if isinstance(score, dict) else score for score in scores]).reshape(
            n_candidates, -1
        )
        for name in names
    }


def _metric(scores: Mapping[str, Any], refit: str | None) -> str:
    if refit is None and len(scores) == 1:
        return next(iter(scores))
    if refit is None or refit not in scores:
        raise ValueError(
            f"refit must name the metric that chooses, one of {list(scores)}, but {refit!r} was given"
        )
    return refit


def _one_by_one(
    estimator: Any,
    candidates: list[Any],
    X: Any,
    y: Any,
    groups: Any,
    scoring: Any,
    cv: Any,
    inner_cv: Any,
    refit: str | None,
    n_jobs: int | None,
    params: dict[str, Any] | None,
    start: float,
) -> NestedResult:
    """Do the same with scikit-learn's search, one fit after the other."""
    grid = [{name: [value] for name, value in candidate.items()} for candidate in candidates]
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    outer = Splits.of(splitter.split(X, y, groups), len(y))
    keep: Any = True if refit is None else refit
    fit_params = {} if params is None else params
    test_scores: list[Any] = []
    best_params, inner_score = [], []
    for i, rows in enumerate(outer.train):
        place = np.empty(len(y), np.int64)
        place[rows] = np.arange(len(rows))
        inner = [
            (place[train], place[test])
            for _, (train, test) in _inner_pairs(estimator, X, y, groups, outer, inner_cv, i)
        ]
        search = scikit.GridSearchCV(estimator, grid, scoring=scoring, refit=keep, cv=inner, n_jobs=n_jobs)
        search.fit(
            _safe_indexing(X, rows),
            _safe_indexing(y, rows),
            **_check_method_params(X, params=fit_params, indices=rows),
        )
        scorers = search.scorer_ if isinstance(search.scorer_, dict) else {"score": search.scorer_}
        X_test, y_test = _safe_indexing(X, outer.test[i]), _safe_indexing(y, outer.test[i])
        test_scores.append(
            {name: one(search.best_estimator_, X_test, y_test) for name, one in scorers.items()}
        )
        best_params.append(search.best_params_)
        inner_score.append(search.best_score_)
    final = scikit.GridSearchCV(
        estimator, grid, scoring=scoring, refit=keep, cv=list(outer.given), n_jobs=n_jobs
    ).fit(X, y, **fit_params)
    scores = {name: np.array([score[name] for score in test_scores]) for name in test_scores[0]}
    return NestedResult(
        scores,
        best_params,
        np.array(inner_score),
        final.best_estimator_,
        final.best_params_,
        _metric(scores, refit),
        time.perf_counter() - start,
    )
