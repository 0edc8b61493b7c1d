import pytest
from stream_tables import assert_same, table_of, write_pieces

from crosscut import Stream, TreeClassifier, TreeRegressor
from crosscut.data.array_file import replacing
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
