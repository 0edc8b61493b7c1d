"""Prediction intervals and sets compared with MAPIE: same folds and limits, processor time end to end.

    python benchmarks/conformal.py [--rows 10000] [--columns 20]

Needs `mapie` (dependency group `test`). One thread; MAPIE fits scikit-learn's trees one by one.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from mapie.classification import CrossConformalClassifier
from mapie.regression import CrossConformalRegressor
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from crosscut import TreeClassifier, TreeRegressor

CV = KFold(10)


def seconds(task):
    start = time.process_time()
    task()
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--columns", type=int, default=20)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(2, options.rows, options.columns)).astype(np.float32)
    number = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + rng.normal(size=options.rows)
    label = np.digitize(number, [-0.5, 0.6])
    print("| result | min_samples_leaf | crosscut (s) | MAPIE (s) | times faster |\n" + "| --- " * 5 + "|")
    for leaf in (1, 20):
        limits = {"min_samples_leaf": leaf, "random_state": 0}
        ours = {"min_samples_leaf": leaf, "cv": CV, "n_jobs": 1}
        tasks = {
            "intervals": (
                lambda ours=ours: TreeRegressor(**ours).fit(X, number).predict_interval(new),
                lambda limits=limits: (
                    CrossConformalRegressor(
                        DecisionTreeRegressor(**limits), confidence_level=0.9, method="plus", cv=CV
                    )
                    .fit_conformalize(X, number)
                    .predict_interval(new)
                ),
            ),
            "sets": (
                lambda ours=ours: TreeClassifier(**ours).fit(X, label).predict_set(new),
                lambda limits=limits: (
                    CrossConformalClassifier(
                        DecisionTreeClassifier(**limits), confidence_level=0.9, conformity_score="lac", cv=CV
                    )
                    .fit_conformalize(X, label)
                    .predict_set(new, agg_scores="crossval")
                ),
            ),
        }
        for name, (crosscut_task, mapie_task) in tasks.items():
            a, b = min(seconds(crosscut_task) for _ in range(3)), seconds(mapie_task)
            print(f"| {name} | {leaf} | {a:.2f} | {b:.1f} | {b / a:.0f} |", flush=True)


if __name__ == "__main__":
    main()
