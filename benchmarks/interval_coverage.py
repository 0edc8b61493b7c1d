"""Coverage of intervals and sets, and how often equal learners are called different.

    python benchmarks/interval_coverage.py [scores] [areas] [comparisons] [sets] [--runs 150] [--json FILE]

Each run draws a table, fits a tree and compares what it reports at the level 0.9 with the truth on new rows:

- scores: `cv_interval` of accuracy and R², for three signals, targets (classes 50/50 and 70/30, numbers) and
  sizes, with and without pruning, and "nested" with `--nested`. The truth is the expected score of the folds'
  trees (and of the final tree) on new rows.
- areas: `cv_interval(measure="auc")` with 5 to 15% positives, which are few in every fold.
- comparisons: `compare` of two learners that see different, equally informative columns.
- sets: prediction sets and intervals, and `cv_coverage`, which should agree with the coverage of new rows.

Seeded; one process per core; about 15 minutes of processor time for 150 runs.
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
from scipy.stats import rankdata

from crosscut import TreeClassifier, TreeRegressor, compare
from crosscut.forest.predict import apply
from machine import Machine

SIGNALS = {"noise": 0.0, "weak": 1.0, "strong": 4.0}
TARGETS = ("50/50", "70/30", "numbers")
SIZES = (100, 300, 1000)
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


def values(model, X):
    """Return the value that each tree predicts for each row."""
    packed = model.forest_.packed
    return packed.value[apply(model.forest_, X, n_jobs=1) + packed.node_start[:-1, None]]


def scores(model, X, mean, signal, target):
    """Return the expected score of every tree on new rows, computed from their mean targets."""
    value = values(model, X)
    if target == "numbers":
        return 1 - (((mean - value[:, :, 0]) ** 2).mean(axis=1) + 1) / spread(signal) ** 2
    positive = ndtr(mean - cut(signal, target))
    return np.where(value[:, :, 1] > value[:, :, 0], positive, 1 - positive).mean(axis=1)


def table(seed, n, signal, target):
    """Return a random generator, rows, the mean of their target, and targets."""
    rng = np.random.default_rng([seed, n, *map(ord, signal + target)])
    X, mean = draw(rng, n, signal)
    y = mean + rng.normal(size=n)
    return rng, X, mean, y if target == "numbers" else y > cut(signal, target)


def learner(target):
    return TreeRegressor if target == "numbers" else TreeClassifier


def score_run(seed, *, n, signal, target, prune, methods):
    """Return whether intervals cover the scores of the folds' trees and of the final tree, by method."""
    rng, X, _, y = table(seed, n, signal, target)
    model = learner(target)(cv=10, random_state=seed, prune=prune, n_jobs=1).fit(X, y)
    final, *of_folds = scores(model, *draw(rng, FRESH, signal), signal, target)
    covers = []
    for method in methods:
        low, high = model.cv_interval(0.9, method, *((X, y) if method == "nested" else ()))
        covers += [low <= np.mean(of_folds) <= high, low <= final <= high]
    return covers


def area(y, value):
    rank, n = rankdata(value), np.count_nonzero(y)
    return (rank[y].sum() - n * (n + 1) / 2) / (n * (len(y) - n))


def area_run(seed, *, n, rate, signal, prune):
    """Return whether the interval covers the folds' mean area; None if a fold would lack positives."""
    rng = np.random.default_rng([seed, n, int(100 * rate), *map(ord, signal)])
    (X, mean), (new, new_mean) = draw(rng, n, signal), draw(rng, 5 * FRESH, signal)
    target, new_target = (m + rng.normal(size=len(m)) for m in (mean, new_mean))
    least = np.quantile(new_target, 1 - rate)
    y = target > least
    if np.count_nonzero(y) < 5:
        return None
    settings = {"cv": 5, "random_state": seed, "n_jobs": 1, "min_samples_leaf": 5}
    model = TreeClassifier(prune=prune, **settings).fit(X, y)
    value = values(model, new)[1:]
    truth = np.mean([area(new_target > least, each[:, 1] / each.sum(axis=1)) for each in value])
    low, high = model.cv_interval(0.9, measure="auc")
    return [low <= truth <= high]


def comparison_run(seed, *, n, target, folds, prune, strength):
    """Return whether two equally good learners are called different, by "folds" and by "rows"."""
    rng = np.random.default_rng([seed, n, int(strength * 10)])
    X = rng.normal(size=(n, 10)).astype(np.float32)
    mean = strength * sum(0.6 * (X[:, i] > 0) + 0.4 * X[:, i + 1] for i in (0, 5))
    y = mean + rng.normal(size=n)
    y = y if target == "numbers" else y > 0.6 * strength
    settings = {"cv": folds, "random_state": seed, "prune": prune, "n_jobs": 1, "min_samples_leaf": 5}
    models = [learner(target)(**settings).fit(X[:, half], y) for half in (slice(0, 5), slice(5, 10))]
    intervals = (compare(*models).interval(0.9, method) for method in ("folds", "rows"))
    return [not low <= 0 <= high for low, high in intervals]


def set_run(seed, *, n, signal, target, prune):
    """Return the coverage of new rows, `cv_coverage` with and without the data, and the size of sets."""
    rng, X, _, y = table(seed, n, signal, target)
    model = learner(target)(cv=10, random_state=seed, prune=prune, n_jobs=1).fit(X, y)
    new, mean = draw(rng, FRESH, signal)
    truth = mean + rng.normal(size=FRESH)
    if target == "numbers":
        low, high = model.predict_interval(new).T
        covered, size = (low <= truth) & (truth <= high), np.mean(high - low) / spread(signal)
    else:
        sets = model.predict_set(new)
        covered = sets[np.arange(FRESH), (truth > cut(signal, target)).astype(int)]
        size = sets.sum(axis=1).mean()
    return [covered.mean(), model.cv_coverage(0.9, X=X, y=y), model.cv_coverage(0.9), size]


def cells(what, nested):
    """Yield the settings of each cell, by name, and the function of a run."""
    if what == "scores":
        methods = ("rows", "nested") if nested else ("rows",)
        for n, signal, target, prune in product(SIZES, SIGNALS, TARGETS, PRUNE):
            setting = {"rows": n, "signal": signal, "target": target, "prune": prune}
            yield setting, partial(score_run, n=n, signal=signal, target=target, prune=prune, methods=methods)
    elif what == "areas":
        for n, rate, signal, prune in product((100, 200, 300), (0.05, 0.1, 0.15), SIGNALS, (None, "best")):
            setting = {"rows": n, "positives": rate, "signal": signal, "prune": prune}
            yield setting, partial(area_run, n=n, rate=rate, signal=signal, prune=prune)
    elif what == "comparisons":
        for n, target, folds, prune, strength in product(
            SIZES, ("50/50", "numbers"), (5, 10), (None, "best"), (0, 0.5, 1.5)
        ):
            setting = {"rows": n, "target": target, "folds": folds, "prune": prune, "strength": strength}
            yield (
                setting,
                partial(comparison_run, n=n, target=target, folds=folds, prune=prune, strength=strength),
            )
    else:
        for n, signal, target, prune in product((100, 300), SIGNALS, TARGETS, (None, "best")):
            setting = {"rows": n, "signal": signal, "target": target, "prune": prune}
            yield setting, partial(set_run, n=n, signal=signal, target=target, prune=prune)


COLUMNS = {
    "scores": ("rows: folds' trees", "rows: final tree", "nested: folds' trees", "nested: final tree"),
    "areas": ("covered",),
    "comparisons": ("folds: called different", "rows: called different"),
    "sets": ("new rows", "cv_coverage(X, y)", "cv_coverage()", "mean size"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", nargs="*", default=[*COLUMNS], help=", ".join(COLUMNS))
    parser.add_argument("--runs", type=int, default=150)
    parser.add_argument("--nested", action="store_true", help='also "nested", which takes ten times as long')
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results, machine = {}, Machine.here(("crosscut", "numpy"))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for what in options.what:
            rows = []
            for setting, run in cells(what, options.nested):
                found = [each for each in pool.map(run, range(options.runs), chunksize=5) if each is not None]
                mean = np.mean(found, axis=0).tolist()
                if not rows:
                    heads = [*setting, *COLUMNS[what][: len(mean)]]
                    print(f"\n| {' | '.join(heads)} |\n{'| --- ' * len(heads)}|")
                rows.append(setting | dict(zip(COLUMNS[what], mean, strict=False)))
                shown = [str(value or "-") for value in setting.values()] + [f"{v:.3f}" for v in mean]
                print(f"| {' | '.join(shown)} |", flush=True)
            every = np.array([[row[name] for name in COLUMNS[what] if name in row] for row in rows])
            for name, figures in zip(COLUMNS[what], every.T, strict=False):
                print(f"{name}: mean {figures.mean():.3f}, {figures.min():.3f} to {figures.max():.3f}")
            results[what] = rows
    if options.json:
        record = {"machine": machine.as_dict(), "quick": False, "runs": options.runs}
        options.json.write_text(json.dumps(record | results, indent=1))


if __name__ == "__main__":
    main()
