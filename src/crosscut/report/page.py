"""Write self-contained HTML pages from templates and plain data."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
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
    **more: object,
) -> None:
    """Fill a template, which extends ``base.html``, and write the page, completely or not at all.

    Results on held-out rows are drawn from ``fit``, if it has any. ``summary`` holds the results of `about`
    and `held_out`, and what only this kind of page has; ``more`` are further values for the template.
    """
    check_ending(path)
    evidence = {} if fit.validation is None else _evidence(fit, summary)
    values = {"file": None, "command": None, "notes": []} | summary | evidence | more
    replace_text(path, _template(template, package).render(**values, page=values))


def check_ending(path: str | PathLike[str]) -> None:
    """Refuse endings of other formats, such as .pdf: the file would hold HTML all the same."""
    name = Path(path)
    if name.suffix.lower() not in {"", ".html", ".htm"}:
        raise ValueError(
            f"reports are HTML, so {name.name!r} needs the suffix .html; try "
            f"{name.with_suffix('.html').name}, which "
            "a browser can print as PDF"
        )


def _evidence(fit: Fit, summary: dict[str, Any]) -> dict[str, Any]:
    """Return charts and tables of the held-out rows, which every kind of page shows."""
    validation, cv, answer = fit.validated("report()"), summary["cv"], summary["answer"]
    evidence: dict[str, Any] = {"wrong": most_wrong(validation)}
    if cv["folds"] > 1:
        evidence["fold_chart"] = charts.bar_chart(
            cv["error_by_fold"], f"{cv['measure']} of each fold", "fold", cv["measure"], mean=cv["error"]
        )
    if answer["low"] is not None:
        baseline = answer["baseline"] if fit.classes is not None else 0.0
        evidence["gauge"] = charts.gauge(answer["score"], answer["low"], answer["high"], baseline)
    if fit.classes is None:
        evidence["scatter"] = charts.scatter_chart(predictions(validation), "predicted", "actual")
        return evidence
    colours = class_colours(np.bincount(validation.y, minlength=fit.n_classes))
    curves = ranking(fit)
    named = [(str(name), c) for name, c in zip(fit.known_classes, colours, strict=True) if c < N_COLOURS - 1]
    evidence |= {
        "class_colours": named + [("others", N_COLOURS - 1)] * (len(named) < fit.n_classes),
        "curves": [each | {"colour": colours[each["code"]]} for each in curves],
    }
    for key, title, x, y in (
        ("roc", "ROC curve", "false positive rate", "recall"),
        ("precision_recall", "Precision and recall", "recall", "precision"),
    ):
        lines = [(colours[each["code"]], each[key]) for each in curves]
        evidence[f"{key}_chart"] = charts.curve_chart(lines, title, x, y) if lines else None
    evidence["calibration_chart"] = charts.calibration_chart(calibration(validation))
    return evidence


def page_part(name: str, package: str = "crosscut.report") -> str:
    """Return the text of a template, style sheet or script."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def script_data(data: object) -> str:
    """Return plain data as JSON for a script element; "<" is escaped, so the data cannot end the element."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def first_lines(text: str, max_lines: int) -> str:
    """Return the first lines of a text, and the number of lines left out."""
    lines = text.splitlines()
    left = len(lines) - max_lines
    return "\n".join(lines[:max_lines]) + (f"\n… {counted(left, 'more line')}" if left > 0 else "")


def _template(name: str, package: str) -> Template:
    """Return a template that escapes its values."""
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
    """Return an ISO date with the name of its month.

    Examples
    --------
    >>> _day("2026-11-06")
    '6 November 2026'
    """
    import datetime as dt

    day = dt.date.fromisoformat(date)
    return f"{day.day} {day:%B %Y}"
