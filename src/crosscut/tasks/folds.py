"""Make folds and (train, test) splits like scikit-learn, and check their input."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut import _core
from crosscut.data.target import coded_classes
from crosscut.data.threads import n_threads
from crosscut.tasks.masks import BLOCK, row_numbers
from crosscut.warning import CrosscutWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from crosscut.data.target import Target
    from crosscut.typing import ColumnLike, CrossValidation, Seed, TableLike

_FEW_ROWS = 64  # of each class


def folds_of(n_folds: int, n_rows: int, y: ColumnLike = None, random_state: Seed = None) -> NDArray[np.int64]:
    """Return each row's fold, equal to ``KFold``, or ``StratifiedKFold`` if classes ``y`` are given.

    Importing and using scikit-learn's splitters would take longer than growing the trees. A ``random_state``
    shuffles the rows like theirs. Warns if some folds lack a class.

    Examples
    --------
    >>> folds_of(2, 5), folds_of(2, 4, ["a", "a", "b", "b"])
    (array([0, 0, 0, 1, 1]), array([0, 1, 0, 1]))
    """
    if n_folds < 2:
        raise ValueError(f"cv must be at least 2 folds, not {n_folds}")
    if n_folds > n_rows:
        raise ValueError(f"cv={n_folds} exceeds the {n_rows} rows; use a smaller cv")
    if y is None:
        shuffle = _shuffle(random_state)
        folds = np.empty(n_rows, np.int64)
        _core.cut_folds(n_folds, folds)
        if shuffle is None:
            return folds
        order, shuffled = np.arange(n_rows), np.empty_like(folds)
        shuffle(order)
        shuffled[order] = folds
        return shuffled
    classes, codes = coded_classes(np.asarray(y))
    folds, counts = _stratified(n_folds, codes, len(classes), random_state)
    if n_folds > max(counts):
        raise ValueError(
            f"cv={n_folds} exceeds the {max(counts)} rows of the largest class; use a smaller cv"
        )
    if n_folds > min(counts):
        warnings.warn(
            f"The least populated class in y has only {min(counts)} rows, fewer than the {n_folds} folds "
            "of cv: some folds lack it",
            CrosscutWarning,
            stacklevel=3,
        )
    return folds


def _stratified(
    n_folds: int, codes: NDArray[np.int32], n_classes: int, random_state: Seed, n_jobs: int | None = None
) -> tuple[NDArray[np.int64], list[int]]:
    """Return each row's stratified fold, and the number of rows of each class."""
    folds = np.empty(len(codes), np.int64)
    threads = n_threads(n_jobs, len(codes))
    return folds, _core.deal_folds(codes, n_classes, n_folds, folds, _shuffle(random_state), threads)


def _shuffle(random_state: Seed) -> Callable[[NDArray[np.int64]], None] | None:
    if random_state is None:
        return None
    from sklearn.utils import check_random_state

    return check_random_state(random_state).shuffle  # type: ignore[no-any-return]


def folds_that_fit(
    n_folds: int,
    n_rows: int,
    codes: NDArray[Any] | None,
    groups: ColumnLike = None,
    random_state: Seed = None,
    *,
    n_classes: int = 0,
    n_jobs: int | None = None,
) -> tuple[NDArray[np.int64] | None, int]:
    """Return each row's fold, with at most ``n_folds`` folds, and the size of the smallest class.

    The number of folds is reduced if the rows do not suffice; below two folds, the result is None. Folds are
    stratified if class codes are given, and shuffled if ``random_state`` is given.
    """
    warn_groups(groups, n_folds)
    n_classes = n_classes or (1 if codes is None else int(codes.max()) + 1)
    fitting = n_folds
    if n_folds * n_classes > n_rows:  # otherwise the largest class has a row for every fold
        most = n_rows if codes is None else int(np.bincount(codes).max())
        fitting = min(n_folds, most)
    if fitting < n_folds:
        warnings.warn(
            f"cv={n_folds} exceeds the {most} rows{'' if codes is None else ' of the largest class'}; "
            + (f"using {fitting} folds" if fitting > 1 else "no cross-validation is done"),
            CrosscutWarning,
            stacklevel=5,
        )
    if fitting < 2:
        return None, 0
    if codes is None:
        return folds_of(fitting, n_rows, None, random_state), n_rows
    # no warning about small classes: they do not affect the final model
    codes = np.ascontiguousarray(codes, np.int32)
    folds, counts = _stratified(fitting, codes, n_classes, random_state, n_jobs)
    return folds, min(counts)


def splits_of(
    cv: CrossValidation, n_rows: int, X: TableLike, y: ColumnLike, groups: ColumnLike
) -> Iterable[tuple[Any, Any]]:
    """Return the (train, test) pairs of a scikit-learn splitter, of any iterable, or of each row's fold."""
    if isinstance(cv, np.ndarray) and cv.ndim == 1 and cv.dtype.kind in "iu":
        if len(cv) != n_rows:
            raise ValueError(f"cv has {len(cv)} fold numbers; it must have one for each of {n_rows} rows")
        from sklearn.model_selection import PredefinedSplit  # slow to import

        cv = PredefinedSplit(cv)
    pairs: Iterable[tuple[Any, Any]] = cv
    if hasattr(cv, "split") and not isinstance(cv, str):
        if groups is None and "Group" in type(cv).__name__:
            raise ValueError(f"cv={cv!r} needs groups: pass one group per row, fit(X, y, groups=...)")
        pairs = cv.split(np.empty(n_rows) if X is None else X, y, groups)
    elif isinstance(cv, str) or not hasattr(cv, "__iter__"):
        raise ValueError(
            "cv must be a number of folds, a scikit-learn splitter or an iterable of (train, test) rows, "
            f"not {cv!r}"
        )
    return pairs


def group_codes(groups: ColumnLike) -> NDArray[np.int64] | None:
    """Return the code of each row's group; None without groups."""
    if groups is None:
        return None
    values = np.asarray(groups)
    if values.dtype.kind in "iufb":
        return coded_classes(values)[1].astype(np.int64)
    cells = values.tolist()
    number = {group: code for code, group in enumerate(dict.fromkeys(cells))}
    return np.fromiter(map(number.__getitem__, cells), np.int64, len(cells))


def folds_of_splits(splits: Iterable[tuple[Any, Any]], n_rows: int) -> NDArray[np.int64]:
    """Return each row's fold; test sets must partition the rows, and splits train on all other rows."""
    folds = np.full(n_rows, -1)
    for number, (train, test) in enumerate(splits):
        rows = row_numbers(test, n_rows, f"the test set of split {number}")
        others = row_numbers(train, n_rows, f"the training set of split {number}")
        if (folds[rows] >= 0).any() or len(rows) + len(np.unique(others)) != n_rows:
            raise ValueError(
                f"cv must partition the rows, but split {number} tests rows again "
                "or does not train on all others"
            )
        folds[rows] = number
    if (folds < 0).any():
        raise ValueError(f"cv must partition the rows, but row {np.argmin(folds)} is in no test set")
    return folds


def warn_groups(groups: ColumnLike, n_folds: int) -> None:
    """Warn that plain folds do not keep groups together."""
    if groups is not None:
        warnings.warn(
            f"The groups parameter is ignored by cv={n_folds}; "
            f"use cv=GroupKFold({n_folds}) to keep groups together",
            CrosscutWarning,
            stacklevel=3,
        )


def count_rows(n_rows: int | None, **arguments: object) -> int:
    """Return the number of rows, on which all arguments must agree."""
    lengths = {name: _length(value) for name, value in arguments.items() if value is not None}
    if n_rows is not None:
        lengths["n_rows"] = int(n_rows)
    if not lengths:
        raise ValueError("the number of rows is unknown; pass n_rows, X or y")
    if len(set(lengths.values())) > 1:
        raise ValueError(f"X, y and groups must have one entry per row, but their lengths are {lengths}")
    return next(iter(lengths.values()))


def _length(value: ColumnLike) -> int:
    return int(value.shape[0]) if hasattr(value, "shape") else len(value)


def check_target(target: Target, n_rows: int) -> None:
    """Check that targets and weights have one finite entry per row."""
    for name, array in (("y", target.values), ("sample_weight", target.weights)):
        if array is None:
            continue
        if array.shape != (n_rows,):
            raise ValueError(f"{name} must have one entry per row ({n_rows}), but its shape is {array.shape}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            row = int(np.argmin(np.isfinite(array)))
            raise ValueError(f"{name} must be finite, but it is {array[row]} in row {row}")
    if target.weights is not None and (target.weights < 0).any():
        row = int(np.argmax(target.weights < 0))
        raise ValueError(f"sample_weight must not be negative, but it is {target.weights[row]} in row {row}")


def trained_classes(
    masks: NDArray[np.uint16], n_tasks: int, target: Target
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return whether each task trains on any row of each class with weight, and the codes of these classes.

    Numeric targets count as one class.
    """
    rows = np.arange(masks.shape[1]) if target.weights is None else np.flatnonzero(target.weights)
    kind = np.int16 if target.n_classes < 1 << 15 else np.int64  # int16 is sorted by radix sort
    codes = target.values[rows].astype(kind) if target.n_classes else np.zeros(len(rows), kind)
    order = rows[np.argsort(codes, kind="stable")]
    counts = np.bincount(codes, minlength=1)
    present = np.flatnonzero(counts)
    for most in (_FEW_ROWS, len(rows)):  # a few rows of each class are mostly enough
        sizes = np.minimum(counts, most)[present]
        starts = np.cumsum(sizes) - sizes
        firsts = np.cumsum(counts)[present] - counts[present]
        some = masks[:, order[np.repeat(firsts - starts, sizes) + np.arange(sizes.sum())]]
        if len(rows):
            some = np.bitwise_or.reduceat(some, starts, axis=1)
        bits = (some[:, None, :] >> np.arange(BLOCK, dtype=np.uint16)[:, None] & 1).astype(bool)
        trained = bits.reshape(len(masks) * BLOCK, bits.shape[2])[:n_tasks]
        if trained.all():
            break
    return trained, present


def check_trained(trained: NDArray[np.bool_], classes: Sequence[Any] | NDArray[Any]) -> None:
    """Raise if a model has no training rows with weight; warn if models lack a class.

    ``trained`` (tasks, classes) says whether each task trains on any row of each class. Task 0 is the final
    model, the other tasks are folds. Regression has one class.
    """
    bare = np.flatnonzero(~trained.any(axis=1))
    if len(bare):
        model = f"the model of fold {bare[0]}" if bare[0] else "the final model"
        raise ValueError(
            f"{model} has no row with weight to train on; use fewer folds, or other splits, groups or weights"
        )
    if not trained.all():
        fold, c = np.argwhere(~trained)[0]
        others = np.count_nonzero(~trained.all(axis=1)) - 1
        more = f" ({others} more lack{'s' if others == 1 else ''} a class)" if others else ""
        warnings.warn(
            f"the model of fold {fold} trains on no row of class {classes[c]}, so it never predicts it{more}"
            "; use stratified folds and two or more rows of each class",
            CrosscutWarning,
            stacklevel=3,
        )


def checked_folds(
    folds: ArrayLike, n_jobs: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[int]]:
    """Return each row's fold, the rows fold by fold, and the offsets of the folds.

    Raises if a fold or training set is empty.
    """
    array = np.asarray(folds)
    if array.ndim != 1 or array.dtype.kind not in "iu" or not len(array):
        raise ValueError(f"folds must be one integer per row, not {array.dtype} of shape {array.shape}")
    numbers = np.ascontiguousarray(array, dtype=np.int64)
    rows = np.empty_like(numbers)
    first = _core.rows_by_fold(numbers, rows, n_threads(n_jobs, len(numbers)))
    sizes = [end - begin for begin, end in pairwise(first)]
    if 0 in sizes:
        raise ValueError(f"folds has no row of fold {sizes.index(0)}; number the folds from 0 without gaps")
    if max(sizes) == len(numbers):
        raise ValueError("folds puts every row in one fold, which leaves an empty training set")
    return numbers, rows[: first[-1]], first
