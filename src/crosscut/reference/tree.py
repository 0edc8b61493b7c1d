"""Growing one tree: Figure 1, with the node refinement of section 2.1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosscut.reference.node import Info, Node, info
from crosscut.reference.quality import compute_quality
from crosscut.reference.test import tests

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from crosscut.reference.examples import Examples, Task
    from crosscut.reference.test import Test

    Rows = NDArray[np.int64]
    Statistics = NDArray[np.int64]  # of a column: S[rank], rows and amounts; missing is the last rank

EPSILON = float(np.finfo(np.float64).eps)


def grow_tree(examples: Examples, task: Task, T: Rows | None = None, depth: int = 0) -> Node:
    """Grow one tree by itself, depth first (Figure 1)."""
    T = task.rows if T is None else T
    told = info(examples, task, T)
    if must_stop(task, told, depth):
        return Node(told)
    test = optimal_test(examples, task, T)
    if test is None:
        return Node(told)
    return Node(told, test, [grow_tree(examples, task, P, depth + 1) for P in partition(examples, T, test)])


def optimal_test(examples: Examples, task: Task, T: Rows) -> Test | None:
    """Refine a node in two phases: statistics from the examples, then qualities from the statistics (2.1)."""
    S = {}
    for column in np.flatnonzero(task.columns).tolist():
        S[column] = empty_statistics(examples, column)
        update_statistics(S[column], examples, column, T, task.multiplicity[T])
    return best_test(examples, task, S)


def empty_statistics(examples: Examples, column: int) -> Statistics:
    """Return S[t] before any example has been seen."""
    return np.zeros((examples.table.n_values[column] + 1, examples.amounts.shape[1]), np.int64)


def update_statistics(
    S: Statistics, examples: Examples, column: int, rows: Rows, times: Rows | int = 1
) -> None:
    """Add examples to the statistics of their values in a column: phase one of section 2.1.

    The number of rows, amount 0, counts an example once whatever its multiplicity.
    """
    amounts = examples.amounts[rows] * np.reshape(times, (-1, 1))
    amounts[:, 0] = 1
    np.add.at(S, examples.table.ranks[column, rows], amounts)


def best_test(examples: Examples, task: Task, S: Mapping[int, Statistics]) -> Test | None:
    """Return argmax Q[t], looking only at statistics (phase two); None if no test may be taken.

    Of equal tests the one of the lowest column wins, then the first in the order of ``tests``.
    """
    quality = compute_quality[examples.growth.criterion]
    best, best_Q, best_branches = None, -np.inf, None
    for column in sorted(S):
        branches, make = tests(examples, column, S[column])
        admissible = (branches[..., 0] >= task.limits.min_samples_leaf).all(axis=-1)
        Q = np.where(admissible, quality(branches[..., 1:].astype(np.float64)), -np.inf)
        if len(Q) and Q.max() > best_Q:
            i = int(np.argmax(Q))
            best, best_Q, best_branches = make(i), Q[i], branches[i, :, 1:].astype(np.float64)
    if (
        best_branches is None
        or improvement(examples, task, best_branches) + EPSILON < task.limits.min_impurity_decrease
    ):
        return None
    return best


def improvement(examples: Examples, task: Task, branches: NDArray[np.float64]) -> float:
    """Decrease of impurity that a test brings, as a part of the whole tree's weight."""
    criterion = examples.growth.criterion
    quality = compute_quality["entropy" if criterion == "gain_ratio" else criterion]
    gain = quality(branches) - quality(branches.sum(axis=0, keepdims=True))
    sums = examples.amounts[:, 1:] if examples.n_classes else examples.amounts[:, 1:2]
    N = float((sums * task.multiplicity[:, None]).sum())
    return float(np.ldexp(gain / N, examples.scale))


def must_stop(task: Task, told: Info, depth: int) -> bool:
    """stop_criterion of Figure 1, as far as it needs no test."""
    limits = task.limits
    return (
        (limits.max_depth is not None and depth >= limits.max_depth)
        or told.n_rows < limits.min_samples_split
        or told.n_rows < 2 * limits.min_samples_leaf
        or told.pure
    )


def partition(examples: Examples, T: Rows, test: Test) -> list[Rows]:
    """Sort examples into the child nodes of a test."""
    outcomes = np.array(test.outcomes)[examples.table.ranks[test.column, T]]
    return [T[outcomes == o] for o in test.branches]
