"""One HTML page about a relational tree and its cross-validation, with everything it needs inside."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import crosscut
from crosscut.relational.language.terms import term_text
from crosscut.report.charts import fold_chart, level_chart
from crosscut.report.html import page_template

if TYPE_CHECKING:
    from os import PathLike

    from crosscut.relational.model_file.trees import RelationalModel

MOST_LINES = 400  # of the tree; beyond that the page says how many are left out


def summarize(model: RelationalModel) -> dict[str, Any]:
    """Return what a reader wants to know about a fitted model, as dicts, lists, text and numbers.

    Examples
    --------
    >>> from crosscut import RelationalTreeClassifier, datasets
    >>> database, bias = datasets.bongard("simple", n=100)
    >>> summary = summarize(RelationalTreeClassifier(bias, cv=5).fit(database))
    >>> summary["target"], summary["tree"]["leaves"], summary["cv"]["folds"]
    ('bongard', 4, 5)
    """
    tree, forest = model.tree_, model.forest_
    classify = bool(tree.classes)
    summary: dict[str, Any] = {
        "crosscut": crosscut.__version__,
        "task": "classification" if classify else "regression",
        "target": tree.signature.predicted,
        "classes": [term_text(name) for name in tree.classes],
        "examples": model.n_examples_,
        "tree": {
            "leaves": tree.n_leaves,
            "tests": tree.n_nodes,
            "literals": tree.n_literals,
            "depth": tree.depth,
        },
        "tables": model.legend(),
        "text": str(tree),
        "prolog": tree.to_prolog(),
        "cv": None,
        "levels": [
            {
                "bundles": level.bundles,
                "nodes": level.nodes,
                "tests": level.tests,
                "f": level.tests / level.bundles,
            }
            for level in forest.levels
            if level.bundles
        ],
        "settings": {
            name: value
            for name, value in vars(model.settings_).items()
            if isinstance(value, bool | int | float | str)
        },
    }
    if len(model.cv_scores_):
        summary["cv"] = {
            "measure": "accuracy" if classify else "R²",
            "folds": len(model.cv_scores_),
            "score": model.cv_score_,
            "standard_error": model.cv_standard_error_,
            "score_by_fold": model.cv_scores_.tolist(),
            "examples_by_fold": np.bincount(model.folds_[model.folds_ >= 0]).tolist(),
            "leaves_by_fold": [each.n_leaves for each in model.cv_trees_],
            "first_tests": _first_tests(model),
        }
        if classify:
            held = model.folds_ >= 0
            matrix = np.zeros((len(tree.classes),) * 2, np.int64)
            np.add.at(matrix, (model._target[held], forest.held_out[held].astype(np.int64)), 1)  # noqa: SLF001
            summary["confusion"] = matrix.tolist()
    return summary


def _first_tests(model: RelationalModel) -> list[list[Any]]:
    """Return the first tests of all trees and how many trees have each, the most frequent first."""
    counts: dict[str, int] = {}
    for tree in (model.tree_, *model.cv_trees_):
        lines = str(tree).splitlines()
        first = next((line for line in lines if line.rstrip().endswith("?")), "no test")
        text = first.strip().removesuffix("?").strip()
        counts[text] = counts.get(text, 0) + 1
    return [list(item) for item in sorted(counts.items(), key=lambda item: -item[1])]


def write_report(model: RelationalModel, path: str | PathLike[str]) -> None:
    """Write the report on a fitted model to an HTML file that needs no other file and no network."""
    Path(path).write_text(report_html(summarize(model)), encoding="utf-8")


def report_html(summary: dict[str, Any]) -> str:
    """Fill the page's template from plain data."""
    lines = summary["text"].splitlines()
    left = len(lines) - MOST_LINES
    cv, levels = summary["cv"], summary["levels"]
    charts = {
        "levels": level_chart(
            [level["f"] for level in levels], "Different tests per bundle", "f(i): different tests"
        )
    }
    if cv is not None:
        charts["folds"] = fold_chart(cv["score_by_fold"], cv["measure"], cv["score"])
    return page_template("report.html", "crosscut.relational").render(
        **summary,
        tree_text="\n".join(lines[:MOST_LINES]) + (f"\n… {left} more lines" if left > 0 else ""),
        charts=charts,
    )
