"""Libraries with an OpenMP runtime of their own do not disturb crosscut, whichever comes first."""

import os
import subprocess
import sys

import pytest

OURS = """
from crosscut import TreeClassifier
def ours():
    return TreeClassifier(cv=5, max_depth=4, random_state=0, n_jobs=2).fit(X, y).cv_scores_.tolist()
"""
PEERS = {
    "sklearn": """
from sklearn.ensemble import HistGradientBoostingClassifier
def theirs():
    return HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(X, y).score(X, y)
""",
    "lightgbm": """
from lightgbm import LGBMClassifier
def theirs():
    return LGBMClassifier(n_estimators=5, n_jobs=2, random_state=0, verbose=-1).fit(X, y).score(X, y)
""",
    "xgboost": """
from xgboost import XGBClassifier
def theirs():
    return XGBClassifier(n_estimators=5, n_jobs=2, random_state=0).fit(X, y).score(X, y)
""",
}
DATA = """
import numpy as np
X = np.random.default_rng(0).normal(size=(4000, 10))
y = (X[:, 0] + X[:, 1] > 0).astype(int)
"""


def output_of(*parts: str) -> str:
    command = [sys.executable, "-c", "\n".join(parts)]
    threads = {**os.environ, "OMP_NUM_THREADS": "2"}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=threads).stdout


@pytest.fixture(scope="module")
def alone() -> str:
    return output_of(DATA, OURS, "print(ours())")


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_order_of_imports_does_not_matter(peer, first, alone):
    pytest.importorskip(peer)
    imports = [OURS, PEERS[peer]] if first == "ours" else [PEERS[peer], OURS]
    calls = "before = ours(); theirs()" if first == "ours" else "theirs(); before = ours(); theirs()"
    assert output_of(DATA, *imports, calls, "assert before == ours()", "print(before)") == alone
