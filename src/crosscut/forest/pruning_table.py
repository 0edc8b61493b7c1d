"""Cross-validated choice of a pruning, as in CART and rpart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from crosscut.forest.pruning import alpha_levels, node_losses, pruning_paths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.forest import Forest, Packed
    from crosscut.forest.predict import HeldOut
    from crosscut.forest.pruning import Measure, PruningPaths

Rule = Literal["best", "1se"]
COLUMNS = ("alpha", "n_leaves", "train_error", "cv_error", "standard_error")


@dataclass(frozen=True, eq=False)
class PruningTable:
    """Every pruning of the final tree with its error, from the whole tree to the root alone.

    Errors are misclassification rates, mean costs (``by="loss"``), or mean squared errors for regression.

    Attributes
    ----------
    alpha : float64 array
        Lowest ``ccp_alpha`` that gives the tree of the row.
    n_leaves : int64 array
    train_error, cv_error, standard_error : float64 arrays
        Error on the training rows; error of the trees of the folds on the rows they hold out, each pruned at
        the geometric mean of this row's alpha and the next one's; and its standard error from the losses of
        the rows.
    by : {"impurity", "error", "loss"}
        What alpha is measured in: impurity as in scikit-learn, or the errors of the table as in CART and
        rpart. Always the latter for regression, where both are the same.
    """

    alpha: NDArray[np.float64]
    n_leaves: NDArray[np.int64]
    train_error: NDArray[np.float64]
    cv_error: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    by: Measure = "error"

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
        node_alpha = (paths or pruning_paths(packed, self.by)).node_alpha
        at = np.where(packed.tree_of == 0, alpha, between)
        return np.asarray(node_alpha > at)

    def to_pandas(self) -> Any:
        """Return the table as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame({name: getattr(self, name) for name in COLUMNS})

    def to_rpart(self) -> Any:
        """Return the table as rpart prints it, from the root to the largest tree, as a pandas DataFrame.

        ``CP`` and all errors are divided by the error of the root; ``nsplit`` is the number of leaves less
        one. rpart's own table is the same if it has the same trees: Gini or squared error, no ties, ``cp=0``
        and the folds as ``xval``. It takes a shortcut, though: where a subtree is pruned before its
        parent but after its grandparent, rpart's ``CP`` is below the error that its splits save on average.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from crosscut import TreeClassifier
        >>> model = TreeClassifier(prune_by="error", min_samples_leaf=7).fit(*load_iris(return_X_y=True))
        >>> print(model.pruning_table_.to_rpart().round(4).to_string(index=False))
          CP  nsplit  rel error  xerror   xstd
        0.50       0       1.00    1.00 0.0577
        0.44       1       0.50    0.50 0.0577
        0.00       2       0.06    0.09 0.0291
        """
        import pandas as pd

        if self.by == "impurity":
            raise ValueError("rpart prunes by error, this table by impurity; fit with prune_by='error'")
        root = self.train_error[-1] or 1.0
        columns = {
            "CP": self.alpha / root,
            "nsplit": self.n_leaves - 1,
            "rel error": self.train_error / root,
            "xerror": self.cv_error / root,
            "xstd": self.standard_error / root,
        }
        return pd.DataFrame({name: values[::-1] for name, values in columns.items()})

    def _repr_html_(self) -> str:
        from crosscut.forest.notebook import pruning_table_html

        return pruning_table_html(self)

    def __str__(self) -> str:
        lines = ["   alpha      leaves  train error  CV error  std error"]
        if self.by == "loss":
            lines[0] = lines[0].replace("train error  CV error", " train cost   CV cost")
        columns = (getattr(self, name) for name in COLUMNS)
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
    by: Measure = "impurity",
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
    by : {"impurity", "error", "loss"}
        What pruning weighs against the number of leaves; the loss is that of the forest.
    """
    prunings = Prunings(forest.packed, n_classes, by)
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
    by : {"impurity", "error", "loss"}
        What pruning weighs against the number of leaves.
    """

    def __init__(self, packed: Packed, n_classes: int, by: Measure = "impurity") -> None:
        self.packed, self.by = packed, by if n_classes else "error"
        self.cost = None
        if n_classes:
            self.cost = 1.0 - np.eye(n_classes) if packed.loss is None else packed.loss
        paths = pruning_paths(packed, by)
        self.alpha = _distinct(paths.alphas(0))
        self.prediction, error = node_losses(packed, n_classes)
        between = np.append(np.sqrt(self.alpha[:-1] * self.alpha[1:]), np.inf)
        self._level = alpha_levels(packed, between, paths=paths)
        final, nodes = packed.only(0), slice(0, int(packed.node_start[1]))
        final_level = np.searchsorted(self.alpha, paths.node_alpha[nodes], side="left")
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
            self.cost,
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
            said = self.prediction[node]
            new = (y[row] - said) ** 2 if self.cost is None else self.cost[y[row], said.astype(np.int64)]
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
            by=self.by,
        )


def _distinct(alphas: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the alphas of a path in ascending order; of those that differ only by rounding, the largest.

    A value that is above 0 only by rounding counts as 0.
    """
    alphas = np.where(alphas > 1e-12 * alphas.max(), alphas, 0.0)
    alpha: NDArray[np.float64] = np.unique(np.maximum.accumulate(alphas))
    return np.asarray(alpha[np.append(np.diff(alpha) > 1e-12 * alpha[1:], True)])
