"""Out-of-fold predictions of relational trees."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.statistics.validation import Validation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut_relational.queries.tree import RelationalTree


class RelationalValidation(Validation):
    """Out-of-fold results of relational trees, stored as the leaf that each held-out example reaches.

    Parameters
    ----------
    trees : sequence of RelationalTree
        The final tree, and those of the folds.
    rows, row_start, y, classes
        As for :class:`crosscut.statistics.validation.Validation`.
    leaf : int32 array (len(rows),)
        The leaf that each held-out example reaches, as a number of its tree's nodes in preorder.
    m : float
        Weight of the prior in class probabilities.
    """

    def __init__(
        self,
        trees: Sequence[RelationalTree],
        rows: NDArray[np.int64],
        row_start: NDArray[np.int64],
        *,
        leaf: NDArray[np.int32],
        y: NDArray[Any],
        classes: NDArray[Any] | None,
        m: float,
    ) -> None:
        nodes = [list(tree.root.walk()) for tree in trees]
        numbers = [leaf[begin:end] for begin, end in pairwise(row_start)]
        self.reached = [[nodes[t][i] for i in each] for t, each in enumerate(numbers)]
        values = [tree.values(reached, m) for tree, reached in zip(trees, self.reached, strict=True)]
        super().__init__(y, classes, rows, row_start, np.concatenate(values))
        self.leaf = leaf

    @cached_property
    def decided(self) -> NDArray[Any]:
        """Class code, or number, that the leaf of each held-out example predicts."""
        values = np.array([leaf.prediction for each in self.reached for leaf in each], np.float64)
        return values if self.classes is None else values.astype(np.int64)

    @cached_property
    def predictions(self) -> NDArray[Any]:
        """Out-of-fold predictions. For examples in no fold: NaN for numbers, an error for classes."""
        if self.classes is None or len(self.rows) < len(self.y):
            return super().predictions
        codes = np.empty(len(self.y), np.int64)
        codes[self.rows] = self.decided
        return np.asarray(self.classes[codes])
