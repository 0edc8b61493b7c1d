"""Parameters of candidates: the settings that need separate trees, and the limits that only prune them."""

from __future__ import annotations

import sys
import warnings
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from crosscut.tasks.growth import CRITERIA as GROWN
from crosscut.tasks.growth import Growth, Limits
from crosscut.training.parameters import ALIASES, check_parameters
from crosscut.warning import CrosscutWarning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sklearn.base import BaseEstimator

    from crosscut.tasks.growth import Criterion
    from crosscut.typing import ClassWeight


class DelegationWarning(CrosscutWarning):
    """The call was delegated to scikit-learn, which fits one tree at a time; the message names the reason."""


class NotShared(Exception):  # noqa: N818 - not an error: the caller delegates
    """The reason why the trees of a call cannot be grown together."""

    splits: Any = None  # the pairs, if the splitter has run: a generator runs only once


def warn_delegated(function: str, reason: NotShared) -> None:
    """Warn once, at the caller's line, that ``function`` is delegated to scikit-learn."""
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals["__name__"].partition(".")[0] in {"crosscut", "sklearn"}:
        frame, level = frame.f_back, level + 1
    message = f"{function} is delegated to scikit-learn, one fit after the other: {reason}"
    warnings.warn(message, DelegationWarning, stacklevel=level)


# scikit-learn does not split nodes with at most this impurity. The core splits until targets are equal, so it
# needs this limit, too. It matters only if targets differ by less than 1.5e-8.
PURE = 2.220446049250313e-16
# the criteria of the core, also under scikit-learn's names
CRITERIA: dict[str, Criterion] = {name: name for name in GROWN} | ALIASES
# parameters that must have this value, and the effect of another value
FIXED = {
    "splitter": ("best", "draws thresholds at random"),
    "monotonic_cst": (None, "constrains the leaf values"),
    "prune": (None, "chooses the pruning by a cross-validation inside each training set"),
    "loss": (None, "predicts the class of least cost"),
    "prune_by": ("impurity", "prunes by another measure than impurity"),
}


class Setting(NamedTuple):
    """Parameters that need separate trees. One tree per training set contains all candidates of a setting."""

    growth: Growth
    max_bins: int | None
    class_weight: ClassWeight  # hashable form: None, "balanced" or sorted items
    min_samples_leaf: int | float
    min_samples_split: float | None  # only a fraction: its number of rows differs between trees
    min_impurity: float  # nodes with at most this impurity are not split


class Candidate(NamedTuple):
    """One choice of parameters: its setting, and the limits that prune the setting's trees."""

    setting: Setting
    limits: Limits
    ccp_alpha: float = 0.0
    max_leaf_nodes: int | None = None
    steps: int = 0  # index of the pipeline's steps before the tree


def is_scikit(estimator: BaseEstimator) -> bool:
    """Whether the estimator is one of scikit-learn's two trees; subclasses may behave differently."""
    return type(estimator) in {DecisionTreeClassifier, DecisionTreeRegressor}


def tree_of(estimator: BaseEstimator) -> BaseEstimator:
    """Return the last step of a pipeline, which may be a tree, or else the estimator itself."""
    return estimator.steps[-1][1] if type(estimator) is Pipeline and len(estimator.steps) > 1 else estimator


def check_estimator(estimator: BaseEstimator) -> None:
    """Refuse estimators other than supported trees and pipelines that end in one."""
    tree = tree_of(estimator)
    ours = type(tree).__module__.partition(".")[0] == "crosscut"
    if not (is_scikit(tree) or (ours and type(tree).__name__ in {"TreeClassifier", "TreeRegressor"})):
        what = "the estimator is" if tree is estimator else "the pipeline ends in"
        raise NotShared(f"{what} a {type(tree).__name__}, not a tree")
    if tree is not estimator and estimator.transform_input:
        raise NotShared("the pipeline transforms more than X (transform_input)")


def read_candidates(
    estimator: BaseEstimator,
    candidates: Sequence[Mapping[str, Any]],
    n_features: int,
    *,
    weighted: bool = False,
) -> list[Candidate]:
    """Read each candidate, or raise :class:`NotShared` naming the parameter that forbids sharing.

    ``weighted`` says whether rows have weights. Invalid values raise it too: scikit-learn reports the failing
    fits.
    """
    scratch = clone(estimator)
    default = scratch.get_params(deep=False)
    check = scratch._validate_params if is_scikit(estimator) else partial(check_parameters, scratch)
    read = []
    for candidate in candidates:
        unknown = [name for name in candidate if name not in default]
        if unknown:
            raise NotShared(f"{unknown[0]!r} is not a parameter of {type(estimator).__name__}")
        scratch.set_params(**default | candidate)
        try:
            check()
        except ValueError as error:
            raise NotShared(str(error)) from None
        read.append(_read(default | candidate, n_features, scikit=is_scikit(estimator), weighted=weighted))
    return read


def _read(params: Mapping[str, Any], n_features: int, *, scikit: bool, weighted: bool) -> Candidate:
    for name, (value, consequence) in FIXED.items():
        actual = params.get(name, value)
        if actual is not value and (value is None or actual != value):
            raise NotShared(f"{name}={actual!r} {consequence}")
    features = params.get("max_features")
    if not (
        features is None or (features == 1.0 and isinstance(features, float)) or features == n_features != 1
    ):
        raise NotShared(f"max_features={features!r} draws features at random")
    criterion = params["criterion"]
    if criterion not in CRITERIA:
        raise NotShared(
            f"criterion={criterion!r} is not additive over folds, so trees cannot be grown together"
        )
    weight = params.get("class_weight")
    if isinstance(weight, dict):
        weight = tuple(sorted(weight.items(), key=repr))
    elif not (weight is None or weight == "balanced"):
        raise NotShared(f"class_weight={weight!r} is for several outputs")
    depth, leaves = params["max_depth"], params.get("max_leaf_nodes")
    limits = Limits(
        None if depth is None else int(depth),
        _rows_or_fraction(params["min_samples_split"]),
        _leaf(params, weighted=weighted or weight is not None),
        float(params["min_impurity_decrease"]),
    )
    setting = Setting(
        Growth(CRITERIA[criterion], params.get("splits", "binary")),
        params.get("max_bins"),
        weight,
        limits.min_samples_leaf,
        limits.min_samples_split if isinstance(limits.min_samples_split, float) else None,
        PURE if scikit else -1.0,
    )
    return Candidate(setting, limits, float(params["ccp_alpha"]), None if leaves is None else int(leaves))


def _leaf(params: Mapping[str, Any], *, weighted: bool) -> int | float:
    """Return the minimum number or fraction of rows in a leaf; without weights, fractions are of rows."""
    rows, weight = _rows_or_fraction(params["min_samples_leaf"]), params.get("min_weight_fraction_leaf", 0.0)
    if not weight:
        return rows
    if weighted:
        raise NotShared(f"min_weight_fraction_leaf={weight!r} limits the weight of leaves")
    if isinstance(rows, int) and rows > 1:
        raise NotShared(f"min_weight_fraction_leaf={weight!r} and min_samples_leaf={rows} limit leaves twice")
    return max(rows, float(weight)) if isinstance(rows, float) else float(weight)


def _rows_or_fraction(limit: object) -> int | float:
    return int(limit) if isinstance(limit, Integral) else float(limit)  # type: ignore[arg-type]  # checked by the estimator
