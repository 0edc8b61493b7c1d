"""Pages that are opened in the user's browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from tempfile import mkdtemp

import click


def page_path(report: Path | None, opened: bool, name: str) -> Path | None:
    """Return where a page is written: as asked for, or a place of its own if it is only to be opened."""
    if report is not None or not opened:
        return report
    return Path(mkdtemp(prefix="crosscut-")) / f"{Path(name).stem or 'report'}.html"


def show_page(path: Path) -> None:
    """Open a page; where there is no browser, say where the page is."""
    where = path.resolve()
    if webbrowser.open(where.as_uri()):
        click.echo(f"opened {where}", err=True)
    else:
        click.echo(f"no browser was found; the page is {where}", err=True)
