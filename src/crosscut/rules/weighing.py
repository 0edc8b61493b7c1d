"""Which tasks weigh their training rows alike: these learn their rules together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crosscut.rules.examples import Examples, bits_of, grid_exponent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.tasks import Tasks
    from crosscut.training.training_set import TrainingSet


class Group(NamedTuple):
    """Tasks that learn together."""

    examples: Examples
    tasks: list[int]
    trained: list[int]  # training rows of each, as a bit set


def weighed_alike(data: TrainingSet, tasks: Tasks, *, balanced: bool) -> list[Group]:
    """Put tasks together whose rows have the same weights, on the same grid; task 0 is in the first group.

    A task's grid, like balanced class weights, comes from its own rows. Most tasks have the same.
    """
    rows, over_copies = tasks.copied()
    table = data.table.take(rows) if tasks.copies else data.table
    targets: dict[tuple[bytes, int | None], tuple[NDArray[np.float64] | None, list[int]]] = {}
    trains = [over_copies.trains(task) for task in range(tasks.n_tasks)]
    for task, own in enumerate(trains):
        weights = (data.balanced(tasks, task) if balanced else data.target).take(rows).weights
        key = b"" if weights is None or not balanced else weights.tobytes()
        exponent = None if weights is None else grid_exponent(weights[own])
        targets.setdefault((key, exponent), (weights, []))[1].append(task)
    groups = []
    for (_, exponent), (weights, together) in targets.items():
        some = np.any([trains[task] for task in together], axis=0)
        kept = None if weights is None else np.where(some, weights, 0.0)  # others may not fit the grid
        examples = Examples(table, replace(data.target.take(rows), weights=kept), exponent)
        trained = [bits_of(trains[task]) & examples.weighted for task in together]
        groups.append(Group(examples, together, trained))
    return groups
