"""Coverage of the intervals of cross-validated scores.

    python benchmarks/interval_coverage.py [--runs 500] [--folds 5] [--sizes 100] [--no-nested] [--json FILE]

Each run draws a table, fits a tree and compares `cv_interval(0.9)` with expected scores on new rows. There
are three signals, three sizes, three targets (classes 50/50 and 70/30, numbers), and trees with and without
pruning. "rows" and "bayle" estimate the mean score of the folds' trees, "nested" the score of the final tree.
Pruning is chosen on the same held-out rows, for which only "nested" corrects. Seeded; one process per core;
about 20 minutes of processor time.
"""

from __future__ import annotations

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import ndtr

from crosscut import TreeClassifier, TreeRegressor
from crosscut.forest.predict import apply

SIGNALS = {"noise": 0.0, "weak": 1.0, "strong": 4.0}
TARGETS = ("50/50", "70/30", "numbers")
METHODS = ("rows", "bayle", "nested")
PRUNE = (None, "best", "1se")
FRESH = 4000


def draw(rng, n, signal):
    """Return rows and the mean of their target, which has standard deviation 1 around it."""
    X = rng.normal(size=(n, 5)).astype(np.float32)
    return X, SIGNALS[signal] * (0.6 * (X[:, 0] > 0) + 0.4 * X[:, 1])


def cut(signal, target):
    """Return the target above which a row is positive."""
    return 0.3 * SIGNALS[signal] + (0.524 if target == "70/30" else 0.0) * spread(signal)


def spread(signal):
    """Return the standard deviation of the target."""
    return np.sqrt(1 + SIGNALS[signal] ** 2 * (0.09 + 0.16))


def scores(model, X, mean, signal, target):
    """Return the expected score of every tree on new rows, computed from their mean targets."""
    packed = model.forest_.packed
    value = packed.value[apply(model.forest_, X, n_jobs=1) + packed.node_start[:-1, None]]
    if target == "numbers":
        return 1 - (((mean - value[:, :, 0]) ** 2).mean(axis=1) + 1) / spread(signal) ** 2
    positive = ndtr(mean - cut(signal, target))
    return np.where(value[:, :, 1] > value[:, :, 0], positive, 1 - positive).mean(axis=1)


def run(n, signal, target, methods, seed, *, folds):
    """Return whether intervals cover the scores of folds' trees and final tree, by pruning and method."""
    learner = TreeRegressor if target == "numbers" else TreeClassifier
    rng = np.random.default_rng([seed, n, *map(ord, signal + target)])
    (X, mean), fresh = draw(rng, n, signal), draw(rng, FRESH, signal)
    y = mean + rng.normal(size=n)
    if target != "numbers":
        y = y > cut(signal, target)
    covers = np.empty((len(PRUNE), len(methods), 2), bool)
    for p, prune in enumerate(PRUNE):
        model = learner(cv=folds, random_state=seed, prune=prune, n_jobs=1).fit(X, y)
        final, *of_folds = scores(model, *fresh, signal, target)
        for m, method in enumerate(methods):
            low, high = model.cv_interval(0.9, method, *((X, y) if method == "nested" else ()))
            covers[p, m] = low <= np.mean(of_folds) <= high, low <= final <= high
    return covers


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--no-nested", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    methods = METHODS[: 2 if options.no_nested else 3]
    print(f"{options.runs} runs, {options.folds} folds, level 0.9: folds' trees (final tree)\n")
    print(f"| rows | signal | target | prune | {' | '.join(methods)} |\n{'| --- ' * (4 + len(methods))}|")
    results = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for n, signal, target in product(options.sizes, SIGNALS, TARGETS):
            one = partial(run, n, signal, target, methods, folds=options.folds)
            coverage = np.mean(list(pool.map(one, range(options.runs), chunksize=10)), axis=0)
            for prune, by_method in zip(PRUNE, coverage, strict=True):
                cells = " | ".join(f"{folds:.0%} ({final:.0%})" for folds, final in by_method)
                print(f"| {n} | {signal} | {target} | {prune or '-'} | {cells} |", flush=True)
                setting = {"n": n, "signal": signal, "target": target, "prune": prune}
                results.append(setting | dict(zip(methods, by_method.tolist(), strict=True)))
    if options.json:
        options.json.write_text(json.dumps({"runs": options.runs, "cells": results}, indent=1))


if __name__ == "__main__":
    main()
