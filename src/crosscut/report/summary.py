"""Summarize a fit and its cross-validation as a plain dict of numbers, text and lists."""

from __future__ import annotations

import datetime as dt
import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

import crosscut
from crosscut.forest.cost import cost_report
from crosscut.report.columns import column_table
from crosscut.report.stability import stability
from crosscut.statistics.conformal import coverage
from crosscut.statistics.sentences import LEVEL, cost_sentence, performance, pruning_data
from crosscut.training.fit import fit_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.training.fit import Fit, Fitted

FORMAT = 1  # of the dict; it changes if a key is removed or changes its meaning
MAX_CLASSES = 30  # of a confusion matrix; with more classes only totals are shown


def summarize(model: Fitted | Fit, *, target: str | None = None) -> dict[str, Any]:
    """Summarize a fitted tree and its cross-validation.

    Parameters
    ----------
    model : TreeClassifier, TreeRegressor or their Fit
        Without cross-validation (``cv=None``) only the tree itself is described.
    target : str, optional
        Name of the target; by default the fit's.

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
    (4, 10, 0.05)
    """
    fit = fit_of(model)
    tree = fit.final
    summary = about(fit, target)
    summary["data"], summary["notes"] = _data(fit), list(fit.notes)
    summary["tree"] = {"leaves": tree.n_leaves, "depth": tree.max_depth, "nodes": len(tree)}
    if fit.validation is None:
        return summary
    summary |= held_out(fit)
    summary["cv"]["leaves_by_fold"] = [each.n_leaves for each in fit.folds]
    summary["coverage"] = _coverage(fit)
    summary["pruning"] = pruning_data(fit.pruning_table, fit.settings["prune"])
    summary["stability"] = stability(fit)
    summary["cost"] = _cost(fit)
    return summary


def about(fit: Fit, target: str | None = None) -> dict[str, Any]:
    """Return the general part of the summary: versions, target, classes and settings."""
    return {
        "format": FORMAT,
        "crosscut": crosscut.__version__,
        "date": f"{dt.datetime.now().astimezone():%Y-%m-%d}",
        "kind": fit.kind,
        "target": target or fit.target,
        "classes": None if fit.classes is None else [plain(c) for c in fit.classes],
        "settings": _settings(fit),
        "code": _code(fit),
    }


def held_out(fit: Fit, row: str = "row") -> dict[str, Any]:
    """Return the part of the summary about held-out rows, which are called ``row``."""
    cv = fit.validated("report()")
    summary = {"answer": performance(cv, row), "cv": errors(fit)}
    if fit.classes is None:
        return summary | {"residuals": residual_facts(cv.y[cv.rows] - cv.decided)}
    return summary | {"confusion": confusion_facts(cv.confusion)}


def plain(value: object) -> bool | float | str | None:
    """Convert a NumPy scalar to Python's type, and other objects that JSON lacks to text."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _settings(fit: Fit) -> dict[str, Any]:
    """Return the parameters of a model, with splitters and functions as text."""
    return {
        name: plain(value.tolist() if isinstance(value, np.ndarray) else value)
        for name, value in sorted(fit.settings.items())
    }


def _code(fit: Fit) -> str:
    """Return Python code that fits the same model; relational models take a bias and a database."""
    settings = {name: value for name, value in _settings(fit).items() if value is not None}
    settings.pop("bias", None)  # an object, as the database is
    relational = "bias" in fit.settings
    if relational and not isinstance(fit.settings["cv"], int | str | None):
        settings["cv"] = "list(folds)"
    arguments = ["bias"] if relational else []
    arguments += [
        f"{key}={value if {'(', '[', '{'} & set(str(value)) else repr(value)}"
        for key, value in settings.items()
    ]
    lines = "".join(f"    {argument},\n" for argument in arguments)
    name = fit.learner
    package, data = ("crosscut_relational", "database") if relational else ("crosscut", "X, y")
    return f"from {package} import {name}\n\nmodel = {name}(\n{lines}).fit({data})"


def _data(fit: Fit) -> dict[str, Any]:
    root = fit.final.value[0]
    return {
        "rows": int(fit.final.n_rows[0]),
        "class_weights": None if fit.classes is None else root.tolist(),
        "mean": float(root[0]) if fit.classes is None else None,
        "columns": column_table(fit),
    }


def errors(fit: Fit) -> dict[str, Any]:
    """Return the error rate or root mean squared error of each fold and of all rows."""
    cv = fit.validated("summarize()")
    parts = [cv.losses[begin:end] for begin, end in pairwise(cv.row_start[1:])]
    by_fold = np.array([part.mean() if len(part) else np.nan for part in parts])
    error = cv.error
    if cv.classes is None:
        by_fold, error = np.sqrt(by_fold), error.root
    return {
        "folds": len(by_fold),
        "measure": "root mean squared error" if cv.classes is None else "error rate",
        "error": error.value,
        "standard_error": error.standard_error,
        "error_by_fold": [float(v) for v in by_fold],
        "rows_by_fold": [len(part) for part in parts],
        "scoring": _measure(fit),
        "score": cv.score if math.isfinite(cv.score) else None,
        "score_standard_error": cv.standard_error if math.isfinite(cv.standard_error) else None,
    }


def _coverage(fit: Fit) -> dict[str, float] | None:
    """Return the coverage of prediction intervals or sets; None if rows are held out more than once."""
    cv = fit.validated("summarize()")
    once = cv.times_held_out.max(initial=0) <= 1
    return {"level": LEVEL, "share": coverage(cv, LEVEL)} if once else None


def _measure(fit: Fit) -> str:
    """Return the name of the score in ``cv_scores_``."""
    scoring = fit.settings.get("scoring")
    if scoring is None:
        return "R²" if fit.classes is None else "accuracy"
    return scoring if isinstance(scoring, str) else "score"


def confusion_facts(matrix: NDArray[np.int64]) -> dict[str, Any]:
    """Return a confusion matrix, unless it is very large, and the recall of each class."""
    by_class = np.diag(matrix) / np.maximum(matrix.sum(axis=1), 1)
    return {
        "matrix": matrix.tolist() if len(matrix) <= MAX_CLASSES else None,
        "recall": [float(v) for v in by_class],
        "right": int(np.trace(matrix)),
        "rows": int(matrix.sum()),
    }


def residual_facts(residual: NDArray[np.float64]) -> dict[str, float]:
    """Return quartiles and means of residuals."""
    low, lower, middle, upper, high = np.quantile(residual, [0, 0.25, 0.5, 0.75, 1])
    return {
        "minimum": float(low),
        "lower_quartile": float(lower),
        "median": float(middle),
        "upper_quartile": float(upper),
        "maximum": float(high),
        "mean_absolute": float(np.abs(residual).mean()),
        "root_mean_square": float(np.sqrt(np.mean(residual**2))),
    }


def _cost(fit: Fit) -> dict[str, Any]:
    cost = cost_report(fit.grown, len(fit.schema))
    speedup = cost.actual_speedup if math.isfinite(cost.actual_speedup) else None
    balanced = fit.settings.get("class_weight") == "balanced"
    seconds = cost.seconds if math.isfinite(cost.seconds) else None
    work = fit.forest.work or {}
    return {
        "words": cost_sentence(cost, one_by_one=balanced and fit.settings.get("criterion") != "gini"),
        "trees": cost.n + 1,
        "grow_seconds": seconds,
        "serial_seconds": seconds * speedup if seconds is not None and speedup is not None else None,
        "speedup_in_rows": speedup,
        "speedup_by_paper": cost.predicted_speedup,
        "seconds_by_level": [float(s) for s in work.get("seconds", ())],
        "rows_by_level": [int(n) for n in work.get("rows", ())],
    }
