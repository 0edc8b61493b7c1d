"""Grow all trees in parallel, depth first or level by level, into a forest with forks (section 3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from crosscut.reference.count import Counts
from crosscut.reference.node import Info, Node, info
from crosscut.reference.refine import FoldStatistics, refine_folds
from crosscut.reference.task import trained_by
from crosscut.reference.tree import must_stop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from crosscut.reference.count import Level
    from crosscut.reference.examples import Examples
    from crosscut.reference.task import TaskList
    from crosscut.reference.test import Test

    Rows = NDArray[np.int64]
    Refinement = Callable[[Examples, TaskList, Sequence[int], Rows, Level], Mapping[int, Test | None]]


@dataclass(eq=False)
class ForestNode:
    """A node that several trees share, because they reach it by the same tests."""

    depth: int
    tasks: list[int]  # the trees that have this node
    infos: dict[int, Info] = field(default_factory=dict)
    forks: list[Fork] = field(default_factory=list)  # more than one: the paper's bifurcation point (Figure 3)

    def tree(self, i: int) -> Node:
        """Return the subtree of one task at this node."""
        for fork in self.forks:
            if i in fork.tests:
                test = fork.tests[i]
                return Node(self.infos[i], test, [fork.children[o].tree(i) for o in test.branches])
        return Node(self.infos[i])

    def __iter__(self) -> Iterator[ForestNode]:
        """Iterate over this node and all below it, in preorder."""
        yield self
        for fork in self.forks:
            for child in fork.children.values():
                yield from child


@dataclass(eq=False)
class Fork:
    """One of the different tests of a node; the tasks that chose it stay together below it."""

    tests: dict[int, Test]  # of each task, with its own threshold or categories
    outcomes: NDArray[np.int64]  # by rank; -1 if no task has an example of this rank
    children: dict[int, ForestNode] = field(default_factory=dict)  # by outcome


def grow_forest(
    examples: Examples,
    tasks: TaskList,
    counts: Counts | None = None,
    *,
    refinement: Refinement = refine_folds,
    same_constants: bool = False,
) -> ForestNode:
    """Grow the trees of all tasks in parallel, depth first (3.2.1): Figure 2 in every node.

    ``refine_overlapping`` (2.2.1) is another ``refinement``. With ``same_constants``, tasks with different
    thresholds fork, which is the paper's rule. Otherwise they stay together if none of their training
    examples lies between the thresholds, as suggested in section 5 of the paper.
    """
    counts = Counts() if counts is None else counts
    every = list(range(len(tasks)))
    root = ForestNode(0, every)

    def grow(node: ForestNode, D: Rows) -> None:
        continuing = store_infos(examples, tasks, node, D)
        if not continuing:
            return
        level = counts.level(node.depth)
        chosen = refinement(examples, tasks, continuing, trained_by(tasks, continuing, D), level)
        branch_off(node, chosen, level, same_constants=same_constants)
        for fork in node.forks:  # lines 10 and 11
            union = trained_by(tasks, list(fork.tests), D)
            level.sorted += len(union)
            for outcome, child in fork.children.items():
                grow(child, sorted_into(examples, fork, outcome, union))

    grow(root, trained_by(tasks, every, np.arange(len(examples.y))))
    return root


def grow_forest_level_wise(
    examples: Examples,
    tasks: TaskList,
    counts: Counts | None = None,
    *,
    batch: int = 1000,
    same_constants: bool = False,
) -> ForestNode:
    """Grow the trees of all tasks in parallel, with one pass over the data per level (3.2.2)."""
    counts = Counts() if counts is None else counts
    root = ForestNode(0, list(range(len(tasks))))
    frontier = [root]
    while frontier:
        counts.passes += 1
        S = {node: FoldStatistics(examples, tasks, node.tasks) for node in frontier}
        D: dict[ForestNode, list[Rows]] = {node: [] for node in frontier}
        for start in range(0, len(examples.y), batch):
            rows = np.arange(start, min(start + batch, len(examples.y)))
            for node, here in look_up(examples, tasks, root, rows):
                if node in S:
                    S[node].update(here, counts.level(node.depth))
                    D[node].append(here)  # only for the exact sums of leaf values
        for node in frontier:
            continuing = store_infos(examples, tasks, node, np.concatenate(D[node]))
            branch_off(
                node, S[node].best_tests(continuing), counts.level(node.depth), same_constants=same_constants
            )
        frontier = [child for node in frontier for fork in node.forks for child in fork.children.values()]
    return root


def look_up(
    examples: Examples, tasks: TaskList, node: ForestNode, rows: Rows
) -> Iterator[tuple[ForestNode, Rows]]:
    """Yield the lowest nodes that examples reach, at most one per task and example."""
    rows = trained_by(tasks, node.tasks, rows)
    if not node.forks:
        yield node, rows
    for fork in node.forks:
        for outcome, child in fork.children.items():
            yield from look_up(examples, tasks, child, sorted_into(examples, fork, outcome, rows))


def store_infos(examples: Examples, tasks: TaskList, node: ForestNode, D: Rows) -> list[int]:
    """Store info(T) of each task in the node; return the tasks that do not stop."""
    node.infos = {i: info(examples, tasks[i], trained_by(tasks, [i], D)) for i in node.tasks}
    return [i for i in node.tasks if not must_stop(tasks[i], node.infos[i], node.depth)]


def branch_off(
    node: ForestNode, chosen: Mapping[int, Test | None], level: Level, *, same_constants: bool
) -> None:
    """Add the different tests of a node, with a child for each outcome that occurs in any task."""
    tests = {i: test for i, test in chosen.items() if test is not None}
    node.forks = different_tests(tests, same_constants=same_constants)
    for fork in node.forks:
        for outcome in sorted({o for test in fork.tests.values() for o in test.branches}):
            having = [i for i, test in fork.tests.items() if outcome in test.branches]
            fork.children[outcome] = ForestNode(node.depth + 1, having)
    level.nodes += 1
    level.tests += len(node.forks)
    level.tree_tests += len(tests)


def different_tests(tests: Mapping[int, Test], *, same_constants: bool = False) -> list[Fork]:
    """Group tasks by test: the same column, and no example that two of them sort differently."""
    forks: list[Fork] = []
    for i, test in tests.items():
        outcomes = np.array(test.outcomes)
        for fork in forks:
            other = next(iter(fork.tests.values()))
            both = (outcomes >= 0) & (fork.outcomes >= 0) if test.column == other.column else np.False_
            constant = not same_constants or np.array_equal(test.threshold, other.threshold, equal_nan=True)
            if np.any(both) and constant and np.array_equal(outcomes[both], fork.outcomes[both]):
                fork.tests[i] = test
                fork.outcomes = np.where(fork.outcomes >= 0, fork.outcomes, outcomes)
                break
        else:
            forks.append(Fork({i: test}, outcomes))
    return forks


def sorted_into(examples: Examples, fork: Fork, outcome: int, rows: Rows) -> Rows:
    """Return the examples that a test sorts into one child."""
    column = next(iter(fork.tests.values())).column
    there: NDArray[np.bool_] = fork.outcomes[examples.table.ranks[column, rows]] == outcome
    return rows[there]
