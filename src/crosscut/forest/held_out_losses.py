"""Errors of all prunings of the final tree, estimated on the rows that the folds hold out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.pruning_table import PruningTable, lowest
from crosscut.forest.smaller_trees import node_alphas, node_losses

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from crosscut.forest.forest import Forest, Packed
    from crosscut.forest.predict import HeldOut
    from crosscut.forest.smaller_trees import Measure


def rpart_alphas(packed: Packed, risk: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the lowest complexity at which each node is a leaf in rpart, or -inf if it always is one.

    From the leaves up, the complexity of a node is the risk reduction per split of its subtree. A child with
    a lower complexity counts as a leaf, the lower of the two first; deeper nodes are not considered again. A
    node without risk reduction becomes a leaf. From the root down, complexities are limited to the parent's.

    Parameters
    ----------
    packed : Packed
        Trees whose tests have two branches.
    risk : float64 array
        Error of each node as a leaf.
    """
    if np.any(np.diff(packed.child_owner[::2]) == 0) or len(packed.child_owner) % 2:
        raise ValueError(
            "rpart's tests have two branches, but these trees have more; grow them with splits='binary'"
        )
    inner = packed.child_owner[::2]
    left, right = (packed.node_start[packed.tree_of[inner]] + packed.children[k::2] for k in (0, 1))
    complexity, below, splits = np.zeros(len(risk)), risk.copy(), np.zeros(len(risk))
    root = risk[packed.node_start[packed.tree_of]]

    for depth in range(int(packed.depth.max()) - 1, -1, -1):
        now = packed.depth[inner] == depth
        node, a, b = inner[now], left[now], right[now]
        a, b = np.where(complexity[b] > complexity[a], [a, b], [b, a])  # a collapses first
        under, number = below[[a, b]], splits[[a, b]]
        collapses = np.ones(len(node), bool)
        for k, child in enumerate((a, b)):
            collapses &= (risk[node] - under.sum(axis=0)) / (number.sum(axis=0) + 1) > complexity[child]
            under[k], number[k] = (
                np.where(collapses, risk[child], under[k]),
                np.where(collapses, 0, number[k]),
            )
        saved = (risk[node] - under.sum(axis=0)) / (number.sum(axis=0) + 1)
        positive = saved > 1e-12 * root[node]  # above 0 by more than rounding
        complexity[node] = np.where(positive, saved, 0.0)
        below[node] = np.where(positive, under.sum(axis=0), risk[node])
        splits[node] = np.where(positive, number.sum(axis=0) + 1, 0)

    for nodes, parents in packed.by_depth():
        complexity[nodes] = np.minimum(complexity[nodes], complexity[parents])
    return np.where(complexity > 0, complexity, -np.inf)


def pruning_table(
    forest: Forest,
    held_out: HeldOut,
    y: NDArray[Any],
    *,
    n_classes: int,
    weights: NDArray[np.float64] | None = None,
    by: Measure = "impurity",
) -> PruningTable:
    """Compute the error of every pruning of the final tree on the held-out rows of the folds.

    Parameters
    ----------
    forest : Forest
        Tree 0 is the final tree; the other trees hold out rows.
    held_out : HeldOut
        Leaves of the held-out rows, from ``crosscut.forest.predict.apply_held_out``.
    y : array
        Class codes or numbers of all rows.
    n_classes : int
        0 for regression.
    weights : float64 array, optional
        Weights of the rows in the errors.
    by : {"impurity", "error", "loss"}
        Measure that pruning weighs against the number of leaves; "loss" is the loss of the forest.
    """
    losses_of = partial(Prunings.losses, held_out=held_out, y=y, weights=weights)
    return table_from(losses_of, forest.packed, n_classes, by)


def table_from(
    losses_of: Callable[..., Losses],
    packed: Packed,
    n_classes: int,
    by: Measure = "impurity",
    *,
    rpart: bool = False,
) -> PruningTable:
    """Return the pruning table of some trees.

    ``losses_of(prunings, against=None)`` adds up the losses of all held-out rows like `Prunings.losses`.
    """
    prunings = Prunings(packed, n_classes, by, rpart=rpart)
    losses = losses_of(prunings)
    table = prunings.table(losses, losses_of(prunings, against=lowest(losses.total)))
    if rpart or table.by == "impurity":
        return table
    return replace(table, rpart=partial(table_from, losses_of, packed, n_classes, by, rpart=True))


@dataclass(frozen=True, eq=False)
class Losses:
    """Held-out rows, their weight, and weighted sums of losses and squared losses for each pruning.

    For losses against a pruning, ``total`` sums products with the row's loss under that pruning.
    """

    n_rows: int
    weight: float
    total: NDArray[np.float64]
    squares: NDArray[np.float64]

    def __add__(self, other: Losses) -> Losses:
        """Add the losses of other rows."""
        return Losses(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            self.total + other.total,
            self.squares + other.squares,
        )


class Prunings:
    """All prunings of a forest's final tree, to be compared on the held-out rows of the folds.

    Parameters
    ----------
    packed : Packed
        Tree 0 is the final tree.
    n_classes : int
        0 for regression.
    by : {"impurity", "error", "loss"}
        Measure that pruning weighs against the number of leaves.
    rpart : bool
        Whether nodes are pruned in rpart's order instead of CART's.
    """

    def __init__(
        self, packed: Packed, n_classes: int, by: Measure = "impurity", *, rpart: bool = False
    ) -> None:
        self.packed, self.by = packed, by if n_classes else "error"
        self.cost = None
        if n_classes:
            self.cost = 1.0 - np.eye(n_classes) if packed.loss is None else packed.loss
        self.prediction, error = node_losses(packed, n_classes)
        node_alpha = (
            rpart_alphas(packed, error) / packed.weight[packed.node_start[packed.tree_of]]
            if rpart
            else node_alphas(packed, by)
        )
        final, nodes = packed.only(0), slice(0, int(packed.node_start[1]))
        self.alpha = _distinct(node_alpha[nodes])
        between = np.append(np.sqrt(self.alpha[:-1] * self.alpha[1:]), np.inf)
        self._level = np.searchsorted(between, node_alpha, side="left").astype(np.int32)
        final_level = np.searchsorted(self.alpha, node_alpha[nodes], side="left")
        # a node is a leaf of the trees between its own level and its parent's
        until = np.where(final.parent < 0, len(self.alpha), final_level[final.parent])

        def sum_over_leaves(amount: NDArray[Any]) -> NDArray[np.float64]:
            change = np.zeros(len(self.alpha) + 1)
            np.add.at(change, final_level, amount)
            np.subtract.at(change, until, amount)
            return np.cumsum(change)[:-1]

        self.n_leaves = np.rint(sum_over_leaves(np.ones(len(final.feature)))).astype(np.int64)
        self.train_error = np.maximum(sum_over_leaves(error[nodes]) / packed.weight[0], 0.0)

    def losses(
        self,
        held_out: HeldOut,
        y: NDArray[Any],
        weights: NDArray[np.float64] | None = None,
        *,
        against: int | None = None,
    ) -> Losses:
        """Add up the losses of held-out rows, or their products with the losses under one pruning.

        ``y`` and ``weights`` cover all rows.
        """
        w = None if weights is None else np.ascontiguousarray(weights[held_out.rows], dtype=np.float64)
        weight, times = float(len(held_out.rows) if w is None else w.sum()), np.bincount(held_out.rows)
        if against is not None:
            loss = self._loss_at(against, held_out, y, times)
            w = loss if w is None else w * loss
        total, squares = self.packed.core.cut_losses(
            self._level,
            len(self.alpha),
            held_out.leaf,
            held_out.row_start,
            self.prediction,
            np.ascontiguousarray(y[held_out.rows], dtype=np.float64),
            w,
            self.cost,
        )
        if against is None and times.max(initial=0) > 1:  # average a row's repeats, which are not independent
            squares = self._squares_of_rows(held_out, y, weights, times)
        return Losses(int(np.count_nonzero(times)), weight, total, squares)

    def _loss_at(
        self, row: int, held_out: HeldOut, y: NDArray[Any], times: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the loss of each held-out row under one pruning, averaged over its repeats."""
        ends = self.packed.ends(self._level > row)[held_out.node(self.packed)]
        loss = self._loss(y[held_out.rows], self.prediction[ends])
        return (np.bincount(held_out.rows, loss) / np.maximum(times, 1))[held_out.rows]

    def _loss(self, y: NDArray[Any], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
        return (y - predicted) ** 2 if self.cost is None else self.cost[y, predicted.astype(np.int64)]

    def _squares_of_rows(
        self,
        held_out: HeldOut,
        y: NDArray[Any],
        weights: NDArray[np.float64] | None,
        times: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return, for each pruning, the sum of squares of rows' losses averaged over their repeats.

        The sum of a row's losses changes only where pruning removes one of its leaves. So it is enough to add
        up these changes, sorted by row and pruning.
        """
        change = self._changes(held_out, y)
        row, level, amount = (np.concatenate(part) for part in zip(*change, strict=True))
        order = np.lexsort((level, row))
        row, level, amount = row[order], level[order], amount[order]
        total = np.cumsum(amount, dtype=np.longdouble)
        first = np.flatnonzero(np.diff(row, prepend=-1))
        before = np.repeat(total[first] - amount[first], np.diff(first, append=len(row)))
        after = (total - before).astype(np.float64)  # the row's sum of losses after this change
        squares = (after**2 - (after - amount) ** 2) / times[row]
        if weights is not None:
            squares *= weights[row]
        return np.cumsum(np.bincount(level, squares, minlength=len(self.alpha)))

    def _changes(self, held_out: HeldOut, y: NDArray[Any]) -> list[tuple[NDArray[Any], ...]]:
        """Return row, pruning and amount of each change of a row's loss, one part per step upwards."""
        packed, n_levels = self.packed, len(self.alpha)
        first = packed.node_start[:-1][packed.tree_of]
        parent = np.where(packed.parent < 0, -1, packed.parent + first)
        until = np.where(parent < 0, n_levels, np.minimum(self._level[parent], n_levels))
        row, node = held_out.rows, held_out.node(packed)
        level, loss = np.zeros(len(row), np.int64), np.zeros(len(row))
        changes: list[tuple[NDArray[Any], ...]] = []
        while len(row):
            new = self._loss(y[row], self.prediction[node])
            change = np.where(until[node] > level, new - loss, 0.0)
            changed = change != 0
            changes.append((row[changed], level[changed], change[changed]))
            loss, level = loss + change, np.maximum(level, until[node])
            node = parent[node]
            on = (node >= 0) & (level < n_levels)
            row, node, level, loss = row[on], node[on], level[on], loss[on]
        return changes

    def table(self, losses: Losses, products: Losses) -> PruningTable:
        """Return the table from the losses of all rows and their products with those of the best pruning."""
        n_rows, weight, best = losses.n_rows, losses.weight, lowest(losses.total)
        mean, squares, crossed = (each / weight for each in (losses.total, losses.squares, products.total))
        apart = squares - 2 * crossed + squares[best] - (mean - mean[best]) ** 2
        apart[best] = 0.0
        spread, paired = (np.sqrt(np.maximum(v, 0.0) / n_rows) for v in (squares - mean * mean, apart))
        return PruningTable(
            alpha=self.alpha,
            n_leaves=self.n_leaves,
            train_error=self.train_error,
            cv_error=mean,
            standard_error=spread,
            paired_error=paired,
            by=self.by,
        )


def _distinct(alphas: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 0 and the alphas of nodes in ascending order.

    Of alphas that are equal except for rounding, only the largest is kept. A rounding error above 0 is 0.
    """
    alphas = np.where(alphas > 1e-12 * alphas.max(), alphas, 0.0)
    alpha: NDArray[np.float64] = np.unique(np.append(0.0, alphas))
    return np.asarray(alpha[np.append(np.diff(alpha) > 1e-12 * alpha[1:], True)])
