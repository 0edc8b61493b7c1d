"""Each acceleration saves the work it is there for, on every instruction set; a test that fails names it.

The counts are those of one thread and depend on the problem only, but for one thing: cuts that are evaluated
together share a bound, so a few more of them reach the exact formula where vectors are wider.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest

from crosscut import _core
from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits


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


def _problem(name):
    rng = np.random.default_rng(7)
    n = 20_000 if name.startswith(("large", "sparse")) else 3_000 if name.startswith("shallow") else 900
    if name == "large noise":  # its intervals have 200 rows
        n = 50_000
    columns = _columns(rng, n)
    score = columns["number"] + columns["sparse"] + columns["few"] / 6 + rng.normal(size=n)
    tasks = Tasks.from_cv(10, n_rows=n, limits=Limits(max_depth=5 if n > 10_000 else None))
    if name == "nominal":
        columns |= {f"letter {k}": np.array(list("abcdefg"))[rng.integers(0, 7, n)] for k in range(3)}
        return pl.DataFrame(columns), _classes(score + (columns["letter 0"] > "c"), 4), tasks, Growth()
    if name.startswith("many categories"):
        letters = np.array([chr(65 + k) for k in range(40)])[rng.integers(0, 40, (3, n))]
        data = pl.DataFrame({f"letter {k}": letters[k] for k in range(3)})
        target = _classes(score + (letters[0] > "S"), 3)
        if "weights" in name:
            of_class = np.array([0.9, 1.01, 1.1])[target.values]
            target = Target(target.values, 3, rng.uniform(0.5, 2, n) if "row" in name else of_class)
        return data, target, tasks, Growth("gain_ratio" if name.endswith("gain_ratio") else "gini")
    if name.startswith("sparse"):  # chains of nodes that lose a few rows each
        columns = {f"column {k}": np.where(rng.random(n) < 0.95, 0, rng.normal(size=n)) for k in range(5)}
        score = sum(columns.values()) + rng.normal(size=n)
    table = pl.DataFrame(columns)
    if name == "large noise":
        limits = Limits(max_depth=4, min_samples_leaf=20)
        target = Target(rng.integers(0, 2, n).astype(np.int32), 2)
        return table, target, Tasks.from_cv(10, n_rows=n, limits=limits), Growth()
    if name == "shallow hundred classes":
        limits = Limits(max_depth=4)
        tasks = Tasks.from_cv(10, n_rows=n, limits=limits)
        return table, _classes(score, 100), tasks, Growth()
    if name.startswith("leave one out"):
        criterion = name.removeprefix("leave one out").strip() or "gini"
        return table[:200], _classes(score[:200], 2), Tasks.leave_one_out(200), Growth(criterion)
    if name.startswith("bootstraps"):
        target = Target(score, 0) if name.endswith("regression") else _classes(score, 2)
        limits = Limits(min_samples_leaf=5 if name.endswith("leaves") else 1)
        growth = Growth("gini" if target.n_classes else "variance")
        return table, target, Tasks.bootstrap(5, n, limits=limits), growth
    if name.startswith("large weights"):
        n_classes = 6 if name.endswith("many classes") else 2
        weights = rng.uniform(0.5, 2, n)
        return table, Target(_classes(score, n_classes).values, n_classes, weights), tasks, Growth()
    if name == "wide regression":  # targets of 30 decades
        return table, Target(np.exp(5 * score), 0), tasks, Growth("variance")
    if name.endswith("regression"):
        return table, Target(score, 0), tasks, Growth("variance")
    if name.endswith("many classes"):
        return table, _classes(score, 6), tasks, Growth()
    if name == "small gain_ratio weights":
        target = Target(_classes(score, 3).values, 3, rng.uniform(0.5, 2, n))
        return table, target, tasks, Growth("gain_ratio")
    if name.endswith(("entropy", "gain_ratio")):
        return table, _classes(score, 3), tasks, Growth(name.split()[1])
    return table, _classes(score, 2), tasks, Growth()


@cache
def _encoded(name):
    data, *rest = _problem(name)
    return Table.from_data(data, max_bins=255 if "binned" in name else None), *rest


def work(name, **options):
    """Return the totals of the counts of a workload."""
    found = grow(*_encoded(name), n_jobs=1, **options).work
    return {count: int(numbers.sum()) for count, numbers in found.items() if count != "seconds"}


# What an acceleration changes: a workload, a count, and its least and most.
GUARDS = {
    "interval_bounds": [
        ("large", "intervals", 0, 360),
        ("large many classes", "intervals", 0, 600),
        ("large regression", "intervals", 0, 1050),
        ("large entropy", "intervals", 0, 480),
        ("large gain_ratio", "intervals", 0, 360),
        ("large weights", "intervals", 0, 340),
        ("large weights, many classes", "intervals", 0, 630),
    ],
    "interval_parts": [("large noise", "parts", 400, 600), ("large noise", "cuts", 0, 105_000)],
    "fast_comparison": [
        ("small", "exact", 0, 2_800),
        ("nominal", "exact", 0, 5_700),
        ("many categories", "exact", 0, 4_700),
        ("many categories, class weights", "exact", 0, 19_000),
        ("many categories, row weights", "exact", 0, 20_000),
        ("many categories, class weights, gain_ratio", "exact", 0, 24_500),
        ("large", "exact", 0, 13_800),
        ("large many classes", "exact", 0, 17_200),
        ("large regression", "exact", 0, 18_000),
        ("large entropy", "exact", 0, 13_800),
        ("large gain_ratio", "exact", 0, 6_200),
        ("large weights", "exact", 0, 13_600),
        ("small gain_ratio weights", "exact", 0, 13_800),
    ],
    "fold_rows": [("large", "fold_rows", 45_500, 46_100), ("large regression", "fold_rows", 38_500, 39_200)],
    "overlap_bundles": [("large", "rows", 0, 109_500), ("large regression", "rows", 0, 159_000)],
    "held_statistics": [
        ("large", "derived_rows", 55_000, 56_000),
        ("large many classes", "derived_rows", 59_000, 60_500),
        ("large weights", "derived_rows", 58_000, 59_000),
        ("large regression", "derived_rows", 72_000, 73_500),
        ("large binned regression", "derived_rows", 75_000, 76_500),
        ("sparse", "derived_rows", 40_500, 41_500),
        ("sparse regression", "derived_rows", 78_500, 79_500),
    ],
    "local_tables": [
        ("small", "lists", 1_500, 1_510),
        ("small regression", "lists", 1_550, 1_560),
        ("shallow hundred classes", "fold_rows", 0, 0),
    ],
    "lanes_of_cuts": [
        ("small", "lane_cuts", 255_000, 256_000),
        ("small many classes", "lane_cuts", 284_000, 285_500),
        ("small regression", "lane_cuts", 211_000, 212_500),
        ("small entropy", "lane_cuts", 354_000, 355_000),
        ("small gain_ratio weights", "lane_cuts", 1_679_000, 1_681_000),
    ],
    "row_bits": [("small", "coded_columns", 565, 575), ("nominal", "coded_columns", 3_350, 3_400)],
    "value_sums": [("small regression", "coded_columns", 1_010, 1_020)],
    "few_rows": [
        ("small", "few_nodes", 1_340, 1_350),
        ("small many classes", "few_nodes", 3_860, 3_880),
        ("small regression", "few_nodes", 8_370, 8_390),
        ("nominal", "few_nodes", 2_140, 2_160),
    ],
    "many_folds": [
        ("leave one out", "groups", 17, 17),
        ("leave one out", "rows", 0, 10_500),
        ("leave one out", "group_cuts", 1, 4_000),
        ("leave one out entropy", "groups", 18, 18),
        ("leave one out entropy", "group_cuts", 1, 1_000),
    ],
    "row_copies": [
        ("bootstraps", "lane_cuts", 1, 10**6),
        ("bootstraps leaves", "lane_cuts", 1, 10**6),
        ("bootstraps regression", "few_nodes", 1, 10**6),
    ],
    "own_grids": [("wide regression", "exact", 0, 46_000), ("wide regression", "new_grids", 560, 620)],
    "shared_subtrees": [
        ("leave one out gain_ratio", "known_nodes", 485, 500),
        ("leave one out gain_ratio", "rows", 0, 340_000),
    ],
    "subset_lanes": [("nominal", "lane_subsets", 1, 10**6)],
    "xlog_table": [("large entropy", "xlogs", 20_001, 20_001), ("large gain_ratio", "xlogs", 20_001, 20_001)],
}


@pytest.mark.parametrize(
    ("acceleration", "guard"),
    [(acceleration, guard) for acceleration, guards in GUARDS.items() for guard in guards],
    ids=str,
)
def test_saves_work(level, acceleration, guard):
    name, count, least, most = guard
    found = work(name)[count]
    assert least <= found <= most, f"{acceleration}: {found} {count} of the workload {name!r} on {level}"


@pytest.mark.parametrize("name", sorted({guard[0] for guards in GUARDS.values() for guard in guards}))
def test_repeats(name):
    assert work(name) == work(name)


@pytest.mark.skipif(not _core.accelerations(), reason="needs a build with CROSSCUT_ABLATION=ON")
@pytest.mark.parametrize("acceleration", _core.accelerations())
def test_guards_notice(acceleration):
    """A guard fails for each acceleration that is switched off; the trees stay the same."""
    problems = {guard[0] for guard in GUARDS[acceleration]}
    expected = {name: grow(*_encoded(name), n_jobs=1) for name in problems}
    _core.switch_acceleration(acceleration, False)
    try:
        found = {name: work(name) for name in problems}
        trees = {name: grow(*_encoded(name), n_jobs=1).trees for name in problems}
    finally:
        _core.switch_acceleration(acceleration, True)
    for name, count, least, most in GUARDS[acceleration]:
        assert not least <= found[name][count] <= most, (name, count, found[name][count])
    for name, forest in expected.items():
        for a, b in zip(forest.trees, trees[name], strict=True):
            assert a.difference(b) is None, name


def test_statistics_over_the_budget_are_counted_again():
    """Copies of a column change no tree, but their statistics take too much memory to wait for children."""
    rng = np.random.default_rng(3)
    column = rng.normal(size=2_000)
    target = Target(((column + rng.normal(size=2_000)) * 25).astype(np.int32) % 100, 100)
    tasks = Tasks.from_cv(10, n_rows=2_000, limits=Limits(max_depth=4))
    one, many = (
        grow(
            Table.from_data(np.column_stack([column] * copies), max_bins=255),
            target,
            tasks,
            Growth(),
            n_jobs=1,
            local_rows=1,
        )
        for copies in (1, 100)
    )
    assert 0 < many.work["derived_rows"].sum() < one.work["derived_rows"].sum()
    for a, b in zip(one.trees, many.trees, strict=True):
        assert a.difference(b) is None
