"""Drop-in for scikit-learn's ``RFECV``: recursive feature elimination."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from sklearn import feature_selection as scikit
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from crosscut.model_selection.call import Call
from crosscut.model_selection.candidates import NotShared, check_estimator, is_scikit, tree_of
from crosscut.model_selection.search import SharedSearch
from crosscut.model_selection.splits import Splits
from crosscut.statistics.intervals import mean_of_folds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from crosscut.model_selection.evaluation import CandidateTrees
    from crosscut.typing import ColumnLike, CrossValidation, Scoring, TableLike


class RFECV(SharedSearch, scikit.RFECV):  # type: ignore[misc]
    """Eliminate columns of little importance, and choose by cross-validation how many to keep.

    Arguments, attributes and results are those of :class:`sklearn.feature_selection.RFECV`, except ``rule``.
    Rows are read and ranked once. Each step grows the trees of all splits and the final tree together; each
    tree may use the columns that its split still has. Estimators other than trees are delegated.

    Parameters
    ----------
    rule : {"best", "1se"}
        Keep the columns with the highest mean score, or the fewest whose mean score is within one standard
        error of it. The standard error of the splits' scores is corrected for the training rows that they
        share (Nadeau and Bengio 2003).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from crosscut import RFECV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = RFECV(DecisionTreeClassifier(max_depth=4), cv=5, rule="1se").fit(X, y)
    >>> selector.transform(X).shape
    (569, 3)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **scikit.RFECV._parameter_constraints,
        "rule": [str],
    }

    def __init__(
        self,
        estimator: BaseEstimator,
        *,
        step: float = 1,
        min_features_to_select: int = 1,
        cv: CrossValidation = None,
        scoring: Scoring = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        importance_getter: Any = "auto",
        rule: str = "best",
    ) -> None:
        super().__init__(
            estimator,
            step=step,
            min_features_to_select=min_features_to_select,
            cv=cv,
            scoring=scoring,
            verbose=verbose,
            n_jobs=n_jobs,
            importance_getter=importance_getter,
        )
        self.rule = rule

    def fit(self, X: TableLike, y: ColumnLike = None, **params: Any) -> RFECV:
        """Eliminate columns, and choose how many to keep.

        Parameters
        ----------
        X : array-like (rows, columns)
            Numeric columns.
        y : array-like (rows,)
            The target.
        **params
            ``groups`` for the splitter.
        """
        if self.rule not in {"best", "1se"}:
            raise ValueError(f"rule must be 'best' or '1se', not {self.rule!r}")
        self._delegated = True
        super().fit(X, y, **params)
        if self._delegated and self.rule == "1se":
            self._eliminate(X, y)
        return self

    def _eliminate(self, X: TableLike, y: ColumnLike) -> None:
        """Keep the number of columns that the rule chooses; scikit-learn fits one tree at a time."""
        n_splits = sum(name.endswith("_ranking") for name in self.cv_results_)
        elimination = scikit.RFE(
            self.estimator,
            n_features_to_select=self._number(1 / n_splits),
            step=self.step,
            importance_getter=self.importance_getter,
        ).fit(X, y)
        for name in ("support_", "ranking_", "n_features_", "estimator_"):
            setattr(self, name, getattr(elimination, name))

    def _fit_together(self, X: TableLike, y: ColumnLike, params: dict[str, Any]) -> None:
        if get_config()["enable_metadata_routing"] or set(params) - {"groups"}:
            raise NotShared("metadata is routed")
        if tree_of(self.estimator) is not self.estimator:
            raise NotShared("the estimator is a pipeline")
        if self.importance_getter not in {"auto", "feature_importances_"}:
            raise NotShared(f"importance_getter={self.importance_getter!r} is another importance")
        check_estimator(self.estimator)
        X, y = validate_data(
            self, X, y, accept_sparse="csr", ensure_min_features=2, ensure_all_finite=False, multi_output=True
        )
        groups = params.get("groups")
        call = Call.of("RFECV", self.estimator, X, y, groups, self.cv, None, self.scoring, n_jobs=self.n_jobs)
        steps = list(self._steps(call))
        scores, supports, rankings = (
            np.array([getattr(step, name) for step in steps[::-1]]).swapaxes(0, 1)
            for name in ("scores", "support", "ranking")
        )
        self.cv_results_ = {
            "mean_test_score": np.mean(scores, axis=0),
            "std_test_score": np.std(scores, axis=0),
            **{f"split{i}_test_score": values for i, values in enumerate(scores)},
            **{f"split{i}_ranking": values for i, values in enumerate(rankings[:-1])},
            **{f"split{i}_support": values for i, values in enumerate(supports[:-1])},
            "n_features": np.array([step.n_features for step in steps[::-1]]),
        }
        splits = steps[0].trees.splits
        number = self._number(float(np.mean([len(rows) for rows in splits.test])) / call.examples.n_rows)
        kept = next(step for step in steps if step.n_features == number)
        self.support_, self.ranking_ = kept.support[-1], kept.ranking[-1]
        self.n_features_ = self.support_.sum()
        columns = np.flatnonzero(self.support_)
        if is_scikit(self.estimator):
            self.estimator_ = kept.trees.fitted(0, -1, columns=columns)
        else:  # which cross-validates again
            self.estimator_ = clone(self.estimator).fit(X[:, columns], y)
        self._delegated = False

    def _steps(self, call: Call) -> Iterator[Step]:
        """Yield each step of the elimination, from all columns to the fewest."""
        trees = call.grow([{}], partial(Splits.of, final=True))
        n_columns, n_trees = call.examples.n_features, len(trees.splits) + 1
        least = min(self.min_features_to_select, n_columns)
        if self.min_features_to_select > n_columns:
            warnings.warn(
                f"Found min_features_to_select={self.min_features_to_select} > n_features={n_columns}. There "
                "will be no feature selection and all features will be kept.",
                UserWarning,
                stacklevel=5,
            )
        step = int(max(1, self.step * n_columns)) if 0.0 < self.step < 1.0 else int(self.step)
        support, ranking = np.ones((n_trees, n_columns), bool), np.ones((n_trees, n_columns), int)
        while True:
            n_left = int(support[0].sum())
            if self.verbose > 0:
                print(f"Fitting estimator with {n_left} features.")  # noqa: T201 - verbose output
            scores = [result["test_scores"] for result in trees.evaluate()]
            yield Step(n_left, scores, support.copy(), ranking.copy(), trees)
            if n_left <= least:
                return
            for kept, rank, importance in zip(support, ranking, trees.importances(), strict=True):
                columns = np.flatnonzero(kept)
                order = np.argsort(importance[columns] ** 2, kind="stable")
                kept[columns[order[: min(step, n_left - least)]]] = False
                rank[~kept] += 1
            trees = trees.restricted(support)

    def _number(self, test_fraction: float) -> int:
        """Return the number of columns to keep, if test sets have this mean fraction of the rows."""
        results = self.cv_results_
        means = results["mean_test_score"]  # from few columns to many
        n_splits = sum(name.endswith("_ranking") for name in results)
        best = int(np.argmax(np.sum([results[f"split{i}_test_score"] for i in range(n_splits)], axis=0)))
        if self.rule == "1se":
            scores = np.array([results[f"split{i}_test_score"][best] for i in range(n_splits)])
            error = mean_of_folds(scores, np.array([test_fraction]), 1).standard_error
            best = int(np.flatnonzero(means >= means[best] - np.nan_to_num(error))[0])
        return int(results["n_features"][best])


class Step(NamedTuple):
    """One step of the elimination; the last support and ranking belong to the final tree."""

    n_features: int
    scores: list[Any]
    support: NDArray[np.bool_]
    ranking: NDArray[np.int64]
    trees: CandidateTrees
