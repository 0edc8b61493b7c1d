"""What the held-out rows of a fit say about its trees; everything is computed when it is first asked for."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.predict import probabilities
from crosscut.forest.pruning_table import PruningTable, pruning_table
from crosscut.training.fold_scores import check_all_held_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.forest import Forest
    from crosscut.forest.predict import HeldOut


class CrossValidation:
    """Out-of-fold results of a forest.

    Parameters
    ----------
    forest : Forest
        Tree 0 is the final tree, the others hold rows out.
    held_out : HeldOut
        Leaves of the held-out rows.
    y : array
        Class codes or numbers of all rows.
    classes : array, optional
        The classes; None for regression.
    weights : float64 array, optional
        Row weights, for the pruning table.
    """

    def __init__(
        self,
        forest: Forest,
        held_out: HeldOut,
        y: NDArray[Any],
        classes: NDArray[Any] | None,
        weights: NDArray[np.float64] | None,
    ) -> None:
        self.forest = forest
        self.held_out = held_out
        self.y = y
        self.classes = classes
        self.weights = weights

    @cached_property
    def node(self) -> NDArray[np.int64]:
        """The leaf of each held-out row, counted over all trees."""
        return self.held_out.node(self.forest.packed)

    @cached_property
    def all_scores(self) -> NDArray[np.float64]:
        """Accuracy, or R², of every tree on the rows it holds out; NaN where there are none."""
        start = self.held_out.row_start
        value, y = self.forest.packed.value, self.y[self.held_out.rows]
        counts = np.diff(start)
        if self.classes is not None:
            right = value.argmax(axis=1)[self.node] == y
            sums = np.diff(np.concatenate([[0], np.cumsum(right)])[start])
            return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
        error = (y - value[self.node, 0]) ** 2
        scores = np.full(len(counts), np.nan)
        for t, (begin, end) in enumerate(pairwise(start)):
            if end - begin >= 2:  # one value has no variance to explain
                part = y[begin:end]
                residual, total = error[begin:end].sum(), ((part - part.mean()) ** 2).sum()
                scores[t] = 1 - residual / total if total else float(residual == 0)
        return scores

    @property
    def scores(self) -> NDArray[np.float64]:
        """Scores of the trees of the folds."""
        return self.all_scores[1:]

    @cached_property
    def times_held_out(self) -> NDArray[np.int64]:
        """How often each row is held out."""
        return np.bincount(self.held_out.rows, minlength=len(self.y))

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Out-of-fold class probabilities, or means, of every row; averages if it is held out repeatedly."""
        value = self.forest.packed.value
        if self.classes is not None:
            value = probabilities(value)
        total = np.zeros((len(self.y), value.shape[1]))
        np.add.at(total, self.held_out.rows, value[self.node])
        with np.errstate(invalid="ignore", divide="ignore"):  # rows that no task holds out become NaN
            return np.asarray(total / self.times_held_out[:, None])

    @cached_property
    def predictions(self) -> NDArray[Any]:
        """Out-of-fold prediction of every row; NaN, or an error for classes, if some are never held out."""
        if self.classes is None:
            return self.values[:, 0]
        check_all_held_out(self.times_held_out)
        if np.all(self.times_held_out == 1):
            codes = np.empty(len(self.y), np.int64)
            codes[self.held_out.rows] = self.forest.packed.value.argmax(axis=1)[self.node]
            return np.asarray(self.classes[codes])
        return np.asarray(self.classes[self.values.argmax(axis=1)])

    @cached_property
    def pruning_table(self) -> PruningTable:
        """The cross-validated pruning table."""
        n_classes = 0 if self.classes is None else len(self.classes)
        return pruning_table(self.forest, self.held_out, self.y, n_classes=n_classes, weights=self.weights)
