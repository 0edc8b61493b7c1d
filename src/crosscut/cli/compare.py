"""`crosscut compare`: which of several models errs least, and whether the rows tell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from crosscut.cli import options
from crosscut.cli.cv import estimator, fit_noting
from crosscut.cli.failure import UNSUITABLE, Failure, failing_with
from crosscut.cli.predict import read_model_file
from crosscut.cli.result import print_notes
from crosscut.cli.source import read_source
from crosscut.cli.terminal import plain, print_json, stdout, waiting
from crosscut.forest.export.text import counted, number

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
@options.growing
@options.jobs
@click.option("--json", "as_json", is_flag=True, help="Print only the result, as JSON.")
def compare(*, files: tuple[str, ...], target: str | None, as_json: bool, **given: Any) -> None:
    """Compare the errors of models on the same held-out rows.

    FILES are models saved with the same folds, or, with --target, one file of rows: settings such as
    --max-depth 3,5,8,none are then grown on it.
    """
    if target is None:
        why = "is for settings: give one file of rows, and --target"
        options.refuse([name for name in given if name != "jobs"], why)
        models: dict[str, Any] = {file: read_model_file(Path(file))[0] for file in files}
        notes: list[str] = []
    else:
        models, notes = _settings(files, target, given)
    if len(models) < 2:
        raise Failure("there is nothing to compare: give two models or more, or two settings", UNSUITABLE)
    from crosscut.statistics.comparison import compare as compared

    with failing_with(UNSUITABLE):
        errors = {name: model.fit_.validated("crosscut compare").error for name, model in models.items()}
        best = min(errors, key=lambda name: errors[name].value)
        found = {name: compared(model, models[best]) for name, model in models.items() if name != best}
    if as_json:
        print_json({"best": best, "models": [_told(name, errors[name], found.get(name)) for name in models]})
        return
    console = stdout()
    print_notes(console, notes)
    table = Table(box=None, pad_edge=False)
    measure = next(iter(found.values())).measure
    for heading in ("", "", measure, "± std. error", "more than best", "90% interval"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, (error, spread) in errors.items():
        mark, differs = "►", ("", "")
        if name != best:
            low, high = found[name].interval()
            mark = "=" if found[name].better is None else ""
            interval = f"{number(low, 3)} to {number(high, 3)}" if low < high else "same on every row"
            differs = number(found[name].difference), interval
        table.add_row(mark, plain(name), number(error), number(spread, 2), *differs)
    console.print(table)
    console.print("[dim]► least error; = these rows do not tell it from the least[/]\n")
    for name, comparison in found.items():
        console.print(plain(comparison.sentence((name, best))))


def _settings(files: tuple[str, ...], target: str, given: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Fit every setting to one file of rows, with the same folds."""
    if len(files) > 1:
        told = "--target compares settings on one file of rows, but several were given"
        if not all(Path(file).exists() for file in files):
            told += "; separate settings by commas, as in --max-depth 3,5,none"
        raise Failure(told, UNSUITABLE)
    text = options.text_options(given)
    source = read_source(
        files[0],
        target,
        options=text,
        kind=given.pop("kind"),
        **options.column_options(given),
    )
    tried = options.candidates(given | {"cv": given.pop("folds")})
    with waiting(f"growing trees of {counted(len(tried), 'setting')}"):
        models = [estimator(source, **one, in_order=False, scoring=None, class_weight=()) for one in tried]
        fit_noting(models, source)
    varied = [name for name in options.SETTINGS if len(given[name] or ()) > 1]
    names = [
        " ".join(
            f"--{name.replace('_', '-')} {'none' if one[name] is None else one[name]}" for name in varied
        )
        for one in tried
    ]
    return dict(zip(names, models, strict=True)), source.notes


def _told(name: str, error: Any, comparison: Comparison | None) -> dict[str, Any]:
    """Return what is known of one model."""
    told = {"name": name, "error": error.value, "standard_error": error.standard_error}
    if comparison is None:
        return told
    intervals = {method: comparison.interval(0.9, method) for method in ("rows", "bayle", "folds")}
    return told | {
        "difference": comparison.difference,
        "interval": intervals,
        "distinguishable": comparison.better is not None,
    }
