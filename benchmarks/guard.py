"""Guard against slower code: count the instructions of ten cases and compare them with counts before.

    python benchmarks/guard.py [--against FILE] [--json FILE] [--only NAME]

Instructions are counted by callgrind (valgrind with its headers), with one thread, fixed seeds, AVX2 kernels
and no hash randomisation, so they hardly vary between runs. They do vary between compilers and versions of
Python: compare counts of the same machine. The exit code is 1 if a case needs 5% more than before.
"""

import argparse
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

THRESHOLD = 0.05
BEFORE = Path(__file__).parent / "results" / "guard.json"
PINNED = {"CROSSCUT_SIMD": "avx2", "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
SWITCH = """
#include <valgrind/callgrind.h>
extern "C" void start() { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
extern "C" void stop(const char* name) { CALLGRIND_DUMP_STATS_AT(name); CALLGRIND_STOP_INSTRUMENTATION; }
"""


def cases():
    """Return the cases; their data are prepared before instructions are counted."""
    import numpy as np
    from sklearn.model_selection import LeaveOneOut
    from sklearn.tree import DecisionTreeClassifier

    from crosscut import BaggedTrees, GridSearchCV, RuleClassifier, TreeClassifier, TreeRegressor
    from crosscut.data.table import Table

    random = np.random.default_rng(0)
    X = random.normal(size=(6000, 10))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=len(X)) > 0).astype(int)
    many = (X[:, 3] * 3 + random.normal(size=len(X))).round().clip(-3, 3).astype(int)
    coarse, weights = X.round(1), random.random(len(X))
    words = np.column_stack([random.choice(list("abcdefgh"), 2000), X[:2000, 0].round(1).astype(str)]).astype(
        object
    )
    one = {"n_jobs": 1}
    fitted = TreeClassifier(cv=None, **one).fit(X, y)
    grid = {"max_depth": [2, 4, 8, None], "min_samples_leaf": [1, 5], "ccp_alpha": [0.0, 0.01]}
    return {
        "small table, 10 folds": lambda: TreeClassifier(cv=10, **one).fit(X[:200, :4], y[:200]),
        "10 folds, depth 6": lambda: TreeClassifier(cv=10, max_depth=6, **one).fit(X, y),
        "7 classes, entropy": lambda: TreeClassifier(cv=5, criterion="entropy", max_depth=6, **one).fit(
            X, many
        ),
        "regression": lambda: TreeRegressor(cv=5, max_depth=6, **one).fit(X, X[:, 0] ** 2),
        "weights, few values": lambda: TreeClassifier(cv=5, max_depth=6, **one).fit(
            coarse, y, sample_weight=weights
        ),
        "leave-one-out": lambda: TreeClassifier(cv=LeaveOneOut(), max_depth=6, **one).fit(X[:300], y[:300]),
        "text columns": lambda: Table.from_data(words, n_jobs=1),
        "rules": lambda: RuleClassifier(cv=3, max_length=2, random_state=0).fit(X[:400], y[:400]),
        "grid search": lambda: GridSearchCV(DecisionTreeClassifier(random_state=0), grid, cv=5, **one).fit(
            X[:600], y[:600]
        ),
        "bagging and prediction": lambda: (
            BaggedTrees(n_trees=20, random_state=0, **one).fit(X[:1000], y[:1000]).predict(X),
            fitted.predict_proba(X),
        ),
    }


def run(library, only):
    """Run the cases once without counting, so that nothing is imported or cached later, and once with it."""
    switch = ctypes.CDLL(library)
    for name, case in cases().items():
        if only in name:
            case()
            switch.start()
            case()
            switch.stop(name.encode())


def counted(only):
    """Return the number of instructions of each case."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "switch.cpp").write_text(SWITCH)
        library = f"{folder}/switch.so"
        compiler = os.environ.get("CXX", "c++")
        subprocess.run([compiler, "-shared", "-fPIC", f"{folder}/switch.cpp", "-o", library], check=True)
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--quiet"]
        command += [f"--callgrind-out-file={folder}/out", sys.executable, __file__, "--run", library]
        subprocess.run([*command, "--only", only], check=True, env=os.environ | PINNED)
        counts = {}
        for path in Path(folder).glob("out.*"):
            text = path.read_text()
            trigger = re.search(r"^desc: Trigger: Client Request: (.+)$", text, re.MULTILINE)
            if trigger:
                counts[trigger[1].strip()] = int(
                    re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)[1]
                )
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path, default=BEFORE)
    parser.add_argument("--json", type=Path, help="write the counts")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        run(given.run, given.only)
        return
    counts = counted(given.only)
    before = json.loads(given.against.read_text()) if given.against.exists() else {}
    slower = []
    for name, count in counts.items():
        change = count / before[name] - 1 if name in before else 0.0
        print(f"{name:24} {count / 1e6:10,.1f} million instructions  {change:+.1%}")
        slower += [name] * (change > THRESHOLD)
    if given.json:
        given.json.write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n")
    if slower:
        sys.exit(f"at least {THRESHOLD:.0%} more instructions than before: {', '.join(slower)}")


if __name__ == "__main__":
    main()
