"""The task list: which rows train each tree, which features it may use, which limits stop it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.growth import Limits
from crosscut.splits import folds_of, splits_of, warn_groups

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from crosscut.growth import Target

BLOCK = 15  # tasks that are grown together: lanes of one 16-bit mask, one bit left for the core


@dataclass(frozen=True, eq=False)
class Tasks:
    """Trees to grow. Task 0 trains on everything unless ``final=False`` was asked for.

    Attributes
    ----------
    n_rows, n_tasks : int
    masks : uint16 array (n_blocks, n_rows)
        Bit ``t`` of block ``b`` is set if the row trains task ``15 * b + t``.
    multiplicity : uint8 array (n_tasks, n_rows), or None
        How often a row counts in a task; None if never more than once.
    features : bool array (n_tasks, n_columns), or None
        Which columns a task may use; None if all of them.
    limits : tuple of Limits
        One per task.
    base, setting : int64 arrays (n_tasks,)
        After :meth:`with_limits` or :meth:`with_features`: the task of the list it was made from, and the position of
        the limits or features it got.
    pairs : mapping of (i, j) to task, or None
        After :meth:`nested`: the task that leaves out folds i and j; ``(i, i)`` leaves out fold i only.

    Examples
    --------
    >>> tasks = Tasks.from_cv(3, n_rows=6)
    >>> tasks.n_tasks, tasks.test_rows(0), tasks.test_rows(1), tasks.train_rows(1)
    (4, array([], dtype=int64), array([0, 1]), array([2, 3, 4, 5]))
    """

    n_rows: int
    n_tasks: int
    masks: NDArray[np.uint16]
    tests: NDArray[np.int64]  # held-out rows of all tasks, one task after the other
    first_test: NDArray[np.int64]  # n_tasks + 1 offsets into tests
    multiplicity: NDArray[np.uint8] | None = None
    features: NDArray[np.bool_] | None = None
    limits: tuple[Limits, ...] = (Limits(),)
    has_final: bool = True
    base: NDArray[np.int64] | None = None
    setting: NDArray[np.int64] | None = None
    pairs: Mapping[tuple[int, int], int] | None = field(default=None)

    def __post_init__(self) -> None:
        limits = (self.limits,) if isinstance(self.limits, Limits) else tuple(self.limits)
        if len(limits) == 1:
            limits *= self.n_tasks
        if len(limits) != self.n_tasks:
            raise ValueError(
                f"limits has {len(limits)} entries for {self.n_tasks} tasks; give one, or one per task"
            )
        object.__setattr__(self, "limits", limits)
        if self.features is not None:
            object.__setattr__(self, "features", _checked_features(self.features, self.n_tasks))

    # how lists of tasks are made

    @classmethod
    def from_cv(
        cls,
        cv: Any = 10,
        y: Any = None,
        groups: Any = None,
        *,
        n_rows: int | None = None,
        X: Any = None,
        classifier: bool = False,
        limits: Limits | Sequence[Limits] = (Limits(),),
        features: ArrayLike | None = None,
        final: bool = True,
    ) -> Tasks:
        """Make one task per split of a cross-validation, after the task that trains on everything.

        Parameters
        ----------
        cv : int, scikit-learn splitter, or iterable of (train, test)
            An integer means that many folds as in scikit-learn: stratified if ``classifier``, else contiguous.
        y, groups, X
            Given to the splitter. ``n_rows`` is needed only if none of them is given.
        """
        n_rows = _count_rows(n_rows, X, y, groups)
        if cv is None or isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
            n_folds = 5 if cv is None else int(cv)
            warn_groups(groups, n_folds)
            folds = folds_of(n_folds, n_rows, y if classifier else None)
            return cls.from_folds(folds, limits=limits, features=features, final=final)
        return cls.from_splits(
            splits_of(cv, n_rows, X, y, groups), n_rows, limits=limits, features=features, final=final
        )

    @classmethod
    def from_folds(
        cls,
        folds: ArrayLike,
        *,
        limits: Limits | Sequence[Limits] = (Limits(),),
        features: ArrayLike | None = None,
        final: bool = True,
    ) -> Tasks:
        """Make one task per fold from the number of each row's fold; -1 marks rows that train every task.

        Examples
        --------
        >>> Tasks.from_folds([0, 1, -1, 1]).train_rows(2)
        array([0, 2])
        """
        folds = np.asarray(folds)
        if folds.ndim != 1 or folds.dtype.kind not in "iu":
            raise ValueError(
                f"folds must be one integer per row, but shape {folds.shape} of {folds.dtype} was given"
            )
        folds = folds.astype(np.int64)
        if not len(folds) or folds.min() < -1:
            raise ValueError("folds must be numbers from 0, or -1 for rows that train every task")
        n_folds, start = int(folds.max()) + 1, int(final)
        sizes = np.bincount(folds + 1, minlength=n_folds + 1)
        empty = np.flatnonzero(sizes[1:] == 0)
        if len(empty):
            raise ValueError(f"folds has no row of fold {empty[0]}; number the folds from 0 without gaps")
        if sizes.max() == len(folds) and n_folds:
            raise ValueError("folds puts every row in one fold, which leaves no row to train on")
        n_tasks = n_folds + start
        masks = _full_masks(n_tasks, len(folds))
        for block in range(len(masks)):
            # a row trains all tasks of the block but its own fold's: one look-up per row
            own = np.arange(n_folds) + start - block * BLOCK
            leaves = np.where((own >= 0) & (own < BLOCK), 1 << np.clip(own, 0, BLOCK), 0).astype(np.uint16)
            masks[block] &= ~np.append(leaves, np.uint16(0))[folds]
        order = np.argsort(folds.astype(np.int32), kind="stable")[sizes[0] :].astype(np.int64)
        first = np.concatenate([np.zeros(start + 1, np.int64), np.cumsum(sizes[1:])])
        return cls(
            len(folds),
            n_tasks,
            masks,
            order,
            first,
            features=_features(features),
            limits=_limits(limits),
            has_final=final,
        )

    @classmethod
    def from_splits(
        cls,
        splits: Iterable[tuple[ArrayLike, ArrayLike]],
        n_rows: int,
        *,
        limits: Limits | Sequence[Limits] = (Limits(),),
        features: ArrayLike | None = None,
        final: bool = True,
    ) -> Tasks:
        """Make one task per (train, test) pair of row numbers or boolean masks; a train row given twice counts twice.

        Examples
        --------
        >>> Tasks.from_splits([([0, 1], [2]), ([1, 2], [0])], 3).n_tasks
        3
        """
        columns: list[NDArray[np.bool_]] = [np.ones(n_rows, bool)] if final else []
        counts: dict[int, NDArray[np.uint8]] = {}
        tests: list[NDArray[np.int64]] = [np.empty(0, np.int64)] if final else []
        for number, (train, test) in enumerate(splits):
            train_rows, test_rows = _rows(train, n_rows, "train", number), _rows(test, n_rows, "test", number)
            times = np.bincount(train_rows, minlength=n_rows)
            if not len(train_rows):
                raise ValueError(f"split {number} has an empty training set")
            both = test_rows[times[test_rows] > 0]
            if len(both):
                raise ValueError(f"split {number} has row {both[0]} in its training set and in its test set")
            if times.max() > 255:
                raise ValueError(
                    f"split {number} has a row {times.max()} times in its training set; at most 255 are counted"
                )
            if times.max() > 1:
                counts[len(columns)] = times.astype(np.uint8)
            columns.append(times > 0)
            tests.append(test_rows)
        if len(columns) == int(final):
            raise ValueError("cv gives no splits")
        masks = _full_masks(len(columns), n_rows)
        for task, trains in enumerate(columns):
            masks[task // BLOCK, ~trains] &= np.uint16(0xFFFF ^ (1 << task % BLOCK))
        multiplicity = None
        if counts:
            multiplicity = np.array(columns).astype(np.uint8)
            for task, count in counts.items():
                multiplicity[task] = count
        first = np.concatenate([[0], np.cumsum([len(rows) for rows in tests])]).astype(np.int64)
        return cls(
            n_rows,
            len(columns),
            masks,
            np.concatenate(tests),
            first,
            multiplicity,
            _features(features),
            _limits(limits),
            final,
        )

    # what a task is

    def train_rows(self, task: int) -> NDArray[np.int64]:
        """Return the rows that train a task, each once."""
        return np.flatnonzero(self.masks[task // BLOCK] >> (task % BLOCK) & 1)

    def test_rows(self, task: int) -> NDArray[np.int64]:
        """Return the rows a task holds out; none for the final task."""
        return self.tests[self.first_test[task] : self.first_test[task + 1]]

    def __len__(self) -> int:
        return self.n_tasks

    def __repr__(self) -> str:
        return f"Tasks({self.n_tasks} tasks, {self.n_rows} rows)"


def _count_rows(n_rows: int | None, X: Any, y: Any, groups: Any) -> int:
    lengths = {
        name: len(given) if not hasattr(given, "shape") else int(given.shape[0])
        for name, given in (("X", X), ("y", y), ("groups", groups))
        if given is not None
    }
    if n_rows is not None:
        lengths["n_rows"] = int(n_rows)
    if not lengths:
        raise ValueError("give n_rows, X or y: the number of rows is not known")
    if len(set(lengths.values())) > 1:
        raise ValueError(f"X, y and groups must have one entry per row, but their lengths are {lengths}")
    return next(iter(lengths.values()))


def _full_masks(n_tasks: int, n_rows: int) -> NDArray[np.uint16]:
    masks = np.full((-(-n_tasks // BLOCK), n_rows), (1 << BLOCK) - 1, np.uint16)
    masks[-1] = (1 << (n_tasks - 1) % BLOCK + 1) - 1
    return masks


def _rows(given: ArrayLike, n_rows: int, what: str, number: int) -> NDArray[np.int64]:
    rows = np.asarray(given)
    if rows.dtype == bool:
        if rows.shape != (n_rows,):
            raise ValueError(
                f"split {number}: the {what} mask has shape {rows.shape}, but there are {n_rows} rows"
            )
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
        raise ValueError(f"split {number}: the {what} rows must be a list of row numbers or a boolean mask")
    if len(rows) and (rows.min() < 0 or rows.max() >= n_rows):
        raise ValueError(
            f"split {number}: the {what} rows reach from {rows.min()} to {rows.max()}, but the rows are 0 to {n_rows - 1}"
        )
    return rows.astype(np.int64)


def _limits(limits: Limits | Sequence[Limits]) -> tuple[Limits, ...]:
    return (limits,) if isinstance(limits, Limits) else tuple(limits)


def _features(features: ArrayLike | None) -> NDArray[np.bool_] | None:
    return None if features is None else np.asarray(features)


def _checked_features(features: NDArray[np.bool_], n_tasks: int) -> NDArray[np.bool_]:
    if features.dtype != bool or features.ndim not in (1, 2):
        raise ValueError(
            f"features must be a boolean array (tasks, columns), but {features.dtype} of shape {features.shape} was given"
        )
    if features.ndim == 1:
        features = np.broadcast_to(features, (n_tasks, len(features)))
    if len(features) != n_tasks:
        raise ValueError(f"features has {len(features)} rows for {n_tasks} tasks; give one, or one per task")
    bare = np.flatnonzero(~features.any(axis=1))
    if len(bare):
        raise ValueError(f"features leaves task {bare[0]} no column to test")
    return np.ascontiguousarray(features)
