"""The task list: which rows train each tree, which features it may use, which limits stop it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from crosscut import _core
from crosscut.growth import Limits
from crosscut.masks import BLOCK, empty_masks, masks_without, repacked, row_numbers, rows_of_folds
from crosscut.splits import (
    check_target,
    count_rows,
    folds_of,
    folds_of_splits,
    splits_of,
    warn_absent_classes,
    warn_groups,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from crosscut.growth import Target


@dataclass(frozen=True, eq=False)
class Tasks:
    """Trees to grow; task 0 trains on everything unless ``final=False`` was asked for.

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
    has_final : bool
        Whether task 0 is the final tree, trained on everything.
    base, setting : int64 arrays (n_tasks,)
        After :meth:`with_limits` or :meth:`with_features`: the task of the list it was made from, and the
        position of the limits or features it got.
    pairs : mapping of (i, j) to task, or None
        After :meth:`nested`: the task that leaves out folds i and j; ``(i, i)`` leaves out fold i only.

    Examples
    --------
    >>> tasks = Tasks.from_cv(3, n_rows=6)
    >>> tasks.n_tasks, tasks.test_rows(0), tasks.test_rows(1), tasks.train_rows(1)
    (4, array([], dtype=int64), array([0, 1]), array([2, 3, 4, 5]))
    >>> settings = [Limits(min_samples_leaf=n) for n in (1, 5, 20)]
    >>> tasks.with_limits(settings).n_tasks
    12
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
    pairs: Mapping[tuple[int, int], int] | None = None

    def __post_init__(self) -> None:
        if len(self.limits) not in {1, self.n_tasks}:
            raise ValueError(
                f"limits has {len(self.limits)} entries for {self.n_tasks} tasks; give one, or one per task"
            )
        if len(self.limits) < self.n_tasks:
            object.__setattr__(self, "limits", self.limits * self.n_tasks)

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
        limits: Limits | Sequence[Limits] | None = None,
        features: ArrayLike | None = None,
        final: bool = True,
    ) -> Self:
        """Make one task per split of a cross-validation, after the one that trains on everything.

        Parameters
        ----------
        cv : int, scikit-learn splitter, or iterable of (train, test)
            An integer means that many folds as in scikit-learn: stratified if ``classifier``, else
            contiguous; None means 5.
        y, groups, X
            Given to the splitter. ``n_rows`` is needed only if none of them is given.
        limits : Limits or sequence of Limits
            For all tasks, or one per task.
        features : bool array (columns,) or (n_tasks, columns)
            Columns the tasks may use.
        final : bool
            Whether task 0 trains on everything.
        """
        n_rows = count_rows(n_rows, X=X, y=y, groups=groups)
        if cv is None or (isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)):
            n_folds = 5 if cv is None else int(cv)
            warn_groups(groups, n_folds)
            folds = folds_of(n_folds, n_rows, y if classifier else None)
            return cls.from_folds(folds, limits=limits, features=features, final=final)
        splits = splits_of(cv, n_rows, X, y, groups)
        return cls.from_splits(splits, n_rows, limits=limits, features=features, final=final)

    @classmethod
    def from_folds(
        cls,
        folds: ArrayLike,
        *,
        limits: Limits | Sequence[Limits] | None = None,
        features: ArrayLike | None = None,
        final: bool = True,
    ) -> Self:
        """Make one task per fold from each row's fold number; -1 marks rows that train every task.

        Examples
        --------
        >>> Tasks.from_folds([0, 1, -1, 1]).train_rows(2)
        array([0, 2])
        """
        numbers, n_folds = _checked_folds(folds)
        left_out = [()] * int(final) + [(fold,) for fold in range(n_folds)]
        rows, first = rows_of_folds(numbers, n_folds)
        if final:
            first = np.concatenate([[0], first])
        masks = masks_without(numbers, n_folds, left_out)
        return cls._made(masks, rows, first, limits=limits, features=features, final=final)

    @classmethod
    def nested(
        cls,
        cv: Any = 10,
        y: Any = None,
        groups: Any = None,
        *,
        n_rows: int | None = None,
        X: Any = None,
        classifier: bool = False,
        limits: Limits | Sequence[Limits] | None = None,
        features: ArrayLike | None = None,
    ) -> Self:
        """Make the n(n+1)/2 + 1 tasks of an n by n nested cross-validation.

        Outer fold ``i`` with inner fold ``j`` trains on everything but folds ``i`` and ``j``, which is also
        outer ``j`` with inner ``i``. ``pairs[i, j]`` is that task and ``pairs[i, i]`` the one that leaves out
        fold ``i`` only.

        Examples
        --------
        >>> tasks = Tasks.nested(3, n_rows=6)
        >>> tasks.n_tasks, tasks.train_rows(tasks.pairs[0, 2]), tasks.test_rows(tasks.pairs[1, 1])
        (7, array([2, 3]), array([2, 3]))
        """
        n_rows = count_rows(n_rows, X=X, y=y, groups=groups)
        if cv is None or isinstance(cv, (int, np.integer)):
            n_folds = 5 if cv is None else int(cv)
            warn_groups(groups, n_folds)
            folds = folds_of(n_folds, n_rows, y if classifier else None)
        else:
            folds = folds_of_splits(splits_of(cv, n_rows, X, y, groups), n_rows)
        folds, n_folds = _checked_folds(folds)
        if n_folds < 3:
            raise ValueError(f"nested cross-validation needs at least 3 folds, but cv gives {n_folds}")
        chosen = [(i, i) for i in range(n_folds)] + [
            (i, j) for i in range(n_folds) for j in range(i + 1, n_folds)
        ]
        left_out = [(), *(sorted(set(pair)) for pair in chosen)]
        rows, first = rows_of_folds(folds, n_folds)
        parts = [rows[first[k] : first[k + 1]] for k in range(n_folds)]
        tests = [np.concatenate([parts[k] for k in out]) if out else rows[:0] for out in left_out]
        pairs = {pair: task for task, (i, j) in enumerate(chosen, 1) for pair in ((i, j), (j, i))}
        masks = masks_without(folds, n_folds, left_out)
        made = cls._made(masks, np.concatenate(tests), _offsets(tests), limits=limits, features=features)
        return replace(made, pairs=pairs)

    @classmethod
    def from_splits(
        cls,
        splits: Iterable[tuple[ArrayLike, ArrayLike]],
        n_rows: int,
        *,
        limits: Limits | Sequence[Limits] | None = None,
        features: ArrayLike | None = None,
        final: bool = True,
    ) -> Self:
        """Make one task per (train, test) pair of row numbers or masks; a train row given twice counts twice.

        Examples
        --------
        >>> Tasks.from_splits([([0, 1], [2]), ([1, 2], [0])], 3).n_tasks
        3
        """
        blocks: list[NDArray[np.uint16]] = []
        tests: list[NDArray[np.int64]] = []
        repeated: dict[int, NDArray[np.int64]] = {}

        def add(train: NDArray[np.int64], test: NDArray[np.int64]) -> None:
            task = len(tests)
            if task % BLOCK == 0:
                blocks.append(np.zeros(n_rows, np.uint16))
            if _core.mark_rows(blocks[-1], task % BLOCK, train):
                repeated[task] = train
            both = _core.first_marked(blocks[-1], task % BLOCK, test)
            if both < len(test):
                raise ValueError(
                    f"split {task - final} has row {test[both]} in its training set and in its test set"
                )
            tests.append(test)

        if final:
            add(np.arange(n_rows), np.empty(0, np.int64))
        for number, pair in enumerate(splits):
            try:
                train, test = pair
            except (TypeError, ValueError):
                raise ValueError(f"split {number} of cv is not a pair (train, test)") from None
            train_rows = row_numbers(train, n_rows, f"the training set of split {number}")
            if not len(train_rows):
                raise ValueError(f"split {number} has an empty training set")
            add(train_rows, row_numbers(test, n_rows, f"the test set of split {number}"))
        if len(tests) == final:
            raise ValueError("cv gives no splits")
        made = cls._made(
            np.array(blocks),
            np.concatenate(tests),
            _offsets(tests),
            limits=limits,
            features=features,
            final=final,
        )
        if not repeated:
            return made
        multiplicity = np.array([made.trains(task) for task in range(made.n_tasks)], np.uint8)
        for task, rows in repeated.items():
            multiplicity[task] = _counts(rows, n_rows, f"split {task - final}")
        return replace(made, multiplicity=multiplicity)

    @classmethod
    def bootstrap(
        cls,
        n_tasks: int,
        n_rows: int,
        *,
        size: int | None = None,
        random_state: int | np.random.Generator | None = 0,
        limits: Limits | Sequence[Limits] | None = None,
        features: ArrayLike | None = None,
        final: bool = False,
    ) -> Self:
        """Make tasks that train on rows drawn with replacement; a task's test rows are those not drawn.

        Examples
        --------
        >>> tasks = Tasks.bootstrap(2, 100)
        >>> tasks.multiplicity.sum(axis=1).tolist()
        [100, 100]
        """
        if n_tasks < 1 or n_rows < 1 or (size is not None and size < 1):
            raise ValueError(
                f"n_tasks, n_rows and size must be positive, but {n_tasks}, {n_rows}, {size} were given"
            )
        draw = np.random.default_rng(random_state)
        drawn = (draw.integers(n_rows, size=size or n_rows) for _ in range(n_tasks))
        counts = [_counts(rows, n_rows, f"bootstrap {task}") for task, rows in enumerate(drawn)]
        multiplicity = np.array([np.ones(n_rows, np.uint8)] * final + counts)
        masks = empty_masks(len(multiplicity), n_rows)
        for task, times in enumerate(multiplicity):
            masks[task // BLOCK] |= (times > 0).astype(np.uint16) << np.uint16(task % BLOCK)
        tests = [np.flatnonzero(times == 0) for times in multiplicity]
        made = cls._made(
            masks, np.concatenate(tests), _offsets(tests), limits=limits, features=features, final=final
        )
        return replace(made, multiplicity=multiplicity)

    @classmethod
    def leave_one_out(cls, n_rows: int, **options: Any) -> Self:
        """Make one task per row, which it leaves out; options are those of :meth:`from_folds`."""
        return cls.from_folds(np.arange(n_rows), **options)

    @classmethod
    def _made(
        cls,
        masks: NDArray[np.uint16],
        tests: NDArray[np.int64],
        first_test: NDArray[np.int64],
        *,
        limits: Limits | Sequence[Limits] | None,
        features: ArrayLike | None,
        final: bool = True,
    ) -> Self:
        n_tasks = len(first_test) - 1
        limits = (limits or Limits(),) if limits is None or isinstance(limits, Limits) else tuple(limits)
        allowed = None if features is None else _checked_features(features, n_tasks)
        return cls(masks.shape[1], n_tasks, masks, tests, first_test, None, allowed, limits, final)

    def take(self, tasks: ArrayLike) -> Self:
        """Return a list of some of these tasks, in the given order; a task may be taken several times."""
        chosen = np.asarray(tasks, dtype=np.int64)
        rows = [self.test_rows(task) for task in chosen.tolist()]
        return replace(
            self,
            n_tasks=len(chosen),
            masks=repacked(self.masks, chosen),
            tests=np.concatenate(rows),
            first_test=_offsets(rows),
            multiplicity=None if self.multiplicity is None else self.multiplicity[chosen],
            features=None if self.features is None else self.features[chosen],
            limits=tuple(self.limits[task] for task in chosen.tolist()),
            has_final=self.has_final and len(chosen) > 0 and chosen[0] == 0,
            base=chosen,
            setting=None,
            pairs=None,
        )

    def with_limits(self, settings: Sequence[Limits]) -> Self:
        """Return every task once with each of the limits: task t with setting s is t * len(settings) + s."""
        if not settings:
            raise ValueError("settings is empty; give at least one Limits")
        repeated = self._crossed(len(settings))
        return replace(repeated, limits=tuple(settings) * self.n_tasks)

    def with_features(self, settings: ArrayLike) -> Self:
        """Return every task once with each choice of columns, rows of a boolean array (settings, columns)."""
        masks = np.asarray(settings)
        repeated = self._crossed(len(masks))
        return replace(
            repeated, features=_checked_features(np.tile(masks, (self.n_tasks, 1)), repeated.n_tasks)
        )

    def dropping_features(self, n_columns: int) -> Self:
        """Return every task with all columns (setting 0) and without column ``f`` (setting ``f + 1``)."""
        return self.with_features(np.vstack([np.ones(n_columns, bool), ~np.eye(n_columns, dtype=bool)]))

    def _crossed(self, n_settings: int) -> Self:
        base, setting = np.divmod(np.arange(self.n_tasks * n_settings), n_settings)
        return replace(self.take(base), setting=setting)

    def trains(self, task: int) -> NDArray[np.bool_]:
        """Return whether each row trains the task."""
        bit = np.uint16(1 << task % BLOCK)
        trained: NDArray[np.bool_] = (self.masks[task // BLOCK] & bit) != 0
        return trained

    def train_rows(self, task: int) -> NDArray[np.int64]:
        """Return the rows that train a task, each once."""
        return np.flatnonzero(self.trains(task))

    def test_rows(self, task: int) -> NDArray[np.int64]:
        """Return the rows a task holds out; none for the final task."""
        return self.tests[self.first_test[task] : self.first_test[task + 1]]

    def check(self, target: Target, n_columns: int | None = None) -> None:
        """Refuse what cannot be grown, and warn of tasks whose training rows lack a class.

        Lengths that differ, NaN or infinite targets or weights, and training sets without weight are errors.
        """
        check_target(target, self.n_rows)
        if self.features is not None and n_columns is not None and self.features.shape[1] != n_columns:
            raise ValueError(
                f"features is about {self.features.shape[1]} columns, but the table has {n_columns}"
            )
        warn_absent_classes(self.masks, self.n_tasks, target)

    def __len__(self) -> int:
        return self.n_tasks

    def __repr__(self) -> str:
        return f"Tasks({self.n_tasks} tasks, {self.n_rows} rows)"


def _checked_folds(folds: ArrayLike) -> tuple[NDArray[np.int64], int]:
    given = np.asarray(folds)
    if given.ndim != 1 or given.dtype.kind not in "iu" or not len(given):
        raise ValueError(
            f"folds must be one integer per row, but {given.dtype} of shape {given.shape} was given"
        )
    numbers = np.ascontiguousarray(given, dtype=np.int64)
    if numbers.min() < -1 or numbers.max() < 0:
        raise ValueError("folds must be numbers from 0, or -1 for rows that train every task")
    n_folds = int(numbers.max()) + 1
    sizes = np.bincount(numbers + 1, minlength=n_folds + 1)
    empty = np.flatnonzero(sizes[1:] == 0)
    if len(empty):
        raise ValueError(f"folds has no row of fold {empty[0]}; number the folds from 0 without gaps")
    if sizes[1:].max() == len(numbers):
        raise ValueError("folds puts every row in one fold, which leaves an empty training set")
    return numbers, n_folds


def _counts(rows: NDArray[np.int64], n_rows: int, what: str) -> NDArray[np.uint8]:
    times = np.bincount(rows, minlength=n_rows)
    if times.max() > 255:
        raise ValueError(f"{what} has row {times.argmax()} {times.max()} times; at most 255 are counted")
    return times.astype(np.uint8)


def _offsets(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.cumsum([0, *(len(part) for part in parts)], dtype=np.int64)


def _checked_features(features: ArrayLike, n_tasks: int) -> NDArray[np.bool_]:
    allowed = np.asarray(features)
    if allowed.dtype != bool or allowed.ndim not in {1, 2}:
        raise ValueError(
            "features must be a boolean array (tasks, columns), "
            f"but {allowed.dtype} of shape {allowed.shape} was given"
        )
    if allowed.ndim == 1:
        allowed = np.broadcast_to(allowed, (n_tasks, len(allowed)))
    if len(allowed) != n_tasks:
        raise ValueError(f"features has {len(allowed)} rows for {n_tasks} tasks; give one, or one per task")
    bare = np.flatnonzero(~allowed.any(axis=1))
    if len(bare):
        raise ValueError(f"features leaves task {bare[0]} no column to test")
    return np.ascontiguousarray(allowed)
