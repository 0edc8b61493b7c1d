"""Drop-ins for scikit-learn's searches: grids, random parameters, and successive halving of both."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import model_selection as scikit
from sklearn.base import is_classifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401, the import makes them available
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state, indexable

from crosscut.data.frames import check_arrow
from crosscut.model_selection.call import Call, as_list, print_fits
from crosscut.model_selection.callbacks import Silent, refuse_callbacks, serving_callbacks
from crosscut.model_selection.candidates import NotShared, check_estimator, warn_delegated
from crosscut.model_selection.evaluation import CandidateTrees
from crosscut.model_selection.pipelines import read_estimator
from crosscut.model_selection.rows import TrainingRows
from crosscut.model_selection.splits import Splits
from crosscut.sklearn_private import _check_method_params, _MultimetricScorer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sklearn.base import BaseEstimator

    from crosscut.typing import ColumnLike, CrossValidation, TableLike

# subclasses may choose their candidates in other ways
_KNOWN = {
    scikit.GridSearchCV._run_search,
    scikit.RandomizedSearchCV._run_search,
    scikit.HalvingGridSearchCV._run_search,
}


class SharedSearch:
    """The ``fit`` of the searches: one growth if the candidates allow it, otherwise scikit-learn's fit."""

    def fit(self: Any, X: TableLike, y: ColumnLike = None, **params: Any) -> Any:
        """Score every candidate on every split and, with ``refit``, grow the best one's tree on all rows.

        Parameters
        ----------
        X, y : array-like
            Rows and target.
        **params
            ``sample_weight`` for the trees, ``groups`` for the splitter, as in scikit-learn.

        Returns
        -------
        self
        """
        self._validate_params()
        check_arrow(X=X, y=y)
        check_arrow(**params)
        original_cv, reason = self.cv, None
        self.cv = as_list(original_cv)
        try:
            try:
                self._fit_together(X, y, params)
            except NotShared as error:
                reason = error
            if reason is not None:  # outside of the handler, as in drop_in
                warn_delegated(type(self).__name__, reason)
                self.cv = self.cv if reason.splits is None else reason.splits
                super().fit(X, y, **params)  # type: ignore[misc]
        finally:
            self.cv = original_cv
        return self

    def _fit_together(self: Any, X: TableLike, y: ColumnLike, params: dict[str, Any]) -> None:
        check_estimator(self.estimator)
        if type(self)._run_search not in _KNOWN:
            raise NotShared(f"{type(self).__name__} chooses its candidates one after the other")
        refuse_callbacks(self.estimator, *([self] if hasattr(self, "factor") else []))  # several rounds
        scorers, refit_metric = self._get_scorers()
        X, y = indexable(X, y)
        params = _check_method_params(X, params=params)
        routed = self._get_routed_params_for_fit(params)
        examples = TrainingRows.of(self.estimator, X, y, routed.estimator.fit, self.n_jobs)
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        self._n_samples_orig, self._checked_cv_orig = examples.n_rows, cv
        self._check_input_parameters(X=X, y=y, split_params=routed.splitter.split)
        self.n_splits_ = cv.get_n_splits(X, y, **routed.splitter.split)
        rounds = _Rounds(self, Call(self.estimator, X, y, cv, scorers, routed, examples))
        generator = check_random_state(getattr(self, "random_state", None))
        drawn = generator.get_state()
        try:
            self._run_search(rounds.evaluate, callback_ctx=Silent())
        except NotShared:  # scikit-learn must draw the same candidates
            generator.set_state(drawn)
            raise
        results, first_score = rounds.results, rounds.out[0]["test_scores"]
        self.multimetric_ = isinstance(first_score, dict)
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(first_score)
            refit_metric = self.refit
        if self.refit or not self.multimetric_:
            self.best_index_ = self._select_best_index(self.refit, refit_metric, results)
            if not callable(self.refit):
                self.best_score_ = results[f"mean_test_{refit_metric}"][self.best_index_]
            self.best_params_ = results["params"][self.best_index_]
        if self.refit:
            start = time.perf_counter()
            self.best_estimator_ = rounds.fitted(self.best_index_)
            self.refit_time_ = time.perf_counter() - start
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_
        self.scorer_ = scorers._scorers if isinstance(scorers, _MultimetricScorer) else scorers
        self.cv_results_ = results


class _Rounds:
    """The rounds of a search, each one growth: a grid has one, successive halving has several."""

    def __init__(self, search: Any, call: Call) -> None:
        self.search, self.call = search, call
        self.halves = hasattr(search, "factor")
        self.trees: list[CandidateTrees] = []
        self.candidates: list[Mapping[str, Any]] = []
        self.out: list[dict[str, Any]] = []
        self.results: dict[str, Any] = {}
        self._more: dict[str, list[Any]] = {}

    def evaluate(
        self,
        candidates: Iterable[Mapping[str, Any]],
        cv: CrossValidation = None,
        more_results: Mapping[str, list[Any]] | None = None,
        callback_ctx: object = None,
    ) -> dict[str, Any]:
        """Score candidates as scikit-learn's ``evaluate_candidates`` does."""
        del callback_ctx  # callbacks are served from the progress of growth
        search = self.search
        call = self.call if cv is None else replace(self.call, cv=cv)
        with warnings.catch_warnings(record=True) as caught:  # scikit-learn repeats them if it takes over
            warnings.simplefilter("always")
            candidates = list(candidates)
        read = read_estimator(call.estimator, candidates, call.examples)
        for each in caught:
            warnings.warn(each.message, each.category, stacklevel=2)
        if not candidates:
            raise ValueError("No fits were performed. Was the CV iterator empty? Were there no candidates?")
        if search.verbose > 0:
            print(  # noqa: T201 - verbose output
                f"Fitting {search.n_splits_} folds for each of {len(candidates)} candidates,"
                f" totalling {len(candidates) * search.n_splits_} fits"
            )
        final = bool(search.refit) and not self.halves
        n_fits = len(candidates) * search.n_splits_
        with serving_callbacks(search, n_fits, refit=bool(search.refit)):
            trees = call.grow(candidates, partial(Splits.of, final=final), read)
        if len(trees.splits) != search.n_splits_:
            raise ValueError(
                "cv.split and cv.get_n_splits return inconsistent results. "
                f"Expected {search.n_splits_} splits, got {len(trees.splits)}"
            )
        out = trees.evaluate(error_score=search.error_score, return_train_score=search.return_train_score)
        print_fits(search.verbose, out, candidates, search.n_splits_, numbered=True)
        self.trees.append(trees)
        self.candidates += candidates
        self.out += out
        for name, values in (more_results or {}).items():
            self._more.setdefault(name, []).extend(values)
        self.results = search._format_results(self.candidates, search.n_splits_, self.out, self._more)
        return self.results

    def fitted(self, c: int) -> BaseEstimator:
        """Return candidate ``c`` of all rounds, fitted on all rows."""
        if not self.halves:
            return self.trees[-1].fitted(c, -1)
        candidates, n_rows = [self.candidates[c]], self.call.examples.n_rows
        read = read_estimator(self.call.estimator, candidates, self.call.examples)
        rows = np.arange(n_rows)
        return CandidateTrees.of(self.call, candidates, *read, Splits.of([(rows, rows)], n_rows)).fitted(0, 0)


class GridSearchCV(SharedSearch, scikit.GridSearchCV):  # type: ignore[misc]
    """Search a grid of parameters for a tree; one growth serves the whole grid where the parameters allow.

    Arguments, attributes and results are those of :class:`sklearn.model_selection.GridSearchCV`.
    Values of ``max_depth``, ``min_impurity_decrease`` and ``ccp_alpha`` cost nothing extra, because the
    largest tree contains the smaller ones. Each value of ``min_samples_leaf`` adds trees to the same growth.
    Each criterion or class weight needs its own growth. Other parameters are delegated to scikit-learn with
    one :class:`DelegationWarning` that names the parameter.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from crosscut import GridSearchCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> grid = {"max_depth": [2, 4, 8, None], "ccp_alpha": [0.0, 0.005, 0.02]}
    >>> search = GridSearchCV(DecisionTreeClassifier(), grid, cv=10).fit(X, y)
    >>> len(search.cv_results_["params"]), type(search.best_estimator_).__name__
    (12, 'DecisionTreeClassifier')
    """


class RandomizedSearchCV(SharedSearch, scikit.RandomizedSearchCV):  # type: ignore[misc]
    """Search random parameters for a tree; one growth serves all candidates where the parameters allow.

    Arguments, attributes and results are those of :class:`sklearn.model_selection.RandomizedSearchCV`; see
    :class:`GridSearchCV` for what each parameter costs.

    Examples
    --------
    >>> from scipy.stats import randint, uniform
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from crosscut import RandomizedSearchCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> chances = {"max_depth": randint(1, 8), "min_impurity_decrease": uniform(0, 100)}
    >>> search = RandomizedSearchCV(DecisionTreeRegressor(), chances, n_iter=20, random_state=0)
    >>> sorted(search.fit(X, y).best_params_)
    ['max_depth', 'min_impurity_decrease']
    """


class HalvingGridSearchCV(SharedSearch, scikit.HalvingGridSearchCV):  # type: ignore[misc]
    """Search a grid by successive halving; each round is one growth where the parameters allow.

    Arguments, attributes and results are those of :class:`sklearn.model_selection.HalvingGridSearchCV`, which
    scikit-learn calls experimental. A grid that needs few growths is searched faster by
    :class:`GridSearchCV`, which evaluates every candidate on all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from crosscut import HalvingGridSearchCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> grid = {"max_depth": [1, 2, 4, 8], "min_samples_leaf": [1, 5, 20]}
    >>> search = HalvingGridSearchCV(DecisionTreeClassifier(random_state=0), grid, random_state=0).fit(X, y)
    >>> search.n_candidates_
    [12, 4, 2]
    """


class HalvingRandomSearchCV(SharedSearch, scikit.HalvingRandomSearchCV):  # type: ignore[misc]
    """Search random parameters by successive halving; each round is one growth where the parameters allow.

    Arguments, attributes and results are those of :class:`sklearn.model_selection.HalvingRandomSearchCV`; see
    :class:`HalvingGridSearchCV`.

    Examples
    --------
    >>> from scipy.stats import randint
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from crosscut import HalvingRandomSearchCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> chances = {"max_depth": randint(1, 8), "min_samples_leaf": randint(1, 50)}
    >>> search = HalvingRandomSearchCV(DecisionTreeRegressor(random_state=0), chances, random_state=0)
    >>> sorted(search.fit(X, y).best_params_)
    ['max_depth', 'min_samples_leaf']
    """
