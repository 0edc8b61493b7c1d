"""Training rows in memory: the user's table and target, checked and encoded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.training.checks import (
    read_class_weights,
    read_classes,
    read_numbers,
    read_table,
    read_weights,
    with_class_weights,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.schema import Schema
    from crosscut.tasks import Tasks
    from crosscut.typing import ColumnLike, Estimator, TableLike


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Training rows in memory."""

    X: TableLike  # the user's rows
    matrix: NDArray[Any]  # the rows as numbers for prediction
    table: Table  # the encoded rows
    target: Target  # class codes or numbers, and weights
    classes: NDArray[Any] | None  # in sorted order; None for regression
    name: str = "target"
    sample_weight: NDArray[np.float64] | None = None  # without class weights
    class_weights: NDArray[np.float64] | None = None

    @classmethod
    def read(cls, model: Estimator, X: TableLike, y: ColumnLike, sample_weight: ColumnLike = None) -> Self:
        """Check the data and set the estimator's attributes for columns, as scikit-learn requires."""
        data = read_table(model, X, reset=True)
        table, matrix = Table.with_matrix(
            data,
            max_bins=getattr(model, "max_bins", None),
            n_jobs=getattr(model, "n_jobs", None),
        )
        name = getattr(y, "name", None)
        name = name if isinstance(name, str) and name else "target"
        if isinstance(model, ClassifierMixin):
            classes, codes = read_classes(y, table.n_rows, getattr(model, "n_jobs", None))
            weights = read_weights(sample_weight, table.n_rows)
            by_class = read_class_weights(model.class_weight, codes, classes)
            target = Target(codes, len(classes), with_class_weights(weights, by_class, codes))
            return cls(data, matrix, table, target, classes, name, weights, by_class)
        numbers = read_numbers(y, table.n_rows)
        weights = read_weights(sample_weight, table.n_rows)
        return cls(data, matrix, table, Target(numbers, 0, weights), None, name, weights)

    @cached_property
    def labels(self) -> NDArray[Any]:
        """Classes or numbers as in the user's target."""
        return self.target.values if self.classes is None else self.classes[self.target.values]

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.table.schema

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.n_rows

    @property
    def n_missing(self) -> NDArray[np.int64]:
        """Number of missing values in each column."""
        return self.table.n_missing

    def class_weights_of(self, model: Estimator, tasks: Tasks) -> NDArray[np.float64] | None:
        """Return the class weights of each task, (tasks, classes); None without class weights."""
        if self.class_weights is None:
            return None
        if getattr(model, "class_weight", None) != "balanced":
            return np.tile(self.class_weights, (tasks.n_tasks, 1))
        counts = tasks.class_counts(self.target.values.astype(np.int32, copy=False), self.target.n_classes)
        present = counts > 0
        n_present = np.count_nonzero(present, axis=1, keepdims=True)
        n_rows = counts.sum(axis=1, keepdims=True)
        return np.where(present, n_rows / (n_present * np.maximum(counts, 1)), 1.0)

    def balanced(self, tasks: Tasks, task: int) -> Target:
        """Return the target with class weights that balance the rows of one task."""
        rows = tasks.drawn_rows(task)
        counts = np.bincount(self.target.values[rows], minlength=self.target.n_classes)
        present = counts > 0
        by_class = np.ones(self.target.n_classes)
        by_class[present] = len(rows) / (np.count_nonzero(present) * counts[present])
        weights = by_class[self.target.values]
        if self.sample_weight is not None:
            weights *= self.sample_weight
        counted = bool(np.all(weights[rows] == 1))
        return Target(self.target.values, self.target.n_classes, None if counted else weights)
