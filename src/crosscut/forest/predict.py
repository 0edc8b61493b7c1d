"""Find the leaf that each row reaches: in one tree, in all trees, and out of fold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosscut.data.threads import n_threads
from crosscut.forest.forest import Forest, Packed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.tree import Tree
    from crosscut.tasks import Tasks

Trees = Forest | Packed
_FEW = 4096  # at most this many rows reach few nodes, so checking and preparing all nodes takes longer


def packed_of(trees: Trees | Tree) -> Packed:
    """Return the concatenated arrays of the trees."""
    if isinstance(trees, Packed):
        return trees
    return trees.packed if isinstance(trees, Forest) else Packed.of([trees])


def apply(trees: Trees | Tree, x: NDArray[np.float32], *, n_jobs: int | None = None) -> NDArray[np.int32]:
    """Return the leaf of every row in every tree.

    Parameters
    ----------
    trees : Forest, Packed or Tree
        The trees.
    x : float32 array of shape (n_rows, n_columns)
        Rows as ``Schema.matrix`` encodes them.
    n_jobs : int, optional
        Number of threads; by default all cores.

    Returns
    -------
    leaf : int32 array of shape (n_trees, n_rows)
        For a single Tree, of shape (n_rows,).
    """
    leaf = apply_rows(packed_of(trees), x, None, None, n_jobs)
    return leaf if isinstance(trees, Forest | Packed) else leaf[0]


def apply_held_out(
    trees: Trees, x: NDArray[np.float32], tasks: Tasks, *, n_jobs: int | None = None
) -> HeldOut:
    """Return the leaf of every held-out row in the tree that holds it out, for all trees at once.

    Parameters
    ----------
    trees : Forest or Packed
        The trees, one per task.
    x : float32 array of shape (n_rows, n_columns)
        All rows, as ``Schema.matrix`` encodes them.
    tasks : Tasks
        The rows that the task of each tree holds out.
    n_jobs : int, optional
        Number of threads; by default all cores.
    """
    rows, row_start = tasks.tests, tasks.first_test
    return HeldOut(rows, row_start, apply_rows(packed_of(trees), x, rows, row_start, n_jobs))


class HeldOut:
    """The held-out rows of all tasks, and the leaf each row reaches in the tree of its task.

    Attributes
    ----------
    rows : int64 array
        Rows of the table, task by task.
    row_start : int64 array of shape (n_tasks + 1,)
        Task ``t`` holds out ``rows[row_start[t]:row_start[t + 1]]``.
    leaf : int32 array
        Leaf of each of these rows, numbered within its tree.
    """

    def __init__(
        self, rows: NDArray[np.int64], row_start: NDArray[np.int64], leaf: NDArray[np.int32]
    ) -> None:
        self.rows = rows
        self.row_start = row_start
        self.leaf = leaf

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
    if (
        rows is not None
        and row_start is not None
        and len(rows) <= _FEW
        and 2 * len(rows) < len(packed.feature)
    ):
        return packed.leaves_of_few(x, rows, row_start)
    threads = n_threads(n_jobs, len(x) * packed.n_trees * 32 if rows is None else len(rows) * 32)
    return packed.core.apply(x, rows, row_start, threads)
