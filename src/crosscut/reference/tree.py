"""Grow one tree (Figure 1); doing so for each task in turn is the paper's serial algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosscut.forest.forest import Forest
from crosscut.reference.count import Counts
from crosscut.reference.examples import Examples
from crosscut.reference.node import Info, Node, flatten, info
from crosscut.reference.refine import refine
from crosscut.reference.task import tasks_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.table import Table
    from crosscut.data.target import Target
    from crosscut.reference.task import Task
    from crosscut.reference.test import Test
    from crosscut.tasks import Tasks
    from crosscut.tasks.growth import Growth

    Rows = NDArray[np.int64]


def grow(table: Table, target: Target, tasks: Tasks, growth: Growth) -> Forest:
    """Grow one tree per task, each separately; every engine must return the same trees."""
    examples = Examples.of(table, target, growth)
    trees = tuple(flatten(grow_tree(examples, task), examples) for task in tasks_of(tasks, examples))
    return Forest(trees)


def grow_tree(
    examples: Examples, task: Task, counts: Counts | None = None, T: Rows | None = None, depth: int = 0
) -> Node:
    """Grow the tree of one task, depth first."""
    counts = Counts() if counts is None else counts
    T = task.rows if T is None else T
    summary = info(examples, task, T)
    if must_stop(task, summary, depth):
        return Node(summary)
    level = counts.level(depth)
    level.nodes += 1
    test = refine(examples, task, T, level)
    if test is None:
        return Node(summary)
    level.tests += 1
    level.tree_tests += 1
    level.sorted += len(T)
    children = [grow_tree(examples, task, counts, P, depth + 1) for P in partition(examples, T, test)]
    return Node(summary, test, children)


def must_stop(task: Task, summary: Info, depth: int) -> bool:
    """Return the part of stop_criterion that does not depend on a test."""
    limits = task.limits
    return (
        (limits.max_depth is not None and depth >= limits.max_depth)
        or summary.n_rows < limits.min_samples_split
        or summary.n_rows < 2 * limits.min_samples_leaf
        or summary.pure
    )


def partition(examples: Examples, T: Rows, test: Test) -> list[Rows]:
    """Sort examples into the child nodes of a test."""
    outcomes = np.array(test.outcomes)[examples.table.ranks[test.column, T]]
    return [T[outcomes == outcome] for outcome in test.branches]
