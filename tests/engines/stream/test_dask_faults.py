"""Dask workers that die in each kind of pass, a scheduler that starts anew; `pytest -m slow` tries all."""

import os
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
from stream_tables import assert_same, table_of

from crosscut import Stream, TreeClassifier, TreeRegressor

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
N_PARTS = 6
TRIES = 5
KINDS = ("_survey", "_code", "_totals", "level", "leaves", "out-of-fold", "pruning", "losses", "fold")


class Mortal(distributed.WorkerPlugin):
    """Lets the worker die that comes first to a part of each kind of pass that a file of the folder names."""

    def __init__(self, folder):
        self.folder = folder

    def setup(self, worker):
        from crosscut.engines.stream import dask as engine

        self.ready = time.monotonic() + 5  # Dask does not start one again that dies while it starts
        for name in ("_survey", "_code", "_totals", "_run_part"):
            setattr(engine, name, self.mortal(name, getattr(engine, name)))

    def mortal(self, name, function):
        def deadly(*given):
            kind = given[0].name.split()[0] if name == "_run_part" else name
            try:
                (self.folder / kind).unlink()
            except FileNotFoundError:
                return function(*given)
            time.sleep(max(0, self.ready - time.monotonic()))
            os._exit(1)

        return deadly


def fit(table, **settings):
    """Return the forest and what validation finds; between them the two models need every kind of pass."""
    size = -(-len(table) // N_PARTS)
    found = []
    for model in (
        TreeClassifier(max_depth=3, cv=3, class_weight="balanced"),
        TreeRegressor(max_depth=3, cv=3, scoring="neg_mean_absolute_error"),
    ):
        parts = [dask.delayed(table.slice(i * size, size)) for i in range(N_PARTS)]
        model.fit(Stream(parts, memory_limit="50KB", **settings), "y" if model.criterion == "gini" else "x")
        found.append((model.forest_, [model.cv_score_, *model.pruning_table_.alpha]))
    return found


def assert_as(found, expected):
    for (forest, numbers), (other, theirs) in zip(found, expected, strict=True):
        assert_same(forest, other)
        np.testing.assert_array_equal(numbers, theirs)


@pytest.mark.parametrize(
    ("tries", "kinds"), [(1, ["level"]), pytest.param(TRIES, KINDS, marks=pytest.mark.slow)]
)
def test_workers_that_die_in_a_pass_change_nothing(tmp_path, tries, kinds):
    table = table_of(0, 300)
    with dask.config.set(scheduler="synchronous"):
        expected = fit(table)
    local = {"n_workers": 3, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**local) as cluster, distributed.Client(cluster) as client:
        client.register_plugin(Mortal(tmp_path))
        for _ in range(tries):
            client.wait_for_workers(1)  # Dask may give up starting one that died
            for kind in kinds:
                (tmp_path / kind).touch()
            assert_as(fit(table), expected)
            assert list(tmp_path.iterdir()) == []


def started(*command):
    return subprocess.Popen(
        [sys.executable, "-m", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


class Cluster:
    """A scheduler and a worker, as processes; another scheduler may take the address."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.processes = []
        self.start()

    def start(self):
        scheduler = (
            "distributed.cli.dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            str(self.port),
            "--no-dashboard",
        )
        worker = (
            "distributed.cli.dask_worker",
            self.address,
            "--nthreads",
            "1",
            "--no-dashboard",
            "--no-nanny",
        )
        self.processes = [started(*scheduler), started(*worker)]

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_scheduler_that_starts_anew_changes_nothing(tmp_path):
    table = table_of(0, 300)
    with dask.config.set(scheduler="synchronous"):
        expected = fit(table)
    cluster = Cluster()
    try:
        with distributed.Client(cluster.address, timeout=120) as client:
            for _ in range(TRIES):
                client.wait_for_workers(1)
                waiting = {"survey", "coding", "level", "leaves", "out-of-fold", "pruning", "losses", "fold"}

                def restart(progress, waiting=waiting):
                    kind = progress.name.split()[0]
                    if kind in waiting:
                        waiting.remove(kind)
                        cluster.stop()
                        cluster.start()

                assert_as(fit(table, progress=restart), expected)
                assert not waiting
    finally:
        cluster.stop()
