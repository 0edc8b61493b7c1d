import errno
import gc
import os
import shutil
from pathlib import Path

import pytest
from stream_tables import assert_same, table_of, write_pieces

from crosscut import Stream, TreeClassifier, TreeRegressor
from crosscut.data.array_file import read_arrays
from crosscut.data.source import Source
from crosscut.engines.stream.cache import CodeCache
from crosscut.engines.stream.coding import Coding
from crosscut.engines.stream.survey import Roles


def fit(paths, cache, **settings):
    seen = []
    stream = Stream(paths, cache=cache, memory_limit="50KB", progress=seen.append, **settings)
    model = TreeClassifier(max_depth=3, cv=3).fit(stream, "y")
    return model, [event.name for event in seen]


def test_codes_are_used_again(tmp_path):
    paths = write_pieces(table_of(0, 600), tmp_path, 3)
    first, passes = fit(paths, tmp_path / "cache")
    assert "survey" in passes
    again, passes = fit(paths, tmp_path / "cache")
    assert "survey" not in passes
    assert "coding" not in passes
    assert_same(first.forest_, again.forest_)


def test_codes_of_a_regression_are_used_again(tmp_path):
    paths = write_pieces(table_of(0, 600, regression=True), tmp_path, 3)
    forests = [
        TreeRegressor(max_depth=3, cv=3).fit(Stream(paths, cache=tmp_path / "cache"), "y").forest_
        for _ in range(2)
    ]
    assert_same(*forests)


def test_codes_take_one_byte_per_value(tmp_path):
    fit(write_pieces(table_of(0, 600), tmp_path, 3), tmp_path / "cache")
    parts = list((tmp_path / "cache").glob("*/part-*.codes"))
    assert sum(part.stat().st_size for part in parts) == 600 * (5 + 1)  # five columns and the class


def test_codes_of_changed_files_are_not_used(tmp_path):
    paths = write_pieces(table_of(0, 600), tmp_path, 3)
    fit(paths, tmp_path / "cache")
    write_pieces(table_of(1, 600), tmp_path, 3)
    model, passes = fit(paths, tmp_path / "cache")
    assert "survey" in passes
    fresh, _ = fit(paths, None)
    assert_same(model.forest_, fresh.forest_)


@pytest.mark.parametrize("damage", ["shorter", "other bytes", "no part", "no manifest", "half a manifest"])
def test_damaged_cache_is_made_again(tmp_path, damage):
    paths = write_pieces(table_of(0, 600), tmp_path, 3)
    expected, _ = fit(paths, tmp_path / "cache")
    part = next((tmp_path / "cache").glob("*/part-000001.codes"))
    manifest = part.with_name("manifest")
    data = part.read_bytes()
    if damage == "shorter":
        part.write_bytes(data[:-1])
    elif damage == "other bytes":
        part.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    elif damage == "no part":
        part.unlink()
    elif damage == "no manifest":
        manifest.unlink()
    else:
        manifest.write_bytes(manifest.read_bytes()[:50])
    model, passes = fit(paths, tmp_path / "cache")
    assert "survey" in passes
    assert_same(model.forest_, expected.forest_)


@pytest.mark.parametrize("limit", [1, 600 * 6 // 2])
def test_what_does_not_fit_is_coded_again_by_every_pass(tmp_path, limit):
    paths = write_pieces(table_of(0, 600), tmp_path, 3)
    expected, _ = fit(paths, None)
    model, _ = fit(paths, tmp_path / "cache", cache_limit=limit)
    parts = list((tmp_path / "cache").glob("*/part-*.codes"))
    assert sum(part.stat().st_size for part in parts) <= limit
    assert_same(model.forest_, expected.forest_)


def full_disk(monkeypatch, after):
    """From now on, writing fails after so many files."""
    opened = [0]
    real = Path.open

    class Full:
        def __init__(self, file):
            self.file = file

        def write(self, data):
            self.file.write(bytes(data)[:10])
            raise OSError(errno.ENOSPC, "No space left on device")

        def __getattr__(self, name):
            return getattr(self.file, name)

    def faulty(path, mode="r", *arguments, **more):
        file = real(path, mode, *arguments, **more)
        if mode != "xb":
            return file
        opened[0] += 1
        return Full(file) if opened[0] > after else file

    monkeypatch.setattr(Path, "open", faulty)


def test_full_disk(tmp_path, monkeypatch):
    paths = write_pieces(table_of(0, 600), tmp_path, 3)
    with monkeypatch.context() as patched:
        full_disk(patched, after=2)
        with pytest.raises(OSError, match=r"the disk of the code cache .* is full; free some space"):
            fit(paths, tmp_path / "cache")
    left = [file.name for file in (tmp_path / "cache").rglob("*") if file.is_file()]
    assert not left  # codes that will not be used take no space
    model, passes = fit(paths, tmp_path / "cache")
    assert "survey" in passes
    expected, _ = fit(paths, None)
    assert_same(model.forest_, expected.forest_)


def test_no_permission_to_write(tmp_path, monkeypatch):
    def refuse(*_arguments, **_more):
        raise PermissionError(errno.EACCES, "Permission denied")

    paths = write_pieces(table_of(0, 100), tmp_path, 1)
    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(PermissionError, match="is not writable; choose another cache folder"):
        fit(paths, tmp_path / "cache")


def test_interrupted_while_coding(tmp_path, monkeypatch):
    paths = write_pieces(table_of(0, 600), tmp_path, 3)
    real, calls = Source.read, [0]

    def interrupted(source, piece):
        calls[0] += 1
        if calls[0] == 5:  # the second piece of the second reading
            raise KeyboardInterrupt
        return real(source, piece)

    with monkeypatch.context() as patched:
        patched.setattr(Source, "read", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fit(paths, tmp_path / "cache")
    assert not [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]


def test_a_part_that_shrinks_while_it_is_read(tmp_path):
    paths = write_pieces(table_of(0, 600), tmp_path, 1)
    fit(paths, tmp_path / "cache")
    folder = next((tmp_path / "cache").iterdir())
    key = read_arrays(folder / "manifest")[0]["key"]
    cache = CodeCache(tmp_path / "cache", None, key)
    notes = cache.load()
    part = folder / "part-000000.codes"
    part.write_bytes(part.read_bytes()[:100])
    coding = Coding.from_notes(Roles("y", classifies=True), notes["coding"])
    with pytest.raises(ValueError, match="is truncated"):
        list(cache.read(0, 0, coding))


def test_another_fit_writes_the_same_codes_meanwhile(tmp_path, monkeypatch):
    paths = write_pieces(table_of(0, 600), tmp_path, 3)
    expected, _ = fit(paths, None)
    real, calls, others = Source.read, [0], []

    def read(source, piece):
        calls[0] += 1
        if calls[0] == 5:  # the second piece of the second reading
            others.append(fit(paths, tmp_path / "cache")[0])
        return real(source, piece)

    with monkeypatch.context() as patched:
        patched.setattr(Source, "read", read)
        model, _ = fit(paths, tmp_path / "cache")
    for each in (model, *others):
        assert_same(each.forest_, expected.forest_)
    del model, each
    gc.collect()
    assert len(list((tmp_path / "cache").iterdir())) == 1
    assert "survey" not in fit(paths, tmp_path / "cache")[1]


def test_codes_of_a_killed_process_go_after_a_day(tmp_path):
    paths = write_pieces(table_of(0, 600), tmp_path, 3)
    fit(paths, tmp_path / "cache")
    folder = next((tmp_path / "cache").iterdir())
    (folder / "manifest").unlink()
    fit(paths, tmp_path / "cache")
    assert folder.exists()  # it may be in the making
    yesterday = folder.stat().st_mtime - 24 * 3600 - 60
    os.utime(folder, (yesterday, yesterday))
    for other in (tmp_path / "cache").iterdir():
        if other != folder:
            shutil.rmtree(other)
    fit(paths, tmp_path / "cache")
    assert not folder.exists()


def test_codes_are_private(tmp_path):
    fit(write_pieces(table_of(0, 100), tmp_path, 1), tmp_path / "cache")
    assert not next((tmp_path / "cache").iterdir()).stat().st_mode & 0o077
