import gzip

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from crosscut import BaggedTrees, RuleClassifier, Stream, TreeClassifier, read_file
from crosscut.data import memory
from crosscut.data.files import existing_place, readable
from crosscut.data.memory import available, check_memory


def test_memory_is_known_here():
    assert 0 < available() < 2**50


def test_small_work_does_not_ask(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 0)
    check_memory(1000, "nothing", "")


def test_a_table_that_cannot_fit_is_refused_before_it_is_built(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 10**9)
    X = np.broadcast_to(np.float32(0), (10**8, 10))
    with pytest.raises(MemoryError, match=r"a table of 100,000,000 rows: about 9\.0 GB .* 1\.0 GB"):
        TreeClassifier().fit(X, np.broadcast_to(np.int8(0), 10**8))


@pytest.mark.parametrize(
    ("learner", "free", "what"),
    [
        ("bagged", 2000, "31 trees on 100 rows"),
        ("rules", 1500, "rules on 100 rows"),
        ("stream", 2000, "a stream of 100 rows: .* smaller memory_limit"),
    ],
)
def test_what_learners_need_is_known_before_they_start(tmp_path, monkeypatch, learner, free, what):
    X, y = np.arange(100.0)[:, None], np.arange(100) % 2
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(100)))
    fit = {
        "bagged": lambda: BaggedTrees(n_trees=31).fit(X, y),
        "rules": lambda: RuleClassifier(cv=2).fit(X, y),
        "stream": lambda: TreeClassifier(cv=2).fit(Stream(path), "y"),
    }[learner]
    with monkeypatch.context() as patched:
        patched.setattr(memory, "NOTABLE", 0)
        patched.setattr(memory, "available", lambda: free)
        with pytest.raises(MemoryError, match=what):
            fit()
    fit()


def test_a_parquet_file_larger_than_memory_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"x": np.zeros(10**6), "y": ["a"] * 10**6}), path)  # takes 2 KB
    monkeypatch.setattr(memory, "NOTABLE", 0)
    monkeypatch.setattr(memory, "available", lambda: 10**6)
    with pytest.raises(MemoryError, match=r"a.parquet.* Stream"):
        read_file(path)


def test_a_packed_file_larger_than_memory_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 10**8)
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", 1) as file:
        file.write(b"x,y\n")
        for _ in range(20):
            file.write(b"1,a\n" * (4 << 20))
    with pytest.raises(MemoryError, match=r"the decompressed .*bomb.csv.gz.* Stream"):
        read_file(path)


def test_too_little_memory_is_not_called_damage(tmp_path):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"")
    with (
        pytest.raises(MemoryError, match=r"does not fit into memory: malloc"),
        readable(existing_place(path)),
    ):
        raise pa.ArrowMemoryError("malloc of size 1 failed")


def test_a_row_that_is_too_long_is_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"a,y\n1,p\n{'x' * 5_000_000},q\n")
    with pytest.raises(ValueError, match="a row is longer than 1 MB"):
        read_file(path)
