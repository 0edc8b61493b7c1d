"""Refine a node: for one task (2.1), for overlapping training sets (2.2.1), or by fold statistics (Figure 2).

All three choose the same tests, but differ in how often examples are tested and statistics are updated. The
statistics of a column, ``S[rank]``, are rows and amounts by value, with missing as the last rank. They give
the quality of every test of the column, so the code loops over columns where the paper has "each test t".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.reference.quality import compute_quality, exact_quality, rounded
from crosscut.reference.task import trained_by
from crosscut.reference.test import column_tests

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from crosscut.reference.count import Level
    from crosscut.reference.examples import Examples
    from crosscut.reference.task import Task, TaskList
    from crosscut.reference.test import Test

    Rows = NDArray[np.int64]
    Statistics = NDArray[Any]  # integers

EPSILON = float(np.finfo(np.float64).eps)


def refine(examples: Examples, task: Task, T: Rows, level: Level) -> Test | None:
    """Choose the best test in two phases: statistics from examples, qualities from statistics (2.1)."""
    S = {}
    for t in np.flatnonzero(task.columns).tolist():
        S[t] = empty_statistics(examples, t)
        update_statistics(S[t], examples, t, T, task.multiplicity[T])
        level.tested += len(T)
        level.updates += len(T)
    return best_test(examples, task, S)


def refine_overlapping(
    examples: Examples, tasks: TaskList, continuing: Sequence[int], D: Rows, level: Level
) -> dict[int, Test | None]:
    """Choose the best test of each task that continues, testing each example once for all of them (2.2.1)."""
    S: dict[int, dict[int, Statistics]] = {i: {} for i in continuing}
    for t in range(len(examples.table.n_values)):
        users = [i for i in continuing if tasks[i].columns[t]]
        level.tested += len(trained_by(tasks, users, D))
        for i in users:
            T = trained_by(tasks, [i], D)
            S[i][t] = empty_statistics(examples, t)
            update_statistics(S[i][t], examples, t, T, tasks[i].multiplicity[T])
            level.updates += len(T)
    return {i: best_test(examples, tasks[i], S[i]) for i in continuing}


def refine_folds(
    examples: Examples, tasks: TaskList, continuing: Sequence[int], D: Rows, level: Level
) -> dict[int, Test | None]:
    """Choose the best test of each task that continues, updating statistics once per example (Figure 2)."""
    S = FoldStatistics(examples, tasks, continuing)
    S.update(D, level)
    return S.best_tests(continuing)


class FoldStatistics:
    """S[D_i, t] of the folds at one node, and the statistics of the training sets (2.2.2, 2.2.3)."""

    def __init__(self, examples: Examples, tasks: TaskList, continuing: Sequence[int]) -> None:
        self.examples, self.tasks, self.continuing = examples, tasks, continuing
        self.folds = tasks.folds
        self.S: dict[int, dict[int, Statistics]] = {}  # [test][fold]

    def update(self, rows: Rows, level: Level) -> None:
        """Add each example to the statistics of its fold: lines 1 to 4 of Figure 2."""
        for t in range(len(self.examples.table.n_values)):
            users = [i for i in self.continuing if self.tasks[i].columns[t]]
            D = trained_by(self.tasks, users, rows)
            folds = self.S.setdefault(t, {})
            for fold in np.unique(self.folds.number[D]).tolist():
                here = D[self.folds.number[D] == fold]
                update_statistics(
                    folds.setdefault(fold, empty_statistics(self.examples, t)), self.examples, t, here
                )
            level.tested += len(D)
            level.updates += len(D)

    def of_training_set(self, i: int, t: int) -> Statistics:
        """Compute S[T_i, t] = S[D, t] - S[D_i, t] from the folds alone: line 5 of Figure 2.

        For the virtual fold 0, nothing is subtracted: S(T_0) = S(D). In general, folds that the task does not
        train on are subtracted, and a fold that it trains on m times is added m - 1 more times.
        """
        S = empty_statistics(self.examples, t)
        for S_fold in self.S[t].values():
            S += S_fold
        for fold, S_fold in self.S[t].items():
            times = int(self.folds.times[i, fold])
            S[:, 0] -= S_fold[:, 0] * (times == 0)
            S[:, 1:] -= S_fold[:, 1:] * (1 - times)
        return S

    def best_tests(self, continuing: Sequence[int]) -> dict[int, Test | None]:
        """Return argmax Q[T_i, t] for each task: lines 6 to 9 of Figure 2."""
        return {
            i: best_test(
                self.examples,
                self.tasks[i],
                {t: self.of_training_set(i, t) for t in self.S if self.tasks[i].columns[t]},
            )
            for i in continuing
        }


def empty_statistics(examples: Examples, t: int) -> Statistics:
    """Return the statistics of a column without examples."""
    return np.zeros((examples.table.n_values[t] + 1, examples.amounts.shape[1]), examples.amounts.dtype)


def update_statistics(S: Statistics, examples: Examples, t: int, rows: Rows, times: Rows | int = 1) -> None:
    """Add examples to the statistics of their values in a column.

    Amount 0, the number of rows, counts each example once, regardless of its multiplicity.
    """
    amounts = examples.amounts[rows] * np.reshape(times, (-1, 1))
    amounts[:, 0] = 1
    np.add.at(S, examples.table.ranks[t, rows], amounts)


def best_test(examples: Examples, task: Task, S: Mapping[int, Statistics]) -> Test | None:
    """Return argmax Q[t] from statistics alone (phase two); None if no test is admissible.

    Ties go to the lowest column, then to the first test in the order of ``column_tests``.
    """
    best, best_branches = None, None
    best_Q: Any = -np.inf
    for t in sorted(S):
        branches, make = column_tests(examples, t, S[t])
        admissible = (branches[..., 0] >= task.limits.min_samples_leaf).all(axis=-1)
        Q = np.where(admissible, qualities(examples, branches[..., 1:]), -np.inf)
        if len(Q) and Q.max() > best_Q:
            i = int(np.argmax(Q))
            best, best_Q, best_branches = make(i), Q[i], branches[i, :, 1:]
    if best_branches is None:
        return None
    least = task.limits.min_impurity_decrease
    enough = least <= 0 or improvement(examples, task, best_branches) + EPSILON >= least
    return best if enough else None


def qualities(examples: Examples, S: NDArray[Any]) -> NDArray[Any]:
    """Return Q of tests [test, branch, amount]: from counts, exact, or from sums rounded once."""
    criterion = examples.growth.criterion
    if examples.counted:
        return compute_quality[criterion](S.astype(np.float64))
    if criterion in exact_quality:
        exact = np.empty(len(S), dtype=object)
        exact[:] = [exact_quality[criterion](branches, examples.units) for branches in S]
        return exact
    node = rounded(S.sum(axis=-2, keepdims=True), examples.units[0])
    return compute_quality[criterion](rounded(S, examples.units[0]), node)


def improvement(examples: Examples, task: Task, branches: NDArray[Any]) -> float:
    """Return the impurity decrease by a test, divided by the total weight of the task."""
    criterion = examples.growth.criterion
    of_test, of_node = branches, branches.sum(axis=0, keepdims=True)
    weights = examples.amounts[:, 1:] if examples.n_classes else examples.amounts[:, 1:2]
    total = (weights * task.multiplicity[:, None]).sum()
    if not examples.counted and criterion in exact_quality:
        quality = exact_quality[criterion]
        gain = float(quality(of_test, examples.units) - quality(of_node, examples.units))
    else:
        gain = float(
            entropy_or_gini(criterion, of_test, examples) - entropy_or_gini(criterion, of_node, examples)
        )
    return gain / float(rounded(np.array(total, dtype=object), examples.units[0]))


def entropy_or_gini(criterion: str, branches: NDArray[Any], examples: Examples) -> NDArray[np.float64]:
    """Return the quality that improvements are measured by; for gain ratio, the information."""
    sums = rounded(branches.astype(object), examples.units[0])
    measure = {"gini": "gini", "entropy": "entropy", "gain_ratio": "entropy"}[criterion]
    return compute_quality[measure](sums)
