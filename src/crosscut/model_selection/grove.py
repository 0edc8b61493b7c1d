"""The trees of one setting, one per training set, and every smaller tree that is inside them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.forest import ranges
from crosscut.forest.predict import apply_rows
from crosscut.forest.tree import probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.forest.forest import Packed
    from crosscut.forest.tree import Tree
    from crosscut.model_selection.settings import Candidate


class Grove:
    """Trees end to end. A *place* is a node counted over all of them; a row *stops* at a place."""

    def __init__(self, packed: Packed, *, exact_ties: bool, min_impurity: float) -> None:
        self.packed = packed
        self.exact_ties = exact_ties  # impurities can be had to scikit-learn's last bit: Gini of row counts
        self.min_impurity = min_impurity

    @cached_property
    def label(self) -> NDArray[np.int64]:
        """Class code that each place predicts; the first of the heaviest classes."""
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
        """Impurities; those of Gini, if counts are exact, in scikit-learn's own arithmetic."""
        packed = self.packed
        if not self.exact_ties:
            return packed.impurity
        squares = np.einsum("ij,ij->i", packed.value, packed.value)  # of counts: exact in any order
        return np.asarray(1.0 - squares / (packed.weight * packed.weight))

    @cached_property
    def _has_pure(self) -> bool:
        if self.exact_ties:  # growth itself tells which counts are pure
            return False
        return bool(((self.packed.impurity <= self.min_impurity) & (self.packed.feature >= 0)).any())

    def leaves(
        self,
        x: NDArray[np.float32],
        trees: NDArray[np.int64],
        rows: Sequence[NDArray[np.int64]],
        n_jobs: int,
    ) -> NDArray[np.int64]:
        """Return the places where the rows given for each of the ``trees`` end."""
        packed = self.packed
        order = np.argsort(trees, kind="stable")
        sizes = np.fromiter(map(len, rows), np.int64, len(rows))
        row_start = np.zeros(packed.n_trees + 1, np.int64)
        np.cumsum(np.bincount(trees, sizes, packed.n_trees), out=row_start[1:])
        leaf = apply_rows(packed, x, np.concatenate([rows[s] for s in order]), row_start, n_jobs)
        places = np.repeat(packed.node_start[:-1], np.diff(row_start)) + leaf
        found = np.empty_like(places)
        found[ranges(np.concatenate([[0], np.cumsum(sizes)]), order)] = places
        return found

    def stopped(self, places: NDArray[np.int64], candidate: Candidate) -> NDArray[np.integer[Any]]:
        """Return where rows that ended at ``places`` stop in a candidate's trees."""
        stops = self.stops(candidate)
        return places if stops is None else stops[places]

    def stops(self, candidate: Candidate) -> NDArray[np.int32] | None:
        """Return where rows that reach each place stop in a candidate's trees; None: at the leaves."""
        packed, limits = self.packed, candidate.limits
        depth, split = limits.max_depth, limits.min_samples_split
        leaves, ccp_alpha = candidate.max_leaf_nodes, candidate.ccp_alpha
        if isinstance(split, float):  # the trees were grown under a share
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

    def tree(self, t: int, candidate: Candidate) -> Tree:
        """Return tree ``t``, made as small as a candidate asks for."""
        one = Grove(self.packed.only(t), exact_ties=self.exact_ties, min_impurity=self.min_impurity)
        return one.trees(candidate).tree(0)

    def trees(self, candidate: Candidate) -> Packed:
        """Return all trees, made as small as a candidate asks for."""
        packed, stops = self.packed, self.stops(candidate)
        if stops is None:
            return packed
        # a node keeps its children if rows go through it to them
        inner = np.zeros(len(stops), bool)
        kept = (stops == np.arange(len(stops))) & (packed.parent >= 0)
        inner[(packed.node_start[packed.tree_of] + packed.parent)[kept]] = True
        return packed.cut(inner)[0]
