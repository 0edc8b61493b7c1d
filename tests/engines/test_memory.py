"""The binding of the core: bad arguments, interruption, progress, memory."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut import _core
from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines import memory
from crosscut.engines.progress import watching
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits


def arguments(**changes):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(50, 3)), 1)
    table, tasks = Table.from_data(X), Tasks.from_cv(3, n_rows=50)
    good = {
        "ranks": table.ranks, "coarse": table.coarse, "n_values": table.n_values, "values": table.values,
        "coarse_first": table.coarse_first, "nominal": np.zeros(3, bool), "has_missing": table.has_missing,
        "close": table.close, "edges": None,
        "n_classes": 2, "classes": (X[:, 0] > 0).astype(np.int32), "weight": None, "product": None,
        "target": None, "digits": None, "grids": [(0, 50, 1)],
        "weight_rounded": False, "product_rounded": False,
        "masks": tasks.masks, "limits": np.tile(np.array([[9, 2, 1]]), (4, 1)), "min_decrease": np.zeros(4),
        "multiplicity": None, "features": None, "totals": None,
        "criterion": "gini", "multiway": False, "local_rows": 64, "bundling": True, "two_resolutions": True,
        "n_threads": 1, "progress": None,
    }  # fmt: skip
    return good | changes


def grow_with(given):
    """Hand the arguments to the parts of the problem they belong to, then grow."""
    values = list(given.values())
    parts = _core.Table(*values[:9]), _core.Target(*values[9:18]), _core.Tasks(*values[18:24])
    return _core.grow(*parts, _core.Growth(*values[24:29]), *values[29:])


def test_codes_of_single_values_are_the_ranks():
    given = arguments()
    trees, without = (grow_with(given | {"ranks": ranks})[0] for ranks in (given["ranks"], None))
    assert all(np.array_equal(trees[name], without[name], equal_nan=True) for name in trees)
    joined = [np.array([0, n], np.uint32) for n in given["n_values"]]
    with pytest.raises(ValueError, match="coarse codes cannot be the ranks"):
        grow_with(given | {"ranks": None, "coarse_first": joined})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"classes": np.full(50, 2, np.int32)}, "classes must be from 0"),
        ({"classes": np.zeros(49, np.int32)}, "must have one entry per row"),
        ({"ranks": np.full((3, 50), 99, np.uint32)}, "ranks must be below n_values"),
        ({"coarse": np.full((3, 50), 99, np.uint8)}, "coarse must be below the number of intervals"),
        ({"ranks": None, "coarse": np.full((3, 50), 99, np.uint8)}, "coarse must be below the number"),
        ({"masks": np.zeros((2, 50), np.uint16)}, "masks must have the shape"),
        ({"limits": np.array([[9, 2, 0]] * 4)}, "limits must have"),
        ({"criterion": "magic"}, "criterion must be"),
        ({"criterion": "variance"}, "'variance' serves numeric targets, but the target has 2 classes"),
        ({"local_rows": 5000}, "local_rows must be"),
        ({"features": np.ones((4, 2), bool)}, "features must have the shape"),
        ({"coarse_first": [np.array([0, 5], np.uint32)] * 3}, "coarse_first must run"),
        ({"weight": np.ones(50)}, "digits are needed"),
        ({"weight": np.ones(50), "digits": np.full((50, 1), 2**50)}, "digits must be within the bits"),
        ({"weight": np.ones(50), "digits": np.full((50, 1), -(2**63))}, "digits must be within the bits"),
        (
            {"weight": np.ones(50), "digits": np.ones((50, 1), np.int64), "grids": [(0, 56, 1)]},
            "too many bits",
        ),
        ({"nominal": np.ones(3, bool), "coarse": np.zeros((3, 50), np.uint8)}, "coarse must be the ranks"),
    ],
)
def test_bad_arguments_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        grow_with(arguments(**changes))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_fuzzed_arguments_never_crash(data):
    """Every array with random content of the right type: an error or a forest, never a crash."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    given_arguments = arguments()
    for name in data.draw(st.lists(st.sampled_from(sorted(given_arguments)), min_size=1, max_size=3)):
        value = given_arguments[name]
        if isinstance(value, np.ndarray):
            shape = value.shape if rng.random() < 0.7 else tuple(rng.integers(0, 6, rng.integers(1, 3)))
            high = int(rng.choice([2, 40, 300, 2**31 - 1]))
            given_arguments[name] = rng.integers(0, high, shape).astype(value.dtype)
        elif isinstance(value, (int, float)):
            given_arguments[name] = type(value)(rng.integers(-5, 100))
        else:
            given_arguments[name] = [None, [], "entropy", 3][rng.integers(4)]
    with contextlib.suppress(ValueError, TypeError, RuntimeError):
        grow_with(given_arguments)


def big_problem(n=100_000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 12)).astype(np.float32)
    y = (rng.random(n) < 0.5).astype(np.int32)
    return Table.from_data(X), Target(y, 2), Tasks.from_cv(10, n_rows=n)


def grow_until_interrupted(table, target, tasks):
    while True:  # the signal may come between two runs; one of them is stopped
        memory.grow(table, target, tasks, Growth())


@pytest.fixture
def interruptible():
    """Python's own reaction to Ctrl-C, whatever other tests and libraries have made of it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before or signal.default_int_handler)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_interrupt_stops_growing(interruptible):
    table, target, tasks = big_problem()
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        grow_until_interrupted(table, target, tasks)


def test_progress_is_reported_and_may_stop():
    table, target, tasks = big_problem()
    rows = []

    def progress(done):
        rows.append(done)
        if len(rows) == 2:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        memory.grow(table, target, tasks, Growth(), progress=progress)
    assert rows == sorted(rows)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("max_depth", [None, 3])
def test_progress_is_a_share_of_the_work(n_jobs, max_depth):
    """Deep trees end in small bundles, shallow ones in large bundles; both must come to the end."""
    table, target, tasks = big_problem(20_000)
    tasks = replace(tasks, limits=(Limits(max_depth=max_depth),))
    shares = []
    with watching(shares.append):
        memory.grow(table, target, tasks, Growth(), n_jobs=n_jobs)
    assert shares[-1] == max(shares) == 1.0
    assert shares == sorted(shares)
    told = []
    memory.grow(table, target, tasks, Growth(), n_jobs=n_jobs, progress=told.append)
    assert told[-1] == 1.0


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="its allocator ends the process")
def test_out_of_memory_is_an_error():
    """With an address space too small for the run, growing raises MemoryError."""
    code = """
import resource, numpy as np
from crosscut.engines.memory import grow
from crosscut.data.target import Target
from crosscut.tasks.growth import Growth
from crosscut.data.table import Table
from crosscut.tasks import Tasks
rng = np.random.default_rng(0)
n = 400_000
table = Table.from_data(rng.normal(size=(n, 4)), n_jobs=1)
target, tasks = Target((rng.random(n) < 0.5).astype(np.int32), 2), Tasks.from_cv(10, n_rows=n)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 12_000_000, used + 12_000_000))
try:
    grow(table, target, tasks, Growth(), n_jobs=1)
except MemoryError:
    print("MemoryError")
"""
    if not sys.platform.startswith("linux"):
        pytest.skip("needs RLIMIT_AS")
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert out.stdout.strip() == "MemoryError", out.stderr


def test_work_is_counted_per_level():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = (X[:, 0] > 0).astype(np.int32)
    tasks = Tasks.from_cv(5, n_rows=500)
    table, target = Table.from_data(X), Target(y, 2)
    together = memory.grow(table, target, tasks, Growth(), local_rows=1).work
    assert (together["bundles"][0], together["rows"][0]) == (1, 500)
    one_by_one = memory.grow(table, target, tasks, Growth()).work  # so small a bundle
    assert (one_by_one["bundles"][0], one_by_one["rows"][0]) == (6, 500 + 5 * 400)


def test_depth_zero_is_one_leaf():
    table = Table.from_data(np.arange(6.0).reshape(-1, 1))
    tasks = Tasks.from_cv(2, n_rows=6, limits=Limits(max_depth=0))
    forest = memory.grow(table, Target(np.array([0, 1, 0, 1, 0, 1], np.int32), 2), tasks, Growth())
    assert [len(tree) for tree in forest.trees] == [1, 1, 1]


@pytest.mark.parametrize("n_classes", [0, 2])
def test_nominal_tests_store_only_the_categories_of_their_rows(n_classes):
    """All 5,000 categories at every node took 8.7 GB in a deep tree of 20,000 rows."""
    rng = np.random.default_rng(0)
    table = Table.from_data(pl.DataFrame({"c": rng.integers(0, 900, 3000).astype(str)}))
    y = rng.integers(0, 2, 3000, np.int32) if n_classes else rng.normal(size=3000)
    growth = Growth("gini" if n_classes else "variance")
    for tree in memory.grow(table, Target(y, n_classes), Tasks.from_cv(3, n_rows=3000), growth):
        n_entries = np.diff(tree.first_branch)
        assert (n_entries[tree.feature >= 0] >= 2).all()
        assert (n_entries <= tree.n_rows).all()


def test_folds_of_multiway_columns_with_many_categories_cost_few_trees():
    """Comparing all pairs of thousands of branches took as long as 195 trees."""
    rng = np.random.default_rng(0)
    columns = {f"c{j}": rng.integers(0, 1500, 20_000).astype(str) for j in range(6)}
    table, target = Table.from_data(pl.DataFrame(columns)), Target(rng.integers(0, 2, 20_000, np.int32), 2)

    def seconds(tasks):
        start = time.process_time()
        memory.grow(table, target, tasks, Growth(splits="multiway"), n_jobs=1)
        return time.process_time() - start

    one = min(seconds(Tasks.final(20_000)) for _ in range(3))
    assert seconds(Tasks.from_cv(10, n_rows=20_000)) < 60 * one
