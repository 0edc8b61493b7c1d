"""The reference engine, which grows each tree separately; other engines must return the same trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosscut.forest.forest import Forest
from crosscut.reference.examples import Examples
from crosscut.reference.node import flatten
from crosscut.reference.task import tasks_of
from crosscut.reference.tree import grow_tree

if TYPE_CHECKING:
    from crosscut.data.table import Table
    from crosscut.data.target import Target
    from crosscut.tasks import Tasks
    from crosscut.tasks.growth import Growth


def grow(table: Table, target: Target, tasks: Tasks, growth: Growth) -> Forest:
    """Grow one tree per task, each separately (the paper's serial algorithm)."""
    examples = Examples.of(table, target, growth)
    trees = tuple(flatten(grow_tree(examples, task), examples) for task in tasks_of(tasks, examples))
    return Forest(trees)
