"""Smaller trees inside larger ones, by cost complexity, depth, impurity decrease or number of rows.

A *level* of pruning is one value of such a limit; levels run from large trees to small ones. ``level[i]`` is
the number of levels at which node i is still an inner node. So one array describes all smaller trees, and a
row that reaches a leaf of the whole tree ends, at each level, in an ancestor of that leaf.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from crosscut import _core
from crosscut.data.threads import n_threads
from crosscut.forest.forest import Forest, Packed, ranges
from crosscut.forest.predict import apply_rows, packed_of
from crosscut.forest.tree import decisions, expected, probabilities
from crosscut.tasks.growth import CRITERIA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from crosscut.forest.forest import Packed
    from crosscut.forest.predict import Trees
    from crosscut.forest.tree import Tree
    from crosscut.tasks.growth import Criterion, Limits

EPSILON = 2.220446049250313e-16  # scikit-learn's tolerance in the comparison with min_impurity_decrease
ABOVE_ZERO = 5e-324  # lowest alpha, for tests that do not decrease impurity
Measure = Literal["impurity", "error", "loss"]  # what pruning weighs against the number of leaves


@dataclass(frozen=True, eq=False)
class PruningPaths:
    """Minimal cost-complexity paths of all trees; those by impurity equal scikit-learn's.

    Attributes
    ----------
    node_alpha : float64 array
        For each node of all trees, the lowest ``ccp_alpha`` at which it is no longer an inner node; ``-inf``
        at leaves.
    """

    node_alpha: NDArray[np.float64]
    step_start: NDArray[np.int64]
    step_alpha: NDArray[np.float64]
    step_risk: NDArray[np.float64]
    step_leaves: NDArray[np.int32]

    def alphas(self, tree: int) -> NDArray[np.float64]:
        """Effective alphas of a tree's path (scikit-learn's ``ccp_alphas``), from 0 for the whole tree."""
        return self.step_alpha[self._steps(tree)]

    def risks(self, tree: int) -> NDArray[np.float64]:
        """Total impurity or error of the leaves after each step."""
        return self.step_risk[self._steps(tree)]

    def n_leaves(self, tree: int) -> NDArray[np.int32]:
        """Return the numbers of leaves after each step."""
        return self.step_leaves[self._steps(tree)]

    def _steps(self, tree: int) -> slice:
        return slice(int(self.step_start[tree]), int(self.step_start[tree + 1]))


def pruning_paths(
    trees: Trees | Tree, by: Measure = "impurity", *, n_jobs: int | None = None
) -> PruningPaths:
    """Return the minimal cost-complexity path of every tree (Breiman et al. 1984); cached.

    By impurity, alpha 0 does not prune, as in scikit-learn. By error or loss, alpha 0 prunes splits that do
    not lower the training error, as in CART and rpart.
    """
    packed = packed_of(trees)
    if by not in packed.paths:
        packed.paths[by] = _pruning_paths(packed, by, n_jobs)
    paths: PruningPaths = packed.paths[by]
    return paths


def _pruning_paths(packed: Packed, by: Measure, n_jobs: int | None) -> PruningPaths:
    counts = np.diff(packed.node_start)
    total = packed.weight[packed.node_start[:-1]]
    if by == "impurity" or packed.value.shape[1] == 1:  # squared errors are impurities
        risk = packed.weight * packed.impurity / np.repeat(total, counts)
        paths = PruningPaths(*packed.core.pruning_paths(risk, n_threads(n_jobs)))
        lowest = np.where(packed.feature >= 0, ABOVE_ZERO, -np.inf)
        return replace(paths, node_alpha=np.maximum(paths.node_alpha, lowest))
    # numbers of errors are integers: divide after adding them up, so that sums are exact
    risk = node_losses(packed, packed.value.shape[1])[1]
    paths = PruningPaths(*packed.core.pruning_paths(risk, n_threads(n_jobs)))
    rounding, steps = 1e-12 * risk[packed.node_start[:-1]], np.diff(paths.step_start)
    for alpha, tiny in (
        (paths.node_alpha, np.repeat(rounding, counts)),
        (paths.step_alpha, np.repeat(rounding, steps)),
    ):
        alpha[np.abs(alpha) <= tiny] = 0.0
    return replace(
        paths,
        node_alpha=paths.node_alpha / np.repeat(total, counts),
        step_alpha=paths.step_alpha / np.repeat(total, steps),
        step_risk=paths.step_risk / np.repeat(total, steps),
    )


def node_losses(packed: Packed, n_classes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the prediction of each node, and its total loss on the node's training rows."""
    if not n_classes:
        return np.ascontiguousarray(packed.value[:, 0]), packed.weight * packed.impurity
    prediction = decisions(packed.value, packed.loss)
    if packed.loss is None:
        return prediction.astype(np.float64), packed.weight - packed.value.max(axis=1)
    cost = expected(packed.value, packed.loss)[np.arange(len(prediction)), prediction]
    return prediction.astype(np.float64), cost


def alpha_levels(
    trees: Trees, alphas: ArrayLike, by: Measure = "impurity", *, n_jobs: int | None = None
) -> NDArray[np.int32]:
    """Return levels of ascending ``ccp_alpha``."""
    values = _ascending("ccp_alpha", alphas)
    if len(values) and values[0] < 0:
        raise ValueError(f"ccp_alpha must not be negative, not {values[0]}")
    node_alpha = pruning_paths(trees, by, n_jobs=n_jobs).node_alpha
    return np.searchsorted(values, node_alpha, side="left").astype(np.int32)


def depth_levels(trees: Trees, max_depths: Sequence[int | None]) -> NDArray[np.int32]:
    """Return levels of descending ``max_depth``; None is no limit."""
    packed = packed_of(trees)
    depths = np.array([np.iinfo(np.int32).max if depth is None else depth for depth in max_depths])
    values = _ascending("max_depth, from deep to shallow,", -depths)
    level = np.searchsorted(values, -packed.depth, side="left")  # inner where max_depth > depth
    return np.where(packed.feature >= 0, level, 0).astype(np.int32)


def size_levels(trees: Trees, min_samples_split: ArrayLike) -> NDArray[np.int32]:
    """Return levels of ascending ``min_samples_split`` (numbers of rows)."""
    packed = packed_of(trees)
    level = np.searchsorted(_ascending("min_samples_split", min_samples_split), packed.n_rows, side="right")
    return np.where(packed.feature >= 0, level, 0).astype(np.int32)


def decrease_levels(
    trees: Trees, min_impurity_decreases: ArrayLike, criterion: Criterion
) -> NDArray[np.int32]:
    """Return levels of ascending ``min_impurity_decrease``."""
    packed = packed_of(trees)
    values = _ascending("min_impurity_decrease", min_impurity_decreases)
    level = np.searchsorted(values, improvements(packed, criterion) + EPSILON, side="right")
    level = np.where(packed.feature >= 0, level, 0)
    for nodes, parents in packed.by_depth():  # nothing is split below a leaf
        level[nodes] = np.minimum(level[nodes], level[parents])
    return level.astype(np.int32)


def improvements(trees: Trees, criterion: Criterion) -> NDArray[np.float64]:
    """Return the impurity decrease by each node's test, divided by the total weight; 0 at leaves."""
    packed = packed_of(trees)
    sums = packed.value
    if CRITERIA[criterion].numbers:
        # any centre gives the same difference; the root's mean keeps squares small
        root = packed.node_start[packed.tree_of]
        product = packed.weight * (packed.value[:, 0] - packed.value[root, 0])
        sums = np.column_stack([product, packed.weight])
    quality = _core.branch_quality(criterion, np.ascontiguousarray(sums), packed.weight)
    children = packed.node_start[packed.tree_of[packed.child_owner]] + packed.children
    below = np.zeros_like(quality)
    np.add.at(below, packed.child_owner, quality[children])
    total = packed.weight[packed.node_start[packed.tree_of]]
    return np.where(packed.feature >= 0, (below - quality) / total, 0.0)


def importances(tree: Packed, criterion: Criterion, n_columns: int) -> NDArray[np.float64]:
    """Return each column's fraction of the impurity decrease by a tree's tests; zeros for a single leaf."""
    gain = np.zeros(n_columns)
    inner = tree.feature >= 0
    np.add.at(gain, tree.feature[inner], improvements(tree, criterion)[inner])
    return gain / gain.sum() if gain.sum() > 0 else gain


def cut(forest: Forest, level: NDArray[np.int32], at: int = 0) -> Forest:
    """Return the forest of the smaller trees of one level."""
    return Forest(forest.packed.cut(level > at)[0], forest.work)


def prune(
    forest: Forest,
    *,
    ccp_alpha: float = 0.0,
    by: Measure = "impurity",
    max_depth: int | None = None,
    min_impurity_decrease: float = 0.0,
    min_samples_split: int = 2,
    criterion: Criterion = "gini",
) -> Forest:
    """Return the trees that growing under these limits would give, cut from larger trees.

    Parameters
    ----------
    forest : Forest
        Trees grown under weaker limits.
    ccp_alpha, max_depth, min_impurity_decrease, min_samples_split
        As in scikit-learn.
    by : {"impurity", "error", "loss"}
        Measure that ``ccp_alpha`` is compared with.
    criterion : str
        Criterion of growing, which ``min_impurity_decrease`` is compared with.
    """
    level = None
    if max_depth is not None:
        level = depth_levels(forest, [max_depth])
    if min_samples_split > 2:
        level = _both(level, size_levels(forest, [min_samples_split]))
    if min_impurity_decrease > 0:
        level = _both(level, decrease_levels(forest, [min_impurity_decrease], criterion))
    if level is not None:
        forest = cut(forest, level)
    if ccp_alpha > 0:  # last, because the path depends on the other limits
        forest = cut(forest, alpha_levels(forest, [ccp_alpha], by))
    return forest


def _both(a: NDArray[np.int32] | None, b: NDArray[np.int32]) -> NDArray[np.int32]:
    return b if a is None else np.minimum(a, b)


def _ascending(name: str, values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or np.any(np.diff(array) < 0):
        raise ValueError(f"values of {name} must run from large trees to small ones, not {array}")
    return array


class Stops(Protocol):
    """Parameters of a candidate that decide where its trees stop inside the largest trees."""

    @property
    def limits(self) -> Limits:
        """Limits of growth."""

    @property
    def ccp_alpha(self) -> float:
        """Cost-complexity parameter."""

    @property
    def max_leaf_nodes(self) -> int | None:
        """Maximum number of leaves."""


class LargestTrees:
    """The largest trees of a setting; the trees of its candidates are parts of them.

    A *place* is a node numbered over all trees; a row *stops* at a place.
    """

    def __init__(self, packed: Packed, *, exact_ties: bool, min_impurity: float) -> None:
        self.packed = packed
        self.exact_ties = exact_ties  # Gini of row counts: impurities equal scikit-learn's to the last bit
        self.min_impurity = min_impurity

    @cached_property
    def label(self) -> NDArray[np.int64]:
        """Class code that each place predicts; ties go to the first class."""
        label: NDArray[np.int64] = self.packed.value.argmax(axis=1)
        return label

    @cached_property
    def mean(self) -> NDArray[np.float64]:
        """Number that each place predicts."""
        return self.packed.value[:, 0]

    @cached_property
    def probability(self) -> NDArray[np.float64]:
        """Class probabilities of each place."""
        return probabilities(self.packed.value)

    @cached_property
    def _impurity(self) -> NDArray[np.float64]:
        """Impurities; with exact counts, Gini is computed with scikit-learn's rounding."""
        packed = self.packed
        if not self.exact_ties:
            return packed.impurity
        squares = np.einsum("ij,ij->i", packed.value, packed.value)  # of counts: exact in any order
        return np.asarray(1.0 - squares / (packed.weight * packed.weight))

    @cached_property
    def _has_pure(self) -> bool:
        if self.exact_ties:  # growing has already stopped at pure nodes
            return False
        return bool(((self.packed.impurity <= self.min_impurity) & (self.packed.feature >= 0)).any())

    def leaves(
        self,
        x: NDArray[np.float32],
        trees: NDArray[np.int64],
        rows: Sequence[NDArray[np.int64]],
        n_jobs: int,
    ) -> NDArray[np.int64]:
        """Return the places where the ``rows`` of each of the ``trees`` end."""
        packed = self.packed
        order = np.argsort(trees, kind="stable")
        sizes = np.fromiter(map(len, rows), np.int64, len(rows))
        row_start = np.zeros(packed.n_trees + 1, np.int64)
        np.cumsum(np.bincount(trees, sizes, packed.n_trees), out=row_start[1:])
        leaf = apply_rows(packed, x, np.concatenate([rows[s] for s in order]), row_start, n_jobs)
        places = np.repeat(packed.node_start[:-1], np.diff(row_start)) + leaf
        result = np.empty_like(places)
        result[ranges(np.concatenate([[0], np.cumsum(sizes)]), order)] = places
        return result

    def stopped(self, places: NDArray[np.int64], candidate: Stops) -> NDArray[np.integer[Any]]:
        """Return where rows that ended at ``places`` stop in a candidate's trees."""
        stops = self.stops(candidate)
        return places if stops is None else stops[places]

    def stops(self, candidate: Stops) -> NDArray[np.int32] | None:
        """Return where rows that reach each place stop in a candidate's trees; None if at the leaves."""
        packed, limits = self.packed, candidate.limits
        depth, split = limits.max_depth, limits.min_samples_split
        leaves, ccp_alpha = candidate.max_leaf_nodes, candidate.ccp_alpha
        if isinstance(split, float):  # a fraction, which growing has already applied
            split = 2
        deep = depth is None or depth >= packed.depth.max()
        small = split <= 2 and not self._has_pure
        if deep and small and leaves is None and limits.min_impurity_decrease <= 0 and ccp_alpha <= 0:
            return None
        return packed.core.stop_nodes(
            self._impurity,
            -1 if depth is None else depth,
            -1 if leaves is None else leaves,
            split,
            limits.min_impurity_decrease,
            self.min_impurity,
            ccp_alpha,
            self.exact_ties,
        )

    def tree(self, t: int, candidate: Stops) -> Tree:
        """Return tree ``t`` under the limits of a candidate."""
        one = LargestTrees(self.packed.only(t), exact_ties=self.exact_ties, min_impurity=self.min_impurity)
        return one.trees(candidate).tree(0)

    def trees(self, candidate: Stops) -> Packed:
        """Return all trees under the limits of a candidate."""
        packed, stops = self.packed, self.stops(candidate)
        if stops is None:
            return packed
        # a node keeps its children if rows pass through it to them
        inner = np.zeros(len(stops), bool)
        kept = (stops == np.arange(len(stops))) & (packed.parent >= 0)
        inner[(packed.node_start[packed.tree_of] + packed.parent)[kept]] = True
        return packed.cut(inner)[0]
