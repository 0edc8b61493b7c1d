"""How the cost of a cross-validated fit grows along one axis at a time: exponents, end ratios and memory.

    python benchmarks/cliffs.py [--only AXIS] [--json FILE]

Each axis changes one property of a generated table or of the tree. A cell is the whole `fit` of one of
crosscut's estimators (by default with cv=10) on one thread, beside one fit of scikit-learn's tree on the same
rows, with categories as ordinal codes. Each cell runs in a process of its own. The fastest of two or three
fits counts, in processor time. An exponent is the slope between the two ends of an axis on logarithmic
scales. Memory is the peak above the loaded data and libraries, divided by the size of the data as float64.
A cell that takes longer than the time limit has no figure.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import time
import warnings
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from crosscut import BaggedTrees, TreeClassifier, TreeRegressor
from machine import Machine
from tables import cliffs

SECONDS = 150  # time limit of a cell


@dataclass(frozen=True)
class Cell:
    """A generated table and a tree."""

    rows: int = 10_000
    columns: int = 10
    classes: int = 2  # 0: regression
    categories: int = 0  # of every column; 0: numbers
    zeros: float = 0.0  # fraction of zeros in every column
    decades: float = 0.0  # range of the targets of a regression
    folds: int = 10  # 1: only the final tree
    bags: int = 0  # trees of BaggedTrees; 0: a single tree with folds
    parameters: dict = field(default_factory=dict)  # of the tree
    splits: str = "binary"

    def table(self):
        """Return columns and target."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(self.rows, self.columns))
        score = X[:, 0] * (X[:, 1] > 0) + X[:, 2] + rng.normal(size=self.rows)
        if self.categories:
            X = rng.integers(0, self.categories, X.shape).astype(float)
            score += rng.normal(size=self.categories)[X[:, 0].astype(int)]
        X[rng.random(X.shape) < self.zeros] = 0
        if self.classes:
            return X, np.argsort(np.argsort(score)) * self.classes // self.rows
        return X, np.exp(score * self.decades * math.log(10) / 8) if self.decades else score

    def ours(self, X, y):
        """Return the fit of crosscut's estimator as a function."""
        data = X
        if self.categories:
            data = pl.DataFrame({f"c{j}": x.astype(int).astype(str) for j, x in enumerate(X.T)})
        learner = TreeClassifier if self.classes else TreeRegressor
        options = {"n_jobs": 1, **self.parameters}
        if self.splits != "binary":
            options["splits"] = self.splits
        cv = self.folds if self.folds <= 10 else KFold(self.folds, shuffle=True, random_state=0)
        if self.folds == 1:
            cv = None
        if self.bags:
            model = BaggedTrees(learner(**options), n_trees=self.bags, random_state=0)
        else:
            model = learner(cv=cv, **options)
        return lambda: model.fit(data, y)

    def theirs(self, X, y):
        """Return the fit of scikit-learn's tree as a function."""
        learner = DecisionTreeClassifier if self.classes else DecisionTreeRegressor
        model = learner(random_state=0, **self.parameters)
        return lambda: model.fit(X, y)


DEPTH = {"max_depth": 8}
# name: the property that changes, the cell, its values
AXES: dict[str, tuple[str, Cell, list]] = {
    "rows, classes": ("rows", Cell(columns=20, parameters=DEPTH), [10_000, 100_000]),
    "rows, regression, full depth": ("rows", Cell(classes=0), [5_000, 50_000]),
    "rows, leaves of 20": ("rows", Cell(parameters={"min_samples_leaf": 20}), [10_000, 100_000]),
    "columns": ("columns", Cell(rows=2_000), [2_000, 20_000]),
    "folds, depth 4": ("folds", Cell(columns=20, parameters={"max_depth": 4}), [1, 10, 100, 1_000, 10_000]),
    "folds, depth 8": ("folds", Cell(columns=20, parameters=DEPTH), [1, 10, 100, 1_000, 10_000]),
    "folds, full depth": ("folds", Cell(rows=5_000), [1, 10, 100, 1_000, 5_000]),
    "folds, entropy, depth 8": (
        "folds",
        Cell(columns=20, parameters=DEPTH | {"criterion": "entropy"}),
        [1, 10, 100, 1_000, 10_000],
    ),
    "classes, Gini, depth 8": ("classes", Cell(rows=20_000, parameters=DEPTH), [10, 1_000]),
    "classes, entropy, depth 8": (
        "classes",
        Cell(rows=20_000, parameters=DEPTH | {"criterion": "entropy"}),
        [10, 1_000],
    ),
    "classes, Gini, full depth": ("classes", Cell(rows=10_000), [10, 300]),
    "categories, two classes": ("categories", Cell(parameters=DEPTH), [10, 2_000]),
    "categories, three classes": ("categories", Cell(rows=20_000, classes=3, parameters=DEPTH), [10, 5_000]),
    "categories, regression, full depth": ("categories", Cell(rows=20_000, classes=0), [10, 5_000]),
    "categories, multiway": ("categories", Cell(rows=20_000, splits="multiway"), [10, 5_000]),
    "categories, weights, three classes": (
        "categories",
        Cell(rows=12_000, columns=6, classes=3, parameters={"class_weight": "balanced"}, folds=20),
        [5, 50],
    ),
    "range of targets in decades": ("decades", Cell(rows=2_000, columns=20, classes=0), [1, 18, 71]),
    "zeros, regression, full depth": ("zeros", Cell(classes=0), [0.01, 0.95]),
    "depth": ("max_depth", Cell(columns=20), [4, 20]),
    "bagged trees": ("bags", Cell(rows=5_000), [5, 50]),
    "bagged trees, leaves of 5": ("bags", Cell(rows=5_000, parameters={"min_samples_leaf": 5}), [5, 50]),
    "bagged trees, five classes": ("bags", Cell(rows=20_000, classes=5), [5, 50]),
}


def at(cell: Cell, name: str, value) -> Cell:
    """Return the cell with another value of one property."""
    if name == "max_depth":
        return replace(cell, parameters=cell.parameters | {"max_depth": value})
    return replace(cell, **{name: value})


def _memory(what: str) -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) * 1024 for line in status.split("\n") if line.startswith(what))


def _measure(cell: Cell, which: str, connection) -> None:
    warnings.simplefilter("ignore")
    small = replace(
        cell,
        rows=50,
        columns=3,
        classes=min(cell.classes, 3),
        folds=min(cell.folds, 2),
        bags=min(cell.bags, 2),
    )
    getattr(small, which)(*small.table())()  # imports what a fit needs
    X, y = cell.table()
    job = getattr(cell, which)(X, y)
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # resets the peak of the memory
    loaded, seconds = _memory("VmRSS"), []
    while len(seconds) < 2 or (len(seconds) < 3 and sum(seconds) < 5):
        start = time.process_time()
        result = job()
        seconds.append(time.process_time() - start)
        if len(seconds) == 1:
            memory = (_memory("VmHWM") - loaded) / (X.nbytes + y.nbytes)
        del result
    connection.send((min(seconds), memory))


def measure(cell: Cell, which: str) -> tuple[float, float]:
    """Return seconds and memory of a cell; infinite if it took longer than the time limit."""
    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_measure, args=(cell, which, there))
    process.start()
    there.close()
    try:
        result = here.recv() if here.poll(SECONDS) else (math.inf, math.inf)
    except EOFError:  # for example out of memory
        result = math.inf, math.inf
    process.kill()
    process.join()
    return result


def slope(values: list, seconds: list[float]) -> float:
    """Return the exponent between the ends of an axis."""
    return math.log(seconds[-1] / seconds[0]) / math.log(values[-1] / values[0])


def run(only: str | None) -> list[dict]:
    """Measure all axes and print them."""
    rows = []
    for axis, (name, cell, values) in AXES.items():
        if only and only not in axis:
            continue
        ours, theirs = (
            [measure(at(cell, name, value), which) for value in values] for which in ("ours", "theirs")
        )
        seconds, others = [s for s, _ in ours], [s for s, _ in theirs]
        row = {
            "axis": axis,
            "cell": asdict(cell),
            "values": values,
            "seconds": seconds,
            "scikit-learn": others,
            "ratio": [a / b for a, b in zip(seconds, others, strict=True)],
            "exponent": slope(values, seconds),
            "exponent of scikit-learn": slope(values, others),
            "memory": ours[-1][1],
        }
        rows.append(row)
        print(f"{axis}: ratios {', '.join(f'{ratio:.2f}' for ratio in row['ratio'])}", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", help="run only the axes whose names contain this")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    args = parser.parse_args()
    record = {"machine": Machine.here().as_dict(), "n_jobs": 1, "quick": False, "rows": run(args.only)}
    print(f"\n{cliffs(record)}")
    if args.json:
        args.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
