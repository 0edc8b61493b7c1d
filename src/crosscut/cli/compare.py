"""`crosscut compare`: the cross-validated errors of several models, and intervals of their differences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from crosscut.cli import options
from crosscut.cli.cv import fit_settings
from crosscut.cli.failure import UNSUITABLE, Failure, failing_with
from crosscut.cli.result import print_notes
from crosscut.cli.saved_models import read_model_file
from crosscut.cli.source import read_source
from crosscut.cli.terminal import plain, print_json, stdout
from crosscut.forest.export.text import number
from crosscut.statistics.sentences import LIKE_BEST

if TYPE_CHECKING:
    from crosscut.statistics.comparison import Comparison


@click.command(short_help="Compare saved models, or settings of a tree.")
@click.argument("files", nargs=-1, required=True, type=click.Path(), is_eager=True)
@click.option(
    "--target", "-t", metavar="COLUMN", help="The column to predict, to compare settings on a file."
)
@options.roles
@options.reading
@options.kind
@options.folds
@options.splitting
@options.growing
@options.scores
@options.jobs
@click.option("--json", "as_json", is_flag=True, help="Print only the result, as JSON.")
def compare(*, files: tuple[str, ...], target: str | None, as_json: bool, **arguments: Any) -> None:
    """Compare the errors of models on the same held-out rows.

    FILES are models saved with the same folds, or, with --target, one file of rows: settings such as
    --max-depth 3,5,8,none are then grown on it.
    """
    if target is None:
        why = "compares settings on one file of rows, which needs --target"
        options.refuse([name for name in arguments if name != "jobs"], why)
        models: dict[str, Any] = {file: read_model_file(Path(file))[0] for file in files}
        notes: list[str] = []
    else:
        models, notes = _settings(files, target, arguments)
    if len(models) < 2:
        raise Failure("there is nothing to compare: give at least two models, or two settings", UNSUITABLE)
    from crosscut.statistics.comparison import compare as compare_models

    with failing_with(UNSUITABLE):
        errors = {name: model.fit_.validated("crosscut compare").error for name, model in models.items()}
        best = min(errors, key=lambda name: errors[name].value)
        comparisons = {
            name: compare_models(model, models[best]) for name, model in models.items() if name != best
        }
    if as_json:
        results = [_as_data(name, errors[name], comparisons.get(name)) for name in models]
        print_json({"best": best, "models": results})
        return
    console = stdout()
    print_notes(console, notes)
    table = Table(box=None, pad_edge=False)
    measure = next(iter(comparisons.values())).measure
    for heading in ("", "", measure, "± std. error", "above best", "90% interval"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, (error, standard_error) in errors.items():
        mark, difference, interval = "►", "", ""
        if name != best:
            comparison = comparisons[name]
            low, high = comparison.interval()
            mark = "=" if comparison.better is None else ""
            difference = number(comparison.difference)
            interval = f"{number(low, 3)} to {number(high, 3)}" if low < high else "same on every row"
        table.add_row(mark, plain(name), number(error), number(standard_error, 2), difference, interval)
    console.print(table)
    console.print(f"[dim]► lowest error; = {LIKE_BEST}[/]\n")
    for name, comparison in comparisons.items():
        console.print(plain(comparison.sentence((name, best))))


def _settings(
    files: tuple[str, ...], target: str, arguments: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Fit every setting to one file of rows, with the same folds."""
    if len(files) > 1:
        message = f"--target compares settings on one file of rows, but {len(files)} were given"
        if not all(Path(file).exists() for file in files):
            message += "; separate settings by commas, as in --max-depth 3,5,none"
        raise Failure(message, UNSUITABLE)
    source = read_source(files[0], target, **options.source_options(arguments))
    models, settings = fit_settings(source, arguments)
    names = [
        " ".join(
            f"--{name.replace('_', '-')} {'none' if value is None else value}"
            for name, value in setting.items()
        )
        for setting in settings
    ]
    return dict(zip(names, models, strict=True)), source.notes


def _as_data(name: str, error: Any, comparison: Comparison | None) -> dict[str, Any]:
    """Return a model's error, and how it compares with the best model's."""
    result = {"name": name, "error": error.value, "standard_error": error.standard_error}
    if comparison is None:
        return result
    intervals = {method: comparison.interval(0.9, method) for method in ("rows", "bayle", "folds")}
    return result | {
        "difference": comparison.difference,
        "interval": intervals,
        "distinguishable": comparison.better is not None,
    }
