"""Check the parameters of tree estimators and convert them for growing."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin

from crosscut.forest.pruning_table import Objective
from crosscut.tasks.growth import CLASS_CRITERIA, Criterion, Growth, Limits

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from crosscut.forest.pruning_table import Loss
    from crosscut.forest.smaller_trees import Measure
    from crosscut.typing import TreeEstimator

IN_SKLEARN = (
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_impurity_decrease",
    "ccp_alpha",
    "class_weight",
    "random_state",
)


def is_integer(value: object, at_least: int) -> bool:
    """Whether a parameter is an integer, not a boolean, of at least ``at_least``."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= at_least


# scikit-learn's names of criteria of the core
ALIASES: dict[str, Criterion] = {"squared_error": "variance", "log_loss": "entropy"}


def criterion_of(criterion: str) -> Criterion:
    """Return the name of a criterion in the core."""
    return ALIASES.get(criterion, criterion)


def check_score(name: str) -> None:
    """Raise unless scikit-learn has a score of this name; suggest similar names."""
    from sklearn.metrics import get_scorer_names

    known = get_scorer_names()
    if name not in known:
        near = get_close_matches(name, known, 3, 0.4) or ["accuracy", "f1_macro", "r2"]
        raise ValueError(f"scoring={name!r} is not a score of scikit-learn; try {', '.join(near)}")


def growth_of(model: TreeEstimator) -> Growth:
    """Return the kind of tests and the split criterion."""
    return Growth(criterion_of(model.criterion), model.splits)


def sklearn_parameters(model: TreeEstimator) -> dict[str, Any]:
    """Return the parameters that scikit-learn's trees and forests also have."""
    named = {name: getattr(model, name) for name in IN_SKLEARN if hasattr(model, name)}
    return named | {"criterion": "entropy" if model.criterion == "gain_ratio" else model.criterion}


def measure_of(model: TreeEstimator) -> Measure:
    """Return the measure that pruning weighs against the number of leaves."""
    measure: Measure = getattr(model, "prune_by", "impurity")
    return measure


_LOSSES: dict[str, Loss] = {
    "accuracy": "error",
    "neg_brier_score": "brier",
    "neg_log_loss": "log",
    "roc_auc": "auc",
    "roc_auc_ovr": "auc",
    "r2": "squared",
    "neg_mean_squared_error": "squared",
    "neg_mean_absolute_error": "absolute",
}


def objective_of(model: TreeEstimator) -> Objective:
    """Return what pruning minimises: by default the Brier score with shrinkage, else the errors."""
    shrinkage = model.shrinkage if chooses(model) else None  # else the trees are shrunk already
    if not isinstance(model, ClassifierMixin):
        usual: Loss = "squared"
    else:
        usual = "error" if model.loss is not None or shrinkage is None else "brier"
    loss = _LOSSES.get(model.scoring, usual) if isinstance(model.scoring, str) else usual
    return Objective(measure_of(model), loss, shrinkage)


def chooses(model: TreeEstimator) -> bool:
    """Whether the folds choose the pruning."""
    return model.prune in {"best", "1se"}


def cost_matrix(model: TreeEstimator, classes: NDArray[Any] | None) -> NDArray[np.float64] | None:
    """Return the cost by class (rows) and predicted class (columns), or None without a loss."""
    loss = getattr(model, "loss", None)
    if loss is None or classes is None:
        return None
    n = len(classes)
    if isinstance(loss, dict):
        unknown = [key for key in loss if key not in classes.tolist()]
        if unknown:
            raise ValueError(f"loss names {unknown[0]!r}, which is not among the classes {classes.tolist()}")
        loss = [loss.get(name, 1.0) for name in classes.tolist()]
    cost = np.asarray(loss, dtype=np.float64)
    if cost.shape not in {(n,), (n, n)} or not np.all((cost >= 0) & np.isfinite(cost)):
        raise ValueError(
            f"loss must be {n} costs, or a matrix of costs by class and predicted class ({n}, {n}), all "
            f"finite and >= 0, for the classes {classes.tolist()}, not {loss!r}"
        )
    return np.ascontiguousarray(cost if cost.ndim == 2 else cost[:, None] * (1.0 - np.eye(n)))


def leaf_sizes(model: TreeEstimator) -> tuple[int | float, ...]:
    """Return the leaf sizes to choose from; empty if there is only one."""
    return tuple(model.min_samples_leaf) if isinstance(model.min_samples_leaf, (tuple, list)) else ()


def limits_of(model: TreeEstimator) -> Limits:
    """Return the limits as passed, possibly fractions of the rows; of several leaf sizes the chosen one."""
    leaf_size: Any = model.fit_.settings["min_samples_leaf"] if leaf_sizes(model) else model.min_samples_leaf
    split, leaf = (
        count if isinstance(count, float) else int(count) for count in (model.min_samples_split, leaf_size)
    )
    depth = None if model.max_depth is None else int(model.max_depth)
    return Limits(depth, split, leaf, float(model.min_impurity_decrease))


def check_parameters(model: BaseEstimator) -> None:
    """Raise for invalid parameters, naming valid values."""
    classifies = isinstance(model, ClassifierMixin)
    choices: dict[str, tuple[str | None, ...]] = {
        "criterion": (*CLASS_CRITERIA, "log_loss") if classifies else ("squared_error",),
        "splits": ("binary", "multiway"),
        "prune": (None, "best", "1se", "pessimistic") if classifies else (None, "best", "1se"),
    }
    if classifies:
        choices["prune_by"] = ("impurity", "error", "loss")
        if (model.prune_by == "loss") != (model.loss is not None):
            raise ValueError(
                f"prune_by='loss' and loss belong together, but prune_by={model.prune_by!r} and "
                f"loss={model.loss!r}; set both or neither"
            )
        if model.loss is not None and model.prune == "pessimistic":
            raise ValueError(
                "prune='pessimistic' estimates errors, not costs; with a loss, use 'best' or '1se'"
            )
    for name, allowed in choices.items():
        if getattr(model, name) not in allowed:
            raise ValueError(f"{name} must be one of {allowed}, not {getattr(model, name)!r}")
    if isinstance(model.scoring, str):
        check_score(model.scoring)
    if not isinstance(model.n_jobs, int | np.integer | None):
        raise TypeError(
            f"n_jobs must be None or a whole number, such as 2 or -1 for all cores, not {model.n_jobs!r}"
        )
    if isinstance(model.random_state, str):
        raise TypeError(
            f"random_state must be None, a whole number or a RandomState, not {model.random_state!r}"
        )
    if model.max_depth is not None and not is_integer(model.max_depth, 1):
        raise ValueError(f"max_depth must be None or an integer >= 1, not {model.max_depth!r}")
    sizes = leaf_sizes(model)
    if sizes and not chooses(model):
        raise ValueError(
            f"min_samples_leaf={model.min_samples_leaf!r} lists sizes to choose from, which needs "
            f"prune='best' or '1se', not {model.prune!r}"
        )
    counts = [("min_samples_split", model.min_samples_split, 2, 1.0)]
    counts += [("min_samples_leaf", size, 1, 1.0 - 1e-16) for size in sizes or (model.min_samples_leaf,)]
    for name, value, at_least, at_most in counts:
        if not is_integer(value, at_least) and not (isinstance(value, float) and 0 < value <= at_most):
            raise ValueError(
                f"{name} must be an integer >= {at_least} or a fraction of the rows, not {value!r}"
            )
    for name in ("min_impurity_decrease", "ccp_alpha"):
        check_number(name, getattr(model, name), "")
    check_shrinkage(model.shrinkage)
    if not is_integer(model.repeats, 1):
        raise ValueError(f"repeats must be an integer >= 1, not {model.repeats!r}")
    if model.repeats > 1 and not is_integer(model.cv, 2):
        raise ValueError(
            f"repeats={model.repeats} repeats a number of folds, but cv is {model.cv!r}; set cv to an "
            "integer, or use a splitter that repeats"
        )
    if model.prune in {"best", "1se"} and model.cv is None:
        raise ValueError(f"prune={model.prune!r} chooses by cross-validation; set cv, for example cv=10")


def check_number(name: str, value: Any, also: str) -> None:
    """Raise unless a parameter is a number of at least 0; ``also`` names other valid values."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not value >= 0:
        raise ValueError(f"{name} must be {also}a number >= 0, not {value!r}")


def check_shrinkage(shrinkage: Any) -> None:
    """Raise for invalid strengths of shrinkage."""
    if shrinkage is not None and not (isinstance(shrinkage, str) and shrinkage == "auto"):
        check_number("shrinkage", shrinkage, "'auto', None or ")
