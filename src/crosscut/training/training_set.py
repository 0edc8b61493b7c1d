"""A tree estimator's parameters and the user's data, checked and coded: from here trees are grown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.forest.error_pruning import pessimistic
from crosscut.forest.predict import apply_held_out
from crosscut.forest.pruning import prune
from crosscut.tasks.growth import Criterion, Growth, Limits
from crosscut.training.checks import read_classes, read_numbers, read_table, read_weights
from crosscut.training.validation import CrossValidation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.forest import Forest
    from crosscut.tasks import Tasks

CRITERIA = ("gini", "entropy", "gain_ratio")


@dataclass(frozen=True, eq=False)
class Problem:
    """What to grow, from what.

    Attributes
    ----------
    model : TreeClassifier or TreeRegressor
        Its parameters say how trees are grown.
    X
        The user's rows.
    table : Table
        The same, coded.
    target : Target
        Class codes or numbers, and weights.
    labels : array
        Classes or numbers as the user gave them.
    classes : array or None
        The classes in sorted order; None for regression.
    """

    model: Any
    X: Any
    table: Table
    target: Target
    labels: NDArray[Any]
    classes: NDArray[Any] | None

    @classmethod
    def read(cls, model: Any, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Check parameters and data, and set what a fit sets: the columns of X."""
        check_parameters(model)
        X = read_table(model, X, reset=True)
        table = Table.from_data(X, max_bins=model.max_bins, n_jobs=model.n_jobs)
        if isinstance(model, ClassifierMixin):
            classes, codes = read_classes(y, table.n_rows)
            labels = classes[codes]
            weights = read_weights(sample_weight, model.class_weight, labels)
            return cls(model, X, table, Target(codes, len(classes), weights), labels, classes)
        labels = read_numbers(y, table.n_rows)
        weights = read_weights(sample_weight, None, labels)
        return cls(model, X, table, Target(labels, 0, weights), labels, None)

    @cached_property
    def matrix(self) -> NDArray[np.float32]:
        """The rows as prediction reads them."""
        return self.table.schema.matrix(self.X)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.n_rows

    def limits(self, n_rows: int | None = None) -> Limits:
        """Limits of a task with so many training rows (shares become numbers); by default all rows."""
        model, n_rows = self.model, self.n_rows if n_rows is None else n_rows
        leaf, split = model.min_samples_leaf, model.min_samples_split
        if isinstance(leaf, float):
            leaf = math.ceil(leaf * n_rows)
        if isinstance(split, float):
            split = max(2, math.ceil(split * n_rows))
        depth = None if model.max_depth is None else int(model.max_depth)
        return Limits(depth, int(split), int(leaf), float(model.min_impurity_decrease))

    @property
    def n_missing(self) -> NDArray[np.int64]:
        """Missing values of each column."""
        table = self.table
        return np.array(
            [
                np.count_nonzero(ranks == n) if missing else 0
                for ranks, n, missing in zip(table.ranks, table.n_values, table.has_missing, strict=True)
            ],
            np.int64,
        )

    def grow(self, tasks: Tasks) -> Forest:
        """Grow all tasks; they are not pruned yet."""
        growth = Growth(criterion_of(self.model), self.model.splits)
        return grow(self.table, self.target, tasks, growth, n_jobs=self.model.n_jobs)

    def validate(self, tasks: Tasks, forest: Forest) -> CrossValidation:
        """Send the held-out rows down their trees."""
        held_out = apply_held_out(forest, self.matrix, tasks, n_jobs=self.model.n_jobs)
        return CrossValidation(forest, held_out, self.target.values, self.classes, self.target.weights)


def prune_each(model: Any, forest: Forest) -> Forest:
    """Prune each tree by itself if the model says so; the same forest if it does not."""
    if model.ccp_alpha > 0:
        forest = prune(forest, ccp_alpha=model.ccp_alpha)
    return pessimistic(forest) if model.prune == "pessimistic" else forest


def criterion_of(model: Any) -> Criterion:
    """Return the core's name of a model's criterion."""
    return "variance" if model.criterion == "squared_error" else model.criterion


def is_integer(value: Any, least: int) -> bool:
    """Whether a parameter is an integer, not a boolean, of at least this size."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= least


def check_parameters(model: Any) -> None:
    """Refuse parameters that mean nothing, saying what would."""
    classifies = isinstance(model, ClassifierMixin)
    choices: dict[str, tuple[str | None, ...]] = {
        "criterion": CRITERIA if classifies else ("squared_error",),
        "splits": ("binary", "multiway"),
        "prune": (None, "best", "1se", "pessimistic") if classifies else (None, "best", "1se"),
    }
    for name, allowed in choices.items():
        if getattr(model, name) not in allowed:
            raise ValueError(f"{name} must be one of {allowed}, but {getattr(model, name)!r} was given")
    if model.max_depth is not None and not is_integer(model.max_depth, 1):
        raise ValueError(f"max_depth must be None or an integer from 1, but {model.max_depth!r} was given")
    for name, least, most in (("min_samples_split", 2, 1.0), ("min_samples_leaf", 1, 1.0 - 1e-16)):
        value = getattr(model, name)
        if not is_integer(value, least) and not (isinstance(value, float) and 0 < value <= most):
            raise ValueError(
                f"{name} must be an integer from {least} or a share of the rows, but {value!r} was given"
            )
    for name in ("min_impurity_decrease", "ccp_alpha"):
        value = getattr(model, name)
        if not isinstance(value, (int, float, np.number)) or not value >= 0:
            raise ValueError(f"{name} must be a number from 0, but {value!r} was given")
    if model.prune in {"best", "1se"} and model.cv is None:
        raise ValueError(f"prune={model.prune!r} chooses by cross-validation; give cv, for example cv=10")
