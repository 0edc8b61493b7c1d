"""Of two child bundles of a test, one is counted; the statistics of the other are the difference.

A task's rows in a node are its rows in the two children, so S(child) = S(parent) - S(its sibling), task by
task and exactly. Statistics of parents are held while they fit in memory with those of the children.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from crosscut.engines.stream.bundle import Bundle


class Derived(NamedTuple):
    """Two bundles whose statistics give those of a third."""

    parent: int
    sibling: int  # it is counted


def derivable(
    bundles: list[Bundle], parents: Mapping[int, object], counted: set[int], multiway: NDArray[Any]
) -> dict[int, Derived]:
    """Return the bundles that need not be counted; ``multiway`` tells which columns have such tests.

    Each task of a derived bundle goes on in its sibling. Of two bundles of the same tasks, the larger one is
    derived.
    """
    derived = {}
    for parent in parents:
        for split in bundles[parent].splits:
            if multiway[split.feature] or len(split.children) != 2 or not counted.issuperset(split.children):
                continue
            sizes = {b: (len(bundles[b].tasks), -bundles[b].n_rows) for b in split.children}
            other, sibling = sorted(split.children, key=lambda b: sizes[b])
            if set(bundles[other].tasks) <= set(bundles[sibling].tasks):
                derived[other] = Derived(parent, sibling)
    return derived


def derive(
    bundles: list[Bundle],
    b: int,
    of: Derived,
    parents: Mapping[int, NDArray[Any]],
    counted: Mapping[int, NDArray[Any]],
) -> NDArray[Any]:
    """Return the statistics of a bundle: those of its parent less those of its sibling."""
    tasks = bundles[b].tasks

    def of_tasks(statistics: NDArray[Any], lanes: tuple[int, ...]) -> NDArray[Any]:
        by_lane = statistics.reshape(-1, len(lanes))
        return by_lane if lanes == tasks else by_lane[:, [lanes.index(task) for task in tasks]]

    whole = of_tasks(parents[of.parent], bundles[of.parent].tasks)
    part = of_tasks(counted[of.sibling], bundles[of.sibling].tasks)
    return np.ravel(whole - part)
