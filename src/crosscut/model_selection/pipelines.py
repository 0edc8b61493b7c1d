"""Pipelines that end in a tree: steps are fitted per training set, and trees grow together if they can."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from crosscut.forest.forest import Packed
from crosscut.forest.smaller_trees import LargestTrees
from crosscut.model_selection.candidates import NotShared, is_scikit, read_candidates, tree_of
from crosscut.model_selection.growing import grow_settings
from crosscut.model_selection.rows import feature_names, read_matrix
from crosscut.sklearn_private import _check_method_params, _safe_split
from crosscut.tasks import Tasks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from crosscut.forest.tree import Tree
    from crosscut.model_selection.candidates import Candidate, Setting
    from crosscut.model_selection.rows import TrainingRows
    from crosscut.model_selection.splits import Splits
    from crosscut.typing import TableLike

MAX_CELLS = 1 << 28  # of a sparse matrix that is made dense
GAP = np.float32(1e-7)  # scikit-learn does not split between values that differ by at most this


def read_estimator(
    estimator: BaseEstimator, candidates: Sequence[Mapping[str, Any]], examples: TrainingRows
) -> tuple[list[Candidate], list[Any]]:
    """Return the candidates, and the different choices of a pipeline's steps; for a tree there are none."""
    tree, weighted = tree_of(estimator), examples.weights is not None
    if tree is estimator:
        return read_candidates(tree, candidates, examples.n_features, weighted=weighted), []
    name = estimator.steps[-1][0]
    steps: list[Any] = []
    tree_params, number = [], []
    known: dict[Any, int] = {}
    for candidate in candidates:
        rest = {key: value for key, value in candidate.items() if not key.startswith(f"{name}__")}
        if not rest.keys().isdisjoint({name, "steps"}):
            raise NotShared("a candidate replaces the tree of the pipeline")
        tree_params.append({key.removeprefix(f"{name}__"): candidate[key] for key in candidate.keys() - rest})
        key = tuple(
            (key, value if isinstance(value, str | int | float) else id(value)) for key, value in rest.items()
        )
        if key not in known:
            known[key] = len(steps)
            try:
                steps.append(clone(estimator).set_params(**clone(rest, safe=False))[:-1])
            except ValueError as error:
                raise NotShared(str(error)) from None
        number.append(known[key])
    read = read_candidates(tree, tree_params, 0, weighted=weighted)
    return [each._replace(steps=k) for each, k in zip(read, number, strict=True)], steps


@dataclass(frozen=True, eq=False)
class FittedSteps:
    """The steps fitted to one training set, and its transformed rows."""

    steps: BaseEstimator  # fitted
    matrix: NDArray[np.float32]  # the transformed rows
    names: NDArray[Any] | None  # of the columns


class TransformedRows:
    """The rows of each split, transformed by a pipeline's steps that are fitted to its training set."""

    def __init__(
        self,
        steps: BaseEstimator,
        tree: BaseEstimator,
        examples: TrainingRows,
        splits: Splits,
        fit_params: Mapping[str, Any],
    ) -> None:
        self.steps, self.tree, self.fit_params = steps, tree, fit_params
        self.examples, self.splits = examples, splits
        everything = np.arange(examples.n_rows)
        train = dict(zip(splits.trees.tolist(), [*splits.train, everything], strict=False))
        self.train = [train[t] for t in range(len(splits.sets))]
        self.prepared = [self._prepare(rows) for rows in self.train]
        self.stacks: dict[str, tuple[NDArray[np.float32], list[NDArray[np.int64]]]] = {}
        self.stacked("test")  # so that failing steps fail before trees are grown

    def _prepare(self, rows: NDArray[np.int64]) -> FittedSteps:
        X, y = _safe_split(self.steps, self.examples.X, self.examples.passed_y, rows)
        params = _check_method_params(self.examples.X, params=self.fit_params, indices=rows)
        steps = clone(self.steps)
        try:
            transformed = steps.fit_transform(X, y, **params)
            names = feature_names(transformed)
        except Exception as error:  # noqa: BLE001 - scikit-learn reports it
            raise NotShared(f"the steps of the pipeline fail: {error}") from None
        return FittedSteps(steps, self._matrix(transformed), names)

    def _matrix(self, X: TableLike) -> NDArray[np.float32]:
        if issparse(X):
            if X.shape[0] * X.shape[1] > MAX_CELLS or not np.isfinite(X.data).all():
                raise NotShared("the steps return a sparse matrix that is too large or has missing values")
            X = X.toarray()
        if not is_scikit(self.tree) and type(X) is not np.ndarray:
            raise NotShared(f"the steps pass a {type(X).__name__} to {type(self.tree).__name__}")
        return read_matrix(X)

    def _transform(self, t: int, rows: NDArray[np.int64]) -> TableLike:
        X, _ = _safe_split(self.steps, self.examples.X, None, rows)
        try:
            return self.prepared[t].steps.transform(X)
        except Exception as error:  # noqa: BLE001 - scikit-learn reports it
            raise NotShared(f"the steps of the pipeline fail: {error}") from None

    def stacked(self, part: str) -> tuple[NDArray[np.float32], list[NDArray[np.int64]]]:
        """Return the "test" or "train" rows of all splits in one matrix, and the positions of each split."""
        if part not in self.stacks:
            rows = getattr(self.splits, part)
            trees = self.splits.trees.tolist()
            matrices = [self._matrix(self._transform(trees[s], part)) for s, part in enumerate(rows)]
            first = np.cumsum([0, *map(len, rows)])
            places = [np.arange(*first[s : s + 2]) for s in range(len(rows))]
            # training sets may have different numbers of columns; a tree never tests columns that it lacks
            stack = np.zeros((first[-1], max(matrix.shape[1] for matrix in matrices)), np.float32)
            for place, matrix in zip(places, matrices, strict=True):
                stack[place, : matrix.shape[1]] = matrix
            self.stacks[part] = stack, places
        return self.stacks[part]

    def grow(self, candidates: Sequence[Candidate]) -> dict[Setting, LargestTrees]:
        """Grow the trees of every setting, one for each training set.

        Training sets whose columns sort the rows in the same order grow together on ranks. Each tree then
        gets thresholds between its own values. The other training sets grow separately.
        """
        trees: dict[int, dict[Setting, Tree]] = {}
        by_setting: dict[Setting, LargestTrees] = {}
        binned = any(candidate.setting.max_bins is not None for candidate in candidates)
        codes, same_order = (self.examples.matrix, []) if binned else self._same_order()
        if same_order:
            ranked = self.examples.with_matrix(codes)
            by_setting = grow_settings(ranked, candidates, self.splits.sets.take(same_order))
        for k, t in enumerate(same_order):
            with_values = {
                setting: tree
                for setting, largest in by_setting.items()
                if (tree := self._with_values(largest.packed.tree(k), t, codes)) is not None
            }
            if len(with_values) == len(by_setting):
                trees[t] = with_values
        for t, rows in enumerate(self.train):
            if t not in trees:
                part = self.examples.part(rows, self.prepared[t].matrix)
                everything = Tasks.from_rows([np.arange(len(rows))], len(rows))
                by_setting = grow_settings(part, candidates, everything)
                trees[t] = {setting: largest.packed.tree(0) for setting, largest in by_setting.items()}
        return {
            setting: LargestTrees(
                Packed.of([trees[t][setting] for t in range(len(self.train))]),
                exact_ties=largest.exact_ties,
                min_impurity=largest.min_impurity,
            )
            for setting, largest in by_setting.items()
        }

    def _same_order(self) -> tuple[NDArray[np.float32], list[int]]:
        """Return the values of all rows as ranks, and the training sets whose values increase with the ranks.

        This holds for steps that keep the order, such as scalers, and for steps that do not depend on the
        training set. Equal ranks must have equal values. Neighbouring ranks may have equal values, too, which
        :meth:`_with_values` checks.
        """
        n_rows = self.examples.n_rows
        last = int(self.splits.trees[-1])
        values = self._transform(last, np.arange(n_rows))
        values = np.asarray(values.toarray() if issparse(values) else values)
        matrices = [each.matrix for each in self.prepared]
        same_order = [t for t, matrix in enumerate(matrices) if matrix.shape[1:] == values.shape[1:]]
        places = {}
        for t in same_order:
            places[t] = np.full(n_rows, -1)
            places[t][self.train[t]] = np.arange(len(self.train[t]))
        codes = np.empty(values.shape, np.float32)
        for f in range(values.shape[1]):
            column = values[:, f].astype(np.float64)
            order = np.argsort(column, kind="stable")
            ranked = column[order]
            codes[order, f] = np.concatenate([[0], np.cumsum(ranked[1:] != ranked[:-1])])
            codes[np.isnan(column), f] = np.nan
            same_order = [
                t
                for t in same_order
                if _increases(matrices[t][:, f], codes[self.train[t], f], places[t][order])
            ]
            if len(same_order) < 2:
                return codes, []
        return codes, same_order

    def _with_values(self, tree: Tree, t: int, codes: NDArray[np.float32]) -> Tree | None:
        """Replace a tree's ranks by values of training set ``t``; None if a test splits equal values."""
        low, high = tree.low.copy(), tree.high.copy()
        numeric = np.isfinite(low)  # infinite where a test separates missing values from all others
        for f in np.unique(tree.feature[numeric]):
            ranks = codes[self.train[t], f]
            known = np.flatnonzero(~np.isnan(ranks))
            value = np.empty(int(ranks[known].max()) + 1, np.float32)
            value[ranks[known].astype(np.int64)] = self.prepared[t].matrix[known, f]
            at = numeric & (tree.feature == f)
            low[at], high[at] = (value[side[at].astype(np.int64)] for side in (low, high))
        if (low[numeric] + GAP >= high[numeric]).any():
            return None
        middle = low.astype(np.float64) / 2 + high.astype(np.float64) / 2
        middle = np.where((middle == high) | np.isinf(middle), low, middle)
        return replace(tree, low=low, high=high, threshold=np.where(numeric, middle, tree.threshold))


def _increases(values: NDArray[np.float32], ranks: NDArray[np.float32], order: NDArray[np.int64]) -> bool:
    """Whether values never decrease in the ``order`` of their ranks, and are equal where ranks are."""
    order = order[order >= 0]
    value, rank = values[order], ranks[order]
    known = ~np.isnan(rank)
    if np.isnan(value[known]).any() or not np.isnan(value[~known]).all():
        return False
    value, rank = value[known], rank[known]
    higher = value[1:] > value[:-1]
    same = value[1:] == value[:-1]
    return bool(np.all(np.where(rank[1:] == rank[:-1], same, same | higher)))
