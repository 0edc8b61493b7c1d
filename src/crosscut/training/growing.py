"""Grow the trees of all tasks in memory, each with its own classes and class weights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from crosscut.data.target import Target
from crosscut.engines.memory import class_weights_fit, grow
from crosscut.forest.forest import Forest
from crosscut.tasks.folds import trained_classes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from crosscut.data.table import Table
    from crosscut.tasks import Tasks
    from crosscut.tasks.growth import Growth

# Measured: tasks with the same weights of rows grow faster than with class weights if there are this many
# for each row that they hold out, because they are grown as groups (cpp/grow/many/).
_TASKS_PER_ROW = 50


def grow_own_classes(
    table: Table, target: Target, tasks: Tasks, growth: Growth, *, n_jobs: int | None
) -> Forest:
    """Grow each task with only the classes present in its training rows.

    The number of classes affects only which subsets of categories are tried (docs/semantics.md).
    """
    if target.n_classes <= 2 or growth.splits != "binary" or "nominal" not in table.kinds:
        return grow(table, target, tasks, growth, n_jobs=n_jobs)
    trained, classes = trained_classes(tasks.masks, tasks.n_tasks, target)
    if trained.all() and len(classes) == target.n_classes:
        return grow(table, target, tasks, growth, n_jobs=n_jobs)
    together: dict[bytes, list[int]] = {}
    for task, has in enumerate(trained):
        together.setdefault(has.tobytes(), []).append(task)
    forests = []
    for same in together.values():
        kept = classes[trained[same[0]]]
        code = np.zeros(target.n_classes, np.int32)
        code[kept] = np.arange(len(kept))
        fewer = replace(target, values=code[target.values], n_classes=len(kept))
        some = tasks.take(same)
        if some.class_weights is not None:
            some = replace(some, class_weights=np.ascontiguousarray(some.class_weights[:, kept]))
        part = grow(table, fewer, some, growth, n_jobs=n_jobs)
        value = np.zeros((len(part.packed.value), target.n_classes))
        value[:, kept] = part.packed.value
        forests.append(Forest(part.packed.with_fields(value=value), part.work))
    return _in_order(forests, together.values())


def grow_with_class_weights(
    table: Table,
    target: Target,
    class_weights: NDArray[np.float64],
    tasks: Tasks,
    growth: Growth,
    *,
    n_jobs: int | None,
    ones_count: bool = False,
) -> Forest:
    """Grow each task with its own class weights, (tasks, classes).

    ``target`` has the weights of rows without class weights. Without these, the core grows all tasks together
    and counts rows. Otherwise only tasks with the same weights are grown together. If ``ones_count``, weights
    that are all 1 are no weights.
    """
    by_class, group = np.unique(class_weights, axis=0, return_inverse=True)
    same = [np.flatnonzero(group.ravel() == i) for i in range(len(by_class))]
    ones = [ones_count and target.weights is None and bool((one == 1).all()) for one in by_class]
    counts = target.weights is None and class_weights_fit(tasks, class_weights, growth)
    apart = [
        some
        for some, are_ones in zip(same, ones, strict=True)
        if are_ones or not counts or _are_groups(tasks, some)
    ]
    rest = np.setdiff1d(np.arange(tasks.n_tasks), np.concatenate([*apart, np.empty(0, np.int64)]))

    def forests() -> Iterable[Forest]:  # the weights of one group at a time are in memory
        for some in apart:
            weights = class_weights[some[0]][target.values]
            if target.weights is not None:
                weights *= target.weights
            counted = ones[group.ravel()[some[0]]]
            weighted = Target(target.values, target.n_classes, None if counted else weights)
            yield grow_own_classes(table, weighted, tasks.take(some), growth, n_jobs=n_jobs)
        if len(rest):
            with_weights = replace(tasks.take(rest), class_weights=class_weights[rest])
            yield grow_own_classes(table, target, with_weights, growth, n_jobs=n_jobs)

    if len(apart) + (len(rest) > 0) == 1:  # all tasks, in order
        return next(iter(forests()))
    return _in_order(forests(), [some.tolist() for some in (*apart, rest)])


def _are_groups(tasks: Tasks, some: NDArray[np.int64]) -> bool:
    """Whether the core grows some of the tasks faster as groups, because there are many of them."""
    held_out = len(tasks.tests) / max(1, tasks.n_tasks - tasks.has_final)
    return len(some) >= _TASKS_PER_ROW * max(1, held_out)


def _in_order(forests: Iterable[Forest], tasks: Iterable[list[int]]) -> Forest:
    """Join forests, each with the trees of some tasks, in the order of the tasks."""
    joined = Forest.joined(forests)
    order = np.argsort([task for of_forest in tasks for task in of_forest])
    return Forest(joined.packed.select(order.tolist()), joined.work)
