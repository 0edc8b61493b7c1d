"""What one growth cannot serve, and the warning that says so."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


class DelegationWarning(UserWarning):
    """The call was handed to scikit-learn, which fits tree after tree; the message names the reason."""


class NotShared(Exception):  # noqa: N818 - it is a reason, not an error: the caller delegates
    """Raised with the reason why the trees of a call cannot be grown together."""

    splits: Any = None  # if the splitter was already asked: a generator must not be asked again


def warn_delegated(function: str, reason: NotShared) -> None:
    """Warn once, at the caller's line, that ``function`` is left to scikit-learn."""
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals["__name__"].partition(".")[0] in {"crosscut", "sklearn"}:
        frame, level = frame.f_back, level + 1
    message = f"{function} is delegated to scikit-learn, one fit after the other: {reason}"
    warnings.warn(message, DelegationWarning, stacklevel=level)


def refuse_callbacks(*estimators: BaseEstimator) -> None:
    """Refuse scikit-learn's callbacks: they are told about every single fit, and there are none."""
    steps = [step for estimator in estimators for _, step in getattr(estimator, "steps", [])]
    if any(getattr(estimator, "_skl_callbacks", None) for estimator in [*estimators, *steps]):
        raise NotShared("callbacks are called for every fit")
