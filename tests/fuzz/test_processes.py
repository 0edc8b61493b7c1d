"""Processes that are killed, that share a cache, that have too little memory.

They are forked, so that a try does not load crosscut again. `pytest -m slow tests/fuzz/test_processes.py`.
"""

import multiprocessing
import time
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pytest
from stream_tables import assert_same, table_of, write_pieces

from crosscut import BaggedTrees, RuleClassifier, Stream, TreeClassifier, TreeRegressor

resource = pytest.importorskip("resource")
FORK = multiprocessing.get_context("fork")
LIMITS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)  # MB beyond what the process has


def started(work, *given):
    process = FORK.Process(target=work, args=given)
    process.start()
    return process


@pytest.mark.slow
def test_kills_at_random_moments(tmp_path):
    paths = write_pieces(table_of(0, 1000), tmp_path, 2)

    def fit(**stored):
        stream = Stream(paths, memory_limit="50KB", batch_rows=500, **stored)
        return TreeClassifier(max_depth=4, cv=3).fit(stream, "y").forest_

    expected, begin = fit(), time.monotonic()
    started(fit).join()
    whole = time.monotonic() - begin
    random, resumed = np.random.default_rng(0), 0
    for attempt in range(200):
        stored = {"cache": tmp_path / f"cache{attempt}", "checkpoint": tmp_path / f"{attempt}.checkpoint"}
        process = started(lambda stored=stored: fit(**stored))
        process.join(random.uniform(0, 1.5 * whole))
        process.kill()
        process.join()
        resumed += stored["checkpoint"].exists()
        assert_same(fit(**stored), expected)
        assert not list(tmp_path.glob("*.checkpoint"))
    assert resumed > 20


@pytest.mark.slow
def test_pairs_share_a_cache(tmp_path):
    paths = write_pieces(table_of(0, 300), tmp_path, 2)
    expected = TreeClassifier(max_depth=3, cv=3).fit(Stream(paths), "y").forest_

    def fit(cache):
        assert_same(TreeClassifier(max_depth=3, cv=3).fit(Stream(paths, cache=cache), "y").forest_, expected)

    for pair in range(100):
        both = [started(fit, tmp_path / f"cache{pair}") for _ in range(2)]
        for process in both:
            process.join()
        assert [process.exitcode for process in both] == [0, 0]


def fits(folder):
    """What is fitted with little memory: a function for each learner."""
    X = np.random.default_rng(0).normal(size=(4000, 8))
    y = X[:, 0] + X[:, 1] * X[:, 2]
    paths = write_pieces(table_of(0, 1000), folder, 2)
    return {
        "classifier": lambda: TreeClassifier(n_jobs=4).fit(X, y > 0),
        "regressor": lambda: TreeRegressor(n_jobs=4, cv=3).fit(X, y),
        "bagged": lambda: BaggedTrees(TreeRegressor(max_depth=6), n_trees=10, n_jobs=4).fit(X, y),
        "rules": lambda: RuleClassifier(cv=2, max_length=2).fit(X[:500], y[:500] > 0),
        "stream": lambda: TreeClassifier(max_depth=4, cv=3).fit(Stream(paths, memory_limit="50KB"), "y"),
    }


def limited(fit, extra, again, answer):
    """Fit with little memory, then with enough."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + (extra << 20), limits[1]))
    try:
        fit()
        answer.value = 1
    except MemoryError:
        answer.value = 2
    resource.setrlimit(resource.RLIMIT_AS, limits)
    (again or fit)()


def tried(fit, extra, again=None):
    answer = FORK.Value("i", 0)
    process = started(limited, fit, extra, again, answer)
    process.join(300)
    process.kill()
    assert process.exitcode == 0
    return ["", "fitted", "refused"][answer.value]


def test_a_fit_without_memory_is_refused():
    X = np.random.default_rng(0).normal(size=(1_000_000, 10))
    model = TreeRegressor(max_depth=1, cv=2, n_jobs=2)
    model.fit(X[:100], X[:100, 0])  # what is loaded by a first fit counts as the program's
    assert tried(lambda: model.fit(X, X[:, 0]), 1, lambda: model.fit(X[:100], X[:100, 0])) == "refused"


@pytest.mark.slow
@pytest.mark.parametrize("extra", LIMITS)
def test_little_memory(tmp_path, extra):
    known = fits(tmp_path)
    for fit in known.values():
        fit()
    said = [tried(fit, extra) for fit in islice(cycle(known.values()), 50)]
    assert set(said) <= ({"fitted"} if extra == LIMITS[-1] else {"fitted", "refused"})
