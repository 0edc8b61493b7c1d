"""One HTML page about a fitted tree, with everything it needs inside."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crosscut.forest.labels import counted, fold_label, number
from crosscut.forest.text import export_text
from crosscut.report.charts import fold_chart, level_chart, pruning_chart
from crosscut.report.shared_nodes import shared_nodes
from crosscut.report.summary import summarize
from crosscut.training.fit import fit_of

if TYPE_CHECKING:
    from os import PathLike

    from jinja2 import Template


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
    text = export_text(fit.final, fit.schema, fit.classes, decimals=4)
    Path(path).write_text(report_html(fit.learner, summary, shared_nodes(fit), text), encoding="utf-8")


def report_html(learner: str, summary: dict[str, Any], forest: dict[str, Any], text: str) -> str:
    """Fill the page's template from plain data."""
    template = page_template("page.html")
    lines = text.splitlines()
    classify = summary["kind"] == "classification"
    cv, stability = summary["cv"], summary["stability"]
    return template.render(
        **summary,
        script=page_part("page.js"),
        # no "<" can end the script element that holds the data
        forest=json.dumps(forest, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        n_forest=len(forest["nodes"]),
        left_out=forest["left_out"],
        tree_text="\n".join(lines[:80]) + (f"\n… {len(lines) - 80} more lines" if len(lines) > 80 else ""),
        code=fitting_code(learner, summary["settings"]),
        counted=any(column["missing"] is not None for column in summary["data"]["columns"]),
        most_important=max(column["importance"] for column in summary["data"]["columns"]) or 1.0,
        charts={
            "pruning": pruning_chart(summary["pruning"], "error rate" if classify else "mean squared error"),
            "folds": fold_chart(cv["error_by_fold"], cv["measure"], cv["error"]),
            "stability": level_chart(stability["f"], "Different tests per level", "f(i): different tests"),
            "time": level_chart(
                [1000 * s for s in summary["cost"]["seconds_by_level"]], "Time per level", "milliseconds"
            ),
        },
    )


def _percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def page_part(name: str, package: str = "crosscut.report") -> str:
    """Return a file that pages are made of."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def page_template(name: str, package: str = "crosscut.report") -> Template:
    """Return the template of a page that lies in a package; what is filled in is escaped."""
    from jinja2 import Environment, FunctionLoader

    environment = Environment(
        loader=FunctionLoader(page_part), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "number": number,
        "percent": _percent,
        "counted": counted,
        "folds": fold_label,
    }
    environment.globals["style"] = page_part("page.css")
    return environment.from_string(page_part(name, package))


def fitting_code(name: str, settings: dict[str, Any], *, first: str = "", data: str = "X, y") -> str:
    """Return the lines of Python that fit the same model; ``first`` is its argument without a name."""
    given = [first] if first else []
    given += [
        f"{key}={value if '(' in str(value) else repr(value)}"
        for key, value in settings.items()
        if value is not None
    ]
    lines = "".join(f"    {argument},\n" for argument in given)
    return f"from crosscut import {name}\n\nmodel = {name}(\n{lines}).fit({data})"
