"""Grow the trees of all candidates on all splits, and score them."""

from __future__ import annotations

import time
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from crosscut.data.schema import Schema
from crosscut.forest.export.scikit import fit_sklearn
from crosscut.forest.forest import Forest, Packed
from crosscut.forest.smaller_trees import importances
from crosscut.model_selection.candidates import is_scikit, tree_of
from crosscut.model_selection.growing import grow_settings
from crosscut.model_selection.pipelines import TransformedRows
from crosscut.model_selection.rows import feature_names, weight_name
from crosscut.model_selection.scoring import PartScores
from crosscut.sklearn_private import _check_method_params, _safe_split
from crosscut.training.fit import Fit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from crosscut.forest.smaller_trees import LargestTrees
    from crosscut.forest.tree import Tree
    from crosscut.model_selection.call import Call
    from crosscut.model_selection.candidates import Candidate, Setting
    from crosscut.model_selection.rows import TrainingRows
    from crosscut.model_selection.splits import Splits
    from crosscut.typing import ErrorScore


@dataclass(frozen=True, eq=False)
class CandidateTrees:
    """All trees of a call: one per training set for each setting and each choice of pipeline steps."""

    call: Call
    parameters: Sequence[Mapping[str, Any]]
    candidates: list[Candidate]
    splits: Splits
    by_setting: dict[tuple[int, Setting], LargestTrees]
    views: list[TransformedRows]  # of a pipeline: the rows transformed by each choice of steps
    seconds: float

    @classmethod
    def of(
        cls,
        call: Call,
        parameters: Sequence[Mapping[str, Any]],
        candidates: list[Candidate],
        steps: list[Any],
        splits: Splits,
    ) -> CandidateTrees:
        """Grow the trees of all candidates on all training sets."""
        start, fit_params = time.perf_counter(), call.routed.estimator.fit
        step_params = {k: value for k, value in fit_params.items() if k != weight_name(call.estimator)}
        tree = tree_of(call.estimator)
        views = [TransformedRows(each, tree, call.examples, splits, step_params) for each in steps]
        by_setting: dict[tuple[int, Setting], LargestTrees] = {}
        for k, view in enumerate(views or [None]):
            part = [candidate for candidate in candidates if candidate.steps == k]
            trees = view.grow(part) if view else grow_settings(call.examples, part, splits.sets)
            by_setting |= {(k, setting): largest for setting, largest in trees.items()}
        return cls(call, parameters, candidates, splits, by_setting, views, time.perf_counter() - start)

    def largest(self, candidate: Candidate) -> LargestTrees:
        """Return the trees that contain a candidate's trees."""
        return self.by_setting[candidate.steps, candidate.setting]

    def leaves(self, part: str) -> dict[tuple[int, Setting], NDArray[np.int64]]:
        """Return the leaves that the "test" or "train" rows of each split reach, split after split."""
        leaves = {}
        for key, largest in self.by_setting.items():
            if self.views:
                x, rows = self.views[key[0]].stacked(part)
            else:
                x, rows = self.call.examples.rows, getattr(self.splits, part)
            leaves[key] = largest.leaves(x, self.splits.trees[: len(rows)], rows, self.call.examples.n_jobs)
        return leaves

    def restricted(self, features: NDArray[np.bool_]) -> CandidateTrees:
        """Grow the trees again; each may use only some of the columns."""
        splits = replace(self.splits, sets=replace(self.splits.sets, features=features))
        return CandidateTrees.of(self.call, self.parameters, self.candidates, [], splits)

    def importances(self) -> list[NDArray[np.float64]]:
        """Return the importances of the columns in each tree of the first candidate."""
        candidate = self.candidates[0]
        trees = [self.largest(candidate).tree(t, candidate) for t in self.splits.trees]
        n_columns = self.call.examples.n_features
        return [importances(Packed.of([tree]), n_columns) for tree in trees]

    def unfitted(self, c: int) -> BaseEstimator:
        """Return candidate ``c`` as an estimator."""
        return clone(self.call.estimator).set_params(**clone(dict(self.parameters[c]), safe=False))

    def fitted(
        self,
        c: int,
        s: int,
        *,
        like: Any = None,
        trees: Packed | None = None,
        columns: NDArray[np.int64] | None = None,
    ) -> BaseEstimator:
        """Return candidate ``c`` fitted on split ``s``, or on all rows (the final tree) if ``s`` is -1.

        It is a copy of ``like`` if that is passed; crosscut's trees are then not cross-validated. ``trees``
        are the candidate's trees, if they are known. A tree that uses only some ``columns`` may be fitted to
        a table of these columns.
        """
        simple = like is not None and tree_of(like) is like
        estimator = copy(like) if simple else self.unfitted(c)
        examples, tree = self.call.examples, tree_of(estimator)
        rows = np.arange(examples.n_rows) if s < 0 else self.splits.train[s]
        if like is None and not is_scikit(tree):
            fit_params = self.call.routed.estimator.fit
            params = _check_method_params(examples.X, params=fit_params, indices=rows)
            return estimator.fit(*_safe_split(estimator, examples.X, examples.passed_y, rows), **params)
        candidate, t = self.candidates[c], int(self.splits.trees[s])
        grown = self.largest(candidate).tree(t, candidate) if trees is None else trees.tree(t)
        names, n_features = feature_names(examples.X), examples.n_features
        if columns is not None:
            place = np.full(n_features + 1, -1, np.int32)  # leaves have column -1
            place[columns] = np.arange(len(columns))
            grown, n_features = replace(grown, feature=place[grown.feature]), len(columns)
        if self.views:
            prepared = self.views[candidate.steps].prepared[t]
            estimator.steps[:-1] = prepared.steps.steps
            names, n_features = prepared.names, prepared.matrix.shape[1]
        if names is not None:
            tree.feature_names_in_ = names
        tree.n_features_in_ = n_features
        _set_tree(tree, grown, examples, rows)
        return estimator

    def evaluate(
        self,
        score_params: Mapping[str, Any] | None = None,
        *,
        error_score: ErrorScore = "raise",
        return_train_score: bool = False,
        return_estimator: bool = False,
    ) -> list[dict[str, Any]]:
        """Return the results of scikit-learn's ``_fit_and_score`` for every split of every candidate.

        All splits are fitted and scored together, so each gets an equal part of the seconds.
        """
        score_params = self.call.routed.scorer.score if score_params is None else score_params
        n_splits = len(self.splits)
        n_fits = len(self.candidates) * n_splits
        scores, seconds = {}, {}
        for part in ["test", "train"] if return_train_score else ["test"]:
            start = time.perf_counter()
            scores[f"{part}_scores"] = PartScores(self, part, score_params, error_score).scores()
            seconds[part] = time.perf_counter() - start
        results = []
        for k in range(n_fits):
            result = {"fit_error": None, **{key: values[k] for key, values in scores.items()}}
            result["n_test_samples"] = len(self.splits.test[k % n_splits])
            result["fit_time"] = self.seconds / n_fits
            result["score_time"] = seconds["test"] / n_fits
            if return_estimator:
                result["estimator"] = self.fitted(k // n_splits, k % n_splits)
            results.append(result)
        return results


def _set_tree(estimator: BaseEstimator, tree: Tree, examples: TrainingRows, train: NDArray[np.int64]) -> None:
    """Set the attributes that fitting the rows ``train`` gives; crosscut's trees are not cross-validated."""
    classes = examples.classes
    if classes is not None:
        present = np.bincount(examples.codes[train], minlength=len(classes)) > 0
        tree, classes = replace(tree, value=tree.value[:, present]), classes[present]
    if is_scikit(estimator):
        fit_sklearn(estimator, tree, estimator.n_features_in_, classes)
        return
    schema = (
        Schema.of_matrix(np.empty((1, estimator.n_features_in_)))
        if examples.matrix is None  # in a pipeline, the steps before the tree return numbers
        else examples.exact_table.schema
    )
    forest = Forest([tree])
    estimator.fit_ = Fit(
        learner=type(estimator).__name__,
        settings=estimator.get_params(deep=False),
        schema=schema,
        classes=classes,
        forest=forest,
        grown=forest,
        alpha=float(estimator.ccp_alpha),
    )
