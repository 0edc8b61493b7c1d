"""`crosscut reproduce`: run the paper's experiments and write a page about them."""

from __future__ import annotations

from pathlib import Path

import click

from crosscut.cli.failure import UNWRITABLE, failing_with


@click.command(short_help="Run the experiments of the paper.")
@click.option("--quick", is_flag=True, help="Fewer repetitions, folds and rows: about a minute.")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder with ACE files (app.kb, app.s) to be measured, too.",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reproduction"),
    help="The folder to write to.",
)
def reproduce(*, quick: bool, data: Path | None, output: Path) -> None:
    """Run the experiments of the paper and write its tables and figures.

    All trees at once against one by one: the five data sets of its Table 1, the number of folds, time per
    level, the cost model, and the same on tables.
    """
    from crosscut.reproduce import reproduce as run

    with failing_with(UNWRITABLE):
        page = run(output, quick=quick, data=data, say=lambda text: click.echo(text, err=True))
    click.echo(page)
