"""The trees to grow, and the folds that their training sets divide the examples into."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.reference.examples import Examples
    from crosscut.tasks import Tasks
    from crosscut.tasks.growth import Limits

    Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Task:
    """One tree to grow: how often each example trains it, the columns it may test, and its limits."""

    multiplicity: NDArray[np.int64]  # 0 if the example does not train this task
    columns: NDArray[np.bool_]
    limits: Limits

    @property
    def rows(self) -> NDArray[np.int64]:
        """The training set T."""
        return np.flatnonzero(self.multiplicity).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Folds:
    """The partition of the examples into D_i: examples that train exactly the same tasks share a fold.

    For n-fold cross-validation, these are its n folds. For any other list of tasks, it is the coarsest
    partition such that each training set is a union of folds.
    """

    number: NDArray[np.int64]  # fold of each example
    times: NDArray[np.int64]  # times[task, fold]: how often the task trains on an example of the fold

    @classmethod
    def of(cls, tasks: Sequence[Task]) -> Folds:
        """Find the folds of a list of tasks."""
        times, number = np.unique([task.multiplicity for task in tasks], axis=1, return_inverse=True)
        return cls(number.ravel(), times)


class TaskList(list[Task]):
    """Tasks, with the folds of their training sets."""

    @cached_property
    def folds(self) -> Folds:
        """The partition of the examples."""
        return Folds.of(self)


def tasks_of(tasks: Tasks, examples: Examples) -> TaskList:
    """Convert :class:`crosscut.tasks.Tasks`; examples of weight 0 train no task."""
    result = []
    for i in range(tasks.n_tasks):
        times = ((tasks.masks[i // 15] >> (i % 15)) & 1).astype(np.int64)
        if tasks.multiplicity is not None:
            times *= tasks.multiplicity[i]
        times[examples.weights <= 0] = 0
        columns = np.ones(len(examples.table.n_values), bool) if tasks.features is None else tasks.features[i]
        if not times.any():
            raise ValueError(
                f"tasks: task {i} has no training row of positive weight; give it at least one row"
            )
        result.append(Task(times, columns, tasks.limits[i]))
    return TaskList(result)


def trained_by(tasks: Sequence[Task], selected: Sequence[int], rows: Rows) -> Rows:
    """Return the examples that train at least one of some tasks: the union of their T_i among ``rows``."""
    if not selected:
        return rows[:0]
    return rows[np.any([tasks[i].multiplicity[rows] > 0 for i in selected], axis=0)]
