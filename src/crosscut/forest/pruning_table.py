"""Choose a pruning by cross-validation as in CART and rpart, or prune by C4.5's rules."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from crosscut import _core
from crosscut.forest.forest import Forest, Packed
from crosscut.forest.smaller_trees import node_alphas, node_losses

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from crosscut.forest.forest import Packed
    from crosscut.forest.shrinkage import Shrinkage
    from crosscut.forest.smaller_trees import Measure

PruningRule = Literal["best", "1se"]
Loss = Literal["error", "brier", "log", "auc", "squared", "absolute"]  # of held-out rows


@dataclass(frozen=True)
class Objective:
    """What pruning minimises.

    Attributes
    ----------
    by : {"impurity", "error", "loss"}
        Training measure that cost-complexity pruning weighs against the number of leaves.
    loss : {"error", "brier", "log", "auc", "squared", "absolute"}
        Loss of a held-out row, by which the size of the tree is chosen; "auc" is 1 minus the area under the
        ROC curve.
    shrinkage : "auto", float or None
        Strength of shrinkage; "auto" chooses it for every size by the held-out rows.
    """

    by: Measure = "impurity"
    loss: Loss = "error"
    shrinkage: Shrinkage = None


COLUMNS = (
    "alpha",
    "n_leaves",
    "train_error",
    "cv_error",
    "standard_error",
    "paired_error",
    "shrinkage",
)
LOSS_NAMES = {
    "error": "error",
    "brier": "Brier",
    "log": "log loss",
    "auc": "1 - AUC",
    "squared": "MSE",
    "absolute": "MAE",
}
WITHIN = 1.6448536269514722  # standard errors: half-width of a 90% interval


@dataclass(frozen=True, eq=False)
class PruningTable:
    """All prunings of the final tree with their errors, from the whole tree to the root alone.

    Errors are means of the ``loss`` of a row.

    Attributes
    ----------
    alpha : float64 array
        Lowest ``ccp_alpha`` that gives this pruning.
    n_leaves : int64 array
    train_error, cv_error, standard_error : float64 arrays
        Error on the training rows; error of the fold trees on the rows they hold out, pruned at the geometric
        mean of this alpha and the next; and the standard error of ``cv_error`` from the losses of the rows.
    paired_error : float64 array
        Standard error of the difference from the lowest ``cv_error``, from the paired losses of held-out
        rows; NaN in models saved by versions that did not compute it.
    shrinkage : float64 array
        Strength of shrinkage with the lowest ``cv_error`` for this pruning; for misclassification rates and
        costs and for areas, with the lowest Brier score. 0 is none. ``train_error`` is without shrinkage, and
        NaN for "auc" and "absolute".
    by : {"impurity", "error", "loss"}
        Unit of alpha: impurity as in scikit-learn, or errors as in CART and rpart. For regression, where both
        are the same, always "error".
    loss : {"error", "brier", "log", "auc", "squared", "absolute"}
        Loss of a row: misclassification or the estimator's ``loss``; the Brier score, halved for two classes
        as in scikit-learn; the logarithmic loss; the squared or absolute error; or "auc", 1 minus the folds'
        mean area under the ROC curve.
    """

    alpha: NDArray[np.float64]
    n_leaves: NDArray[np.int64]
    train_error: NDArray[np.float64]
    cv_error: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    paired_error: NDArray[np.float64]
    shrinkage: NDArray[np.float64]
    by: Measure = "error"
    loss: Loss = "error"
    rpart: Callable[[], PruningTable] | None = field(
        default=None, repr=False
    )  # this table with nodes pruned in rpart's order

    @property
    def like_best(self) -> NDArray[np.bool_]:
        """Whether each error is not significantly worse than the lowest, by a 90% interval of the difference.

        The interval is computed from the rows' differences as in :func:`crosscut.compare`.
        """
        return np.asarray(self.cv_error - self.cv_error.min() <= WITHIN * self.paired_error)

    def __len__(self) -> int:
        return len(self.alpha)

    def choose(self, rule: PruningRule = "best") -> int:
        """Return the row of the tree to use.

        Parameters
        ----------
        rule : {"best", "1se"}
            The smallest tree with the lowest cross-validated error, or the smallest tree that exceeds it by
            at most one standard error of the difference (``paired_error``).
        """
        if rule not in {"best", "1se"}:
            raise ValueError(f"rule must be 'best' or '1se', not {rule!r}")
        best = lowest(self.cv_error)
        if rule == "best":
            return best
        within = self.cv_error - self.cv_error[best] <= self.paired_error
        return max(best, int(np.flatnonzero(within)[-1])) if within.any() else best

    def tests_kept(self, packed: Packed, row: int) -> NDArray[np.bool_]:
        """Return which nodes keep their test under the pruning of a row.

        The final tree is pruned at the row's alpha, the fold trees between it and the next alpha.
        """
        alpha = float(self.alpha[row])
        following = float(self.alpha[row + 1]) if row + 1 < len(self) else np.inf
        between = np.sqrt(alpha * following) if alpha else 0.0
        at = np.where(packed.tree_of == 0, alpha, between)
        return np.asarray(node_alphas(packed, self.by) > at)

    def take(self, rows: NDArray[np.int64]) -> PruningTable:
        """Return a table with some of the prunings."""
        return replace(self, **{name: getattr(self, name)[rows] for name in COLUMNS}, rpart=None)

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame({name: getattr(self, name) for name in COLUMNS})

    def to_rpart(self) -> pd.DataFrame:
        """Return the table as rpart prints it, from the root to the largest tree, as a pandas DataFrame.

        ``CP`` and all errors are divided by the error of the root. ``nsplit`` is the number of leaves minus
        1. The result equals rpart's own table if rpart has the same trees: Gini or squared error, no ties,
        ``cp=0`` and the folds as ``xval``. Its rows can differ from this table, because rpart's pruning order
        (``crosscut.forest.held_out_losses``) is not always CART's.

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
        if self.rpart is None:
            raise ValueError(
                "rpart's table needs the trees before pruning, which model files do not contain; fit again"
            )
        table = self.rpart()
        root = table.train_error[-1] or 1.0
        columns = {
            "CP": table.alpha / root,
            "nsplit": table.n_leaves - 1,
            "rel error": table.train_error / root,
            "xerror": table.cv_error / root,
            "xstd": table.standard_error / root,
        }
        return pd.DataFrame({name: values[::-1] for name, values in columns.items()})

    def _repr_html_(self) -> str:
        from crosscut.forest.export.notebook import pruning_table_html

        return pruning_table_html(self)

    def __repr__(self) -> str:
        name = LOSS_NAMES[self.loss] if self.by != "loss" else "cost"
        heads = ("alpha", "leaves", "shrinkage", f"train {name}", f"CV {name}", "std error")
        lines = ["{:>12} {:>7} {:>9} {:>13} {:>11} {:>10}".format(*heads)]
        best, one_se = self.choose("best"), self.choose("1se")
        rules = {one_se: " <- 1se", best: " <- best, 1se" if best == one_se else " <- best"}
        columns = (self.alpha, self.n_leaves, self.shrinkage, self.train_error, self.cv_error)
        like_best, last_shown = self.like_best, -1
        for k, row in enumerate(zip(*columns, self.standard_error, strict=True)):
            if 3 <= k < len(self) - 20 and k not in rules:
                continue
            if k > last_shown + 1:
                lines.append(f"         ... {k - last_shown - 1} more")
            last_shown = k
            mark = (" ~" if like_best[k] else "  " if k in rules else "") + rules.get(k, "")
            lines.append("{:12.6g} {:7d} {:9.3g} {:13.5g} {:11.5g} {:10.5g}".format(*row) + mark)
        return "\n".join(lines)


def lowest(error: NDArray[np.float64]) -> int:
    """Return the last row with the lowest error, up to rounding, which is the smallest such tree."""
    least = error.min()
    return int(np.flatnonzero(error <= least + 1e-12 * abs(least))[-1])


def additional_errors(n: ArrayLike, errors: ArrayLike, confidence: float = 0.25) -> NDArray[np.float64]:
    """Return the number of errors that C4.5 (release 8) adds to the observed `errors` among `n` rows.

    This is ``AddErrs`` of Quinlan's program, which interpolates the normal deviate of the confidence level in
    a table. The core prunes relational trees with the same function.

    Examples
    --------
    >>> additional_errors([6, 100], [0, 5]).round(4)
    array([1.2378, 2.3016])
    """
    if not 0 < confidence <= 1:
        raise ValueError(f"confidence must be above 0 and at most 1, not {confidence}")
    rows, wrong = np.broadcast_arrays(np.asarray(n, np.float64), np.asarray(errors, np.float64))
    if not np.all((rows > 0) & (wrong >= 0) & (wrong <= rows)):
        raise ValueError("n must be positive, and errors between 0 and n")
    return np.asarray(np.vectorize(_core.additional_errors, otypes=[np.float64])(rows, wrong, confidence))


def pessimistic(forest: Forest, confidence: float = 0.25) -> Forest:
    """Prune every tree like C4.5 (Quinlan 1993): replace subtrees that do not lower the estimated error.

    The estimated errors of a leaf are the observed errors plus `additional_errors`. Each tree uses only its
    own training rows, so held-out rows stay unseen. ``confidence`` is C4.5's option -c; lower values give
    smaller trees.
    """
    packed = forest.packed
    _, wrong = node_losses(packed, packed.value.shape[1])
    # rounding of weights may make an error slightly negative
    wrong = np.clip(wrong, 0.0, packed.weight)
    error = wrong + additional_errors(packed.weight, wrong, confidence)
    below = np.where(packed.feature < 0, error, 0.0)  # of the pruned subtree
    inner = packed.feature >= 0
    for nodes, parents in reversed(list(packed.by_depth())):
        # the children of `parents` are done: decide on the parents before they add to their own parents
        done = nodes[inner[nodes]]
        inner[done] = error[done] > below[done]
        below[done] = np.minimum(error[done], below[done])
        np.add.at(below, parents, below[nodes])
    roots = packed.node_start[:-1]
    inner[roots] &= error[roots] > below[roots]
    return Forest(packed.cut(inner)[0], forest.work)
