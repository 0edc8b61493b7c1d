"""Create tasks from folds, splits, pairs of folds or bootstraps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack

import numpy as np

from crosscut import _core
from crosscut.data.frames import check_arrow
from crosscut.data.threads import n_threads
from crosscut.tasks.folds import (
    checked_folds,
    count_rows,
    folds_of,
    folds_that_fit,
    group_codes,
    splits_of,
    warn_groups,
)
from crosscut.tasks.masks import BLOCK, empty_masks, row_numbers
from crosscut.tasks.task_list import TaskList, offsets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from crosscut.data.target import Target
    from crosscut.tasks.growth import Limits
    from crosscut.typing import ColumnLike, CrossValidation, Seed, TableLike


class Options(TypedDict, total=False):
    """Common keyword arguments of the constructors of tasks."""

    limits: Limits | Sequence[Limits] | None  # for all tasks, or one per task
    features: ArrayLike | None  # boolean (columns,) or (tasks, columns): columns that tasks may use


class Tasks(TaskList):
    """Trees to grow; task 0 trains on all rows unless ``final=False``.

    Examples
    --------
    >>> tasks = Tasks.from_cv(3, n_rows=6)
    >>> tasks.n_tasks, tasks.test_rows(0), tasks.test_rows(1), tasks.train_rows(1)
    (4, array([], dtype=int64), array([0, 1]), array([2, 3, 4, 5]))
    >>> from crosscut.tasks.growth import Limits
    >>> settings = [Limits(min_samples_leaf=n) for n in (1, 5, 20)]
    >>> tasks.with_limits(settings).n_tasks
    12
    """

    @classmethod
    def of_target(
        cls,
        cv: CrossValidation,
        target: Target,
        classes: NDArray[Any] | None,
        *,
        X: TableLike = None,
        groups: ColumnLike = None,
        random_state: Seed = None,
        limits: Limits | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Make the final model's task, and one per split of an estimator's ``cv``.

        A number of folds is reduced if there are too few rows; ``random_state`` shuffles these folds.
        """
        n_rows = len(target.values)
        check_arrow(groups=groups)
        if cv is None:
            return cls.final(n_rows, limits)
        if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool) and cv >= 2:
            codes = target.values if target.n_classes else None
            folds, fewest = folds_that_fit(
                int(cv), n_rows, codes, groups, random_state, n_classes=target.n_classes, n_jobs=n_jobs
            )
            if folds is None:
                return cls.final(n_rows, limits)
            tasks = cls.from_folds(folds, limits=limits, n_jobs=n_jobs)
            # with stratified folds, every model has rows of each class that has at least two
            if target.weights is None and fewest > 1:
                return tasks
        else:
            labels = target.values if classes is None else classes[target.values]
            tasks = cls.from_cv(cv, labels, groups, X=X, limits=limits)
            tasks = replace(tasks, groups=group_codes(groups))
        tasks.check(target, classes=classes)
        return tasks

    @classmethod
    def from_cv(
        cls,
        cv: CrossValidation = 10,
        y: ColumnLike = None,
        groups: ColumnLike = None,
        *,
        n_rows: int | None = None,
        X: TableLike = None,
        classifier: bool = False,
        final: bool = True,
        **options: Unpack[Options],
    ) -> Self:
        """Make one task per split of a cross-validation, after the one that trains on all rows.

        Parameters
        ----------
        cv : int, scikit-learn splitter, or iterable of (train, test)
            An integer is the number of scikit-learn's folds: stratified if ``classifier``, else contiguous.
            None means 5.
        y, groups, X
            Arguments of the splitter. ``n_rows`` is needed only without any of them.
        final : bool
            Whether to add a task 0 that trains on all rows.
        **options
            See :class:`Options`.
        """
        n_rows = count_rows(n_rows, X=X, y=y, groups=groups)
        folds = _known_folds(cv, n_rows, y if classifier else None, groups)
        if folds is not None:
            return cls.from_folds(folds, final=final, **options)
        splits = splits_of(cv, n_rows, X, y, groups)
        return cls.from_splits(splits, n_rows, final=final, **options)

    @classmethod
    def final(cls, n_rows: int, limits: Limits | None = None) -> Self:
        """Make only the task that trains on all rows."""
        no_rows = np.empty(0, np.int64)
        masks = np.ones((1, n_rows), np.uint16)
        return cls._create(masks, no_rows, np.zeros(2, np.int64), limits=limits, features=None)

    @classmethod
    def from_folds(
        cls,
        folds: ArrayLike,
        *,
        final: bool = True,
        n_jobs: int | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """Make one task per fold from each row's fold number; -1 marks rows that train every task.

        Examples
        --------
        >>> Tasks.from_folds([0, 1, -1, 1]).train_rows(2)
        array([0, 2])
        """
        numbers, rows, first = checked_folds(folds, n_jobs)
        n_folds = len(first) - 1
        numbered = np.arange(n_folds)
        start = np.array([0] * int(final) + [*range(n_folds + 1)])
        masks = _core.masks_without(numbers, n_folds, numbered, start, n_threads(n_jobs, len(numbers)))
        return cls._create(masks, rows, np.array([0] * int(final) + first), final=final, **options)

    @classmethod
    def nested(cls, folds: ArrayLike, **options: Unpack[Options]) -> Self:
        """Make the n(n+1)/2 + 1 tasks of an n by n nested cross-validation from each row's fold number.

        Outer fold ``i`` with inner fold ``j`` trains on all rows except folds ``i`` and ``j``, and so does
        outer ``j`` with inner ``i``. ``pairs[i, j]`` is that task and ``pairs[i, i]`` leaves out only fold
        ``i``.

        Examples
        --------
        >>> tasks = Tasks.nested([0, 0, 1, 1, 2, 2])
        >>> tasks.n_tasks, tasks.train_rows(tasks.pairs[0, 2]), tasks.test_rows(tasks.pairs[1, 1])
        (7, array([2, 3]), array([2, 3]))
        """
        numbers, _, first = checked_folds(folds)
        n_folds = len(first) - 1
        if n_folds < 3:
            raise ValueError(f"nested cross-validation needs at least 3 folds, but there are {n_folds}")
        chosen = [(i, i) for i in range(n_folds)] + [
            (i, j) for i in range(n_folds) for j in range(i + 1, n_folds)
        ]
        pairs = {pair: task for task, (i, j) in enumerate(chosen, 1) for pair in ((i, j), (j, i))}
        tasks = cls.leaving_out(numbers, [(), *(sorted(set(pair)) for pair in chosen)], **options)
        return replace(tasks, pairs=pairs)

    @classmethod
    def leaving_out(
        cls, folds: ArrayLike, left_out: Sequence[Sequence[int]], **options: Unpack[Options]
    ) -> Self:
        """Make one task per set of folds, which the task holds out, fold by fold.

        Examples
        --------
        >>> tasks = Tasks.leaving_out([0, 0, 1, 2], [(), (0, 2)])
        >>> tasks.train_rows(1), tasks.test_rows(1)
        (array([2]), array([0, 1, 3]))
        """
        numbers, rows, first = checked_folds(folds)
        n_folds = len(first) - 1
        parts = [rows[first[k] : first[k + 1]] for k in range(n_folds)]
        tests = [np.concatenate([rows[:0], *(parts[k] for k in out)]) for out in left_out]
        sets = [np.asarray(out, dtype=np.int64) for out in left_out]
        masks = _core.masks_without(numbers, n_folds, np.concatenate(sets), offsets(sets), 1)
        options["final"] = not left_out[0]  # type: ignore[typeddict-unknown-key]
        return cls._create(masks, np.concatenate(tests), offsets(tests), **options)

    @classmethod
    def from_splits(
        cls,
        splits: Iterable[tuple[ArrayLike, ArrayLike]],
        n_rows: int,
        *,
        final: bool = True,
        **options: Unpack[Options],
    ) -> Self:
        """Make one task per (train, test) pair of row numbers or masks; training rows may repeat.

        Examples
        --------
        >>> Tasks.from_splits([([0, 1], [2]), ([1, 2], [0])], 3).n_tasks
        3
        """
        tests = [np.empty(0, np.int64)] * final

        def training_sets() -> Iterator[NDArray[np.int64]]:
            if final:
                yield np.arange(n_rows)
            for number, pair in enumerate(splits):
                try:
                    train, test = pair
                except (TypeError, ValueError):
                    raise ValueError(f"split {number} of cv is not a pair (train, test)") from None
                train_rows = row_numbers(train, n_rows, f"the training set of split {number}")
                if not len(train_rows):
                    raise ValueError(f"split {number} has an empty training set")
                tests.append(row_numbers(test, n_rows, f"the test set of split {number}"))
                yield train_rows
            if len(tests) == final:
                raise ValueError("cv has no splits")

        tasks = cls.from_rows(training_sets(), n_rows, final=final, **options)
        for task, test in enumerate(tests):
            both = _core.first_marked(tasks.masks[task // BLOCK], task % BLOCK, test)
            if both < len(test):
                raise ValueError(
                    f"split {task - final} has row {test[both]} in its training set and in its test set"
                )
        return replace(tasks, tests=np.concatenate(tests), first_test=offsets(tests))

    @classmethod
    def from_rows(
        cls,
        train: Iterable[NDArray[np.int64]],
        n_rows: int,
        *,
        final: bool = False,
        **options: Unpack[Options],
    ) -> Self:
        """Make one task per training set, given as row numbers; no rows are held out.

        Examples
        --------
        >>> Tasks.from_rows([np.array([0, 1]), np.array([1, 1, 2])], 3).multiplicity
        array([[1, 1, 0],
               [0, 2, 1]], dtype=uint8)
        """
        blocks: list[NDArray[np.uint16]] = []
        repeated: dict[int, NDArray[np.int64]] = {}
        n_tasks = 0
        for task, rows in enumerate(train):
            if task % BLOCK == 0:
                blocks.append(np.zeros(n_rows, np.uint16))
            if _core.mark_rows(blocks[-1], task % BLOCK, rows):
                repeated[task] = rows
            n_tasks = task + 1
        no_tests = np.empty(0, np.int64), np.zeros(n_tasks + 1, np.int64)
        tasks = cls._create(np.array(blocks), *no_tests, final=final, **options)
        if not repeated:
            return tasks
        multiplicity = np.array([tasks.trains(task) for task in range(n_tasks)], np.uint8)
        for task, rows in repeated.items():
            multiplicity[task] = _counts(rows, n_rows, f"split {task - final}")
        return replace(tasks, multiplicity=multiplicity, copies=True)

    @classmethod
    def bootstrap(
        cls,
        n_tasks: int,
        n_rows: int,
        *,
        size: int | None = None,
        random_state: int | np.random.Generator | None = 0,
        final: bool = False,
        **options: Unpack[Options],
    ) -> Self:
        """Make tasks that train on rows drawn with replacement; the rows not drawn are held out.

        Examples
        --------
        >>> tasks = Tasks.bootstrap(2, 100)
        >>> tasks.multiplicity.sum(axis=1).tolist()
        [100, 100]
        """
        if n_tasks < 1 or n_rows < 1 or (size is not None and size < 1):
            raise ValueError(f"n_tasks, n_rows and size must be positive, not {n_tasks}, {n_rows} and {size}")
        draw = np.random.default_rng(random_state)
        drawn = (draw.integers(n_rows, size=size or n_rows) for _ in range(n_tasks))
        counts = [_counts(rows, n_rows, f"bootstrap {task}") for task, rows in enumerate(drawn)]
        multiplicity = np.array([np.ones(n_rows, np.uint8)] * final + counts)
        masks = empty_masks(len(multiplicity), n_rows)
        for task, times in enumerate(multiplicity):
            masks[task // BLOCK] |= (times > 0).astype(np.uint16) << np.uint16(task % BLOCK)
        tests = [np.flatnonzero(times == 0) for times in multiplicity]
        tasks = cls._create(masks, np.concatenate(tests), offsets(tests), final=final, **options)
        return replace(tasks, multiplicity=multiplicity)

    @classmethod
    def leave_one_out(cls, n_rows: int, **options: Any) -> Self:
        """Make one task per row that holds out this row; takes the options of :meth:`from_folds`."""
        return cls.from_folds(np.arange(n_rows), **options)


def _known_folds(
    cv: CrossValidation, n_rows: int, classes: ColumnLike, groups: ColumnLike
) -> NDArray[np.int64] | None:
    """Return each row's fold if ``cv`` is a number of folds, ``LeaveOneOut`` or ``KFold``, else None."""
    if cv is None or (isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)):
        n_folds = 5 if cv is None else int(cv)
        warn_groups(groups, n_folds)
        return folds_of(n_folds, n_rows, classes)
    if type(cv).__name__ not in {"KFold", "LeaveOneOut"}:
        return None
    from sklearn.model_selection import KFold, LeaveOneOut
    from sklearn.utils import check_random_state

    # their splits list all training rows of all folds, which takes longer than growing many trees
    if type(cv) is LeaveOneOut and n_rows > 1:
        return np.arange(n_rows)
    if type(cv) is KFold and cv.n_splits <= n_rows:
        seed = check_random_state(cv.random_state) if cv.shuffle else None
        return folds_of(cv.n_splits, n_rows, random_state=seed)
    return None


def _counts(rows: NDArray[np.int64], n_rows: int, what: str) -> NDArray[np.uint8]:
    times = np.bincount(rows, minlength=n_rows)
    if times.max() > 255:
        raise ValueError(f"{what} has row {times.argmax()} {times.max()} times; at most 255 are counted")
    return times.astype(np.uint8)
