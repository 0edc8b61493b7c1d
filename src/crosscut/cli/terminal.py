"""Output to the terminal: results go to standard output, everything else to the error stream."""

from __future__ import annotations

import json
import math
import sys
import webbrowser
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape

from crosscut.cli.failure import UNWRITABLE, failing_with
from crosscut.data.visible import visible
from crosscut.engines.progress import watching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PIPE_WIDTH = 120  # columns, if standard output is not a terminal
MIN_PROGRESS = 0.01  # smaller fractions of the work are not shown


def stdout() -> Console:
    """Return the console for results; it prints plain text if it is not a terminal."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def plain(text: str) -> str:
    """Escape text so that a console prints it literally."""
    return escape(visible(text))


def echo(text: str) -> None:
    """Print code such as JSON to standard output; on a terminal, control characters are made visible."""
    click.echo(visible(text) if sys.stdout.isatty() else text, nl=False)


def print_json(data: object) -> None:
    """Print plain data as JSON, with null for NaN and infinity."""
    click.echo(json.dumps(_finite(data), ensure_ascii=False, allow_nan=False))


def _finite(data: object) -> object:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def messages() -> Console:
    """Return the console for progress and notes."""
    return Console(stderr=True, highlight=False)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show a progress bar and the time taken so far on a terminal.

    The bar only pulses until the finished fraction of the work is known.
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
        task = progress.add_task(plain(what), total=None)

        def update(fraction: float) -> None:
            # the upper levels of all trees are grown first, before any row reaches a leaf
            if fraction >= MIN_PROGRESS:
                progress.update(task, total=1.0, completed=fraction)

        with watching(update):
            yield


def page_path(report: Path | None, opened: bool, name: str) -> Path | None:
    """Return the path of the report; a new folder if it is only opened, None if it is not wanted."""
    if report is not None or not opened:
        return report
    return Path(mkdtemp(prefix="crosscut-")) / f"{Path(name).stem or 'report'}.html"


def command_line() -> str:
    """Return the command as it would be typed again, for reports."""
    return " ".join(["crosscut", *map(quote, click.get_current_context().meta["arguments"])])


def write_results(*results: tuple[Path | None, str, Callable[[Path], object]]) -> None:
    """Write results to the paths that were given, and report each on the error stream.

    Call it after printing: a full disk then does not lose what was computed.
    """
    with failing_with(UNWRITABLE):
        for path, what, write in results:
            if path is not None:
                write(path)
                click.echo(f"{what} written to {path}", err=True)


def show_page(path: Path) -> None:
    """Open a page in a browser; without a browser, print its path."""
    where = path.resolve()
    if webbrowser.open(where.as_uri()):
        click.echo(f"opened {where}", err=True)
    else:
        click.echo(f"no browser found; the report is {where}", err=True)
