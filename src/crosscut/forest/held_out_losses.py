"""Errors of all prunings of the final tree, estimated on the rows that the folds hold out.

Every pruning is evaluated with several strengths of shrinkage in the same walk (``cpp/forest/cut.cpp``), so
the size of the tree and its shrinkage are chosen together.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.pruning_table import Objective, PruningTable, lowest
from crosscut.forest.shrinkage import strengths
from crosscut.forest.smaller_trees import node_alphas, node_losses
from crosscut.forest.tree import probabilities

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from crosscut.forest.forest import Forest, Packed
    from crosscut.forest.predict import HeldOut
    from crosscut.forest.pruning_table import Loss
    from crosscut.forest.smaller_trees import Measure

BLOCK = 1 << 22  # losses in memory at once, 8 bytes each
ROUNDING = 1e-12


def rpart_alphas(packed: Packed, risk: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the lowest complexity at which each node is a leaf in rpart, or -inf if it always is one.

    ``risk`` is the error of each node as a leaf; tests must have two branches.

    From the leaves up, the complexity of a node is the risk reduction per split of its subtree. A child with
    a lower complexity counts as a leaf, the lower of the two first; deeper nodes are not considered again. A
    node without risk reduction becomes a leaf. From the root down, complexities are limited to the parent's.
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
    objective: Objective | None = None,
) -> PruningTable:
    """Compute the error of every pruning of the final tree (tree 0) on the held-out rows of the folds.

    ``y`` and ``weights`` cover all rows: class codes, or numbers if ``n_classes`` is 0.
    """
    losses_of = partial(Prunings.losses, held_out=held_out, y=y, weights=weights)
    return table_from(losses_of, Prunings(forest.packed, n_classes, objective or Objective()))


def table_from(losses_of: Callable[..., Losses], prunings: Prunings) -> PruningTable:
    """Return the pruning table, and set the strengths of shrinkage of the prunings.

    ``losses_of(prunings, against=None)`` adds up the losses of all held-out rows like `Prunings.losses`.
    """
    # a strength of shrinkage changes few decisions: choose it by the errors of the probabilities
    smooth: Loss = "brier" if prunings.loss == "error" else prunings.loss
    shrinks = prunings.objective.shrinkage is not None
    first = prunings.with_loss(smooth) if shrinks else prunings
    losses = losses_of(first)
    prunings.choose_strengths(losses)
    if shrinks and (smooth != prunings.loss or first.repeated):
        losses = losses_of(prunings)
    losses = prunings.at_strengths(losses)
    products = losses_of(prunings, against=lowest(losses.total))
    table = prunings.table(losses, prunings.at_strengths(products))
    if prunings.rpart or table.by == "impurity":
        return table
    return replace(table, rpart=partial(_rpart_table, losses_of, prunings))


def _rpart_table(losses_of: Callable[..., Losses], prunings: Prunings) -> PruningTable:
    errors = Objective(prunings.objective.by)
    return table_from(losses_of, Prunings(prunings.packed, prunings.n_classes, errors, rpart=True))


@dataclass(frozen=True, eq=False)
class Losses:
    """Held-out rows, their weights and squared weights, and weighted sums of losses and squared losses.

    ``total`` and ``squares`` have a row per pruning and a column per strength of shrinkage. For losses
    against a pruning, ``total`` sums products with the row's loss under that pruning.
    """

    n_rows: int
    weight: float
    squared_weights: float
    total: NDArray[np.float64]
    squares: NDArray[np.float64]

    def __add__(self, other: Losses) -> Losses:
        """Add the losses of other rows."""
        return Losses(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            self.squared_weights + other.squared_weights,
            self.total + other.total,
            self.squares + other.squares,
        )


class Prunings:
    """All prunings of a forest's final tree (tree 0), to be compared on the held-out rows of the folds.

    With ``rpart``, nodes are pruned in rpart's order instead of CART's. ``lane`` is the index of each
    pruning's strength of shrinkage in ``strengths``; ``repeated`` is whether a row is held out repeatedly.
    """

    def __init__(
        self,
        packed: Packed,
        n_classes: int,
        objective: Objective,
        *,
        rpart: bool = False,
    ) -> None:
        self.packed, self.n_classes, self.objective = packed, n_classes, objective
        self.by: Measure = objective.by if n_classes else "error"
        of_numbers = objective.loss in {"squared", "absolute"}
        self.loss: Loss = objective.loss if n_classes or of_numbers else "squared"
        self.rpart = rpart
        self.strengths = strengths(packed, objective.shrinkage)
        self.values = probabilities(packed.value) if n_classes else np.ascontiguousarray(packed.value)
        _, error = node_losses(packed, n_classes)
        node_alpha = (
            rpart_alphas(packed, error) / packed.weight[packed.node_start[packed.tree_of]]
            if rpart
            else node_alphas(packed, objective.by)
        )
        final, nodes = packed.only(0), slice(0, int(packed.node_start[1]))
        self.alpha = _distinct(node_alpha[nodes])
        self.lane = np.zeros(len(self.alpha), np.int32)
        self.repeated = False
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
        shares = self.values[nodes]
        if self.loss == "brier":
            error = packed.weight[nodes] * (1 - np.einsum("ij,ij->i", shares, shares))
        elif self.loss == "log":
            from scipy.special import entr

            error = packed.weight[nodes] * entr(shares).sum(axis=1)
        elif self.loss == "absolute":
            error = np.full(len(error), np.nan)  # nodes only have sums of squares
        self.train_error = np.maximum(sum_over_leaves(error[nodes]) / packed.weight[0], 0.0)

    def with_loss(self, loss: Loss) -> Prunings:
        """Return the same prunings with another loss of the rows."""
        other = copy(self)
        other.loss = loss
        return other

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
        times = np.bincount(held_out.rows, minlength=len(y))
        of_rows = times if weights is None else times * weights  # of all their times together
        if against is not None:
            loss = self.row_losses([against], held_out, y)[:, 0]
            loss = (np.bincount(held_out.rows, loss, len(y)) / np.maximum(times, 1))[held_out.rows]
            w = loss if w is None else w * loss
        total, squares = self.packed.core.cut_losses(**self._arguments(held_out, y), weight=w)
        self.repeated = bool(times.max(initial=0) > 1)
        if against is None and self.repeated:  # average a row's repeats, which are not independent
            squares = self._squares_of_rows(held_out, y, weights, times)
        n_rows, weight = int(np.count_nonzero(times)), float(of_rows.sum())
        return Losses(n_rows, weight, float(of_rows @ of_rows), total, squares)

    def row_losses(self, prunings: ArrayLike, held_out: HeldOut, y: NDArray[Any]) -> NDArray[np.float64]:
        """Return the loss of each held-out row under some prunings, which must ascend."""
        levels = np.asarray(prunings, np.int32)
        return self.packed.core.row_losses(
            **self._arguments(held_out, y), chosen_level=levels, chosen_lane=self.lane[levels]
        )

    def _arguments(self, held_out: HeldOut, y: NDArray[Any]) -> dict[str, Any]:
        targets = np.ascontiguousarray(y[held_out.rows], dtype=np.float64)
        loss, cost = ("cost", self.packed.loss) if self.loss == "error" else (self.loss, None)
        return {
            "level": self._level,
            "n_levels": len(self.alpha),
            "leaf": held_out.leaf,
            "row_start": held_out.row_start,
            "own": self.values,
            "measure": loss,
            "y": targets,
            "cost": cost,
            "lambdas": self.strengths,
        }

    def _squares_of_rows(
        self,
        held_out: HeldOut,
        y: NDArray[Any],
        weights: NDArray[np.float64] | None,
        times: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return, for each pruning, the sum of squares of rows' losses averaged over their repeats."""
        order = np.argsort(held_out.rows, kind="stable")
        rows, first = np.unique(held_out.rows[order], return_index=True)
        weight = times[rows] if weights is None else times[rows] * weights[rows]
        squares = np.empty(len(self.alpha))
        block = max(1, BLOCK // len(order))
        for begin in range(0, len(squares), block):
            part = range(begin, min(begin + block, len(squares)))
            loss = np.add.reduceat(self.row_losses(part, held_out, y)[order], first) / times[rows][:, None]
            squares[part] = weight @ (loss * loss)
        return np.repeat(squares[:, None], len(self.strengths), axis=1)

    def choose_strengths(self, losses: Losses) -> None:
        """Choose the strength of each pruning by these losses: the least one with the lowest loss."""
        enough = losses.total <= losses.total.min(axis=1, keepdims=True) * (1 + ROUNDING)
        self.lane = enough.argmax(axis=1).astype(np.int32)

    def at_strengths(self, losses: Losses) -> Losses:
        """Return the losses of each pruning with its strength."""
        at = np.arange(len(self.lane)), self.lane
        return replace(losses, total=losses.total[at], squares=losses.squares[at])

    def table(self, losses: Losses, products: Losses) -> PruningTable:
        """Return the table from the losses of all rows and their products with those of the best pruning."""
        weight, best = losses.weight, lowest(losses.total)
        mean, squares, crossed = (each / weight for each in (losses.total, losses.squares, products.total))
        differences = squares - 2 * crossed + squares[best] - (mean - mean[best]) ** 2
        differences[best] = 0.0
        # the effective number of rows, as for intervals; rpart counts rows
        n_rows = losses.n_rows if self.rpart else weight**2 / losses.squared_weights
        spread, paired = (np.sqrt(np.maximum(v, 0.0) / n_rows) for v in (squares - mean * mean, differences))
        scale = 0.5 if self.loss == "brier" and self.n_classes == 2 else 1.0  # as in scikit-learn
        return PruningTable(
            alpha=self.alpha,
            n_leaves=self.n_leaves,
            train_error=scale * self.train_error,
            cv_error=scale * mean,
            standard_error=scale * spread,
            paired_error=scale * paired,
            shrinkage=self.strengths[self.lane],
            by=self.by,
            loss=self.loss,
        )


def _distinct(alphas: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 0 and the alphas of nodes in ascending order.

    Of alphas that are equal except for rounding, only the largest is kept. A rounding error above 0 is 0.
    """
    alphas = np.where(alphas > 1e-12 * alphas.max(), alphas, 0.0)
    alpha: NDArray[np.float64] = np.unique(np.append(0.0, alphas))
    return np.asarray(alpha[np.append(np.diff(alpha) > 1e-12 * alpha[1:], True)])
