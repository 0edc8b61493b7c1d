"""Cost of a row in a bundle of several tasks, relative to one task.

    python benchmarks/lanes.py

The tasks agree on all tests (a clear concept of four columns), so one bundle contains all of them and the
number of rows visited hardly grows. The core clusters child bundles by these costs
(cpp/grow/large/child_bundles.hpp).
"""

from __future__ import annotations

import time

import numpy as np

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits

TASKS = (1, 2, 4, 8, 11, 15)
N_COLUMNS = 20


def nanoseconds(table: Table, target: Target, growth: Growth, n_tasks: int) -> float:
    """Return the processor time per visited row and column."""
    tasks = Tasks.from_cv(max(n_tasks - 1, 2), n_rows=table.n_rows, limits=Limits(max_depth=4))
    tasks = tasks.take(range(n_tasks))
    best = float("inf")
    for _ in range(5):
        started = time.process_time()
        forest = grow(table, target, tasks, growth, n_jobs=1)
        best = min(best, time.process_time() - started)
    return best * 1e9 / forest.work["rows"].sum() / N_COLUMNS


def main() -> None:
    """Print a table."""
    print("| rows | criterion | one task, ns |", " | ".join(f"{k} tasks" for k in TASKS[1:]), "|")
    print("| --- " * (len(TASKS) + 2) + "|")
    for n_rows in (1_000, 4_000, 60_000):
        draw = np.random.default_rng(0)
        X = draw.normal(size=(n_rows, N_COLUMNS)).astype(np.float32)
        signs = (X[:, :4] > 0).sum(1)
        binary = Target((draw.random(n_rows) < 0.15 + 0.175 * signs).astype(np.int32), 2)
        noisy = np.where(draw.random(n_rows) < 0.7, signs, draw.integers(0, 5, n_rows))
        five = Target(noisy.astype(np.int32), 5)
        numbers = Target(signs + draw.normal(size=n_rows) * 0.4, 0)
        table = Table.from_data(X)
        for name, target, growth in [
            ("gini", binary, Growth()),
            ("gini, 5 classes", five, Growth()),
            ("entropy", binary, Growth("entropy")),
            ("variance", numbers, Growth("variance")),
        ]:
            costs = [nanoseconds(table, target, growth, k) for k in TASKS]
            more = " | ".join(f"{cost / costs[0]:.2f}" for cost in costs[1:])
            print(f"| {n_rows} | {name} | {costs[0]:.1f} | {more} |", flush=True)


if __name__ == "__main__":
    main()
