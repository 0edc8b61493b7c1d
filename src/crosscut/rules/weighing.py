"""Which tasks weigh their training rows alike: these learn their rules together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np

from crosscut.engines.progress import watching_part
from crosscut.rules.examples import bits_of, grid_exponent
from crosscut.rules.search import Searcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from crosscut.rules.learning import Learning
    from crosscut.rules.rule_set import RuleSet

    Weights = NDArray[np.float64] | None

Some = TypeVar("Some", bound=Searcher)


class Group(NamedTuple, Generic[Some]):
    """Tasks that learn together."""

    examples: Some
    tasks: list[int]
    trained: list[int]  # training rows of each, as a bit set


def weighed_alike(
    trains: Sequence[NDArray[np.bool_]],
    weights: Iterable[Weights],
    weighed: Callable[[Weights, int | None], Some],
) -> list[Group[Some]]:
    """Put tasks together whose rows have the same weights, on the same grid; task 0 is in the first group.

    A task's grid, like balanced class weights, comes from its own rows. Most tasks have the same.

    Parameters
    ----------
    trains : sequence of boolean arrays (rows,)
        The training rows of each task.
    weights : iterable of float64 arrays (rows,) or None
        The weights in each task.
    weighed : callable
        Makes the rows of a group from their weights and the exponent of their grid.
    """
    alike: dict[tuple[bytes, int | None], tuple[Weights, list[int]]] = {}
    for task, (own, given) in enumerate(zip(trains, weights, strict=True)):
        key = (b"", None) if given is None else (given.tobytes(), grid_exponent(given[own]))
        alike.setdefault(key, (given, []))[1].append(task)
    groups = []
    for (_, exponent), (given, together) in alike.items():
        some = np.any([trains[task] for task in together], axis=0)
        kept = None if given is None else np.where(some, given, 0.0)  # others may not fit the grid
        examples = weighed(kept, exponent)
        trained = [bits_of(trains[task]) & examples.weighted for task in together]
        groups.append(Group(examples, together, trained))
    return groups


def rule_sets(learning: Learning, groups: Sequence[Group[Some]]) -> tuple[RuleSet, ...]:
    """Learn the rules of all tasks, those of a group together."""
    learnt: dict[int, RuleSet] = {}
    n, done = sum(len(group.tasks) for group in groups), 0
    for group in groups:
        with watching_part(done / n, (done := done + len(group.tasks)) / n):
            learnt |= zip(group.tasks, learning.rule_sets(group.examples, group.trained), strict=True)
    return tuple(learnt[task] for task in range(len(learnt)))
