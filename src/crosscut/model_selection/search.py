"""Drop-ins for scikit-learn's ``GridSearchCV`` and ``RandomizedSearchCV``."""

from __future__ import annotations

import time
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any

from sklearn import model_selection as scikit
from sklearn.base import is_classifier
from sklearn.model_selection import ParameterGrid, ParameterSampler, check_cv
from sklearn.utils import check_random_state, indexable

from crosscut.model_selection.call import Call, as_list, print_fits
from crosscut.model_selection.callbacks import refuse_callbacks, serving_callbacks
from crosscut.model_selection.candidates import NotShared, check_estimator, warn_delegated
from crosscut.model_selection.pipelines import read_estimator
from crosscut.model_selection.rows import TrainingRows
from crosscut.model_selection.splits import Splits
from crosscut.sklearn_private import _check_method_params, _MultimetricScorer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crosscut.typing import ColumnLike, Seed, TableLike


class SharedSearch:
    """The ``fit`` of both searches: one growth if the candidates allow it, otherwise scikit-learn's fit."""

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
        if type(self)._run_search not in {
            scikit.GridSearchCV._run_search,
            scikit.RandomizedSearchCV._run_search,
        }:
            raise NotShared(f"{type(self).__name__} chooses its candidates one after the other")
        refuse_callbacks(self.estimator)
        scorers, refit_metric = self._get_scorers()
        X, y = indexable(X, y)
        params = _check_method_params(X, params=params)
        routed = self._get_routed_params_for_fit(params)
        examples = TrainingRows.of(self.estimator, X, y, routed.estimator.fit, self.n_jobs)
        random_state = getattr(self, "random_state", None)
        # from a copy of the generator: if the search is delegated, scikit-learn must draw the same candidates
        drawn = self._candidates(deepcopy(check_random_state(random_state)))
        read = read_estimator(self.estimator, drawn, examples)

        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        self.n_splits_ = cv.get_n_splits(X, y, **routed.splitter.split)
        candidates = self._candidates(random_state)
        if not candidates:
            raise ValueError("No fits were performed. Was the CV iterator empty? Were there no candidates?")
        if self.verbose > 0:
            print(  # noqa: T201 - verbose output
                f"Fitting {self.n_splits_} folds for each of {len(candidates)} candidates,"
                f" totalling {len(candidates) * self.n_splits_} fits"
            )
        call = Call(self.estimator, X, y, cv, scorers, routed, examples)
        n_fits = len(candidates) * self.n_splits_
        with serving_callbacks(self, n_fits, refit=bool(self.refit)):
            trees = call.grow(candidates, partial(Splits.of, final=bool(self.refit)), read)
        if len(trees.splits) != self.n_splits_:
            raise ValueError(
                "cv.split and cv.get_n_splits return inconsistent results. "
                f"Expected {self.n_splits_} splits, got {len(trees.splits)}"
            )
        out = trees.evaluate(error_score=self.error_score, return_train_score=self.return_train_score)
        print_fits(self.verbose, out, candidates, self.n_splits_, numbered=True)
        results = self._format_results(candidates, self.n_splits_, out)

        first_score = out[0]["test_scores"]
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
            self.best_estimator_ = trees.fitted(self.best_index_, -1)
            self.refit_time_ = time.perf_counter() - start
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_
        self.scorer_ = scorers._scorers if isinstance(scorers, _MultimetricScorer) else scorers
        self.cv_results_ = results


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

    def _candidates(self, random_state: Seed) -> list[Mapping[str, Any]]:
        del random_state
        return list(ParameterGrid(self.param_grid))


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

    def _candidates(self, random_state: Seed) -> list[Mapping[str, Any]]:
        return list(ParameterSampler(self.param_distributions, self.n_iter, random_state=random_state))
