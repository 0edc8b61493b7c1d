"""What the classifier and the regressor have in common: fit, prune, predict, and the out-of-fold results."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from crosscut.engines.stream import Stream
from crosscut.estimators.fitted_tree import FittedTree, Leaves
from crosscut.estimators.table_estimator import TableEstimator
from crosscut.estimators.views import Views
from crosscut.forest.cost import cost_report
from crosscut.forest.forest import Forest
from crosscut.forest.pruning import pruning_paths
from crosscut.tasks import Tasks
from crosscut.training.checks import whole
from crosscut.training.fold_scores import FoldScores, final_task
from crosscut.training.training_set import Problem, is_integer, prune_each
from crosscut.training.validation import CrossValidation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.cost import CostReport
    from crosscut.forest.pruning_table import PruningTable
    from crosscut.forest.tree import Tree


@dataclass(kw_only=True, eq=False, repr=False)  # the parameters, as scikit-learn finds them in __init__
class CrossValidatedTree(FoldScores[CrossValidation], FittedTree, Views, TableEstimator, BaseEstimator):  # type: ignore[misc]  # untyped
    """A decision tree that is grown together with the trees of its cross-validation."""

    criterion: str = "squared_error"
    splits: str = "binary"
    max_depth: int | None = None
    min_samples_split: int | float = 2
    min_samples_leaf: int | float = 1
    min_impurity_decrease: float = 0.0
    ccp_alpha: float = 0.0
    max_bins: int | None = None
    cv: Any = 10
    prune: str | None = None
    scoring: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Grow the final tree and the trees of the folds.

        Parameters
        ----------
        X : array or frame (rows, columns)
            NumPy, pandas, polars or Arrow. Text and categorical columns are nominal attributes; NaN is
            missing. Data that need not fit in memory: paths of files, a polars LazyFrame, Dask data, or a
            :class:`crosscut.Stream` of them; ``y``, ``sample_weight`` and ``groups`` are then names of
            columns.
        y : array (rows,)
            Class labels, or numbers to predict.
        sample_weight : array (rows,), optional
            Weights of the rows.
        groups : array (rows,), optional
            Given to the splitter ``cv``.
        """
        if Stream.takes(X, y):
            return self._fit_stream(X, y, sample_weight, groups)
        X = whole(X)
        problem = Problem.read(self, X, y, sample_weight)
        if problem.classes is not None:
            self.classes_ = problem.classes
        tasks = self._tasks(X, problem, groups)
        self._schema = problem.table.schema
        self._cv = self._held_out_scores = None
        self._pruned_by: PruningTable | None = None
        self.ccp_alpha_ = float(self.ccp_alpha)
        self._n_missing = problem.n_missing
        self._grown = problem.grow(tasks)  # cost is that of growing, whatever is pruned later
        self.forest_ = prune_each(self, self._grown)
        if tasks.n_tasks == 1:
            return self
        self._cv = problem.validate(tasks, self.forest_)
        if self.prune in {"best", "1se"}:
            self._prune()
            self._cv = problem.validate(tasks, self.forest_)
        if self.scoring is not None:
            self._held_out_scores = self._score_folds(X, problem.labels, tasks, self._fold_estimator)
        return self

    def _fit_stream(self, X: Any, target: str, sample_weight: Any, groups: Any) -> Self:
        """Fit data that is not held in memory."""
        from crosscut.training.streamed_set import StreamedProblem

        problem = StreamedProblem.read(self, X, target, sample_weight, groups)
        if problem.coding.classes is not None:
            self.classes_ = problem.coding.classes
        self._schema = problem.coding.schema
        self.n_features_in_ = len(self._schema)
        self.feature_names_in_ = np.array(self._schema.names, dtype=object)
        self._cv = self._held_out_scores = self._pruned_by = None
        self.ccp_alpha_ = float(self.ccp_alpha)
        grown, sums = problem.grow()
        self._grown = grown
        self.forest_ = prune_each(self, grown)
        self._n_missing = problem.coding.n_missing
        if problem.folds.n_folds:
            self._cv = problem.validate(self.forest_, sums if self.forest_ is grown else None)
            if self.prune in {"best", "1se"}:
                self._prune()
                self._cv = problem.validate(self.forest_)
            if self.scoring is not None:
                self._held_out_scores = self._score_leaves()
        return self

    def _tasks(self, X: Any, problem: Problem, groups: Any) -> Tasks:
        """Make the final tree's task, and one per split of ``cv``."""
        limits = problem.limits()
        if self.cv is None:
            return final_task(problem.n_rows, limits)
        if is_integer(self.cv, 2):
            tasks = self._tasks_of_folds(problem.target.values, groups, limits)
        else:
            tasks = Tasks.from_cv(self.cv, problem.labels, groups, X=X, limits=limits)
        if isinstance(self.min_samples_leaf, float) or isinstance(self.min_samples_split, float):
            sizes = [len(tasks.train_rows(t)) for t in range(tasks.n_tasks)]
            tasks = replace(tasks, limits=tuple(problem.limits(size) for size in sizes))
        return tasks

    def _prune(self) -> None:
        """Cut the final tree at the chosen alpha, and the folds' trees where the table judged them."""
        assert self._cv is not None
        table = self._cv.pruning_table
        row = table.choose("1se" if self.prune == "1se" else "best")
        alpha = float(table.alpha[row])
        following = float(table.alpha[row + 1]) if row + 1 < len(table) else np.inf
        forest = self.forest_
        node_alpha = pruning_paths(forest).node_alpha
        of_folds = math.sqrt(alpha * following) if alpha else 0.0
        at = np.where(forest.packed.tree_of == 0, alpha, of_folds)
        self.forest_ = Forest(forest.packed.cut((node_alpha > at) | (at == 0))[0], forest.levels)
        self._pruned_by = table
        self.ccp_alpha_ = max(self.ccp_alpha_, alpha)

    def _score_leaves(self) -> NDArray[np.float64]:
        """Score the folds of a stream, of whose rows no more is kept than the leaves they reach."""
        from sklearn.metrics import check_scoring

        assert self._cv is not None
        scorer = check_scoring(self, self.scoring)
        held_out, classes = self._cv.held_out, self._cv.classes
        labels = self._cv.y if classes is None else classes[self._cv.y]
        scores = []
        for task in range(1, len(self.forest_)):
            own = held_out.of(task)
            rows = Leaves(held_out.leaf[own])
            scores.append(scorer(self._fold_estimator(task), rows, labels[held_out.rows[own]]))
        return np.array(scores, dtype=np.float64)

    def _fold_estimator(self, task: int) -> Self:
        """Return a fitted copy of this estimator whose tree is that of a task."""
        model = self._without_folds()
        model._pruned_by = None  # noqa: SLF001, of this class
        model.forest_ = Forest(self.forest_.packed.only(task))
        return model

    # out-of-fold results

    @property
    def cv_trees_(self) -> tuple[Tree, ...]:
        """The trees of the folds."""
        return self._cross_validation("cv_trees_").forest.trees[1:]

    @property
    def cv_predictions_(self) -> NDArray[Any]:
        """Prediction of every row by the tree that holds it out."""
        return self._cross_validation("cv_predictions_").predictions

    @property
    def pruning_table_(self) -> PruningTable:
        """Every pruning of the final tree, with its cross-validated error (rpart's cp table)."""
        cv = self._cross_validation("pruning_table_")
        return cv.pruning_table if self._pruned_by is None else self._pruned_by

    def explain_cost(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> CostReport:
        """Compare the paper's cost model with what growing these trees cost.

        Parameters
        ----------
        X, y, sample_weight : optional
            The training data once more: the trees are then grown again, all at once and one by one, and the
            report has the speed-up in processor time as well.
        """
        held_out = self._cross_validation("explain_cost()").held_out
        measured = None
        if X is not None:
            problem = Problem.read(self, X, y, sample_weight)
            everything = np.arange(problem.n_rows)
            tests = [held_out.rows[held_out.of(task)] for task in range(1, len(self.forest_))]
            splits = [(np.setdiff1d(everything, rows), rows) for rows in tests]
            tasks = Tasks.from_splits(splits, problem.n_rows, limits=problem.limits())
            measured = _processor_time(problem, [tasks.take([t]) for t in range(len(tasks))])
            measured /= _processor_time(problem, [tasks])
        return cost_report(self._grown, self.n_features_in_, measured)


def _processor_time(problem: Problem, lists: list[Tasks]) -> float:
    start = time.process_time()
    for tasks in lists:
        problem.grow(tasks)
    return time.process_time() - start
