"""HTML pages with everything they need inside: filled from plain data, written as a whole or not at all."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.data.array_file import replace_text
from crosscut.forest.export.text import counted, fold_label, number
from crosscut.report import charts
from crosscut.report.drawing import N_COLOURS, class_colours
from crosscut.report.evidence import calibration, most_wrong, predictions, ranking
from crosscut.statistics import sentences

if TYPE_CHECKING:
    from os import PathLike

    from jinja2 import Template

    from crosscut.training.fit import Fit


def write_page(
    path: str | PathLike[str],
    template: str,
    fit: Fit,
    summary: dict[str, Any],
    *,
    package: str = "crosscut.report",
    **more: Any,
) -> None:
    """Fill a template that lies in a package, and write the page.

    Parameters
    ----------
    path : path
        The file to write.
    template : str
        Name of the template, which extends ``base.html``.
    fit : Fit
        What held-out rows show is drawn from it, if it has any.
    summary : dict
        What `about` and `held_out` say, and what only this kind of page has.
    package : str
        Where the template lies.
    **more
        What the page shows besides.
    """
    seen = {} if fit.validation is None else _evidence(fit, summary)
    filled = {"file": None, "notes": []} | summary | seen | more
    html = _template(template, package).render(**filled, page=filled)
    replace_text(path, html)


def _evidence(fit: Fit, summary: dict[str, Any]) -> dict[str, Any]:
    """Return what every kind of page shows of held-out rows."""
    validation, cv, said = fit.validated("report()"), summary["cv"], summary["answer"]
    seen: dict[str, Any] = {
        "fold_chart": charts.fold_chart(cv["error_by_fold"], cv["measure"], cv["error"]),
        "wrong": most_wrong(validation),
    }
    if said["low"] is not None:
        guess = said["baseline"] if fit.classes is not None else 0.0
        seen["gauge"] = charts.gauge(said["score"], said["low"], said["high"], guess)
    if fit.classes is None:
        seen["scatter"] = charts.scatter_chart(predictions(validation), "answer", "truth")
        return seen
    colours = class_colours(np.bincount(validation.y, minlength=fit.n_classes))
    curves = ranking(fit)
    own = [(str(name), c) for name, c in zip(fit.known_classes, colours, strict=True) if c < N_COLOURS - 1]
    seen |= {
        "class_colours": own + [("others", N_COLOURS - 1)] * (len(own) < fit.n_classes),
        "curves": [each | {"colour": colours[each["code"]]} for each in curves],
    }
    for key, title, x, y in (
        ("roc", "ROC curve", "false alarms", "found (recall)"),
        ("precision_recall", "Precision and recall", "found (recall)", "precision"),
    ):
        drawn = [(colours[each["code"]], each[key]) for each in curves]
        seen[f"{key}_chart"] = charts.curve_chart(drawn, title, x, y) if drawn else None
    seen["calibration_chart"] = charts.calibration_chart(calibration(validation))
    return seen


def page_part(name: str, package: str = "crosscut.report") -> str:
    """Return a file that pages are made of."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def script_data(data: object) -> str:
    """Return plain data as JSON in which no "<" can end the script element that holds it."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def first_lines(text: str, max_lines: int) -> str:
    """Return the first lines of a text, and how many are left out."""
    lines = text.splitlines()
    left = len(lines) - max_lines
    return "\n".join(lines[:max_lines]) + (f"\n… {counted(left, 'more line')}" if left > 0 else "")


def _template(name: str, package: str) -> Template:
    """Return a template; what is filled in is escaped."""
    from jinja2 import Environment, FunctionLoader

    environment = Environment(
        loader=FunctionLoader(page_part), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "number": number,
        "percent": _percent,
        "counted": counted,
        "folds": fold_label,
        "day": _day,
    }
    environment.globals |= {"style": page_part("page.css"), "terms": sentences.TERMS, "sentences": sentences}
    return environment.from_string(page_part(name, package))


def _percent(value: float, decimals: int = 0) -> str:
    return f"{100 * value:.{decimals}f}%"


def _day(date: str) -> str:
    """Return an ISO date as people write it.

    Examples
    --------
    >>> _day("2026-11-06")
    '6 November 2026'
    """
    import datetime as dt

    day = dt.date.fromisoformat(date)
    return f"{day.day} {day:%B %Y}"
