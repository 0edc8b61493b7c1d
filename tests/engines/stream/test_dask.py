import numpy as np
import pytest
from stream_tables import assert_same, forest_in_memory, table_of, with_weights, write_pieces

from crosscut import Stream, TreeClassifier, TreeRegressor
from crosscut.tasks.fold_rule import FoldRule

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")


def model_of(table_seed=0, *, regression=False):
    table = table_of(table_seed, 900, regression=regression)
    model = (TreeRegressor if regression else TreeClassifier)(max_depth=4, cv=3)
    return table, model, forest_in_memory(table, model, FoldRule(3, stratified=not regression))


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("n_parts", [1, 7])
def test_partitions_give_the_forest_of_the_in_memory_engine(regression, n_parts):
    table, model, expected = model_of(regression=regression)
    parts = [
        table.slice(i * 900 // n_parts, (i + 1) * 900 // n_parts - i * 900 // n_parts) for i in range(n_parts)
    ]
    delayed = [dask.delayed(part) for part in parts]
    with dask.config.set(scheduler="threads"):
        model.fit(Stream(delayed, memory_limit="100KB"), "y")
        assert len(model.cv_predictions_) == 900
        assert len(model.pruning_table_.alpha) > 3
    assert_same(model.forest_, expected)


@pytest.mark.parametrize("regression", [False, True])
def test_weights_and_scores(regression):
    table = with_weights(table_of(2, 900, regression=regression))
    settings = {"scoring": "neg_mean_absolute_error"} if regression else {"class_weight": "balanced"}
    model = (TreeRegressor if regression else TreeClassifier)(max_depth=4, cv=3, **settings)
    delayed = [dask.delayed(table.slice(i * 300, 300)) for i in range(3)]
    with dask.config.set(scheduler="threads"):
        model.fit(Stream(delayed, memory_limit="100KB"), "y", sample_weight="w")
        assert len(model.cv_scores_) == 3
        assert len(model.pruning_table_.alpha) > 3
    assert_same(model.forest_, forest_in_memory(table, model, FoldRule(3, stratified=not regression)))


def test_frames_and_arrays(tmp_path):
    table, model, expected = model_of()
    frame = dd.read_parquet(write_pieces(table, tmp_path, 4))
    with dask.config.set(scheduler="synchronous"):
        assert_same(model.fit(frame, "y").forest_, expected)
        da = pytest.importorskip("dask.array")
        X = np.random.default_rng(0).normal(size=(400, 3))
        X[:, 2] = X[:, 0] > 0
        model.fit(da.from_array(X, chunks=(90, 2)), "x2")
        assert model.cv_score_ > 0.99
        empty = dask.delayed(table.slice(0, 0))
        parts = [empty, dask.delayed(table.slice(0, 500)), empty, dask.delayed(table.slice(500))]
        assert_same(model.fit(parts, "y").forest_, expected)


def test_stop_and_resume(tmp_path):
    table, model, expected = model_of()
    settings = {"memory_limit": "100KB", "checkpoint": tmp_path / "run.checkpoint"}

    def stop(progress):
        if progress.name == "level 2":
            raise KeyboardInterrupt

    def parts():
        return [dask.delayed(table.slice(i * 300, 300)) for i in range(3)]

    with dask.config.set(scheduler="synchronous"):
        with pytest.raises(KeyboardInterrupt):
            model.fit(Stream(parts(), progress=stop, **settings), "y")
        seen = []
        model.fit(Stream(parts(), progress=seen.append, **settings), "y")
    assert "level 1" not in {event.name for event in seen}
    assert_same(model.forest_, expected)


@pytest.mark.parametrize("n_workers", [1, 2])
def test_workers_of_a_cluster(n_workers):
    distributed = pytest.importorskip("distributed")
    table, model, expected = model_of()
    delayed = [dask.delayed(table.slice(i * 300, 300)) for i in range(3)]
    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        model.fit(Stream(delayed, memory_limit="100KB"), "y")
    assert_same(model.forest_, expected)


def test_a_cluster_without_workers(tmp_path):
    distributed = pytest.importorskip("distributed")
    table, model, expected = model_of()
    parts = [dask.delayed(table.slice(i * 300, 300)) for i in range(3)]
    quiet = {"processes": False, "dashboard_address": None, "threads_per_worker": 1}
    with distributed.LocalCluster(n_workers=0, **quiet) as cluster, distributed.Client(cluster):
        with pytest.raises(
            TimeoutError, match=r"has had no worker for 1 s; start workers, or raise worker_timeout"
        ):
            model.fit(Stream(parts, worker_timeout=1), "y")
        cluster.scale(1)
        assert_same(model.fit(Stream(parts, memory_limit="100KB"), "y").forest_, expected)
