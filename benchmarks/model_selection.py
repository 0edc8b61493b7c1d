"""Drop-ins against scikit-learn on one core.

    python benchmarks/model_selection.py [--full] [--json FILE] [NAME ...]

CPU seconds of both in one run, and their ratio. Of a large grid scikit-learn does only some of the candidates
(on all splits) and its time is extrapolated; --full lets it do them all, which takes about twenty minutes.
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
from crosscut.datasets import tree_like

TREE = DecisionTreeClassifier(random_state=0)
ALPHAS = np.geomspace(1e-5, 1e-2, 20)
GRID = {
    "max_depth": [2, 3, 4, 6, 8, 10, 12, None],
    "min_samples_leaf": [1, 2, 5, 10, 20],
    "ccp_alpha": np.geomspace(1e-5, 1e-2, 10),
}


def seconds(call, repeat=1):
    """Least CPU time of some calls; the first of several is not counted, as it imports and fills caches."""
    best = np.inf
    for k in range(repeat + (repeat > 1)):
        start = time.process_time()
        call()
        if k or repeat == 1:
            best = min(best, time.process_time() - start)
    return best


def sampled(grid, share):
    """Some candidates of the grid, as a grid of single values, and how many times more there are."""
    candidates = list(ParameterGrid(grid))
    chosen = np.random.default_rng(0).permutation(len(candidates))[: max(1, round(share * len(candidates)))]
    return [{name: [value] for name, value in candidates[c].items()} for c in chosen], len(candidates) / len(
        chosen
    )


def grid_search(data, grid, cv, share, *, model=TREE, scoring=None):
    X, y = data
    options = {"cv": cv, "scoring": scoring}
    ours = seconds(lambda: crosscut.GridSearchCV(model, grid, n_jobs=1, **options).fit(X, y), 3)
    some, times = sampled(grid, share)
    candidates = seconds(lambda: scikit.GridSearchCV(model, some, refit=False, **options).fit(X, y))
    return ours, candidates * times + seconds(lambda: clone(model).fit(X, y))


def own_scorer(model, X, y):
    return model.score(X, y) - 0.001 * model.get_n_leaves()


def nested(data, grid, cv, share):
    """Outer and inner folds, and the final tree tuned on all rows, as nested_cross_validate returns it."""
    X, y = data
    ours = seconds(lambda: crosscut.nested_cross_validate(TREE, grid, X, y, cv=cv, n_jobs=1), 3)
    some, times = sampled(grid, share)
    search = scikit.GridSearchCV(TREE, some, cv=cv)
    inner = seconds(lambda: scikit.cross_validate(search, X, y, cv=cv))
    final = seconds(lambda: search.fit(X, y))
    return ours, (inner + final) * times


def cross_validation(data, cv):
    X, y = data
    ours = seconds(lambda: crosscut.cross_validate(TREE, X, y, cv=cv, n_jobs=1), 10)
    return ours, seconds(lambda: scikit.cross_validate(TREE, X, y, cv=cv), 3 if isinstance(cv, int) else 1)


def drop_in(name, data, share=1.0, **options):
    """One function of both; of ``n_permutations`` scikit-learn does only a share."""
    X, y = data
    ours = seconds(lambda: getattr(crosscut, name)(TREE, X, y, n_jobs=1, **options), 3)
    some = {key: max(1, round(share * n)) for key, n in options.items() if key == "n_permutations"}
    times = (1 + options["n_permutations"]) / (1 + some["n_permutations"]) if some else 1
    return ours, times * seconds(lambda: getattr(scikit, name)(TREE, X, y, **options | some))


def elimination(data, **options):
    X, y = data
    ours = seconds(lambda: crosscut.RFECV(TREE, n_jobs=1, **options).fit(X, y), 3)
    return ours, seconds(lambda: RFECV(TREE, **options).fit(X, y))


def scenarios(share):
    """Name of each scenario, the ratio asked for, and what measures it."""
    large, small = tree_like(20_000, 20, seed=0), tree_like(1_000, 10, seed=0)
    middle = tree_like(10_000, 20, seed=0)
    alphas = {"ccp_alpha": ALPHAS}
    of_step = {"decisiontreeclassifier__ccp_alpha": ALPHAS}
    return {
        "grid: 20 alphas, 10 folds, 20k x 20": (100, lambda: grid_search(large, alphas, 10, share(0.1))),
        "grid: 8 depths x 5 leaf sizes x 10 alphas, 5 folds, 20k x 20": (
            100,
            lambda: grid_search(large, GRID, 5, share(0.02)),
        ),
        "nested: 5 x 5 folds, 20 alphas, 20k x 20": (200, lambda: nested(large, alphas, 5, share(0.05))),
        "pipeline: scaler, 20 alphas, 5 folds, 20k x 20": (
            100,
            lambda: grid_search(large, of_step, 5, share(0.1), model=make_pipeline(StandardScaler(), TREE)),
        ),
        "pipeline: PCA, 20 alphas, 5 folds, 20k x 20": (
            10,
            lambda: grid_search(large, of_step, 5, share(0.1), model=make_pipeline(PCA(10), TREE)),
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
                small, alphas, 5, 1.0, model=crosscut.TreeClassifier(cv=None), scoring=own_scorer
            ),
        ),
        "learning curve: 5 sizes, 5 folds, 10k x 20": (
            5,
            lambda: drop_in("learning_curve", middle, cv=5, shuffle=True, random_state=0),
        ),
        "100 permutations, 5 folds, 10k x 20": (
            5,
            lambda: drop_in("permutation_test_score", middle, share(0.02), cv=5, n_permutations=100),
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
    parser.add_argument("names", nargs="*", metavar="NAME", help="only scenarios whose name has this part")
    parser.add_argument("--full", action="store_true", help="let scikit-learn do every candidate")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures here too")
    given = parser.parse_args()
    warnings.simplefilter("error", crosscut.DelegationWarning)
    found = {}
    print("| scenario | crosscut (s) | scikit-learn (s) | ratio | asked for |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, (target, measure) in scenarios(lambda share: 1.0 if given.full else share).items():
        if given.names and not any(part in name for part in given.names):
            continue
        ours, theirs = measure()
        ratio = theirs / ours
        found[name] = {"crosscut": ours, "scikit-learn": theirs, "ratio": ratio, "asked for": target}
        print(f"| {name} | {ours:.4f} | {theirs:.3f} | {ratio:.0f} | {target} |", flush=True)
    if given.json:
        given.json.write_text(json.dumps({"full": given.full, "cpu_seconds": found}, indent=1) + "\n")
    sys.exit(any(row["ratio"] < row["asked for"] for row in found.values()))


if __name__ == "__main__":
    main()
