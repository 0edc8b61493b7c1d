"""Threads: any number of them grows the same forest, and what stops one stops all."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crosscut.engines.progress import watching
from crosscut_relational import datasets
from crosscut_relational.database.database import Database
from crosscut_relational.language.bias import Bias
from crosscut_relational.queries.growth import Grower
from crosscut_relational.queries.queries import STEP_LIMIT, Facts
from crosscut_relational.queries.resolve import resolve
from crosscut_relational.training_set import RelationalSet

SINGLE_THREAD = "crosscut_relational.queries.queries.SINGLE_THREAD"


def linked(seed, *, regression=False, step_limit=STEP_LIMIT, n=60):
    tables = datasets.shop(n, purchases=4, noise=0.2, seed=seed)
    target = "customer.churned"
    if regression:
        draw = np.random.default_rng(seed)
        tables["customer"] = tables["customer"].append_column("spent", [draw.normal(size=n).round(2)])
        target = "customer.spent"
    data = RelationalSet.read(
        Database.from_tables(tables, target=target), None, 4, regression=regression, minimal_cases=1
    )
    return Grower(data.facts, data.language, data.folds, step_limit=step_limit)


def joined(seed, step_limit):
    """Queries that join objects, in any order, so that the same one is found in different words."""
    draw = np.random.default_rng(seed)
    keys, objects = 80, 4
    pairs = np.unique(draw.integers(0, [keys, objects, objects], (300, 3)), axis=0)
    reds = np.unique(draw.integers(0, [keys, objects], (100, 2)), axis=0)
    sizes = np.unique(draw.integers(0, [keys, objects, 5], (200, 3)), axis=0)
    facts = {
        "t": [(key, "ab"[draw.integers(2)]) for key in range(keys)],
        "in": [(k, f"o{a}", f"o{b}") for k, a, b in pairs.tolist()],
        "red": [(k, f"o{a}") for k, a in reds.tolist()],
        "size": [(k, f"o{a}", size) for k, a, size in sizes.tolist()],
    }
    types = ["in(k,obj,obj)", "red(k,obj)", "size(k,obj,number)"]
    database = Database.from_facts(facts, predict="t(+k,-c)", types=types)
    bias = Bias.of(
        ["in(+K,-A,-B)", "in(+K,+A,+-B)", "in(+K,+-A,+B)", "red(+K,+-A)", "size(+K,+A,#)"],
        types=types,
        minimal_cases=1,
        max_depth=6,
        pruning="none",
    )
    language = resolve(bias, database)
    folds = np.arange(keys, dtype=np.int32) % 5
    return Grower(Facts.of(database, language), language, folds, step_limit=step_limit)


def assert_equal(forest, expected):
    assert forest.trees == expected.trees
    assert forest.pruned == expected.pruned
    assert forest.levels == expected.levels
    assert forest.limit_hits == expected.limit_hits
    np.testing.assert_array_equal(forest.held_out, expected.held_out)
    np.testing.assert_array_equal(forest.held_out_leaves, expected.held_out_leaves)


def same_for_any_number(grower, sharing="parallel"):
    expected = grower.grow(sharing)
    for n_jobs in (2, 5):
        assert_equal(grower.grow(sharing, n_jobs=n_jobs), expected)
    return expected


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    regression=st.booleans(),
    alone=st.sampled_from([1, 4, 16]),
    sharing=st.sampled_from(["parallel", "serial"]),
)
def test_linked_tables(seed, regression, alone, sharing):
    with pytest.MonkeyPatch.context() as patch:
        whole = linked(seed, regression=regression).grow(sharing)
        patch.setattr(SINGLE_THREAD, alone)
        found = same_for_any_number(linked(seed, regression=regression), sharing)
    assert_equal(found, whole)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), step_limit=st.sampled_from([5, 8, 12, 20]), alone=st.sampled_from([1, 3]))
@example(seed=19, step_limit=5, alone=1)
@example(seed=42, step_limit=8, alone=1)
def test_queries_that_take_too_many_steps(seed, step_limit, alone):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SINGLE_THREAD, alone)
        together = same_for_any_number(joined(seed, step_limit))
        assert joined(seed, step_limit).grow("serial").trees == together.trees


def test_some_queries_of_that_test_do_take_too_many():
    hits = [len(joined(0, step_limit).grow().limit_hits) for step_limit in (12, 10**6)]
    assert hits[0] > 0
    assert hits[1] == 0


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_progress_rises_to_one(n_jobs, monkeypatch):
    monkeypatch.setattr(SINGLE_THREAD, 1)
    shares, grower = [], linked(1)
    with watching(shares.append):
        grower.grow("serial", n_jobs=n_jobs)
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)


def test_an_exception_stops_all_threads_and_the_next_run_works(monkeypatch):
    monkeypatch.setattr(SINGLE_THREAD, 1)
    grower = linked(2)
    expected = grower.grow()

    told = []

    def stop(share):
        told.append(share)
        if len(told) > 1:  # the first is told before any thread starts
            raise KeyboardInterrupt

    again = linked(2)
    with pytest.raises(KeyboardInterrupt):
        again.grow(n_jobs=3, progress=stop)
    assert_equal(again.grow(n_jobs=3), expected)


def _grow(queue):
    queue.put(linked(3).grow(n_jobs=2).held_out)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_a_forked_process_can_grow_after_its_parent_did(monkeypatch):
    monkeypatch.setattr(SINGLE_THREAD, 1)
    expected = linked(3).grow(n_jobs=2).held_out
    fork = multiprocessing.get_context("fork")
    queue = fork.SimpleQueue()
    child = fork.Process(target=_grow, args=(queue,))
    child.start()
    found = queue.get()
    child.join(60)
    np.testing.assert_array_equal(found, expected)


SHORT_OF_MEMORY = """
import resource
from crosscut_relational.queries import queries
from test_jobs import linked
queries.SINGLE_THREAD = 16
grower = linked(4, n=4000)  # needs more memory than what the allocator holds already
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limits = resource.getrlimit(resource.RLIMIT_AS)
outcomes = set()
for extra in (0, 1, 2, 4, 162, 164):  # three threads are started only where they find 160 MB
    resource.setrlimit(resource.RLIMIT_AS, (used + (extra << 20), limits[1]))
    try:
        grower.grow(n_jobs=3)
    except MemoryError:
        outcomes.add("MemoryError")
resource.setrlimit(resource.RLIMIT_AS, limits)
outcomes.add(str(grower.grow(n_jobs=3).trees == grower.grow().trees))
print(*sorted(outcomes))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_AS")
@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="its allocator ends the process")
def test_the_next_run_works_where_memory_ends():
    run = subprocess.run(
        [sys.executable, "-c", SHORT_OF_MEMORY],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent,
    )
    assert run.stdout.split() == ["MemoryError", "True"], run.stderr
