"""One HTML page about a relational tree and its cross-validation, with everything it needs inside."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import crosscut
from crosscut.relational.language.terms import term_text
from crosscut.relational.queries.printing import legend, query_text
from crosscut.report.charts import fold_chart, level_chart
from crosscut.report.html import page_template

if TYPE_CHECKING:
    from os import PathLike

    from crosscut.training.fit import Fit

MAX_LINES = 400  # of the tree; beyond that the page says how many are left out


def summarize(fit: Fit) -> dict[str, Any]:
    """Return what a reader wants to know about a fit, as dicts, lists, text and numbers.

    Examples
    --------
    >>> from crosscut import RelationalTreeClassifier, datasets
    >>> database, bias = datasets.bongard("simple", n=100)
    >>> summary = summarize(RelationalTreeClassifier(bias, cv=5).fit(database).fit_)
    >>> summary["target"], summary["tree"]["leaves"], summary["cv"]["folds"]
    ('bongard', 4, 5)
    """
    tree, cv = fit.final, fit.validation
    summary: dict[str, Any] = {
        "crosscut": crosscut.__version__,
        "task": fit.kind,
        "target": fit.target,
        "classes": [term_text(name) for name in tree.classes],
        "examples": tree.n_examples,
        "tree": {
            "leaves": tree.n_leaves,
            "tests": tree.n_nodes,
            "literals": tree.n_literals,
            "depth": tree.depth,
        },
        "tables": legend(tree.goals, fit.schema),
        "text": str(tree),
        "prolog": tree.to_prolog(),
        "cv": None,
        "levels": [
            {"bundles": level.bundles, "nodes": level.nodes, "tests": level.tests, "f": level.f}
            for level in fit.grown.levels
            if level.bundles
        ],
        "settings": {
            name: value
            for name, value in vars(fit.grown.settings).items()
            if isinstance(value, bool | int | float | str)
        },
    }
    if cv is not None:
        summary["cv"] = {
            "measure": "R²" if fit.classes is None else "accuracy",
            "folds": len(cv.scores),
            "score": cv.score,
            "standard_error": cv.standard_error,
            "score_by_fold": cv.scores.tolist(),
            "examples_by_fold": cv.rows_by_fold.tolist(),
            "leaves_by_fold": [each.n_leaves for each in fit.folds],
            "first_tests": _first_tests(fit),
        }
        if fit.classes is not None:
            summary["confusion"] = cv.confusion.tolist()
    return summary


def _first_tests(fit: Fit) -> list[list[Any]]:
    """Return the first tests of all trees and how many trees have each, the most frequent first."""
    counts = Counter(query_text(tree.root.test, fit.schema) or "no test" for tree in fit.forest)
    return [list(item) for item in counts.most_common()]


def write_report(fit: Fit, path: str | PathLike[str]) -> None:
    """Write the report on a fit to an HTML file that needs no other file and no network."""
    Path(path).write_text(report_html(summarize(fit)), encoding="utf-8")


def report_html(summary: dict[str, Any]) -> str:
    """Fill the page's template from plain data."""
    lines = summary["text"].splitlines()
    left = len(lines) - MAX_LINES
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
        tree_text="\n".join(lines[:MAX_LINES]) + (f"\n… {left} more lines" if left > 0 else ""),
        charts=charts,
    )
