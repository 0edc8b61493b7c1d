"""Random growing problems of every kind, often with ties, for comparing ways to grow the same trees."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.reference.examples import Examples
from crosscut.reference.task import TaskList, tasks_of
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits


@dataclass(frozen=True)
class Problem:
    table: Table
    target: Target
    tasks: Tasks
    growth: Growth

    def examples(self) -> Examples:
        return Examples.of(self.table, self.target, self.growth)

    def spelled_out(self) -> tuple[Examples, TaskList]:
        examples = self.examples()
        return examples, tasks_of(self.tasks, examples)


@st.composite
def problems(draw, min_rows=8, max_rows=60):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_rows = draw(st.integers(min_rows, max_rows))
    kinds = draw(st.lists(st.sampled_from(["continuous", "integer", "nominal"]), min_size=1, max_size=4))
    table = Table.from_data(
        frame(rng, n_rows, kinds, missing=draw(st.booleans())),
        max_bins=draw(st.sampled_from([None, None, 3, 10])),
    )
    criterion = draw(st.sampled_from(["gini", "entropy", "gain_ratio", "variance"]))
    growth = Growth(criterion, draw(st.sampled_from(["binary", "multiway"])))
    weights = draw(st.sampled_from([None, "integer", "real"]))
    if weights is not None:
        weights = rng.integers(0, 4, n_rows).astype(float) if weights == "integer" else rng.random(n_rows)
        weights[:2] = 1.0  # of all folds below, two rows are left in each training set
    tasks = draw_tasks(draw, rng, table)
    if criterion == "variance":
        y = rng.integers(0, 5, n_rows) / 2 if draw(st.booleans()) else rng.normal(size=n_rows) * 1e3 - 7
        return Problem(table, Target(y, 0, weights), tasks, growth)
    n_classes = draw(st.integers(2, 4))
    y = rng.integers(0, n_classes, n_rows).astype(np.int32)
    return Problem(table, Target(y, n_classes, weights), tasks, growth)


def frame(rng, n_rows, kinds, *, missing):
    columns = {}
    for i, kind in enumerate(kinds):
        if kind == "nominal":
            k = int(rng.integers(2, 12))
            codes = rng.integers(-1 if missing else 0, k, n_rows)
            columns[f"c{i}"] = [None if code < 0 else f"v{code:02d}" for code in codes]
        else:
            values = rng.normal(size=n_rows) if kind == "continuous" else rng.integers(0, 5, n_rows) * 1.0
            if missing:
                values[rng.random(n_rows) < 0.2] = np.nan
            columns[f"c{i}"] = values.astype(np.float32)
    return pd.DataFrame(columns)


def draw_tasks(draw, rng, table):
    n_folds = draw(st.integers(2, 5))
    folds = rng.integers(0, n_folds, table.n_rows)
    folds[:2] = -1
    folds[2:4] = [0, 1]
    folds = np.where(folds < 0, -1, np.unique(folds, return_inverse=True)[1] - 1)
    tasks = Tasks.from_folds(folds)
    if draw(st.booleans()):
        drawn = rng.integers(0, 4, (tasks.n_tasks, table.n_rows)).astype(np.uint8)
        drawn[:, :2] = 2
        for i in range(tasks.n_tasks):
            drawn[i, tasks.test_rows(i)] = 0
        masks = sum((drawn[i] > 0).astype(np.uint16) << i for i in range(tasks.n_tasks))[None]
        tasks = replace(tasks, multiplicity=drawn, masks=masks.astype(np.uint16))
    if draw(st.booleans()):
        features = rng.random((tasks.n_tasks, table.n_columns)) < 0.7
        features[:, 0] |= ~features.any(axis=1)
        tasks = replace(tasks, features=features)
    limits = tuple(
        Limits(
            max_depth=[None, None, 2, 4][rng.integers(4)],
            min_samples_split=int(rng.integers(2, 6)),
            min_samples_leaf=int(rng.integers(1, 4)),
            min_impurity_decrease=[0.0, 0.0, 0.0, 0.01][rng.integers(4)],
        )
        for _ in range(tasks.n_tasks)
    )
    return replace(tasks, limits=limits if draw(st.booleans()) else limits[:1])


def one_task(n_rows, limits=None):
    """The task that trains on everything, alone."""
    return Tasks.from_folds(np.arange(n_rows) % 2, limits=limits or Limits()).take([0])


@st.composite
def cross_validations(draw, min_rows=12, max_rows=60):
    """Plain n-fold cross-validations in which every tree has a test at its root."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_folds = draw(st.integers(2, 6))
    n_rows = draw(st.integers(min_rows, max_rows))
    kinds = draw(st.lists(st.sampled_from(["continuous", "integer", "nominal"]), min_size=1, max_size=4))
    table = Table.from_data(frame(rng, n_rows, [*kinds, "continuous"], missing=draw(st.booleans())))
    y = rng.integers(0, 2, n_rows).astype(np.int32)
    folds = np.arange(n_rows) % n_folds
    for fold in range(n_folds):  # both classes in every fold, so that no training set is pure
        y[np.flatnonzero(folds == fold)[:2]] = [0, 1]
    limits = Limits(max_depth=draw(st.sampled_from([None, 3])))
    return Problem(table, Target(y, 2), Tasks.from_folds(folds, limits=limits), Growth("gini"))
