"""Group tasks by the weights of their training rows; the tasks of a group learn their rules together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np

from crosscut.engines.progress import watching_part
from crosscut.rules.examples import Rows, bits_of, grid_exponent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from crosscut.rules.learning import Learning
    from crosscut.rules.rule_set import RuleSet

    Weights = NDArray[np.float64] | None

Some = TypeVar("Some", bound=Rows)


class Group(NamedTuple, Generic[Some]):
    """Tasks whose rows have the same weights."""

    examples: Some
    tasks: list[int]
    trained: list[int]  # training rows of each, as a bit set


def grouped_by_weights(
    trains: Sequence[NDArray[np.bool_]],
    weights: Iterable[Weights],
    weighed: Callable[[Weights, int | None], Some],
) -> list[Group[Some]]:
    """Group tasks whose rows have the same weights on the same grid; task 0 is in the first group.

    The grid, like balanced class weights, depends on the training rows of a task. Most tasks have the same.
    ``weighed`` returns the rows of a group for their weights and the exponent of their grid.
    """
    by_weights: dict[tuple[bytes, int | None], tuple[Weights, list[int]]] = {}
    for task, (train, of_task) in enumerate(zip(trains, weights, strict=True)):
        key = (b"", None) if of_task is None else (of_task.tobytes(), grid_exponent(of_task[train]))
        by_weights.setdefault(key, (of_task, []))[1].append(task)
    groups = []
    for (_, exponent), (shared, together) in by_weights.items():
        used = np.any([trains[task] for task in together], axis=0)
        kept = None if shared is None else np.where(used, shared, 0.0)  # other rows may not fit the grid
        examples = weighed(kept, exponent)
        trained = [bits_of(trains[task]) & examples.weighted for task in together]
        groups.append(Group(examples, together, trained))
    return groups


def rule_sets(learning: Learning, groups: Sequence[Group[Some]]) -> tuple[RuleSet, ...]:
    """Learn the rules of all tasks, one group after the other."""
    learnt: dict[int, RuleSet] = {}
    n, done = sum(len(group.tasks) for group in groups), 0
    for group in groups:
        with watching_part(done / n, (done := done + len(group.tasks)) / n):
            learnt |= zip(group.tasks, learning.rule_sets(group.examples, group.trained), strict=True)
    return tuple(learnt[task] for task in range(len(learnt)))
