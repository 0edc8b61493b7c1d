"""Random problems of every kind the engines accept, for the tests that compare engines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits


@dataclass(frozen=True)
class Case:
    """A problem, and what it was made of (shown by pytest when a comparison fails)."""

    table: Table
    target: Target
    tasks: Tasks
    growth: Growth
    made_of: dict[str, Any]


def random_column(rng: np.random.Generator, n: int) -> Any:
    kind = rng.choice(["normal", "integers", "few", "constant", "close", "nominal", "nominal", "many"])
    if kind == "nominal":
        return np.array(list("abcdefgh"))[rng.integers(0, rng.integers(1, 9), n)].astype(object)
    if kind == "many":
        return np.array([f"c{i:02}" for i in range(30)])[rng.integers(0, 30, n)].astype(object)
    return {
        "normal": lambda: rng.normal(size=n),
        "integers": lambda: rng.integers(0, max(2, n // 2), n).astype(float),
        "few": lambda: rng.integers(0, 4, n).astype(float),
        "constant": lambda: np.ones(n),
        "close": lambda: rng.integers(0, 40, n) * 4e-8,
    }[kind]()


def random_target(rng: np.random.Generator, columns: list[Any], n_classes: int) -> np.ndarray:
    n = len(columns[0])
    signal = sum((np.unique(c.astype(str), return_inverse=True)[1] % 3) - 1.0 for c in columns[:2])
    score = signal + rng.normal(size=n) * rng.choice([0.2, 1.0, 5.0])
    if not n_classes:
        return np.round(score, 1) if rng.random() < 0.3 else score * rng.choice([1e-3, 1.0, 1e6])
    codes = np.argsort(np.argsort(score)) * n_classes // n
    if rng.random() < 0.3:
        codes = np.where(rng.random(n) < 0.9, 0, codes)
    return codes.astype(np.int32)


def random_tasks(rng: np.random.Generator, n: int, n_columns: int) -> tuple[Tasks, str]:
    kind = str(
        rng.choice(["folds", "folds", "folds", "pairs", "one", "many", "bootstrap", "features", "limits"])
    )
    folds = int(rng.integers(2, min(n, 12) + 1))
    order = rng.permutation(np.arange(n) % folds)
    splits = [(np.flatnonzero(order != i), np.flatnonzero(order == i)) for i in range(folds)]
    tasks = Tasks.from_splits(splits, n)
    if kind == "one":
        tasks = tasks.take([0])
    elif kind == "many":
        tasks = Tasks.leave_one_out(n)
    elif kind == "pairs":
        splits = [
            (np.sort(rng.choice(n, max(1, int(n * rng.random())), replace=False)), np.array([], int))
            for _ in range(6)
        ]
        tasks = Tasks.from_splits(splits, n)
    elif kind == "bootstrap":
        tasks = Tasks.bootstrap(5, n, random_state=int(rng.integers(1000)), final=True)
    elif kind == "features" and n_columns > 1:
        allowed = rng.random((2, n_columns)) < 0.7
        allowed[:, rng.integers(n_columns)] = True
        tasks = tasks.with_features(allowed)
    elif kind == "limits":
        tasks = tasks.with_limits([random_limits(rng) for _ in range(3)])
    return tasks, kind


def random_limits(rng: np.random.Generator) -> Limits:
    return Limits(
        max_depth=None if rng.random() < 0.5 else int(rng.integers(0, 6)),
        min_samples_split=int(rng.choice([2, 2, 5, 20])),
        min_samples_leaf=int(rng.choice([1, 1, 1, 2, 5, 20])),
        min_impurity_decrease=float(rng.choice([0.0, 0.0, 0.0, 0.01, 0.1])),
    )


def random_case(seed: int, *, max_rows: int = 120) -> Case:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, max_rows + 1))
    n_columns = int(rng.integers(1, 6))
    columns = [random_column(rng, n) for _ in range(n_columns)]
    n_classes = int(rng.choice([0, 0, 2, 2, 2, 3, 5, 12]))
    y = random_target(rng, columns, n_classes)
    if rng.random() < 0.4:
        for c in columns:
            c[rng.random(n) < rng.choice([0.05, 0.4])] = None if c.dtype == object else np.nan
    max_bins = int(rng.integers(2, 20)) if rng.random() < 0.15 else None
    criterion = str(rng.choice(["gini", "gini", "entropy", "gain_ratio"])) if n_classes else "variance"
    weights = None
    if rng.random() < 0.3:
        weights = rng.integers(0, 4, n).astype(float) if rng.random() < 0.5 else rng.random(n) * 3
        weights[rng.integers(n)] = 1.0
    tasks, kind = random_tasks(rng, n, n_columns)
    if kind not in {"limits", "bootstrap"}:
        tasks = tasks.with_limits([random_limits(rng)])
    if weights is not None:  # a task needs a row of positive weight
        keep = [i for i in range(tasks.n_tasks) if weights[tasks.train_rows(i)].sum() > 0]
        if len(keep) < tasks.n_tasks:
            weights = weights + 1
    table = Table.from_data(pl.DataFrame(dict(enumerate_names(columns)), strict=False), max_bins=max_bins)
    growth = Growth(criterion=criterion, splits=str(rng.choice(["binary", "multiway"])))  # type: ignore[arg-type]
    made_of = {
        "seed": seed,
        "n": n,
        "kinds": table.kinds,
        "classes": n_classes,
        "growth": growth,
        "tasks": kind,
        "weights": weights is not None,
        "max_bins": max_bins,
        "limits": tasks.limits[:3],
    }
    return Case(table, Target(y, n_classes, weights), tasks, growth, made_of)


def enumerate_names(columns: list[Any]) -> list[tuple[str, Any]]:
    return [(f"x{i}", c) for i, c in enumerate(columns)]


def tied_regression(seed: int) -> Case:
    """Return a regression with many equal sums and means: whole numbers, decimals, or both far from zero."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 90))
    letters = np.array(list("abcdefghijklmnop"))
    columns = [letters[rng.integers(0, rng.integers(2, 17), n)].astype(object) for _ in range(2)]
    columns += [rng.integers(0, rng.integers(2, 12), n).astype(float) for _ in range(2)]
    y = rng.integers(0, rng.integers(2, 12), n) * rng.choice([1.0, 0.1, 0.7, 1e-9])
    y = y + rng.choice([0.0, 1e3, 1e9, 1e15])
    if rng.random() < 0.3:
        y[rng.random(n) < 0.5] *= 1 + 2.0**-52
    tasks = Tasks.from_cv(int(rng.integers(2, 5)), n_rows=n) if n > 5 else Tasks.leave_one_out(n)
    limits = Limits(min_samples_leaf=int(rng.choice([1, 1, 2, 5])))
    table = Table.from_data(pl.DataFrame(dict(enumerate_names([columns[i] for i in rng.permutation(4)]))))
    growth = Growth(criterion="variance")
    return Case(table, Target(y, 0), tasks.with_limits([limits]), growth, {"seed": seed, "n": n})
