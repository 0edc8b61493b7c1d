"""What every cross-validated estimator has: folds of an integer ``cv``, and the scores of the folds."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from crosscut.tasks import Tasks
from crosscut.tasks.splits import folds_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from crosscut.tasks.growth import Limits


Results = TypeVar("Results")  # what an estimator knows of held-out rows; it has ``scores``


class FoldScores(Generic[Results]):
    """Scores of the folds of a fitted estimator."""

    cv: Any
    scoring: Any
    random_state: Any
    _cv: Results | None
    _held_out_scores: NDArray[np.float64] | None

    def _cross_validation(self, name: str) -> Results:
        """Return the out-of-fold results; without any say that ``name`` needs them."""
        check_is_fitted(self)
        if self._cv is None:
            raise AttributeError(f"{name} needs cross-validation, but the model was fitted without (cv=None)")
        return self._cv

    def _without_folds(self) -> Self:
        """Return a copy of this fitted estimator without cross-validation."""
        model = object.__new__(type(self))
        model.__dict__.update(self.__dict__)
        model._cv = model._held_out_scores = None
        return model

    @property
    def cv_scores_(self) -> NDArray[np.float64]:
        """Score of each fold's model on the rows it holds out."""
        cv: Any = self._cross_validation("cv_scores_")
        return np.asarray(cv.scores) if self._held_out_scores is None else self._held_out_scores

    @property
    def cv_score_(self) -> float:
        """Mean of ``cv_scores_``."""
        return float(np.mean(self.cv_scores_))

    @property
    def cv_standard_error_(self) -> float:
        """Standard error of ``cv_score_`` over the folds."""
        scores = self.cv_scores_
        return float(np.std(scores, ddof=1) / math.sqrt(len(scores)))

    def _score_folds(
        self, X: Any, labels: NDArray[Any], tasks: Tasks, fold_estimator: Callable[[int], Any]
    ) -> NDArray[np.float64]:
        """Score as ``scoring`` says; ``fold_estimator(task)`` is a fitted copy with that task's model."""
        from sklearn.metrics import check_scoring

        scorer = check_scoring(self, self.scoring)
        scores = []
        for task in range(1, tasks.n_tasks):
            rows = tasks.test_rows(task)
            model = fold_estimator(task)
            scores.append(scorer(model, _safe_indexing(X, rows), labels[rows]))
        return np.array(scores, dtype=np.float64)

    def _tasks_of_folds(self, target: NDArray[Any], groups: Any, limits: Limits) -> Tasks:
        """Folds of an integer ``cv``; as many as the rows allow, since a final tree needs none at all."""
        if groups is not None:
            warnings.warn(
                f"groups is ignored by cv={self.cv}; use cv=GroupKFold({self.cv}) to keep groups together",
                UserWarning,
                stacklevel=4,
            )
        classifier = target.dtype.kind == "i"
        most = int(np.bincount(target).max()) if classifier else len(target)
        n_folds = min(int(self.cv), most)
        if n_folds < self.cv:
            warnings.warn(
                f"cv={self.cv} folds are more than "
                f"{'the largest class has rows' if classifier else 'there are rows'} ({most}); "
                + (f"{n_folds} folds are used" if n_folds > 1 else "there is no cross-validation"),
                UserWarning,
                stacklevel=4,
            )
        if n_folds < 2:
            return final_task(len(target), limits)
        if self.random_state is not None:
            from sklearn.model_selection import KFold, StratifiedKFold

            splitter = StratifiedKFold if classifier else KFold
            cv = splitter(n_folds, shuffle=True, random_state=self.random_state)
            return Tasks.from_cv(cv, target, X=np.empty((len(target), 1)), limits=limits)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # a class with fewer rows than folds is no news for the final tree
            folds = folds_of(n_folds, len(target), target if classifier else None)
        return Tasks.from_folds(folds, limits=limits)


def check_all_held_out(times: NDArray[np.int64]) -> None:
    """Say that there is no class for every row if some are never held out."""
    never = int(np.count_nonzero(times == 0))
    if never:
        raise AttributeError(
            f"cv_predictions_ needs every row to be held out, but cv never holds out {never} of the "
            f"{len(times)} rows; cv_probabilities_ has NaN for those"
        )


def final_task(n_rows: int, limits: Limits) -> Tasks:
    """Make the task that trains on everything, and no other."""
    masks = np.ones((1, n_rows), np.uint16)
    return Tasks(n_rows, 1, masks, np.empty(0, np.int64), np.zeros(2, np.int64), limits=(limits,))
