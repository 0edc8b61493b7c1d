import gzip

import numpy as np
import pytest

from crosscut import TreeClassifier, read_file
from crosscut.data import memory
from crosscut.data.memory import available, check_memory


def test_memory_is_known_here():
    assert 0 < available() < 2**50


def test_small_work_does_not_ask(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 0)
    check_memory(1000, "nothing", "")


def test_a_table_that_cannot_fit_is_refused_before_it_is_built(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 10**9)
    X = np.broadcast_to(np.float32(0), (10**8, 10))
    with pytest.raises(MemoryError, match=r"a table of 100,000,000 rows: about 5 GB are needed, but 1\.0 GB"):
        TreeClassifier().fit(X, np.broadcast_to(np.int8(0), 10**8))


def test_a_packed_file_larger_than_memory_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 10**8)
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", 1) as file:
        file.write(b"x,y\n")
        for _ in range(20):
            file.write(b"1,a\n" * (4 << 20))
    with pytest.raises(MemoryError, match=r"the unpacked .*bomb.csv.gz.* Stream"):
        read_file(path)
