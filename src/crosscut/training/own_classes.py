"""Growing tasks that lack a class as if there were no such class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from crosscut.engines.memory import grow
from crosscut.forest.forest import Forest
from crosscut.tasks.folds import trained_classes

if TYPE_CHECKING:
    from crosscut.data.table import Table
    from crosscut.data.target import Target
    from crosscut.tasks import Tasks
    from crosscut.tasks.growth import Growth


def grow_own_classes(
    table: Table, target: Target, tasks: Tasks, growth: Growth, *, n_jobs: int | None
) -> Forest:
    """Grow all tasks, each with the classes of its own training rows.

    How many there are decides which subsets of categories are tried (docs/semantics.md), and nothing else.
    """

    def grown(own: Target, some: Tasks) -> Forest:
        return grow(table, own, some, growth, n_jobs=n_jobs)

    if target.n_classes <= 2 or growth.splits != "binary" or "nominal" not in table.kinds:
        return grown(target, tasks)
    trained, classes = trained_classes(tasks.masks, tasks.n_tasks, target)
    if trained.all() and len(classes) == target.n_classes:
        return grown(target, tasks)
    together: dict[bytes, list[int]] = {}
    for task, has in enumerate(trained):
        together.setdefault(has.tobytes(), []).append(task)
    forests = []
    for own in together.values():
        kept = classes[trained[own[0]]]
        code = np.zeros(target.n_classes, np.int32)
        code[kept] = np.arange(len(kept))
        part = grown(replace(target, values=code[target.values], n_classes=len(kept)), tasks.take(own))
        value = np.zeros((len(part.packed.value), target.n_classes))
        value[:, kept] = part.packed.value
        forests.append(Forest(replace(part.packed, value=value), part.work))
    joined = Forest.joined(forests)
    order = np.argsort([task for own in together.values() for task in own])
    return Forest(joined.packed.select(order.tolist()), joined.work)
