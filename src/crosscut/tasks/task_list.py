"""List of tasks: training rows, columns and limits of each tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from crosscut.tasks.folds import check_target, check_trained, trained_classes
from crosscut.tasks.growth import Limits
from crosscut.tasks.masks import BLOCK, empty_masks, repacked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from crosscut.data.target import Target


@dataclass(frozen=True, eq=False)
class TaskList:
    """Trees to grow: training rows, columns and limits of each tree."""

    n_rows: int
    n_tasks: int
    masks: NDArray[np.uint16]  # (blocks, rows): bit t of block b is set if the row trains task 15 * b + t
    tests: NDArray[np.int64]  # held-out rows of all tasks, task by task
    first_test: NDArray[np.int64]  # n_tasks + 1 offsets into tests
    multiplicity: NDArray[np.uint8] | None = None  # (tasks, rows): how often a row counts, if above once
    features: NDArray[np.bool_] | None = None  # (tasks, columns): columns that a task may use, if not all
    limits: tuple[Limits, ...] = (Limits(),)  # one per task
    class_weights: NDArray[np.float64] | None = None  # (tasks, classes), positive; the target has no weights
    has_final: bool = True  # whether task 0 is the final tree, trained on all rows
    # after `with_limits` or `with_features`: the original task, and the index of the setting
    base: NDArray[np.int64] | None = None
    setting: NDArray[np.int64] | None = None
    # after `nested`: the task that leaves out folds i and j; (i, i) leaves out fold i only
    pairs: Mapping[tuple[int, int], int] | None = None
    # whether a row that counts several times is several rows, as in training sets that repeat rows; in
    # bootstraps, it is one row with a larger weight
    copies: bool = False
    groups: NDArray[np.int64] | None = None  # group of each row, if a splitter was given groups

    def __post_init__(self) -> None:
        if len(self.limits) not in {1, self.n_tasks}:
            raise ValueError(
                f"limits has {len(self.limits)} entries for {self.n_tasks} tasks; pass one, or one per task"
            )
        if len(self.limits) < self.n_tasks:
            object.__setattr__(self, "limits", self.limits * self.n_tasks)

    @classmethod
    def _create(
        cls,
        masks: NDArray[np.uint16],
        tests: NDArray[np.int64],
        first_test: NDArray[np.int64],
        *,
        limits: Limits | Sequence[Limits] | None = None,
        features: ArrayLike | None = None,
        final: bool = True,
    ) -> Self:
        n_tasks = len(first_test) - 1
        limits = (limits or Limits(),) if limits is None or isinstance(limits, Limits) else tuple(limits)
        allowed = None if features is None else _checked_features(features, n_tasks)
        return cls(
            masks.shape[1],
            n_tasks,
            masks,
            tests,
            first_test,
            features=allowed,
            limits=limits,
            has_final=final,
        )

    def take(self, tasks: ArrayLike) -> Self:
        """Return the given tasks in this order; a task may repeat."""
        chosen = np.asarray(tasks, dtype=np.int64)
        if np.array_equal(chosen, np.arange(self.n_tasks)):
            return replace(self, base=chosen, setting=None, pairs=None)
        rows = [self.test_rows(task) for task in chosen.tolist()]
        return replace(
            self,
            n_tasks=len(chosen),
            masks=repacked(self.masks, chosen),
            tests=np.concatenate(rows),
            first_test=offsets(rows),
            multiplicity=None if self.multiplicity is None else self.multiplicity[chosen],
            features=None if self.features is None else self.features[chosen],
            limits=tuple(self.limits[task] for task in chosen.tolist()),
            class_weights=None if self.class_weights is None else self.class_weights[chosen],
            has_final=self.has_final and len(chosen) > 0 and chosen[0] == 0,
            base=chosen,
            setting=None,
            pairs=None,
        )

    def with_limits(self, settings: Sequence[Limits]) -> Self:
        """Return each task with each of the limits: task t with setting s is t * len(settings) + s.

        Limits that are fractions of the rows become numbers of rows.
        """
        if not settings:
            raise ValueError("settings is empty; pass at least one Limits")
        limits = tuple(settings) * self.n_tasks
        if any(one.has_fractions for one in settings):
            sizes = [self.n_train_rows(task) for task in range(self.n_tasks)]
            limits = tuple(one.of_rows(size) for size in sizes for one in settings)
        return replace(self._crossed(len(settings)), limits=limits)

    def with_features(self, settings: ArrayLike) -> Self:
        """Return each task with each set of columns, a boolean array (settings, columns)."""
        masks = np.asarray(settings)
        repeated = self._crossed(len(masks))
        return replace(
            repeated, features=_checked_features(np.tile(masks, (self.n_tasks, 1)), repeated.n_tasks)
        )

    def dropping_features(self, n_columns: int) -> Self:
        """Return each task with all columns (setting 0) and without column ``f`` (setting ``f + 1``)."""
        return self.with_features(np.vstack([np.ones(n_columns, bool), ~np.eye(n_columns, dtype=bool)]))

    def _crossed(self, n_settings: int) -> Self:
        base, setting = np.divmod(np.arange(self.n_tasks * n_settings), n_settings)
        return replace(self.take(base), setting=setting)

    def among(self, rows: NDArray[np.int64]) -> Self:
        """Return these tasks over ``rows``, which contain all training rows; no rows are held out."""
        times = None if self.multiplicity is None else np.ascontiguousarray(self.multiplicity[:, rows])
        masks = np.ascontiguousarray(self.masks[:, rows])
        restricted = replace(self, n_rows=len(rows), masks=masks, multiplicity=times)
        return replace(restricted, tests=rows[:0], first_test=np.zeros(self.n_tasks + 1, np.int64))

    def copied(self) -> tuple[NDArray[np.int64], Self]:
        """Return rows repeated by multiplicity, and these tasks over the copies; no rows are held out."""
        if self.multiplicity is None:
            return np.arange(self.n_rows), self
        times = np.maximum(self.multiplicity.max(axis=0), 1).astype(np.int64)
        rows = np.repeat(np.arange(self.n_rows), times)
        number = np.arange(len(rows)) - np.repeat(np.cumsum(times) - times, times)  # number of the copy
        masks = empty_masks(self.n_tasks, len(rows))
        for task, multiplicity in enumerate(self.multiplicity):
            masks[task // BLOCK] |= (multiplicity[rows] > number).astype(np.uint16) << np.uint16(task % BLOCK)
        over_copies = replace(self, n_rows=len(rows), masks=masks, multiplicity=None, copies=False)
        return rows, replace(over_copies, tests=rows[:0], first_test=np.zeros(self.n_tasks + 1, np.int64))

    def trains(self, task: int) -> NDArray[np.bool_]:
        """Return whether each row trains the task."""
        bit = np.uint16(1 << task % BLOCK)
        trained: NDArray[np.bool_] = (self.masks[task // BLOCK] & bit) != 0
        return trained

    def train_rows(self, task: int) -> NDArray[np.int64]:
        """Return the rows that train a task, each once."""
        return np.flatnonzero(self.trains(task))

    def drawn_rows(self, task: int) -> NDArray[np.int64]:
        """Return the rows that train a task, each as often as it counts."""
        rows = self.train_rows(task)
        return rows if self.multiplicity is None else np.repeat(rows, self.multiplicity[task, rows])

    def class_counts(self, codes: NDArray[np.int32], n_classes: int) -> NDArray[np.int64]:
        """Return the number of training rows of each class, (tasks, classes); repeated rows count again."""
        counts = np.empty((self.n_tasks, n_classes), np.int64)
        if self.multiplicity is not None:
            for task in range(self.n_tasks):
                counts[task] = np.bincount(codes[self.drawn_rows(task)], minlength=n_classes)
            return counts
        for block, first in zip(self.masks, range(0, self.n_tasks, BLOCK), strict=True):
            size = min(BLOCK, self.n_tasks - first)
            others = np.flatnonzero(block != (1 << size) - 1)  # rows that do not train all tasks
            all_counts = np.bincount(codes, minlength=n_classes)
            for task in range(size):
                absent = others[block[others] >> task & 1 == 0]
                counts[first + task] = all_counts - np.bincount(codes[absent], minlength=n_classes)
        return counts

    def n_train_rows(self, task: int) -> int:
        """Return the number of training rows of a task; a row drawn twice counts twice."""
        if self.multiplicity is not None:
            return int(self.multiplicity[task].sum(dtype=np.int64))
        return int(np.count_nonzero(self.trains(task)))

    def test_rows(self, task: int) -> NDArray[np.int64]:
        """Return the rows a task holds out; none for the final task."""
        return self.tests[self.first_test[task] : self.first_test[task + 1]]

    def check(
        self,
        target: Target,
        n_columns: int | None = None,
        classes: Sequence[Any] | NDArray[Any] | None = None,
    ) -> None:
        """Raise for invalid input, and warn of folds whose training rows lack a class.

        Errors are different lengths, NaN or infinite targets or weights, and training sets without weight.
        """
        check_target(target, self.n_rows)
        if self.features is not None and n_columns is not None and self.features.shape[1] != n_columns:
            raise ValueError(f"features has {self.features.shape[1]} columns, but the table has {n_columns}")
        trained, present = trained_classes(self.masks, self.n_tasks, target)
        check_trained(trained, [code if classes is None else classes[code] for code in present])

    def __len__(self) -> int:
        return self.n_tasks

    def __repr__(self) -> str:
        return f"Tasks({self.n_tasks} tasks, {self.n_rows} rows)"


def offsets(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the offsets of concatenated parts, then the total length."""
    return np.cumsum([0, *(len(part) for part in parts)], dtype=np.int64)


def _checked_features(features: ArrayLike, n_tasks: int) -> NDArray[np.bool_]:
    allowed = np.asarray(features)
    if allowed.dtype != bool or allowed.ndim not in {1, 2}:
        raise ValueError(
            f"features must be a boolean array (tasks, columns), not {allowed.dtype} of shape {allowed.shape}"
        )
    if allowed.ndim == 1:
        allowed = np.broadcast_to(allowed, (n_tasks, len(allowed)))
    if len(allowed) != n_tasks:
        raise ValueError(f"features has {len(allowed)} rows for {n_tasks} tasks; pass one, or one per task")
    bare = np.flatnonzero(~allowed.any(axis=1))
    if len(bare):
        raise ValueError(f"features leaves task {bare[0]} without a column to test")
    return np.ascontiguousarray(allowed)
