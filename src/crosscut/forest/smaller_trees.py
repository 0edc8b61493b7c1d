"""Smaller trees inside larger ones.

`node_alphas` describes all trees that cost-complexity pruning can give. `LargestTrees` finds the trees of any
limits of growth; the core closes nodes instead of growing again (``cpp/forest/subtree.cpp``).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from crosscut.data.threads import n_threads
from crosscut.forest.forest import Forest, ranges
from crosscut.forest.predict import apply_rows, packed_of
from crosscut.forest.tree import decisions, expected, probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.forest.forest import Packed
    from crosscut.forest.predict import Trees
    from crosscut.forest.tree import Tree
    from crosscut.tasks.growth import Limits

ABOVE_ZERO = 5e-324  # lowest alpha, for tests that do not decrease impurity
Measure = Literal["impurity", "error", "loss"]  # what pruning weighs against the number of leaves


def node_alphas(
    trees: Trees | Tree, by: Measure = "impurity", *, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Return, for each node of all trees, the lowest ``ccp_alpha`` at which it is not split; cached.

    Alphas follow from the minimal cost-complexity path of each tree (Breiman et al. 1984); leaves have -inf.
    By impurity, they are scikit-learn's, and alpha 0 does not prune. By error or loss, alpha 0 prunes splits
    that do not lower the training error, as in CART and rpart.
    """
    packed = packed_of(trees)
    if by not in packed.alphas:
        packed.alphas[by] = _node_alphas(packed, by, n_threads(n_jobs))
    return packed.alphas[by]


def _node_alphas(packed: Packed, by: Measure, threads: int) -> NDArray[np.float64]:
    counts = np.diff(packed.node_start)
    root = np.repeat(packed.node_start[:-1], counts)
    if by == "impurity" or packed.value.shape[1] == 1:  # squared errors are impurities
        alpha = packed.core.node_alphas(packed.weight * packed.impurity / packed.weight[root], threads)
        return np.maximum(alpha, np.where(packed.feature >= 0, ABOVE_ZERO, -np.inf))
    # numbers of errors are integers: divide after adding them up, so that sums are exact
    risk = node_losses(packed, packed.value.shape[1])[1]
    alpha = packed.core.node_alphas(risk, threads)
    alpha[np.abs(alpha) <= 1e-12 * risk[root]] = 0.0
    return alpha / packed.weight[root]


def node_losses(packed: Packed, n_classes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the prediction of each node, and its total loss on the node's training rows."""
    if not n_classes:
        return np.ascontiguousarray(packed.value[:, 0]), packed.weight * packed.impurity
    prediction = decisions(packed.value, packed.loss)
    if packed.loss is None:
        return prediction.astype(np.float64), packed.weight - packed.value.max(axis=1)
    cost = expected(packed.value, packed.loss)[np.arange(len(prediction)), prediction]
    return prediction.astype(np.float64), cost


def importances(tree: Packed, n_columns: int) -> NDArray[np.float64]:
    """Return each column's fraction of the impurity decrease by a tree's tests; zeros for a single leaf."""
    impurity = tree.weight * tree.impurity
    below = np.bincount(tree.child_owner, impurity[tree.children], minlength=len(impurity))
    inner = tree.feature >= 0
    gain = np.bincount(tree.feature[inner], (impurity - below)[inner], minlength=n_columns)
    fractions: NDArray[np.float64] = gain / gain.sum() if gain.sum() > 0 else np.zeros(n_columns)
    return fractions


def prune(forest: Forest, ccp_alpha: float, by: Measure = "impurity") -> Forest:
    """Prune every tree by cost complexity."""
    return Forest(forest.packed.cut(node_alphas(forest, by) > ccp_alpha)[0], forest.work)


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
