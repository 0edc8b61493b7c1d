"""Dask workers that die in each kind of pass, a scheduler that starts anew; `pytest -m slow` tries all."""

import os
import socket
import subprocess
import sys

import numpy as np
import pytest
from stream_tables import assert_same, table_of

from crosscut import Stream, TreeClassifier, TreeRegressor

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
N_PARTS = 6
KINDS = ("_survey", "_code", "_totals", "level", "leaves", "out-of-fold", "pruning", "losses", "fold")


class Mortal(distributed.WorkerPlugin):
    """Lets the worker die that comes first to the part of a pass that the file `order` names."""

    def __init__(self, order):
        self.order = order

    def setup(self, worker):
        from crosscut.engines import dask as engine

        for name in ("_survey", "_code", "_totals", "_run_part"):
            setattr(engine, name, self.mortal(name, getattr(engine, name)))

    def mortal(self, name, function):
        def deadly(*given):
            kind = given[0].name.split()[0] if name == "_run_part" else name
            if self.order.exists() and self.order.read_text() == kind:
                self.order.unlink()
                os._exit(1)
            return function(*given)

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


@pytest.mark.parametrize("kinds", [["level"], pytest.param(KINDS, marks=pytest.mark.slow)])
def test_workers_that_die_in_a_pass_change_nothing(tmp_path, kinds):
    table, order = table_of(0, 300), tmp_path / "order"
    with dask.config.set(scheduler="synchronous"):
        expected = fit(table)
    local = {"n_workers": 3, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**local) as cluster, distributed.Client(cluster) as client:
        client.register_plugin(Mortal(order))
        for kind in kinds:
            client.wait_for_workers(1)  # Dask may give up starting one that died
            order.write_text(kind)
            assert_as(fit(table), expected)
            assert not order.exists(), kind


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
            for kind in ("survey", "coding", "level", "leaves", "out-of-fold", "pruning", "losses", "fold"):
                client.wait_for_workers(1)
                waiting = [kind]

                def restart(progress, waiting=waiting):
                    if waiting == [progress.name.split()[0]]:
                        waiting.clear()
                        cluster.stop()
                        cluster.start()

                assert_as(fit(table, progress=restart), expected)
                assert not waiting, kind
    finally:
        cluster.stop()
