"""The bundled example is what its script writes, and what the documentation says of it."""

import subprocess
import sys
from pathlib import Path

import pytest

from crosscut import datasets
from crosscut.data.files import read_file, split_target
from crosscut.data.table import Table

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_script_reproduces_the_file(tmp_path):
    made = tmp_path / "churn.csv"
    subprocess.run([sys.executable, EXAMPLES / "make_churn.py", made], check=True, capture_output=True)
    assert made.read_text() == (EXAMPLES / "churn.csv").read_text()


def test_bundled_example():
    frame = read_file(EXAMPLES / "churn.csv")
    X, y = split_target(frame, "churned")
    table = Table.from_data(X)
    assert table.n_rows == 800
    assert set(table.kinds) == {"numeric", "nominal", "boolean"}
    assert table.has_missing.any()
    assert set(y.tolist()) == {"yes", "no"}
    assert 0.15 < (y == "yes").mean() < 0.35
    assert frame.to_pylist() == datasets.churn().to_pylist()


def test_unknown_dataset():
    with pytest.raises(AttributeError, match="no attribute 'iris'; it has churn"):
        datasets.iris  # noqa: B018
