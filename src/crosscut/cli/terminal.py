"""Where output goes: results to the standard stream, everything else to the error stream."""

from __future__ import annotations

import json
import math
import sys
import webbrowser
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.markup import escape

from crosscut.data.visible import visible
from crosscut.engines.progress import watching

if TYPE_CHECKING:
    from collections.abc import Iterator

PIPE_WIDTH = 120  # where there is no terminal to ask
NOTABLE = 0.01  # shares of the work below this are not shown


def stdout() -> Console:
    """Return the console of results; plain text when it is not a terminal."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def plain(text: str) -> str:
    """Return text for a console that it prints as it is."""
    return escape(visible(text))


def echo(text: str) -> None:
    """Print text in another language to the standard stream; on a terminal nothing of it is obeyed."""
    click.echo(visible(text) if sys.stdout.isatty() else text, nl=False)


def print_json(data: object) -> None:
    """Print plain data as JSON, with null for NaN and infinity, which it lacks."""
    click.echo(json.dumps(_finite(data), ensure_ascii=False, allow_nan=False))


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def messages() -> Console:
    """Return the console of progress and remarks."""
    return Console(stderr=True, highlight=False)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show a bar and the time taken so far, if a person is watching.

    Until something tells which share of the work is done, the bar only moves.
    """
    console = messages()
    if not console.is_terminal:
        yield
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=None)

        def tell(share: float) -> None:
            # threads share the upper levels of all trees first: much is done before a row reaches a leaf
            if share >= NOTABLE:
                progress.update(task, total=1.0, completed=share)

        with watching(tell):
            yield


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
