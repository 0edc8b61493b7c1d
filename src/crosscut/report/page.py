"""HTML pages with everything they need inside: filled from plain data, written as a whole or not at all."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from crosscut.data.array_file import replacing
from crosscut.forest.labels import counted, fold_label, number
from crosscut.report.charts import fold_chart

if TYPE_CHECKING:
    from os import PathLike

    from jinja2 import Template


def write_page(
    path: str | PathLike[str],
    template: str,
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
    summary : dict
        What `about` and `held_out` say, and what only this kind of page has.
    package : str
        Where the template lies.
    **more
        What the page shows besides.
    """
    cv = summary.get("cv")
    chart = None if cv is None else fold_chart(cv["error_by_fold"], cv["measure"], cv["error"])
    page = _template(template, package).render(**summary, fold_chart=chart, **more)
    with replacing(path) as file:
        file.write(page.encode())


def page_part(name: str, package: str = "crosscut.report") -> str:
    """Return a file that pages are made of."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def first_lines(text: str, most: int) -> str:
    """Return the first lines of a text, and how many are left out."""
    lines = text.splitlines()
    left = len(lines) - most
    return "\n".join(lines[:most]) + (f"\n… {counted(left, 'more line')}" if left > 0 else "")


def _template(name: str, package: str) -> Template:
    """Return a template; what is filled in is escaped."""
    from jinja2 import Environment, FunctionLoader

    environment = Environment(
        loader=FunctionLoader(page_part), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"number": number, "percent": _percent, "counted": counted, "folds": fold_label}
    environment.globals["style"] = page_part("page.css")
    return environment.from_string(page_part(name, package))


def _percent(value: float) -> str:
    return f"{100 * value:.1f}%"
