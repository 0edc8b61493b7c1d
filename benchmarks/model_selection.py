"""Compare the drop-in functions with scikit-learn's on one core.

    python benchmarks/model_selection.py [--full] [--json FILE] [NAME ...]

Prints the CPU seconds of both and their ratio. scikit-learn fits only some candidates of a large grid (on all
splits), and its time is extrapolated; with --full it fits all of them, which takes about twenty minutes.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn import model_selection as scikit
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.feature_selection import RFECV
from sklearn.model_selection import LeaveOneOut, ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import crosscut
from generated import tree_like

TREE = DecisionTreeClassifier(random_state=0)
ALPHAS = np.geomspace(1e-5, 1e-2, 20)
GRID = {
    "max_depth": [2, 3, 4, 6, 8, 10, 12, None],
    "min_samples_leaf": [1, 2, 5, 10, 20],
    "ccp_alpha": np.geomspace(1e-5, 1e-2, 10),
}


def seconds(call, repeat=1):
    """Return the least CPU time of several calls; the first is a warm-up."""
    best = np.inf
    for k in range(repeat + (repeat > 1)):
        start = time.process_time()
        call()
        if k or repeat == 1:
            best = min(best, time.process_time() - start)
    return best


def sampled(grid, fraction):
    """Return a random part of the grid, as a list of grids, and the factor to all candidates."""
    candidates = list(ParameterGrid(grid))
    n_chosen = max(1, round(fraction * len(candidates)))
    chosen = np.random.default_rng(0).permutation(len(candidates))[:n_chosen]
    grids = [{name: [value] for name, value in candidates[c].items()} for c in chosen]
    return grids, len(candidates) / n_chosen


def grid_search(data, grid, cv, fraction, *, model=TREE, scoring=None):
    X, y = data
    options = {"cv": cv, "scoring": scoring}
    ours = seconds(lambda: crosscut.GridSearchCV(model, grid, n_jobs=1, **options).fit(X, y), 3)
    some, times = sampled(grid, fraction)
    candidates = seconds(lambda: scikit.GridSearchCV(model, some, refit=False, **options).fit(X, y))
    return ours, candidates * times + seconds(lambda: clone(model).fit(X, y))


def leaf_penalty(model, X, y):
    return model.score(X, y) - 0.001 * model.get_n_leaves()


def nested(data, grid, cv, fraction):
    """Time nested cross-validation and the final tree, as nested_cross_validate returns them."""
    X, y = data
    ours = seconds(lambda: crosscut.nested_cross_validate(TREE, grid, X, y, cv=cv, n_jobs=1), 3)
    some, times = sampled(grid, fraction)
    search = scikit.GridSearchCV(TREE, some, cv=cv)
    inner = seconds(lambda: scikit.cross_validate(search, X, y, cv=cv))
    final = seconds(lambda: search.fit(X, y))
    return ours, (inner + final) * times


def cross_validation(data, cv):
    X, y = data
    ours = seconds(lambda: crosscut.cross_validate(TREE, X, y, cv=cv, n_jobs=1), 10)
    return ours, seconds(lambda: scikit.cross_validate(TREE, X, y, cv=cv), 3 if isinstance(cv, int) else 1)


def drop_in(name, data, fraction=1.0, **options):
    """Time one function of both; scikit-learn does only a fraction of ``n_permutations``."""
    X, y = data
    ours = seconds(lambda: getattr(crosscut, name)(TREE, X, y, n_jobs=1, **options), 3)
    some = {key: max(1, round(fraction * n)) for key, n in options.items() if key == "n_permutations"}
    times = (1 + options["n_permutations"]) / (1 + some["n_permutations"]) if some else 1
    return ours, times * seconds(lambda: getattr(scikit, name)(TREE, X, y, **options | some))


def elimination(data, **options):
    X, y = data
    ours = seconds(lambda: crosscut.RFECV(TREE, n_jobs=1, **options).fit(X, y), 3)
    return ours, seconds(lambda: RFECV(TREE, **options).fit(X, y))


def scenarios(fraction):
    """Return the target ratio and the measuring function of each scenario, by name."""
    large, small = tree_like(20_000, 20, seed=0), tree_like(1_000, 10, seed=0)
    middle = tree_like(10_000, 20, seed=0)
    alphas = {"ccp_alpha": ALPHAS}
    step_alphas = {"decisiontreeclassifier__ccp_alpha": ALPHAS}
    return {
        "grid: 20 alphas, 10 folds, 20k x 20": (100, lambda: grid_search(large, alphas, 10, fraction(0.1))),
        "grid: 8 depths x 5 leaf sizes x 10 alphas, 5 folds, 20k x 20": (
            100,
            lambda: grid_search(large, GRID, 5, fraction(0.02)),
        ),
        "nested: 5 x 5 folds, 20 alphas, 20k x 20": (200, lambda: nested(large, alphas, 5, fraction(0.05))),
        "pipeline: scaler, 20 alphas, 5 folds, 20k x 20": (
            100,
            lambda: grid_search(
                large, step_alphas, 5, fraction(0.1), model=make_pipeline(StandardScaler(), TREE)
            ),
        ),
        "pipeline: PCA, 20 alphas, 5 folds, 20k x 20": (
            10,
            lambda: grid_search(large, step_alphas, 5, fraction(0.1), model=make_pipeline(PCA(10), TREE)),
        ),
        **{
            f"grid: 20 alphas, {scoring}, 5 folds, 1,000 x 10": (
                10,
                lambda scoring=scoring: grid_search(small, alphas, 5, 1.0, scoring=scoring),
            )
            for scoring in ("f1", "roc_auc", "neg_log_loss")
        },
        "grid: 20 alphas, own scorer, our tree, 5 folds, 1,000 x 10": (
            1,
            lambda: grid_search(
                small, alphas, 5, 1.0, model=crosscut.TreeClassifier(cv=None), scoring=leaf_penalty
            ),
        ),
        "learning curve: 5 sizes, 5 folds, 10k x 20": (
            5,
            lambda: drop_in("learning_curve", middle, cv=5, shuffle=True, random_state=0),
        ),
        "100 permutations, 5 folds, 10k x 20": (
            5,
            lambda: drop_in("permutation_test_score", middle, fraction(0.02), cv=5, n_permutations=100),
        ),
        "RFECV, 5 folds, 10k x 20": (5, lambda: elimination(middle, cv=5)),
        "leave-one-out, 1,000 x 10": (100, lambda: cross_validation(small, LeaveOneOut())),
        "10 folds, iris": (1, lambda: cross_validation(load_iris(return_X_y=True), 10)),
        "10 folds, breast_cancer": (5, lambda: cross_validation(load_breast_cancer(return_X_y=True), 10)),
        "10 folds, digits": (5, lambda: cross_validation(load_digits(return_X_y=True), 10)),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only scenarios whose name contains this")
    parser.add_argument("--full", action="store_true", help="let scikit-learn fit every candidate")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures here too")
    options = parser.parse_args()
    warnings.simplefilter("error", crosscut.DelegationWarning)
    figures = {}
    print("| scenario | crosscut (s) | scikit-learn (s) | ratio | asked for |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, (target, measure) in scenarios(lambda fraction: 1.0 if options.full else fraction).items():
        if options.names and not any(part in name for part in options.names):
            continue
        ours, theirs = measure()
        ratio = theirs / ours
        figures[name] = {"crosscut": ours, "scikit-learn": theirs, "ratio": ratio, "asked for": target}
        print(f"| {name} | {ours:.4f} | {theirs:.3f} | {ratio:.0f} | {target} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps({"full": options.full, "cpu_seconds": figures}, indent=1) + "\n")
    sys.exit(any(row["ratio"] < row["asked for"] for row in figures.values()))


if __name__ == "__main__":
    main()
