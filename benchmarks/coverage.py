"""How often the intervals of a cross-validation cover the error that they are about.

    python benchmarks/coverage.py [--runs 500] [--quick] [--json FILE]

For noise, weak and strong signal; 100, 300 and 1,000 rows; two classes (50/50, 70/30) and numbers; and trees
that are not pruned, or pruned by cross-validation: draw a table, fit, and compare `cv_interval(0.9)` with the
score on fresh rows, of the folds' trees (which the interval is about) and of the final tree. Pruned trees are
chosen by the folds that judge them, so theirs is optimistic. Seeded; --quick is 20 runs of the smaller sizes.
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path

import numpy as np

from crosscut import TreeClassifier, TreeRegressor
from crosscut.forest.predict import apply
from crosscut.forest.tree import decisions
from crosscut.training.scores import accuracy, r_squared

SIGNALS = {"noise": 0.0, "weak": 1.0, "strong": 4.0}
TARGETS = ("50/50", "70/30", "numbers")
FRESH = 4000


def draw(rng, n, signal, target):
    X = rng.normal(size=(n, 5)).astype(np.float32)
    score = SIGNALS[signal] * (0.6 * (X[:, 0] > 0) + 0.4 * X[:, 1]) + rng.normal(size=n)
    if target == "numbers":
        return X, score
    spread = np.sqrt(1 + SIGNALS[signal] ** 2 * (0.09 + 0.16))
    return X, score > 0.3 * SIGNALS[signal] + (0.524 if target == "70/30" else 0.0) * spread


def scores(model, X, y):
    """Score of every tree on fresh rows."""
    packed, leaves = model.forest_.packed, apply(model.forest_, X)
    node = leaves + packed.node_start[:-1, None]
    if isinstance(model, TreeRegressor):
        return np.array([r_squared(y, said) for said in packed.value[node, 0]])
    return np.array([accuracy(y, said) for said in decisions(packed.value)[node]])


def cell(n, signal, target, prune, runs):
    """Shares of the runs whose interval covers, by method: of the folds' trees, and of the final tree."""
    learner = TreeRegressor if target == "numbers" else TreeClassifier
    covers = np.zeros((2, 2))
    for run in range(runs):
        rng = np.random.default_rng([run, n, *map(ord, signal + target)])
        model = learner(cv=10, random_state=run, prune=prune, n_jobs=1).fit(*draw(rng, n, signal, target))
        truth = scores(model, *draw(rng, FRESH, signal, target))
        for k, method in enumerate(("rows", "bayle")):
            low, high = model.cv_interval(0.9, method)
            covers[k] += [low <= truth[1:].mean() <= high, low <= truth[0] <= high]
    return covers / runs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    runs, sizes = (20, (100, 300)) if options.quick else (options.runs, (100, 300, 1000))
    print(f"{runs} runs, level 0.9\n\n| rows | signal | target | prune | rows | bayle | rows, final tree |")
    print("| --- " * 7 + "|")
    found = []
    for n, signal, target, prune in product(sizes, SIGNALS, TARGETS, (None, "best", "1se")):
        (rows, final), (bayle, _) = cell(n, signal, target, prune, runs)
        shares = " | ".join(f"{share:.0%}" for share in (rows, bayle, final))
        print(f"| {n} | {signal} | {target} | {prune or '-'} | {shares} |", flush=True)
        setting = {"n": n, "signal": signal, "target": target, "prune": prune}
        found.append(setting | {"rows": rows, "bayle": bayle, "final": final})
    if options.json:
        options.json.write_text(json.dumps({"runs": runs, "cells": found}, indent=1))


if __name__ == "__main__":
    main()
