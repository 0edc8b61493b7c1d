import numpy as np
import pytest
from stream_tables import assert_same, table_of, write_pieces

from crosscut import Stream, TreeClassifier, TreeRegressor
from crosscut.data.array_file import read_arrays, replacing, write_arrays
from crosscut.engines.stream import checkpoint


class StopError(Exception):
    pass


def stop_after(level):
    """Stop a run when a pass of this level begins."""

    def tell(progress):
        if progress.name == f"level {level}":
            raise StopError

    return tell


@pytest.mark.parametrize(
    "model", [TreeClassifier(max_depth=6, cv=3), TreeRegressor(max_depth=6, cv=3)], ids=str
)
def test_stop_and_resume(tmp_path, model):
    table = table_of(0, 1500, n_classes=3, regression=isinstance(model, TreeRegressor))
    paths = write_pieces(table, tmp_path, 3)
    expected = model.fit(Stream(paths, memory_limit="100KB"), "y").forest_
    file = tmp_path / "run.checkpoint"
    for level in (2, 3):  # stopped twice
        stream = Stream(paths, memory_limit="100KB", checkpoint=file, progress=stop_after(level))
        with pytest.raises(StopError):
            model.fit(stream, "y")
        assert file.exists()
    seen = []
    model.fit(Stream(paths, memory_limit="100KB", checkpoint=file, progress=seen.append), "y")
    assert {event.name for event in seen} & {"level 0", "level 1", "level 2"} == set()
    assert_same(model.forest_, expected)
    assert not file.exists()  # done


def test_checkpoint_of_another_run(tmp_path):
    paths = write_pieces(table_of(0, 600), tmp_path, 2)
    file = tmp_path / "run.checkpoint"
    stream = Stream(paths, memory_limit="50KB", checkpoint=file, progress=stop_after(1))
    with pytest.raises(StopError):
        TreeClassifier(max_depth=4, cv=3).fit(stream, "y")
    with pytest.raises(ValueError, match=r"is of another run: its folds, limits differ"):
        TreeClassifier(max_depth=5, cv=4).fit(Stream(paths, checkpoint=file), "y")
    write_pieces(table_of(1, 600), tmp_path, 2)
    with pytest.raises(ValueError, match=r"is of another run: its data"):
        TreeClassifier(max_depth=4, cv=3).fit(Stream(paths, checkpoint=file), "y")


def test_damaged_checkpoint(tmp_path):
    paths = write_pieces(table_of(0, 600), tmp_path, 2)
    file = tmp_path / "run.checkpoint"
    file.write_bytes(b"PK\x03\x04 and nothing else")
    with pytest.raises(ValueError, match="cannot be read"):
        TreeClassifier(cv=3).fit(Stream(paths, checkpoint=file), "y")


def test_changed_contents(tmp_path):
    """A file with another tree and a matching checksum is refused."""
    paths = write_pieces(table_of(0, 600), tmp_path, 2)
    file = tmp_path / "run.checkpoint"
    model = TreeClassifier(max_depth=4, cv=3)
    with pytest.raises(StopError):
        model.fit(Stream(paths, memory_limit="50KB", checkpoint=file, progress=stop_after(1)), "y")
    header, arrays = read_arrays(file)
    for name in ("tree0.threshold", "bundle.n_rows", "split.tables"):
        write_arrays(file, header, arrays | {name: arrays[name] + np.ones((), arrays[name].dtype)})
        with pytest.raises(ValueError, match="its contents were changed"):
            model.fit(Stream(paths, checkpoint=file), "y")
    write_arrays(file, header | {"about": header["about"] | {"version": "0"}}, arrays)
    with pytest.raises(ValueError, match="of another run: its version"):
        model.fit(Stream(paths, checkpoint=file), "y")


HOSTILE = {  # arrays of somebody who has the data and can compute the key
    "tree0.children": lambda a: a * 0,
    "tree0.n_children": lambda a: a + 1,
    "tree0.feature": lambda a: a + 1000,
    "tree0.stats": lambda a: a[:, :1],
    "tree0.depth": lambda a: a[1:],
    "tree1.depth": lambda a: a.astype(np.int64) + 2**31,
    "tree1.feature": lambda a: a.astype(np.float64),
    "bundle.depth": lambda a: a.astype(np.int64) - 2**62,
    "bundle.nodes": lambda a: a + 10**6,
    "bundle.tasks": lambda a: a - 1,
    "bundle.mixed": lambda a: a.astype(np.int64) + 5,
    "split.children": lambda a: a * 0,
    "split.feature": lambda a: a - 5,
    "split.tables": lambda a: a[:, :7],
    "frontier": lambda a: a * 0,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_contents(tmp_path, monkeypatch, name):
    paths = write_pieces(table_of(0, 600), tmp_path, 2)
    file = tmp_path / "run.checkpoint"
    model = TreeClassifier(max_depth=4, cv=3)
    with pytest.raises(StopError):
        model.fit(Stream(paths, memory_limit="50KB", checkpoint=file, progress=stop_after(1)), "y")
    header, arrays = read_arrays(file)
    monkeypatch.setattr(checkpoint.Checkpoint, "_seal", lambda self, state, arrays: header["seal"])
    write_arrays(file, header, arrays | {name: HOSTILE[name](arrays[name])})
    with pytest.raises(ValueError, match="cannot be read"):
        model.fit(Stream(paths, checkpoint=file), "y")
    for state, message in [
        ({"n_trees": 2**62}, "it has another number of trees"),
        ({"work": ""}, "the work of its levels is no list"),
        ({"work": ["seconds"]}, "the work of its levels is no list"),
    ]:
        write_arrays(file, header | {"state": header["state"] | state}, arrays)
        with pytest.raises(ValueError, match=message):
            model.fit(Stream(paths, checkpoint=file), "y")


def test_a_failed_write_leaves_the_last_checkpoint(tmp_path, monkeypatch):
    paths = write_pieces(table_of(0, 600), tmp_path, 2)
    file = tmp_path / "run.checkpoint"
    expected = TreeClassifier(max_depth=4, cv=3).fit(Stream(paths, memory_limit="50KB"), "y").forest_
    real, calls = checkpoint.write_arrays, [0]

    def full(path, header, arrays):
        calls[0] += 1
        if calls[0] == 2:
            with replacing(path) as partial:
                partial.write(b"half")
                raise OSError(28, "No space left on device")
        real(path, header, arrays)

    with monkeypatch.context() as patched:
        patched.setattr(checkpoint, "write_arrays", full)
        with pytest.raises(OSError, match="cannot be written: its disk is full"):
            TreeClassifier(max_depth=4, cv=3).fit(Stream(paths, memory_limit="50KB", checkpoint=file), "y")
    assert not list(tmp_path.glob("*.partial"))
    resumed = TreeClassifier(max_depth=4, cv=3).fit(Stream(paths, memory_limit="50KB", checkpoint=file), "y")
    assert_same(resumed.forest_, expected)
