"""Cross-validated choice of a pruning, as in CART and rpart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from crosscut.forest.predict import decisions
from crosscut.forest.pruning import alpha_levels, pruning_paths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.forest import Forest, Packed
    from crosscut.forest.predict import HeldOut
    from crosscut.forest.pruning import PruningPaths

Rule = Literal["best", "1se"]


@dataclass(frozen=True, eq=False)
class PruningTable:
    """Every pruning of the final tree with its error, from the whole tree to the root alone.

    Errors are misclassification rates, or mean squared errors for regression. For regression, divided by the
    error of the last row (the root) they are rpart's ``rel error``, ``xerror`` and ``xstd``. Classification
    trees are pruned by the criterion they are grown with, as in scikit-learn; rpart prunes them by
    misclassification, so its table has other rows.

    Attributes
    ----------
    alpha : float64 array
        Lowest ``ccp_alpha`` that gives the tree of the row.
    n_leaves : int64 array
    train_error, cv_error, standard_error : float64 arrays
        Error on the training rows; error of the trees of the folds on the rows they hold out, each pruned at
        the geometric mean of this row's alpha and the next one's; and its standard error.
    """

    alpha: NDArray[np.float64]
    n_leaves: NDArray[np.int64]
    train_error: NDArray[np.float64]
    cv_error: NDArray[np.float64]
    standard_error: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.alpha)

    def choose(self, rule: Rule = "best") -> int:
        """Return the row of the tree to use.

        Parameters
        ----------
        rule : {"best", "1se"}
            The smallest of the trees with the lowest cross-validated error, or the smallest tree within one
            standard error of it.
        """
        if rule not in {"best", "1se"}:
            raise ValueError(f"rule must be 'best' or '1se', but {rule!r} was given")
        best = len(self) - 1 - int(np.argmin(self.cv_error[::-1]))
        if rule == "best":
            return best
        return int(np.flatnonzero(self.cv_error <= self.cv_error[best] + self.standard_error[best])[-1])

    def tests_kept(self, packed: Packed, row: int, *, paths: PruningPaths | None = None) -> NDArray[np.bool_]:
        """Return which nodes have a test in the trees of a row.

        The final tree is pruned at the row's alpha, the trees of the folds between it and the next one.
        """
        alpha = float(self.alpha[row])
        following = float(self.alpha[row + 1]) if row + 1 < len(self) else np.inf
        between = np.sqrt(alpha * following) if alpha else 0.0
        node_alpha = (paths or pruning_paths(packed)).node_alpha
        at = np.where(packed.tree_of == 0, alpha, between)
        return np.asarray((packed.feature >= 0) & ((node_alpha > at) | (at == 0)))

    def to_pandas(self) -> Any:
        """Return the table as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame({name: getattr(self, name) for name in self.__dataclass_fields__})

    def _repr_html_(self) -> str:
        from crosscut.forest.notebook import pruning_table_html

        return pruning_table_html(self)

    def __str__(self) -> str:
        lines = ["   alpha      leaves  train error  CV error  std error"]
        columns = (self.alpha, self.n_leaves, self.train_error, self.cv_error, self.standard_error)
        marks = {self.choose("1se"): "  <- 1se", self.choose("best"): "  <- best"}
        last_shown = -1
        for k, (alpha, leaves, train, cv, error) in enumerate(zip(*columns, strict=True)):
            if 3 <= k < len(self) - 20 and k not in marks:
                continue
            if k > last_shown + 1:
                lines.append(f"         ... {k - last_shown - 1} more")
            last_shown = k
            lines.append(f"{alpha:12.6g} {leaves:7d} {train:12.5g} {cv:9.5g} {error:10.5g}{marks.get(k, '')}")
        return "\n".join(lines)


def pruning_table(
    forest: Forest,
    held_out: HeldOut,
    y: NDArray[Any],
    *,
    n_classes: int,
    weights: NDArray[np.float64] | None = None,
) -> PruningTable:
    """Compute the error of every pruning of the final tree on the held-out rows of the folds.

    Parameters
    ----------
    forest : Forest
        Tree 0 is the final tree; the others hold rows out.
    held_out : HeldOut
        The leaves those rows reached (``crosscut.forest.predict.apply_held_out``).
    y : array
        Class codes, or numbers, of all rows.
    n_classes : int
        0 for regression.
    weights : float64 array, optional
        Weights of the rows; errors are weighted by them.
    """
    prunings = Prunings(forest.packed, n_classes)
    return prunings.table(prunings.losses(held_out, y, weights))


@dataclass(frozen=True, eq=False)
class Losses:
    """Held-out rows, their weight, and weighted sums of losses and squared losses for each pruning."""

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
    """Every pruning of a forest's final tree, to be compared on the held-out rows of the folds.

    Parameters
    ----------
    packed : Packed
        Tree 0 is the final tree.
    n_classes : int
        0 for regression.
    """

    def __init__(self, packed: Packed, n_classes: int) -> None:
        self.packed, self.n_classes = packed, n_classes
        paths = pruning_paths(packed)
        self.alpha = _distinct(paths.alphas(0))
        self.prediction, error = node_losses(packed, n_classes)
        between = np.append(np.sqrt(self.alpha[:-1] * self.alpha[1:]), np.inf)
        self._level = alpha_levels(packed, between, paths=paths)
        final, nodes = packed.only(0), slice(0, int(packed.node_start[1]))
        final_level = _levels_of(final, paths.node_alpha[nodes], self.alpha)
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
        self, held_out: HeldOut, y: NDArray[Any], weights: NDArray[np.float64] | None = None
    ) -> Losses:
        """Add up the losses of held-out rows; y and weights are those of all rows."""
        w = None if weights is None else np.ascontiguousarray(weights[held_out.rows], dtype=np.float64)
        total, squares = self.packed.core.cut_losses(
            self._level,
            len(self.alpha),
            held_out.leaf,
            held_out.row_start,
            self.prediction,
            np.ascontiguousarray(y[held_out.rows], dtype=np.float64),
            w,
            self.n_classes == 0,
        )
        times = np.bincount(held_out.rows)
        if times.max(initial=0) > 1:  # a row that is held out again is not new evidence
            squares = self._squares_of_rows(held_out, y, weights, times)
        weight = float(len(held_out.rows) if w is None else w.sum())
        return Losses(int(np.count_nonzero(times)), weight, total, squares)

    def _squares_of_rows(
        self,
        held_out: HeldOut,
        y: NDArray[Any],
        weights: NDArray[np.float64] | None,
        times: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Sum the squares of rows' losses, averaged over the times a row is held out, by pruning.

        A row's sum of losses changes only where one of its leaves is cut off, so these changes, sorted by row
        and pruning, are all there is to add up.
        """
        change = self._changes(held_out, y)
        row, level, amount = (np.concatenate(part) for part in zip(*change, strict=True))
        order = np.lexsort((level, row))
        row, level, amount = row[order], level[order], amount[order]
        total = np.cumsum(amount, dtype=np.longdouble)
        first = np.flatnonzero(np.diff(row, prepend=-1))
        before = np.repeat(total[first] - amount[first], np.diff(first, append=len(row)))
        after = (total - before).astype(np.float64)  # sum of the row's losses once this has changed
        squares = (after**2 - (after - amount) ** 2) / times[row]
        if weights is not None:
            squares *= weights[row]
        return np.cumsum(np.bincount(level, squares, minlength=len(self.alpha)))

    def _changes(self, held_out: HeldOut, y: NDArray[Any]) -> list[tuple[NDArray[Any], ...]]:
        """Return row, pruning and amount of each change of a row's loss; one part per step upwards."""
        packed, n_levels = self.packed, len(self.alpha)
        first = packed.node_start[:-1][packed.tree_of]
        parent = np.where(packed.parent < 0, -1, packed.parent + first)
        until = np.where(parent < 0, n_levels, np.minimum(self._level[parent], n_levels))
        row, node = held_out.rows, held_out.node(packed)
        level, loss = np.zeros(len(row), np.int64), np.zeros(len(row))
        found: list[tuple[NDArray[Any], ...]] = []
        while len(row):
            error = y[row] - self.prediction[node]
            new = error * error if self.n_classes == 0 else (error != 0).astype(np.float64)
            ends = until[node] > level
            change = np.where(ends, new - loss, 0.0)
            some = change != 0
            found.append((row[some], level[some], change[some]))
            loss, level = loss + change, np.maximum(level, until[node])
            node = parent[node]
            on = (node >= 0) & (level < n_levels)
            row, node, level, loss = row[on], node[on], level[on], loss[on]
        return found

    def table(self, losses: Losses) -> PruningTable:
        """Return the table from the losses of all rows."""
        mean = losses.total / losses.weight
        spread = np.sqrt(np.maximum(losses.squares / losses.weight - mean * mean, 0.0))
        return PruningTable(
            alpha=self.alpha,
            n_leaves=self.n_leaves,
            train_error=self.train_error,
            cv_error=mean,
            standard_error=spread / np.sqrt(losses.n_rows),
        )


def _distinct(alphas: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the alphas of a path in ascending order; of those that differ only by rounding, the largest.

    A value that is above 0 only by rounding counts as 0.
    """
    alphas = np.where(alphas > 1e-12 * alphas.max(), alphas, 0.0)
    alpha: NDArray[np.float64] = np.unique(np.maximum.accumulate(alphas))
    return np.asarray(alpha[np.append(np.diff(alpha) > 1e-12 * alpha[1:], True)])


def _levels_of(
    tree: Packed, node_alpha: NDArray[np.float64], alpha: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Levels at the alphas of the tree's own path, of which the first, 0, is the whole tree."""
    level = np.maximum(np.searchsorted(alpha, node_alpha, side="left"), 1)
    return np.where(tree.feature >= 0, level, 0).astype(np.int32)


def node_losses(packed: Packed, n_classes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the prediction of every node, and the total loss of its own training rows."""
    if n_classes:
        prediction = decisions(packed.value)
        return prediction.astype(np.float64), packed.weight - packed.value.max(axis=1)
    return np.ascontiguousarray(packed.value[:, 0]), packed.weight * packed.impurity
