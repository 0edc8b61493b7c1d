"""Drop-column importance: the loss in cross-validated score without a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosscut.statistics.intervals import mean_of_folds
from crosscut.tasks import Tasks
from crosscut.training.parameters import limits_of
from crosscut.training.train import grow_trees, prune_each, validate, without_folds
from crosscut.training.training_set import TrainingSet

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from crosscut.typing import ColumnLike, CrossValidation, TableLike


@dataclass(frozen=True, eq=False)
class DropImportance:
    """Cross-validated scores with all columns, and without each of them.

    Attributes
    ----------
    names : tuple of str
        The columns.
    scores : float64 array (n_folds,)
        Accuracy, or R², of each fold with all columns.
    scores_without : float64 array (n_folds, n_columns)
        The same without each column.
    held_out : int64 array (n_folds,)
        Number of rows that each fold holds out.
    n_rows : int
        Number of all rows.
    """

    names: tuple[str, ...]
    scores: NDArray[np.float64]
    scores_without: NDArray[np.float64]
    held_out: NDArray[np.int64]
    n_rows: int

    @property
    def importance(self) -> NDArray[np.float64]:
        """Mean loss in score without each column."""
        return np.asarray((self.scores[:, None] - self.scores_without).mean(axis=0))

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """Standard error of ``importance``, corrected for the training rows that folds share."""
        losses = (self.scores[:, None] - self.scores_without).T
        return np.array([mean_of_folds(loss, self.held_out, self.n_rows).standard_error for loss in losses])

    def __repr__(self) -> str:
        width = max(len(name) for name in self.names)
        order = np.argsort(-self.importance, kind="stable")
        lines = [f"{'column':{width}s}  importance  std error  (score {self.scores.mean():.4f})"]
        lines += [
            f"{self.names[f]:{width}s}  {self.importance[f]:10.4f}  {self.standard_error[f]:9.4f}"
            for f in order
        ]
        return "\n".join(lines)


def drop_importance(
    tree: BaseEstimator,
    X: TableLike,
    y: ColumnLike,
    *,
    cv: CrossValidation = 10,
    sample_weight: ColumnLike = None,
    groups: ColumnLike = None,
) -> DropImportance:
    """Cross-validate a tree with all columns and without each of them, all grown together.

    Unlike impurity-based importance, it is measured on held-out rows. Unlike permutation importance, the
    trees may use other columns instead.

    Parameters
    ----------
    tree : TreeClassifier or TreeRegressor
        Parameters for growing and pruning; its ``cv`` and ``scoring`` are not used.
    X, y
        The data, as for ``fit``; at least two columns.
    cv : int, splitter or iterable of (train, test)
        The folds.
    sample_weight, groups : arrays (rows,), optional
        Weights of the training rows; groups for the splitter.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from crosscut import TreeClassifier, drop_importance
    >>> data = load_iris(as_frame=True)
    >>> result = drop_importance(TreeClassifier(max_depth=3), data.data, data.target)
    >>> result.names[result.importance.argmax()]
    'petal width (cm)'
    """
    model = without_folds(tree)
    data = TrainingSet.read(model, X, y, sample_weight)
    n_columns = data.table.n_columns
    if n_columns < 2:
        raise ValueError("drop_importance needs at least two columns")
    tasks = Tasks.from_cv(
        cv,
        data.labels,
        groups,
        X=data.X,
        classifier=bool(data.target.n_classes),
        limits=limits_of(model).of_rows(data.n_rows),
        final=False,
    ).dropping_features(n_columns)
    forest = prune_each(model, grow_trees(model, data, tasks))
    validation = validate(data, tasks, forest)
    scores = validation.all_scores.reshape(-1, n_columns + 1)
    held_out = np.diff(validation.row_start).reshape(-1, n_columns + 1)[:, 0]
    return DropImportance(data.table.names, scores[:, 0], scores[:, 1:], held_out, data.n_rows)
