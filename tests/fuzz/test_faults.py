"""Full disks, files that change while they are read, clocks set back: the same result or a clear error."""

import os
import time
from contextlib import contextmanager

import pytest
from cli.calls import call
from stream_tables import assert_same, table_of, write_pieces

from crosscut import Stream, TreeClassifier

resource = pytest.importorskip("resource")
SIZES = (0, 1, 100, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


@contextmanager
def no_file_beyond(size):
    """Let every write fail that would make a file larger, as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def fit(paths, **stored):
    stream = Stream(paths, memory_limit="50KB", **stored)
    return TreeClassifier(max_depth=3, cv=3, random_state=0).fit(stream, "y").forest_


def test_outputs_on_a_full_disk_are_whole_or_not_there(tmp_path):
    data = str(write_pieces(table_of(0, 300), tmp_path, 1)).replace("*", "part-000")
    names = {"--report": "a.html", "--save": "a.crosscut", "--oof": "a.csv"}
    failed = 0
    for size in SIZES:
        folder = tmp_path / str(size)
        folder.mkdir()
        outputs = [text for option, name in names.items() for text in (option, str(folder / name))]
        with no_file_beyond(size):
            result = call("cv", data, "--target", "y", *outputs)
        failed += result.exit_code != 0
        assert "Traceback" not in result.output
        written = {path.name for path in folder.iterdir()}
        assert written <= set(names.values())
        if "a.html" in written:
            assert (folder / "a.html").read_text().rstrip().endswith("</html>")
        if "a.crosscut" in written:
            assert call("show", folder / "a.crosscut").exit_code == 0
        assert (result.exit_code == 0) == (len(written) == len(names))
    assert 0 < failed < len(SIZES)


def test_codes_and_checkpoints_on_a_full_disk(tmp_path):
    paths = write_pieces(table_of(0, 600), tmp_path, 2)
    expected, errors = fit(paths), []
    for size in SIZES:
        stored = {"cache": tmp_path / f"cache{size}", "checkpoint": tmp_path / f"{size}.checkpoint"}
        with no_file_beyond(size):
            try:
                assert_same(fit(paths, **stored), expected)
            except OSError as error:
                errors.append(str(error))
        assert not list(tmp_path.rglob("*.partial"))
        assert_same(fit(paths, **stored), expected)
    assert 0 < len(errors) < len(SIZES)
    assert all("cannot be written" in error for error in errors)


def truncated(path):
    os.truncate(path, path.stat().st_size // 2)


def grown(path):
    with path.open("ab") as file:
        file.write(path.read_bytes()[-50:])


def replaced(path):
    path.write_bytes(path.read_bytes()[::-1])


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_that_change_while_they_are_read(tmp_path, suffix):
    table = table_of(0, 400).to_pandas()
    write = table.to_parquet if suffix == "parquet" else table.to_csv
    path, passes, errors, tried = tmp_path / f"a.{suffix}", [], [], 0
    write(path, index=False)
    expected = fit(path, batch_rows=100, progress=lambda event: passes.append(event.name))
    for change in (truncated, grown, replaced, os.unlink):
        for at in range(1, len(passes), 3):
            write(path, index=False)
            seen = []

            def tell(event, change=change, at=at, seen=seen):
                seen.append(event)
                if len(seen) == at:
                    change(path)

            try:
                assert_same(fit(path, batch_rows=100, progress=tell), expected)
            except (ValueError, OSError) as error:
                errors.append(str(error))
            tried += len(seen) >= at
    assert tried >= 20
    assert errors
    assert all(path.name in error for error in errors)


def test_a_clock_that_is_set_back(tmp_path, monkeypatch):
    paths = write_pieces(table_of(0, 300), tmp_path, 1)
    stored = {"cache": tmp_path / "cache", "checkpoint": tmp_path / "checkpoint"}
    expected = fit(paths, **stored)
    real, calls = time.time, []
    for back in (3600.0, 1e9):  # at once, then more and more with every look

        def wrong(back=back):
            calls.append(back)
            return real() - back * len(calls)

        for name in ("time", "monotonic", "perf_counter"):
            monkeypatch.setattr(time, name, wrong)
        assert_same(fit(paths, **stored), expected)
        assert_same(fit(paths), expected)
        monkeypatch.undo()
    assert calls
