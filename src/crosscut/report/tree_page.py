"""One HTML page about a fitted tree, with the forest of all folds to look around in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crosscut.forest.text import export_text
from crosscut.report.charts import level_chart, pruning_chart
from crosscut.report.page import first_lines, page_part, write_page
from crosscut.report.shared_nodes import shared_nodes
from crosscut.report.summary import summarize
from crosscut.training.fit import fit_of

if TYPE_CHECKING:
    from os import PathLike

MAX_LINES = 80  # of the tree as text


def write_report(
    model: Any,
    path: str | PathLike[str],
    *,
    target: str | None = None,
    summary: dict[str, Any] | None = None,
) -> None:
    """Write the report on a model fitted with cross-validation to an HTML file.

    Parameters
    ----------
    model : TreeClassifier, TreeRegressor or their Fit
        Fitted with cross-validation.
    path : path
        The file to write; it needs no other file and no network.
    target : str, optional
        Name of what is predicted, if not the one that the fit has.
    summary : dict, optional
        What `summarize` said of the same fit, if that is known already.
    """
    fit = fit_of(model)
    fit.validated("report()")
    if summary is None:
        summary = summarize(fit, target=target)
    forest = shared_nodes(fit)
    columns, seconds = summary["data"]["columns"], summary["cost"]["seconds_by_level"]
    error = "error rate" if fit.kind == "classification" else "mean squared error"
    write_page(
        path,
        "tree.html",
        summary,
        script=page_part("page.js"),
        # no "<" can end the script element that holds the data
        forest=json.dumps(forest, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        left_out=forest["left_out"],
        tree_text=first_lines(export_text(fit.final, fit.schema, fit.classes, decimals=4), MAX_LINES),
        counted=any(column["missing"] is not None for column in columns),
        most_important=max(column["importance"] for column in columns) or 1.0,
        charts={
            "pruning": pruning_chart(
                summary["pruning"], "mean cost" if summary["pruning"]["by"] == "loss" else error
            ),
            "stability": level_chart(
                summary["stability"]["f"], "Different tests per level", "f(i): different tests"
            ),
            "time": level_chart([1000 * s for s in seconds], "Time per level", "milliseconds"),
        },
    )
