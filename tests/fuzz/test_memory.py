"""Fits with too little memory: a result or a MemoryError, and a process that goes on."""

import subprocess
import sys

import pytest

pytest.importorskip("resource")

PROGRAM = """
import resource, sys
import numpy as np
from crosscut import BaggedTrees, RuleClassifier, TreeClassifier, TreeRegressor
X = np.random.default_rng(0).normal(size=(5000, 10))
y = X[:, 0] + X[:, 1] * X[:, 2]
models = {
    "classifier": (TreeClassifier(n_jobs=4), y > 0),
    "regressor": (TreeRegressor(n_jobs=4), y),
    "bagged": (BaggedTrees(TreeRegressor(), n_trees=20, n_jobs=4), y),
    "rules": (RuleClassifier(cv=3), y > 0),
}
model, target = models[sys.argv[1]]
TreeClassifier(cv=2).fit(X[:50], y[:50] > 0)  # what is loaded by a first fit counts as the program's
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limits = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[2]), limits[1]))
try:
    model.fit(X, target)
    print("fitted")
except MemoryError:
    print("refused")
resource.setrlimit(resource.RLIMIT_AS, limits)
model.fit(X, target)
print("fitted")
"""


def run(kind, extra):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, kind, str(extra)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_fit_without_memory_is_refused():
    assert run("regressor", 1 << 20) == ["refused", "fitted"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classifier", "regressor", "bagged", "rules"])
def test_little_memory(kind):
    for extra in (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024):
        assert run(kind, extra << 20)[1] == "fitted"
