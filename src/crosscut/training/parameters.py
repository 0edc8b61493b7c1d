"""The parameters of tree estimators: checked, and as growing takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from crosscut.tasks.growth import Criterion, Growth, Limits

CRITERIA = ("gini", "entropy", "gain_ratio")


def is_integer(value: Any, at_least: int) -> bool:
    """Whether a parameter is an integer, not a boolean, of at least this size."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= at_least


def criterion_of(criterion: str) -> Criterion:
    """Return the core's name of an estimator's criterion."""
    return "variance" if criterion == "squared_error" else criterion  # type: ignore[return-value]  # checked


def growth_of(model: Any) -> Growth:
    """Return how tests are made and judged."""
    return Growth(criterion_of(model.criterion), model.splits)


def limits_of(model: Any, n_rows: int) -> Limits:
    """Return the limits of a task with this many training rows; shares of the rows become numbers."""
    return _limits(model).of_rows(n_rows)


def has_shares(model: Any) -> bool:
    """Whether limits depend on a task's number of rows."""
    return _limits(model).has_shares


def _limits(model: Any) -> Limits:
    split, leaf = (
        count if isinstance(count, float) else int(count)
        for count in (model.min_samples_split, model.min_samples_leaf)
    )
    depth = None if model.max_depth is None else int(model.max_depth)
    return Limits(depth, split, leaf, float(model.min_impurity_decrease))


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
    for name, at_least, at_most in (("min_samples_split", 2, 1.0), ("min_samples_leaf", 1, 1.0 - 1e-16)):
        value = getattr(model, name)
        if not is_integer(value, at_least) and not (isinstance(value, float) and 0 < value <= at_most):
            raise ValueError(
                f"{name} must be an integer from {at_least} or a share of the rows, but {value!r} was given"
            )
    for name in ("min_impurity_decrease", "ccp_alpha"):
        value = getattr(model, name)
        if not isinstance(value, (int, float, np.number)) or not value >= 0:
            raise ValueError(f"{name} must be a number from 0, but {value!r} was given")
    if model.prune in {"best", "1se"} and model.cv is None:
        raise ValueError(f"prune={model.prune!r} chooses by cross-validation; give cv, for example cv=10")
