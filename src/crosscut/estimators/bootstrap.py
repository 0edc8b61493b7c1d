"""Bootstrap estimates of a tree's error: leave-one-out, .632 and .632+ (Efron & Tibshirani 1997)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.predict import apply
from crosscut.forest.tree import decisions
from crosscut.tasks import Tasks
from crosscut.training.parameters import limits_of
from crosscut.training.train import grow_trees, prune_each, validate, without_folds
from crosscut.training.training_set import TrainingSet

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from crosscut.typing import ColumnLike, TableLike


@dataclass(frozen=True)
class BootstrapError:
    """Error rates, or mean squared errors, of a tree.

    Attributes
    ----------
    training : float
        Error of the final tree on its training rows.
    leave_one_out : float
        Error of the bootstrap trees on rows outside their samples, averaged row by row.
    no_information : float
        Error of the final tree if targets were independent of the rows.
    overfitting : float
        Position of ``leave_one_out`` between ``training`` (0) and ``no_information`` (1).
    error_632, error_632_plus : float
        Two estimates of the error on new rows; use the second for trees, which overfit.
    n_trees : int
        Number of bootstrap trees.
    """

    training: float
    leave_one_out: float
    no_information: float
    overfitting: float
    error_632: float
    error_632_plus: float
    n_trees: int

    def __repr__(self) -> str:
        return (
            f".632+ error {self.error_632_plus:.4f} (.632: {self.error_632:.4f}, left out: "
            f"{self.leave_one_out:.4f}, training: {self.training:.4f}; {self.n_trees} trees)"
        )


def bootstrap_error(
    tree: BaseEstimator,
    X: TableLike,
    y: ColumnLike,
    *,
    n_trees: int = 100,
    sample_weight: ColumnLike = None,
    random_state: int | None = 0,
) -> BootstrapError:
    """Estimate the error of a tree on new rows by the .632+ bootstrap.

    The final tree and all bootstrap trees are grown together.

    Parameters
    ----------
    tree : TreeClassifier or TreeRegressor
        Parameters for growing and pruning; its ``cv`` is not used.
    X, y
        The data, as for ``fit``.
    n_trees : int
        Number of bootstrap samples.
    sample_weight : array (rows,), optional
        Weights of the training rows.
    random_state : int, optional
        Seed for drawing the samples.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from crosscut import TreeClassifier, bootstrap_error
    >>> error = bootstrap_error(TreeClassifier(), *load_iris(return_X_y=True), n_trees=20)
    >>> 0.02 < error.error_632_plus < 0.08
    True
    """
    model = without_folds(tree)
    data = TrainingSet.read(model, X, y, sample_weight)
    n_rows, target = data.n_rows, data.target
    limits = limits_of(model).of_rows(n_rows)
    tasks = Tasks.bootstrap(n_trees, n_rows, random_state=random_state, limits=limits, final=True)
    forest = prune_each(model, grow_trees(model, data, tasks))
    cv = validate(data, tasks, forest)
    packed = forest.packed
    prediction = decisions(packed.value, packed.loss) if target.n_classes else packed.value[:, 0]
    loss = _loss(target.values[cv.rows], cv.decided, target.n_classes)
    times = cv.times_held_out
    seen = times > 0
    if not seen.any():
        raise ValueError(f"n_trees={n_trees}: every row is in every bootstrap sample; use more trees")
    of_row = np.bincount(cv.rows, loss, minlength=n_rows)[seen] / times[seen]
    predicted = prediction[apply(packed.only(0), data.matrix)[0]]
    training = float(_loss(target.values, predicted, target.n_classes).mean())
    return _combine(
        training, float(of_row.mean()), _no_information(target.values, predicted, target.n_classes), n_trees
    )


def _combine(training: float, left_out: float, no_information: float, n_trees: int) -> BootstrapError:
    """Combine the errors by equations 27 to 32 of Efron & Tibshirani (1997)."""
    bounded = min(left_out, no_information)
    overfits = bounded > training
    overfitting = (bounded - training) / (no_information - training) if overfits else 0.0
    error_632 = 0.368 * training + 0.632 * left_out
    more = (bounded - training) * 0.368 * 0.632 * overfitting / (1 - 0.368 * overfitting)
    return BootstrapError(
        training, left_out, no_information, overfitting, error_632, error_632 + more, n_trees
    )


def _loss(y: NDArray[Any], prediction: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
    return np.asarray(y != prediction if n_classes else (y - prediction) ** 2, dtype=np.float64)


def _no_information(y: NDArray[Any], prediction: NDArray[Any], n_classes: int) -> float:
    """Return the mean loss over all pairs of a target and a prediction."""
    if n_classes:
        actual, predicted = (np.bincount(v, minlength=n_classes) / len(y) for v in (y, prediction))
        return float(np.sum(actual * (1 - predicted)))
    return float(np.var(y) + np.var(prediction) + (y.mean() - prediction.mean()) ** 2)
