"""The core's trees are the reference's, bit for bit: for any threads, block size and instruction set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.reference import tree as reference
from crosscut.tasks import Tasks
from crosscut.tasks.folds import folds_of
from crosscut.tasks.growth import Growth, Limits

from .cases import random_case, random_limits, tied_regression

seeds = st.integers(0, 2**32 - 1)


def assert_same(ours, theirs, made_of):
    assert len(ours) == len(theirs)
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert a.difference(b) is None, (i, made_of)


@settings(max_examples=80, deadline=None)
@given(seed=seeds, threads=st.sampled_from([1, 2]), local_rows=st.sampled_from([1, 7, 30, 4096]))
@example(seed=12949, threads=1, local_rows=1)  # a column that a task may not use
@example(seed=700019, threads=1, local_rows=4096)  # the grid's best nominal test does not exist
@example(seed=300, threads=1, local_rows=4096)  # limits and depths that add up to the same
def test_equals_reference(seed, threads, local_rows):
    case = random_case(seed)
    expected = reference.grow(case.table, case.target, case.tasks, case.growth)
    forest = grow(case.table, case.target, case.tasks, case.growth, n_jobs=threads, local_rows=local_rows)
    assert_same(forest.trees, expected.trees, case.made_of)


@settings(max_examples=40, deadline=None)
@given(seed=seeds, local_rows=st.sampled_from([1, 30, 4096]))
@example(seed=20057, local_rows=4096)  # categories whose means differ, but round to the same number
def test_ties_of_sums_and_means(seed, local_rows):
    case = tied_regression(seed)
    expected = reference.grow(case.table, case.target, case.tasks, case.growth)
    forest = grow(case.table, case.target, case.tasks, case.growth, n_jobs=1, local_rows=local_rows)
    assert_same(forest.trees, expected.trees, case.made_of)


@settings(max_examples=150, deadline=None)
@given(seed=seeds, threads=st.sampled_from([3, 16]), local_rows=st.sampled_from([1, 8, 60]))
def test_many_threads_equal_one(seed, threads, local_rows):
    case = random_case(seed, max_rows=400)
    one, many = (
        grow(case.table, case.target, case.tasks, case.growth, n_jobs=n, local_rows=local_rows)
        for n in (1, threads)
    )
    assert_same(many.trees, one.trees, case.made_of)


def with_few_intervals(table, n_intervals):
    """Join the coarse intervals of a table, so that each has many rows of a small table."""
    coarse, first = np.empty_like(table.coarse), []
    for f, (ranks, values) in enumerate(zip(table.ranks, table.values, strict=True)):
        starts = np.linspace(0, len(values), n_intervals + 1).astype(int)[1:-1]
        apart = np.flatnonzero(values[:-1] + np.float32(1e-7) < values[1:]) + 1  # ranks where one may start
        starts = np.unique(np.r_[0, apart[np.isin(apart, starts)]])
        coarse[f] = np.searchsorted(starts, ranks, side="right") - 1
        coarse[f][ranks == len(values)] = len(starts)
        first.append(np.r_[starts, len(values)].astype(np.uint32))
    return replace(table, coarse=coarse, coarse_first=first)


@settings(max_examples=40, deadline=None)
@given(seed=seeds, criterion=st.sampled_from(["gini", "gini", "entropy", "gain_ratio", "variance"]))
def test_intervals_of_many_rows(seed, criterion):
    """Opened intervals of many rows are divided into parts, which have borders of their own."""
    rng = np.random.default_rng(seed)
    n, missing = int(rng.integers(500, 900)), rng.choice([0, 0.05, 0.5])
    steps = rng.choice([4e-8, 7e-8, 1.3e-7])  # neighbouring values may be too close to split between
    X = np.c_[rng.normal(size=n), rng.integers(0, 60, n), rng.integers(0, 3000, n) * steps]
    X[rng.random(X.shape) < missing] = np.nan
    table = with_few_intervals(Table.from_data(X), int(rng.integers(1, 4)))
    score = rng.choice([0, 0.5]) * np.nan_to_num(X[:, 0]) + rng.normal(size=n)
    weights = rng.random(n) + 0.5 if rng.random() < 0.3 else None
    target = Target(score, 0, weights)
    if criterion != "variance":
        n_classes = int(rng.integers(2, 4))
        target = Target((score > 0).astype(np.int32) + (score > 1) * (n_classes - 2), n_classes, weights)
    limits = Limits(max_depth=3, min_samples_leaf=int(rng.choice([1, 15])))
    tasks = Tasks.from_cv(int(rng.choice([2, 4, 10])), n_rows=n, limits=limits)
    if rng.random() < 0.3:
        tasks = tasks.take([0])
    forest = grow(table, target, tasks, Growth(criterion), n_jobs=1, local_rows=1)
    expected = reference.grow(table, target, tasks, Growth(criterion))
    assert_same(forest.trees, expected.trees, seed)


@settings(max_examples=80, deadline=None)
@given(seed=seeds, threads=st.sampled_from([1, 2]), local_rows=st.sampled_from([1, 7, 30, 4096]))
def test_limits_of_bootstraps_equal_reference(seed, threads, local_rows):
    """Limits count a row once, however often it was drawn."""
    case = random_case(seed)
    rng = np.random.default_rng(seed)
    n = case.table.n_rows
    tasks = Tasks.bootstrap(3, n, size=int(n * rng.choice([1, 1, 6])), random_state=int(rng.integers(99)))
    tasks = tasks.with_limits([random_limits(rng)])
    weights = np.ones(n) if case.target.weights is None else case.target.weights
    assume(all((weights[tasks.train_rows(t)] > 0).any() for t in range(3)))
    expected = reference.grow(case.table, case.target, tasks, case.growth)
    forest = grow(case.table, case.target, tasks, case.growth, n_jobs=threads, local_rows=local_rows)
    assert_same(forest.trees, expected.trees, case.made_of)


@pytest.mark.slow
@settings(max_examples=3000, deadline=None)
@given(seed=seeds, threads=st.sampled_from([1, 2]), local_rows=st.sampled_from([1, 7, 30, 4096]))
def test_equals_reference_thousands(seed, threads, local_rows):
    case = random_case(seed)
    expected = reference.grow(case.table, case.target, case.tasks, case.growth)
    forest = grow(case.table, case.target, case.tasks, case.growth, n_jobs=threads, local_rows=local_rows)
    assert_same(forest.trees, expected.trees, case.made_of)


@settings(max_examples=100, deadline=None)
@given(
    seed=seeds,
    threads=st.sampled_from([1, 2]),
    bundling=st.booleans(),
    two_resolutions=st.booleans(),
    local_rows=st.sampled_from([1, 16, 200, 4096]),
)
def test_together_equals_alone(seed, threads, bundling, two_resolutions, local_rows):
    case = random_case(seed, max_rows=400)
    together = grow(
        case.table, case.target, case.tasks, case.growth, n_jobs=threads,
        bundling=bundling, two_resolutions=two_resolutions, local_rows=local_rows,
    )  # fmt: skip
    some = np.random.default_rng(seed).choice(case.tasks.n_tasks, min(4, case.tasks.n_tasks), replace=False)
    for i in some:
        alone = grow(case.table, case.target, case.tasks.take([int(i)]), case.growth, n_jobs=1)
        assert together.trees[i].difference(alone.trees[0]) is None, (i, case.made_of)


def test_every_instruction_set(level):
    for seed in range(40):
        case = random_case(seed, max_rows=200)
        expected = reference.grow(case.table, case.target, case.tasks, case.growth)
        for local_rows in (5, 4096):
            forest = grow(case.table, case.target, case.tasks, case.growth, local_rows=local_rows)
            assert_same(forest.trees, expected.trees, case.made_of)


@pytest.mark.parametrize("n_classes", [16, 17, 75])
def test_many_classes(level, n_classes):
    rng = np.random.default_rng(n_classes)
    X = np.c_[rng.normal(size=90), rng.integers(0, 9, 90), rng.integers(0, 2, 90)].astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = ((X[:, 0] > 0) * n_classes // 2 + rng.integers(0, (n_classes + 1) // 2, 90)).astype(np.int32)
    table, tasks = Table.from_data(X), Tasks.from_cv(4, n_rows=90)
    expected = reference.grow(table, Target(y, n_classes), tasks, Growth())
    assert_same(grow(table, Target(y, n_classes), tasks, Growth()).trees, expected.trees, n_classes)


def few_values(rng, n):
    """Four columns of which most have few values: small nodes are finished by sets of rows."""
    kinds = (
        lambda: rng.integers(0, rng.integers(2, 16), n).astype(str),
        lambda: np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 6, n)),
        lambda: rng.normal(size=n).round(1),
    )
    return Table.from_data(pl.DataFrame({f"x{f}": kinds[rng.integers(3)]() for f in range(4)}))


@settings(max_examples=100, deadline=None)
@given(seed=seeds)
@example(seed=216)  # equal tests of columns that came to have few values at different nodes
def test_classes_in_nodes_of_few_rows(seed):
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(20, 100)), int(rng.integers(2, 5))
    table, target = few_values(rng, n), Target(rng.integers(0, n_classes, n).astype(np.int32), n_classes)
    problem = (table, target, Tasks.from_cv(3, n_rows=n), Growth())
    assert_same(grow(*problem).trees, reference.grow(*problem).trees, seed)


@settings(max_examples=100, deadline=None)
@given(seed=seeds, digits=st.sampled_from([0, 1, 17]), min_leaf=st.sampled_from([1, 1, 3, 9]))
def test_sums_in_nodes_of_few_rows(seed, digits, min_leaf):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 130))
    table, target = few_values(rng, n), Target(rng.normal(size=n).round(digits), 0)
    tasks = Tasks.from_cv(3, n_rows=n, limits=Limits(min_samples_leaf=min_leaf))
    problem = (table, target, tasks, Growth(criterion="variance"))
    assert_same(grow(*problem).trees, reference.grow(*problem).trees, seed)


@settings(max_examples=40, deadline=None)
@given(
    seed=seeds,
    n_classes=st.sampled_from([0, 2, 3, 5]),
    of=st.sampled_from(["classes", "rows", "nothing"]),
    criterion=st.sampled_from(["gini", "gini", "entropy", "gain_ratio"]),
    limits=st.sampled_from([Limits(), Limits(min_samples_leaf=3), Limits(min_impurity_decrease=0.01)]),
)
def test_nominal_tests_on_a_grid(seed, n_classes, of, criterion, limits):
    """Nominal columns with many equal fractions and means, which differ on the grid only by its rounding."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 70))
    columns = {f"x{f}": rng.integers(0, rng.choice([3, 9, n // 2, n]), n).astype(str) for f in range(3)}
    y = rng.integers(0, n_classes or 7, n)
    kinds = rng.choice([rng.random(7) + 0.1, np.array([0.1, 0.2, 0.3, 0.6, 0.7, 0.9, 1.1])])
    weights = {"classes": kinds[y], "rows": rng.random(n) + 0.1, "nothing": None}[of]
    numbers = y / rng.choice([1, 7])
    target = Target(y.astype(np.int32) if n_classes else numbers, n_classes, weights)
    growth = Growth(criterion=criterion if n_classes else "variance")
    problem = (
        Table.from_data(pl.DataFrame(columns)),
        target,
        Tasks.from_cv(3, n_rows=n, limits=limits),
        growth,
    )
    forest = grow(*problem, local_rows=int(rng.choice([1, 4096])))
    assert_same(forest.trees, reference.grow(*problem).trees, seed)


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_columns_that_split_the_rows_alike(seed):
    """Many categories of one row: the tests of all columns are the same, but for ties within them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 100))
    columns = {f"x{f}": rng.integers(0, rng.choice([n, 10 * n, 100 * n]), n).astype(str) for f in range(3)}
    target = Target(rng.normal(size=n).round(int(rng.choice([1, 2, 17]))), 0)
    problem = (Table.from_data(pl.DataFrame(columns)), target, Tasks.from_cv(2, n_rows=n), Growth("variance"))
    assert_same(grow(*problem).trees, reference.grow(*problem).trees, seed)


def test_trees_are_packed_from_the_last_to_the_first():
    """From 16,384 rows on, each task's nodes have their own memory; later tasks share subtrees with it."""
    rng = np.random.default_rng(0)
    n = 20_000
    columns = {"number": rng.normal(size=n), "nominal": rng.integers(0, 3_000, n).astype(str)}
    target = Target(columns["number"] + rng.normal(size=n), 0)
    table, tasks = Table.from_data(pl.DataFrame(columns)), Tasks.from_cv(12, n_rows=n)
    forest = grow(table, target, tasks, Growth("variance"))
    assert forest.work["known_nodes"].sum() > 0
    for i in (0, 1, 11, 12):
        alone = grow(table, target, tasks.take([i]), Growth("variance")).trees[0]
        assert forest.trees[i].difference(alone) is None, i


@settings(max_examples=300, deadline=None)
@given(seed=seeds, n_classes=st.sampled_from([0, 2, 3]), min_leaf=st.sampled_from([1, 1, 2]))
def test_three_or_four_rows(seed, n_classes, min_leaf):
    """Nodes of three and four rows, in columns of many values and of close ones."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 17))
    kinds = (
        lambda: rng.integers(0, n, n).astype(str),
        lambda: rng.permutation(n).astype(str),
        lambda: np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
        lambda: rng.permutation(n) * 4e-8,  # some neighbours are too close to part
        lambda: rng.permutation(n),
    )
    table = Table.from_data(pl.DataFrame({f"x{f}": kinds[rng.integers(len(kinds))]() for f in range(2)}))
    y = rng.integers(0, n_classes or 4, n)
    target = Target(y.astype(np.int32) if n_classes else y.astype(np.float64), n_classes)
    tasks = Tasks.from_cv(2, n_rows=n, limits=Limits(min_samples_leaf=min_leaf))
    problem = (table, target, tasks, Growth() if n_classes else Growth(criterion="variance"))
    assert_same(grow(*problem).trees, reference.grow(*problem).trees, seed)


def _noisy_classes(columns, n_classes, rng):
    """Classes of about the same size that depend on two of the columns."""
    score = columns["two"] + (columns["nominal"] > "b") + rng.normal(size=len(columns["two"]))
    return Target((np.argsort(np.argsort(score)) * n_classes // len(score)).astype(np.int32), n_classes)


@pytest.mark.parametrize(("n_classes", "splits"), [(2, "binary"), (3, "binary"), (2, "multiway")])
def test_few_values_in_thousands_of_rows(level, n_classes, splits):
    """No column needs a list: tasks are refined alone from the root, each by a thread."""
    rng = np.random.default_rng(n_classes)
    n = 5000
    columns = {
        "two": rng.integers(0, 2, n).astype(float),
        "missing": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 5, n)),
        "nominal": np.array(list("abcd"))[rng.integers(0, 4, n)],
        "twelve": rng.integers(0, 12, n).astype(float),
    }
    target = _noisy_classes(columns, n_classes, rng)
    problem = (
        Table.from_data(pl.DataFrame(columns)),
        target,
        Tasks.from_cv(3, n_rows=n),
        Growth(splits=splits),
    )
    expected = reference.grow(*problem).trees
    for n_jobs, local_rows in [(1, 4096), (2, 4096), (1, 4095)]:
        assert_same(
            grow(*problem, n_jobs=n_jobs, local_rows=local_rows).trees, expected, (n_jobs, local_rows)
        )


@pytest.mark.parametrize(
    ("n_classes", "splits"), [(2, "binary"), (2, "multiway"), (3, "binary"), (9, "binary")]
)
def test_few_values_in_hundreds_of_rows(level, n_classes, splits):
    """Rows are bits, several words of them, and are packed again further down; other columns have lists."""
    rng = np.random.default_rng(n_classes)
    n = 400
    columns = {
        "two": rng.integers(0, 2, n).astype(float),
        "missing": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 5, n)),
        "close": rng.integers(0, 6, n) * 4e-8,
        "nominal": np.array(list("abcdef"))[rng.integers(0, 6, n)],
        "later few": np.where(rng.random(n) < 0.7, 0.0, rng.integers(0, 90, n)),
        "many": rng.normal(size=n),
    }
    target = _noisy_classes(columns, n_classes, rng)
    problem = (
        Table.from_data(pl.DataFrame(columns)),
        target,
        Tasks.from_cv(2, n_rows=n),
        Growth(splits=splits),
    )
    assert_same(grow(*problem).trees, reference.grow(*problem).trees, (level, n_classes, splits))


@pytest.mark.parametrize(
    ("criterion", "n_classes"),
    [("gini", 2), ("gini", 6), ("entropy", 2), ("entropy", 6), ("gain_ratio", 2), ("variance", 0)],
)
def test_large_bundles(criterion, n_classes):
    """Coarse intervals, bounds and opened intervals against full scans, with many rows per interval."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(20000, 4))
    X[:, 1] = np.round(X[:, 1], 2)
    X[rng.random(20000) < 0.1, 2] = np.nan
    score = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=20000)
    y = (
        score
        if criterion == "variance"
        else np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    )
    table, tasks = Table.from_data(X), Tasks.from_cv(5, n_rows=20000)
    target = Target(y, 0) if criterion == "variance" else Target(y.astype(np.int32), n_classes)
    growth = Growth(criterion=criterion)
    expected = grow(
        table, target, tasks, growth, two_resolutions=False, bundling=False, local_rows=4096, n_jobs=1
    )
    for local_rows, threads in ((300, 1), (1000, 2), (2000, 16)):
        forest = grow(table, target, tasks, growth, local_rows=local_rows, n_jobs=threads)
        assert_same(forest.trees, expected.trees, (criterion, local_rows, threads))


@pytest.mark.parametrize("splits", ["binary", "multiway"])
@pytest.mark.parametrize("kind", ["exact", "binned", "weights", "bootstrap", "regression"])
def test_idle_threads_help_with_large_bundles(splits, kind):
    """More threads than bundles: they share columns, rows, neighbours of cuts and the way to the children."""
    rng = np.random.default_rng(len(kind))
    n = 40_000
    columns = {
        "number": rng.normal(size=n),
        "rounded": np.round(rng.normal(size=n), 1),
        "missing": np.where(rng.random(n) < 0.2, np.nan, rng.exponential(size=n)),
        "nominal": np.array(list("abcd"))[rng.integers(0, 4, n)],
        "categories": rng.integers(0, 300, n).astype(str),  # more than fit into a byte
    }
    score = columns["number"] + columns["rounded"] * (columns["nominal"] > "b") + rng.normal(size=n)
    weights = rng.integers(0, 3, n) / 2 if kind == "weights" else None
    regression = kind == "regression"
    target = Target(score if regression else (score > 0).astype(np.int32), 0 if regression else 2, weights)
    limits = Limits(max_depth=5)
    if kind == "bootstrap":
        tasks = Tasks.bootstrap(3, n, limits=limits)
    else:
        tasks = Tasks.from_cv(4, n_rows=n, limits=limits)
    growth = Growth(criterion="variance" if regression else "gini", splits=splits)
    table = Table.from_data(pl.DataFrame(columns), max_bins=50 if kind == "binned" else None)
    one, many = (grow(table, target, tasks, growth, n_jobs=n_jobs) for n_jobs in (1, 16))
    assert_same(many.trees, one.trees, (splits, kind))


def test_leave_one_out_on_thousand_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 4))
    y = (X[:, 0] + rng.normal(size=1000) > 0).astype(np.int32)
    table, tasks, target = Table.from_data(X), Tasks.leave_one_out(1000), Target(y, 2)
    forest = grow(table, target, tasks, Growth())
    assert len(forest) == 1001
    for i in (0, 1, 500, 1000):
        alone = grow(table, target, tasks.take([i]), Growth()).trees[0]
        assert forest.trees[i].difference(alone) is None, i


def test_nested_eight_by_eight():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(np.int32)
    table, target = Table.from_data(X), Target(y, 2)
    tasks = Tasks.nested(folds_of(8, 400))
    forest = grow(table, target, tasks, Growth())
    assert len(forest) == 8 * 9 // 2 + 1
    for i in (0, 1, 17, 36):
        alone = grow(table, target, tasks.take([i]), Growth()).trees[0]
        assert forest.trees[i].difference(alone) is None, i


@settings(max_examples=6, deadline=None)
@given(seed=seeds)
def test_numbers_by_columns_of_few_values(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 200))
    kinds = (
        lambda: rng.integers(0, rng.integers(2, n // 4), n).astype(str),
        lambda: np.where(
            rng.random(n) < rng.choice([0, 0.1]), np.nan, rng.integers(0, rng.integers(2, n // 4), n)
        ),
        lambda: rng.integers(0, 9, n) * rng.choice([1, 6e-8]),
        lambda: rng.normal(size=n).round(1),
    )
    columns = {f"x{f}": kinds[rng.integers(4)]() for f in range(4)}
    target = Target(rng.integers(0, rng.integers(2, 60), n) * rng.choice([1.0, 0.1]), 0)
    tasks = Tasks.from_cv(3, n_rows=n).with_limits([Limits(min_samples_leaf=int(rng.integers(1, 6)))])
    problem = (Table.from_data(pl.DataFrame(columns)), target, tasks, Growth(criterion="variance"))
    assert_same(grow(*problem).trees, reference.grow(*problem).trees, seed)
