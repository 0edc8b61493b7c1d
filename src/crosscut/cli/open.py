"""`crosscut open`: a report, or the report on a saved model, in a browser."""

from __future__ import annotations

from pathlib import Path

import click

from crosscut.cli.browser import page_path, show_page
from crosscut.cli.predict import read_model_file
from crosscut.cli.show import write_model_report


@click.command("open", short_help="Open a report or a saved model in a browser.")
@click.argument("file", type=click.Path(path_type=Path))
def open_command(file: Path) -> None:
    """Open FILE in a browser: an HTML report, or a model file, whose report is then written to a new folder.

    The page can be explored without a server: choose a node, change the size of the tree, try a row.
    """
    if file.suffix.lower() in {".html", ".htm"}:
        if not file.is_file():
            raise click.BadParameter(f"{str(file)!r} is not a file", param_hint="FILE")
        show_page(file)
        return
    fitted, target = read_model_file(file)
    path = page_path(None, True, file.name)
    assert path is not None
    write_model_report(file, fitted, target, path)
    show_page(path)
