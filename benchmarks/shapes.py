"""Compare model selection with scikit-learn's over tables of many shapes: crosscut should never be slower.

    python benchmarks/shapes.py [--shape NAME] [--repeats N]

Prints one line per shape: the processor time of scikit-learn's ``cross_val_score`` (or ``GridSearchCV``)
divided by crosscut's, on one thread. Repetitions take turns and the fastest counts.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import model_selection as scikit
from sklearn.metrics import accuracy_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import crosscut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GRID = {"max_depth": [2, 4, 8, None], "min_samples_leaf": [1, 5, 20]}


@dataclass(frozen=True)
class Shape:
    """A table and the call that is timed."""

    name: str
    rows: int
    columns: int
    classes: int = 2  # 0: numbers
    scoring: Any = None
    train: int = 0  # rows of each training set; 0: five folds
    grid: bool = False
    class_weight: str | None = None


def callable_scorer(model: Any, X: Any, y: Any) -> float:
    """Score a fitted model, like a scorer written by a user."""
    return float(accuracy_score(y, model.predict(X)))


SHAPES = [
    *(Shape(f"{k} classes", 4000, 10, k) for k in (2, 10, 100, 500, 1000)),
    *(Shape(f"{n} rows", n, 10) for n in (20, 200, 2000, 20_000, 200_000)),
    *(Shape(f"{n} rows, numbers", n, 10, 0) for n in (20, 2000, 20_000)),
    *(Shape(f"{k} columns", 1000, k) for k in (1, 20, 200, 2000)),
    Shape("200 training rows of 200,000", 200_000, 20, train=200),
    *(Shape(f"scoring {name}", 5000, 10, scoring=name) for name in ("f1", "roc_auc", "neg_log_loss")),
    Shape("callable scorer", 5000, 10, scoring=callable_scorer),
    Shape("balanced classes", 5000, 10, class_weight="balanced"),
    Shape("grid of 12", 5000, 10, grid=True),
    Shape("grid of 12, callable scorer", 5000, 10, scoring=callable_scorer, grid=True),
    Shape("grid of 12, 1000 classes", 4000, 10, 1000, grid=True),
]


def make(shape: Shape) -> tuple[Any, Any, Any, Any]:
    """Return the tree, the rows, the target and the splits."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(shape.rows, shape.columns))
    signal = X[:, 0] + np.sin(3 * X[:, -1]) + 0.5 * rng.normal(size=shape.rows)
    if not shape.classes:
        return DecisionTreeRegressor(random_state=0), X, signal, scikit.KFold(5)
    y = np.searchsorted(np.quantile(signal, np.arange(1, shape.classes) / shape.classes), signal)
    cv = scikit.KFold(5, shuffle=True, random_state=0)
    if shape.train:
        cv = scikit.ShuffleSplit(5, train_size=shape.train, test_size=shape.train, random_state=0)
    return DecisionTreeClassifier(random_state=0, class_weight=shape.class_weight), X, y, cv


def calls(shape: Shape) -> dict[str, Callable[[], object]]:
    """Return the same call of scikit-learn and of crosscut."""
    tree, X, y, cv = make(shape)
    modules = {"scikit-learn": scikit, "crosscut": crosscut}
    if shape.grid:
        return {
            name: lambda module=module: module.GridSearchCV(
                tree, GRID, cv=cv, scoring=shape.scoring, refit=False
            ).fit(X, y)
            for name, module in modules.items()
        }
    return {
        name: lambda module=module: module.cross_val_score(tree, X, y, cv=cv, scoring=shape.scoring)
        for name, module in modules.items()
    }


def measure(shape: Shape, repeats: int) -> dict[str, float]:
    """Return the least processor time of each library."""
    functions = calls(shape)
    best = dict.fromkeys(functions, np.inf)
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.process_time()
            function()
            best[name] = min(best[name], time.process_time() - start)
    return best


def lines(shapes: list[Shape], repeats: int) -> Iterator[str]:
    """Yield the table, as Markdown."""
    yield "| shape | scikit-learn, s | crosscut, s | ratio |"
    yield "| --- | ---: | ---: | ---: |"
    for shape in shapes:
        seconds = measure(shape, repeats)
        theirs, ours = seconds["scikit-learn"], seconds["crosscut"]
        yield f"| {shape.name} | {theirs:.4f} | {ours:.4f} | {theirs / ours:.1f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shape", help="part of a name; by default all")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    for line in lines([s for s in SHAPES if (options.shape or "") in s.name], options.repeats):
        print(line, flush=True)


if __name__ == "__main__":
    main()
