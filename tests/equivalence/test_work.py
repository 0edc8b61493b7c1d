"""Each acceleration saves the work it is there for, on every instruction set: lost work fails a test that names it.

The counts are those of one thread, and depend on the problem only; cuts that are evaluated side by side share a bound,
so that a few more of them reach the exact formula where vectors are wider.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits

from .test_memory import level  # noqa: F401


def _columns(rng, n):
    return {
        "number": rng.normal(size=n),
        "sparse": np.where(rng.random(n) < 0.85, 0.0, rng.exponential(size=n)),
        "few": rng.integers(0, 12, n).astype(float),
        "missing": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
        "rounded": rng.normal(size=n).round(1),
    }


def _classes(score, n_classes):
    return Target((np.argsort(np.argsort(score)) * n_classes // len(score)).astype(np.int32), n_classes)


def _problem(name):  # noqa: PLR0911
    rng = np.random.default_rng(7)
    n = 20_000 if name.startswith("large") else 900
    columns = _columns(rng, n)
    score = columns["number"] + columns["sparse"] + columns["few"] / 6 + rng.normal(size=n)
    tasks = Tasks.from_cv(10, n_rows=n, limits=Limits(max_depth=5 if n > 10_000 else None))
    if name == "nominal":
        columns |= {f"letter {k}": np.array(list("abcdefg"))[rng.integers(0, 7, n)] for k in range(3)}
        return pl.DataFrame(columns), _classes(score + (columns["letter 0"] > "c"), 4), tasks, Growth()
    table = pl.DataFrame(columns)
    if name == "leave one out":
        return table[:200], _classes(score[:200], 2), Tasks.leave_one_out(200), Growth()
    if name == "large weights":
        return table, Target(_classes(score, 2).values, 2, rng.uniform(0.5, 2, n)), tasks, Growth()
    if name.endswith("regression"):
        return table, Target(score, 0), tasks, Growth("variance")
    if name.endswith("many classes"):
        return table, _classes(score, 6), tasks, Growth()
    if name.startswith(("large entropy", "large gain_ratio")):
        return table, _classes(score, 3), tasks, Growth(name.split()[1])
    return table, _classes(score, 2), tasks, Growth()


@cache
def _encoded(name):
    data, *rest = _problem(name)
    return Table.from_data(data), *rest


def work(name, **options):
    """Return the totals of the counts of a workload."""
    found = grow(*_encoded(name), n_jobs=1, **options).work
    return {count: int(numbers.sum()) for count, numbers in found.items() if count != "seconds"}


WORKLOADS = (
    "small",
    "small many classes",
    "small regression",
    "nominal",
    "leave one out",
    "large",
    "large many classes",
    "large regression",
    "large entropy",
    "large gain_ratio",
    "large weights",
)
if __name__ == "__main__":
    for name in WORKLOADS:
        print(name, work(name))
