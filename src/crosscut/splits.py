"""Folds and (train, test) splits, as scikit-learn makes them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


def folds_of(n_folds: int, n_rows: int, y: Any = None) -> NDArray[np.int64]:
    """Return each row's fold: as ``KFold`` makes them, or ``StratifiedKFold`` if classes ``y`` are given.

    It is all an integer ``cv`` needs, and importing scikit-learn takes longer than growing the trees.

    Examples
    --------
    >>> folds_of(2, 5), folds_of(2, 4, ["a", "a", "b", "b"])
    (array([0, 0, 0, 1, 1]), array([0, 1, 0, 1]))
    """
    if n_folds < 2:
        raise ValueError(f"cv must be at least 2 folds, but {n_folds} was given")
    if n_folds > n_rows:
        raise ValueError(f"cv asks for {n_folds} folds, but there are only {n_rows} rows")
    if y is None:
        sizes = np.full(n_folds, n_rows // n_folds)
        sizes[: n_rows % n_folds] += 1
        return np.repeat(np.arange(n_folds), sizes)
    _, first, codes = np.unique(np.asarray(y), return_index=True, return_inverse=True)
    codes = np.argsort(np.argsort(first))[codes.ravel()]  # classes in order of appearance
    counts = np.bincount(codes)
    if n_folds > counts.max():
        raise ValueError(f"cv asks for {n_folds} folds, but the largest class has only {counts.max()} rows")
    if n_folds > counts.min():
        warnings.warn(
            f"The least populated class in y has only {counts.min()} rows, fewer than the {n_folds} folds "
            "of cv: some folds do without it",
            UserWarning,
            stacklevel=3,
        )
    # fold i gets of each class as many rows as places i, i + n, i + 2n, ... of the sorted classes hold
    last = np.cumsum(counts)
    order = np.argsort(codes, kind="stable")
    folds = np.empty(n_rows, np.int64)
    for k, count in enumerate(counts.tolist()):
        begin = int(last[k]) - count
        share = np.bincount(np.arange(begin, begin + count) % n_folds, minlength=n_folds)
        folds[order[begin : begin + count]] = np.repeat(np.arange(n_folds), share)
    return folds


def splits_of(cv: Any, n_rows: int, X: Any, y: Any, groups: Any) -> Iterable[tuple[Any, Any]]:
    """Return the (train, test) pairs of a scikit-learn splitter or of any iterable."""
    pairs: Iterable[tuple[Any, Any]] = cv
    if hasattr(cv, "split") and not isinstance(cv, str):
        pairs = cv.split(np.empty(n_rows) if X is None else X, y, groups)
    elif isinstance(cv, str) or not hasattr(cv, "__iter__"):
        raise ValueError(
            "cv must be a number of folds, a scikit-learn splitter or an iterable of (train, test) rows, "
            f"but {cv!r} was given"
        )
    return pairs


def warn_groups(groups: Any, n_folds: int) -> None:
    """Say that plain folds do not keep groups together."""
    if groups is not None:
        warnings.warn(
            f"The groups parameter is ignored by cv={n_folds}; "
            f"use cv=GroupKFold({n_folds}) to keep groups together",
            UserWarning,
            stacklevel=3,
        )
