"""Find the leaf that each row reaches: in one tree, in all trees, and out of fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosscut.data.threads import n_threads
from crosscut.forest.forest import Forest, Packed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.tree import Tree
    from crosscut.tasks import Tasks

Trees = Forest | Packed


def packed_of(trees: Trees | Tree) -> Packed:
    """Return the concatenated arrays of the trees."""
    if isinstance(trees, Packed):
        return trees
    return trees.packed if isinstance(trees, Forest) else Packed.of([trees])


def apply(trees: Trees | Tree, x: NDArray[np.float32], *, n_jobs: int | None = None) -> NDArray[np.int32]:
    """Return the leaf of every row in every tree: (trees, rows), or (rows,) for a single `Tree`.

    ``Schema.matrix`` encodes the rows ``x``. By default all cores are used.
    """
    leaf = apply_rows(packed_of(trees), x, None, None, n_jobs)
    return leaf if isinstance(trees, Forest | Packed) else leaf[0]


def apply_held_out(
    trees: Trees, x: NDArray[np.float32], tasks: Tasks, *, n_jobs: int | None = None
) -> HeldOut:
    """Return the leaf of every held-out row in the tree of the task that holds it out, for all trees at once.

    ``Schema.matrix`` encodes all rows ``x``. By default all cores are used.
    """
    rows, row_start = tasks.tests, tasks.first_test
    return HeldOut(rows, row_start, apply_rows(packed_of(trees), x, rows, row_start, n_jobs))


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The held-out rows of all tasks, and the leaf each row reaches in the tree of its task."""

    rows: NDArray[np.int64]  # rows of the table, task by task
    row_start: NDArray[np.int64]  # task t holds out rows[row_start[t]:row_start[t + 1]]
    leaf: NDArray[np.int32]  # leaf of each of these rows, numbered within its tree

    def node(self, packed: Packed) -> NDArray[np.int64]:
        """Return the leaf of each held-out row, as an index into the arrays of ``packed``."""
        return np.repeat(packed.node_start[:-1], np.diff(self.row_start)) + self.leaf

    def of(self, task: int) -> slice:
        """Return the positions of a task's rows."""
        return slice(int(self.row_start[task]), int(self.row_start[task + 1]))


def apply_rows(
    packed: Packed,
    x: NDArray[np.float32],
    rows: NDArray[np.int64] | None,
    row_start: NDArray[np.int64] | None,
    n_jobs: int | None,
) -> NDArray[np.int32]:
    """Return the leaves of each tree's rows, tree by tree; without ``rows``, like `apply`."""
    if rows is not None and row_start is not None and packed.reached_by_few(len(rows)):
        return packed.leaves_of_few(x, rows, row_start)
    threads = n_threads(n_jobs, len(x) * packed.n_trees * 32 if rows is None else len(rows) * 32)
    return packed.core.apply(x, rows, row_start, threads)
