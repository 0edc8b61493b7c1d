import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
from stream_tables import assert_same, table_of, write_pieces

from crosscut import Stream, TreeClassifier, TreeRegressor
from crosscut.data.array_file import replacing
from crosscut.engines import checkpoint


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


_KILLED = """
import sys
from crosscut import Stream, TreeClassifier
stream = Stream(sys.argv[1], memory_limit="50KB", cache=sys.argv[2], checkpoint=sys.argv[3], batch_rows=500)
print("started", flush=True)
TreeClassifier(max_depth=6, cv=3).fit(stream, "y")
"""


@pytest.mark.slow
def test_random_kills(tmp_path):
    (tmp_path / "data").mkdir()
    paths = write_pieces(table_of(0, 3000), tmp_path / "data", 2)
    settings = {"memory_limit": "50KB", "batch_rows": 500}
    expected = TreeClassifier(max_depth=6, cv=3).fit(Stream(paths, **settings), "y").forest_
    random, resumed = np.random.default_rng(0), 0
    for attempt in range(200):
        cache, file = tmp_path / f"cache{attempt}", tmp_path / f"{attempt}.checkpoint"
        command = [sys.executable, "-c", _KILLED, str(tmp_path / "data"), str(cache), str(file)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            process.stdout.readline()
            with suppress(subprocess.TimeoutExpired):
                process.wait(random.uniform(0, 1))
            process.kill()
        resumed += file.exists()
        again = Stream(paths, cache=cache, checkpoint=file, **settings)
        assert_same(TreeClassifier(max_depth=6, cv=3).fit(again, "y").forest_, expected)
        assert not list(tmp_path.glob("*.checkpoint"))
    assert resumed
