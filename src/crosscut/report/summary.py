"""Everything a reader wants to know about a fitted tree, as a plain dict of numbers, text and lists."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import crosscut
from crosscut.report.stability import stability

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.estimators.cross_validated_tree import CrossValidatedTree
    from crosscut.forest.pruning_table import PruningTable

MOST_CLASSES = 30  # of a confusion matrix; beyond that only the totals are given


def summarize(model: CrossValidatedTree, *, target: str = "target") -> dict[str, Any]:
    """Summarize a fitted tree and its cross-validation.

    Parameters
    ----------
    model : TreeClassifier or TreeRegressor
        Fitted; without cross-validation (``cv=None``) only the tree itself is described.
    target : str
        Name of what is predicted.

    Returns
    -------
    dict
        Only dicts, lists, text, numbers, booleans and None, so that ``json.dumps`` writes it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from crosscut import TreeClassifier
    >>> model = TreeClassifier(prune="1se").fit(*load_iris(return_X_y=True))
    >>> summary = summarize(model, target="species")
    >>> summary["tree"]["leaves"], summary["cv"]["folds"], round(summary["cv"]["error"], 2)
    (3, 10, 0.05)
    """
    tree = model.tree_
    classes = model._classes()  # noqa: SLF001, one package
    summary: dict[str, Any] = {
        "crosscut": crosscut.__version__,
        "task": "regression" if classes is None else "classification",
        "target": target,
        "classes": None if classes is None else [plain(c) for c in classes],
        "data": _data(model),
        "settings": settings(model),
        "tree": {"leaves": tree.n_leaves, "depth": tree.max_depth, "nodes": len(tree)},
    }
    if model._cv is None:  # noqa: SLF001
        return summary
    summary["cv"] = errors(model)
    summary["pruning"] = _pruning(model.pruning_table_, model.prune)
    if classes is None:
        summary["residuals"] = _residuals(model)
    else:
        summary["confusion"] = _confusion(model)
    summary["stability"] = stability(model)
    summary["cost"] = _cost(model)
    return summary


def plain(value: Any) -> Any:
    """Return a NumPy scalar as Python's; what JSON cannot write as text."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def settings(model: Any) -> dict[str, Any]:
    """Return the parameters of a model, with splitters and functions as text."""
    return {name: plain(value) for name, value in sorted(model.get_params(deep=False).items())}


def _data(model: CrossValidatedTree) -> dict[str, Any]:
    schema, importance = model._schema, model.feature_importances_  # noqa: SLF001
    missing = model._n_missing  # noqa: SLF001
    classes = model._classes()  # noqa: SLF001
    used = np.unique(np.concatenate([tree.feature for tree in model.forest_.trees]))
    return {
        "rows": int(model.tree_.n_rows[0]),
        "class_weights": None if classes is None else model.tree_.value[0].tolist(),
        "mean": float(model.tree_.value[0, 0]) if classes is None else None,
        "columns": [
            {
                "name": name,
                "kind": kind,
                "categories": len(categories) if kind == "nominal" else None,
                "missing": None if missing is None else int(missing[f]),
                "importance": float(importance[f]),
                "used": bool(f in used),
            }
            for f, (name, kind, categories) in enumerate(
                zip(schema.names, schema.kinds, schema.categories, strict=True)
            )
        ],
    }


def errors(model: CrossValidatedTree) -> dict[str, Any]:
    """Return the error of each fold and of all: a rate of wrong classes, or a root of mean squares."""
    cv = model._cross_validation("summarize()")  # noqa: SLF001
    held_out, packed = cv.held_out, cv.forest.packed
    y = cv.y[held_out.rows]
    if cv.classes is None:
        loss = (y - packed.value[cv.node, 0]) ** 2
    else:
        loss = (packed.value.argmax(axis=1)[cv.node] != y).astype(float)
    parts = [loss[held_out.of(task)] for task in range(1, len(cv.forest))]
    by_fold = np.array([part.mean() if len(part) else np.nan for part in parts])
    if cv.classes is None:
        by_fold = np.sqrt(by_fold)
    n_folds = len(by_fold)
    return {
        "folds": n_folds,
        "measure": "root mean squared error" if cv.classes is None else "error rate",
        "error": float(np.nanmean(by_fold)),
        "standard_error": float(np.nanstd(by_fold, ddof=1) / math.sqrt(n_folds)),
        "error_by_fold": [float(v) for v in by_fold],
        "rows_by_fold": [len(part) for part in parts],
        "leaves_by_fold": [tree.n_leaves for tree in cv.forest.trees[1:]],
        "scoring": _measure(model),
        "score": model.cv_score_ if math.isfinite(model.cv_score_) else None,
        "score_standard_error": model.cv_standard_error_ if math.isfinite(model.cv_standard_error_) else None,
    }


def _measure(model: CrossValidatedTree) -> str:
    """Name what ``cv_scores_`` measure."""
    if model.scoring is None:
        return "R²" if model._classes() is None else "accuracy"  # noqa: SLF001
    return model.scoring if isinstance(model.scoring, str) else "score"


def _pruning(table: PruningTable, rule: str | None) -> dict[str, Any]:
    chosen = table.choose("1se" if rule == "1se" else "best") if rule in {"best", "1se"} else 0
    columns = ("alpha", "n_leaves", "train_error", "cv_error", "standard_error")
    return {
        "rule": rule if rule in {"best", "1se"} else None,
        "chosen": chosen,
        "best": table.choose("best"),
        "1se": table.choose("1se"),
        **{name: [plain(v) for v in getattr(table, name)] for name in columns},
    }


def confusion(model: CrossValidatedTree) -> NDArray[np.int64]:
    """Return how many held-out rows of each class (lines) its tree gave which class (columns)."""
    cv = model._cross_validation("summarize()")  # noqa: SLF001
    assert cv.classes is not None
    n_classes = len(cv.classes)
    actual = cv.y[cv.held_out.rows]
    given = cv.forest.packed.value.argmax(axis=1)[cv.node]
    counts = np.bincount(actual * n_classes + given, minlength=n_classes**2)
    return np.asarray(counts, dtype=np.int64).reshape(n_classes, n_classes)


def _confusion(model: CrossValidatedTree) -> dict[str, Any]:
    matrix = confusion(model)
    found = np.diag(matrix) / np.maximum(matrix.sum(axis=1), 1)
    return {
        "matrix": matrix.tolist() if len(matrix) <= MOST_CLASSES else None,
        "recall": [float(v) for v in found],
        "right": int(np.trace(matrix)),
        "rows": int(matrix.sum()),
    }


def _residuals(model: CrossValidatedTree) -> dict[str, Any]:
    cv = model._cross_validation("summarize()")  # noqa: SLF001
    residual = cv.y[cv.held_out.rows] - cv.forest.packed.value[cv.node, 0]
    low, quarter, middle, three_quarters, high = np.quantile(residual, [0, 0.25, 0.5, 0.75, 1])
    return {
        "least": float(low),
        "quarter": float(quarter),
        "median": float(middle),
        "three_quarters": float(three_quarters),
        "most": float(high),
        "mean_absolute": float(np.abs(residual).mean()),
        "root_mean_square": float(np.sqrt(np.mean(residual**2))),
    }


def _cost(model: CrossValidatedTree) -> dict[str, Any]:
    cost = model.explain_cost()
    speedup = cost.actual_speedup if math.isfinite(cost.actual_speedup) else None
    seconds = cost.seconds if math.isfinite(cost.seconds) else None
    levels = model.forest_.levels or {}
    return {
        "trees": cost.n + 1,
        "grow_seconds": seconds,
        "serial_seconds": seconds * speedup if seconds is not None and speedup is not None else None,
        "speedup_in_rows": speedup,
        "speedup_by_paper": cost.predicted_speedup,
        "seconds_by_level": [float(s) for s in levels.get("seconds", ())],
        "rows_by_level": [int(n) for n in levels.get("rows", ())],
    }
