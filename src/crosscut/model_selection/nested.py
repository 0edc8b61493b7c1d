"""Nested cross-validation: an unbiased estimate of the error of a tuned tree."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import get_config
from sklearn import model_selection as scikit
from sklearn.base import is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import ParameterGrid, check_cv

from crosscut.model_selection.call import Call, drop_in
from crosscut.model_selection.candidates import NotShared
from crosscut.model_selection.splits import Splits, read_pairs
from crosscut.sklearn_private import _check_method_params, _safe_indexing, _safe_split, _score
from crosscut.tasks.folds import count_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from crosscut.model_selection.evaluation import CandidateTrees
    from crosscut.model_selection.splits import Pair
    from crosscut.typing import ColumnLike, CrossValidation, Scoring, TableLike


@dataclass(frozen=True, eq=False)
class NestedResult:
    """The result of :func:`nested_cross_validate`.

    Attributes
    ----------
    test_scores : dict of str to array (n_outer,)
        Scores of the tuned trees on the outer test sets, per metric ("score" if there is one).
    best_params : list of dict
        Parameters chosen on each outer training set.
    inner_score : array (n_outer,)
        Mean inner score of those parameters; optimistic, because they were chosen by it.
    estimator : estimator
        The tree tuned on all rows by the outer splits, and fitted on all rows.
    params : dict
        Its parameters.
    metric : str
        The metric by which parameters were chosen.
    seconds : float
        Time of the whole call.
    """

    test_scores: dict[str, NDArray[np.float64]]
    best_params: list[Mapping[str, Any]]
    inner_score: NDArray[np.float64]
    estimator: BaseEstimator
    params: Mapping[str, Any]
    metric: str
    seconds: float

    @property
    def test_score(self) -> NDArray[np.float64]:
        """Outer scores of the metric by which parameters were chosen."""
        return self.test_scores[self.metric]

    @property
    def score(self) -> float:
        """Mean outer score: an unbiased estimate for the tuned tree."""
        return float(self.test_score.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of that mean over the outer splits."""
        return float(self.test_score.std(ddof=1) / np.sqrt(len(self.test_score)))

    def __repr__(self) -> str:
        lines = [f"nested cross-validation: {self.score:.4f} ± {self.standard_error:.4f}"]
        lines += [
            f"  outer split {i}: {score:.4f} with {dict(params)}"
            for i, (score, params) in enumerate(zip(self.test_score, self.best_params, strict=True))
        ]
        return "\n".join([*lines, f"final tree: {dict(self.params)}"])


def _one_by_one(
    estimator: BaseEstimator,
    param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
    X: TableLike,
    y: ColumnLike,
    *,
    inner_cv: CrossValidation = None,
    refit: str | None = None,
    params: dict[str, Any] | None = None,
    cv: CrossValidation = None,
    groups: ColumnLike = None,
    **options: Any,
) -> NestedResult:
    """Compute the same result with scikit-learn's search, one fit at a time."""
    start = time.perf_counter()
    n_rows, fit_params = count_rows(None, X=X), params or {}
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    pairs = list(splitter.split(X, y, groups))
    try:
        train, test = read_pairs(pairs, n_rows)
    except NotShared as reason:
        raise ValueError(f"cv cannot be nested: {reason}") from None
    folds = None if inner_cv is not None else Splits.nested(pairs, n_rows, None)

    def search(cv: CrossValidation, rows: NDArray[np.int64]) -> BaseEstimator:
        refit_metric = True if refit is None else refit
        row_params = _check_method_params(X, params=fit_params, indices=rows)
        grid_search = scikit.GridSearchCV(estimator, param_grid, cv=cv, refit=refit_metric, **options)
        return grid_search.fit(*_safe_split(estimator, X, y, rows), **row_params)

    scores: dict[int, dict[str, float]] = {}
    searches: dict[int, Any] = {}
    failed: list[Exception] = []
    for i, rows in enumerate(train):
        if folds is None:
            inner = _inner_splits(estimator, X, y, groups, inner_cv, rows, failed=failed)
            if not inner:
                continue
        else:
            place = np.empty(n_rows, np.int64)
            place[rows] = np.arange(len(rows))
            inner = [(place[folds.train[k]], place[folds.test[k]]) for k in np.flatnonzero(folds.outer == i)]
        searches[i] = search(inner, rows)
        scorer = searches[i].scorer_
        scorers = scorer if isinstance(scorer, dict) else {"score": scorer}
        tuned, held_out = searches[i].best_estimator_, _safe_split(estimator, X, y, test[i], rows)
        scores[i] = {name: _score(tuned, *held_out, one, {}, np.nan) for name, one in scorers.items()}
    _raise_if_all(failed, len(train))
    final = search(pairs, np.arange(n_rows))
    each, names = range(len(train)), next(iter(scores.values()))
    test_scores = {
        name: np.array([scores[i][name] if i in scores else np.nan for i in each]) for name in names
    }
    return NestedResult(
        test_scores,
        [searches[i].best_params_ if i in searches else {} for i in each],
        np.array([searches[i].best_score_ if i in searches else np.nan for i in each]),
        final.best_estimator_,
        final.best_params_,
        _metric(test_scores, refit),
        time.perf_counter() - start,
    )


@drop_in(_one_by_one)
def nested_cross_validate(
    estimator: BaseEstimator,
    param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    X: TableLike,
    y: ColumnLike,
    *,
    groups: ColumnLike = None,
    scoring: Scoring = None,
    cv: CrossValidation = None,
    inner_cv: CrossValidation = None,
    refit: str | None = None,
    n_jobs: int | None = None,
    params: dict[str, Any] | None = None,
) -> NestedResult:
    """Estimate how well a *tuned* tree predicts: parameters are chosen again in every outer training set.

    Without ``inner_cv``, the outer folds are also the inner folds: outer fold i with inner fold j trains on
    all rows except these two folds. So n outer folds need only n(n+1)/2 + 1 trees per setting of the grid,
    including the final tree, and groups of the outer splitter stay together in the inner splits. All trees
    grow together where the parameters allow.

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
        The inner splits of each outer training set; by default the other outer folds.
    refit : str, optional
        The metric by which to choose, if ``scoring`` names several.
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
    call = Call.of("nested_cross_validate", estimator, X, y, groups, cv, params, scoring, n_jobs=n_jobs)

    failed: list[Exception] = []

    def inner_pairs(rows: NDArray[np.int64]) -> list[Pair]:
        pairs = _inner_splits(estimator, call.X, call.y, groups, inner_cv, rows, failed=failed)
        return [(rows[train], rows[test]) for train, test in pairs]

    inner = None if inner_cv is None else inner_pairs
    trees = call.grow(candidates, partial(Splits.nested, inner=inner))
    report_params = call.routed.scorer.score
    choice_params = _search_params(estimator, param_grid, scoring, params) or report_params
    chosen = _scores(trees, choice_params)
    reported = _scores(trees, report_params) if choice_params and not report_params else chosen
    metric = _metric(chosen, refit)
    outer = trees.splits.outer
    assert outer is not None
    n_inner, n_outer = len(outer), len(trees.splits) - len(outer)
    _raise_if_all(failed, n_outer)
    tuned = np.bincount(outer, minlength=n_outer) > 0  # has inner splits
    inner_mean = np.full((n_outer, len(candidates)), np.nan)
    for i in np.flatnonzero(tuned):
        inner_mean[i] = _means(chosen[metric][:, :n_inner][:, outer == i])
    best = [_best(means) for means in inner_mean]
    final = _best(_means(chosen[metric][:, n_inner:]))
    at = np.arange(n_outer)
    return NestedResult(
        {name: np.where(tuned, values[best, n_inner + at], np.nan) for name, values in reported.items()},
        [candidates[c] if one else {} for c, one in zip(best, tuned, strict=True)],
        inner_mean[at, best],
        trees.fitted(final, -1),
        candidates[final],
        metric,
        time.perf_counter() - start,
    )


def _search_params(
    estimator: BaseEstimator, grid: Any, scoring: Scoring, params: dict[str, Any] | None
) -> dict[str, Any]:
    """Return the parameters that scikit-learn's search passes to its scorer: without routing, the weights."""
    if get_config()["enable_metadata_routing"]:
        return {}
    search = scikit.GridSearchCV(estimator, grid, scoring=scoring, refit=False)
    routed: dict[str, Any] = search._get_routed_params_for_fit(params or {}).scorer.score
    return routed


def _scores(trees: CandidateTrees, score_params: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
    """Return the scores of each metric, an array of candidates and splits."""
    results = trees.evaluate(score_params, error_score=np.nan)  # as scikit-learn's search
    scores = [result["test_scores"] for result in results]
    if not isinstance(scores[0], dict):
        scores = [{"score": score} for score in scores]
    shape = len(trees.candidates), -1
    return {name: np.array([score[name] for score in scores]).reshape(shape) for name in scores[0]}


def _means(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of each candidate, computed as in scikit-learn's search, so that ties are the same."""
    means: NDArray[np.float64] = np.average(np.ascontiguousarray(scores), axis=1)
    return means


def _best(means: NDArray[np.float64]) -> int:
    """Return the best candidate; as in scikit-learn's search, NaN is worse than any score."""
    return int(np.where(np.isnan(means), -np.inf, means).argmax())


def _inner_splits(
    estimator: BaseEstimator,
    X: TableLike,
    y: ColumnLike,
    groups: ColumnLike,
    inner_cv: CrossValidation,
    rows: NDArray[np.int64],
    *,
    failed: list[Exception],
) -> list[Pair]:
    """Split the rows of an outer training set; return positions among these rows.

    If the splitter fails, there are none: as in scikit-learn, where the search is a fit that fails.
    """
    inner_y = None if y is None else _safe_indexing(y, rows)
    splitter = check_cv(inner_cv, inner_y, classifier=is_classifier(estimator))
    inner_groups = None if groups is None else _safe_indexing(groups, rows)
    try:
        return list(splitter.split(_safe_indexing(X, rows), inner_y, inner_groups))
    except Exception as error:  # noqa: BLE001, of the user's splitter
        failed.append(error)
        warnings.warn(
            f"an outer split is scored NaN, because inner_cv failed: {type(error).__name__}: {error}",
            FitFailedWarning,
            stacklevel=2,
        )
        return []


def _raise_if_all(failed: list[Exception], n_outer: int) -> None:
    if len(failed) == n_outer:
        raise failed[-1]


def _metric(scores: Mapping[str, Any], refit: str | None) -> str:
    if refit is None and len(scores) == 1:
        return next(iter(scores))
    if refit is None or refit not in scores:
        raise ValueError(
            f"refit must name the metric by which to choose, one of {list(scores)}, but {refit!r} was given"
        )
    return refit
