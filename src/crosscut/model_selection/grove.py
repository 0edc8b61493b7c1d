"""The trees of one lane, one per training set, and every smaller tree that is inside them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.forest import ranges
from crosscut.forest.predict import apply_rows, probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.forest.forest import Packed
    from crosscut.forest.tree import Tree
    from crosscut.model_selection.settings import Cut


class Grove:
    """Trees end to end. A *place* is a node counted over all of them; a row *stops* at a place."""

    def __init__(
        self, packed: Packed, trees: NDArray[np.int64], *, exact_ties: bool, min_impurity: float
    ) -> None:
        self.packed = packed
        self.trees = trees  # which of the packed trees is that of each training set; there may be others
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
        squares = np.zeros(len(packed.value))
        for of_class in packed.value.T:
            squares += of_class * of_class
        return 1.0 - squares / (packed.weight * packed.weight)

    @cached_property
    def _has_pure(self) -> bool:
        if self.exact_ties:  # growth itself tells which counts are pure
            return False
        return bool(((self.packed.impurity <= self.min_impurity) & (self.packed.feature >= 0)).any())

    def leaves(
        self, x: NDArray[np.float32], rows: Sequence[NDArray[np.int64]], n_jobs: int
    ) -> NDArray[np.int64]:
        """Return the places where the rows given for each training set end, one set after the other."""
        packed = self.packed
        trees = self.trees[: len(rows)]
        order = np.argsort(trees, kind="stable")
        sizes = np.fromiter(map(len, rows), np.int64, len(rows))
        row_start = np.zeros(packed.n_trees + 1, np.int64)
        np.cumsum(np.bincount(trees, sizes, packed.n_trees), out=row_start[1:])
        leaf = apply_rows(packed, x, np.concatenate([rows[s] for s in order]), row_start, n_jobs)
        places = np.repeat(packed.node_start[:-1], np.diff(row_start)) + leaf
        found = np.empty_like(places)
        found[ranges(np.concatenate([[0], np.cumsum(sizes)]), order)] = places
        return found

    def stopped(self, places: NDArray[np.int64], cut: Cut) -> NDArray[np.integer[Any]]:
        """Return where rows that ended at ``places`` stop in the trees as ``cut`` leaves them."""
        stops = self.stops(cut)
        return places if stops is None else stops[places]

    def stops(self, cut: Cut) -> NDArray[np.int32] | None:
        """Return where rows that reach each place stop in the cut trees; None: at the leaves."""
        packed = self.packed
        deep = cut.max_depth is None or cut.max_depth >= packed.depth.max()
        small = cut.min_samples_split <= 2 and not self._has_pure
        if deep and small and cut.min_decrease <= 0 and cut.alpha <= 0:
            return None
        return packed.core.stop_nodes(
            self._impurity,
            -1 if cut.max_depth is None else cut.max_depth,
            cut.min_samples_split,
            cut.min_decrease,
            self.min_impurity,
            cut.alpha,
            self.exact_ties,
        )

    def cut_tree(self, t: int, cut: Cut) -> Tree:
        """Return the tree of training set ``t`` as ``cut`` leaves it."""
        packed = self.packed.only(int(self.trees[t]))
        one = Grove(packed, np.arange(1), exact_ties=self.exact_ties, min_impurity=self.min_impurity)
        stops = one.stops(cut)
        if stops is None:
            return one.packed.tree(0)
        at = np.arange(len(stops))
        # a place is an inner node of the cut tree if rows go through it to its children
        inner = np.zeros(len(stops), bool)
        kept = (stops == at) & (one.packed.parent >= 0)
        inner[one.packed.parent[kept]] = True
        return one.packed.cut(inner)[0].tree(0)
