"""`crosscut predict`: apply a saved model to new rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crosscut.cli import options
from crosscut.cli.csv_output import write_csv
from crosscut.cli.failure import NOT_A_MODEL, UNSUITABLE, Failure, failing_with
from crosscut.cli.saved_models import read_model_file, viewer_of
from crosscut.cli.source import read_rows, rows_for
from crosscut.cli.terminal import waiting, write_results
from crosscut.data.files import ending_of, reading_of
from crosscut.forest.export.text import counted

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from crosscut.typing import TableLike


@click.command(short_help="Predict new rows with a saved model.")
@click.argument("model", type=click.Path(path_type=Path), is_eager=True)
@click.argument("file", type=click.Path(), is_eager=True)
@options.table
@options.reading
@click.option("--probabilities", is_flag=True, help="Also print the probability of every class.")
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help='A column of FILE to copy to the result, such as an identifier; may be repeated. "*" copies all.',
)
@click.option("--out", type=options.Output(), help="Write to this CSV file.")
def predict(
    *,
    model: Path,
    file: str,
    table: str | None,
    probabilities: bool,
    keep: tuple[str, ...],
    out: Path | None,
    **arguments: Any,
) -> None:
    """Predict the rows of FILE with MODEL, a file saved by `crosscut cv` or `rules` `--save`; prints CSV.

    For a model saved by `crosscut relational --save`, FILE is what that command reads: a folder of tables or
    a database, whose --target may be empty or absent, or an ACE settings file such as app.s.
    """
    if ending_of(model):
        raise Failure(f"{model} is a table, not a model; write crosscut predict MODEL FILE", NOT_A_MODEL)
    fitted, target = read_model_file(model)
    viewer = viewer_of(fitted)
    if viewer is not None:
        why = "is for models of one table; this model was learnt from linked tables"
        options.refuse(("table", "keep"), why)
        named, data, target = viewer.rows(fitted, file)
    else:
        with waiting(f"reading {Path(file).name}"):
            frame = read_rows(file, table, options.text_options(arguments))
        if reading_of(frame):
            click.echo(f"crosscut: note: {file} read as: {reading_of(frame)}", err=True)
        with failing_with(UNSUITABLE, f"{file}: "):
            named, data = _kept(frame, keep, target), rows_for(fitted, frame)
    with failing_with(UNSUITABLE, f"{file}: "):
        columns = named | _prediction_columns(fitted, data, target, probabilities=probabilities)
    lines = list(zip(*columns.values(), strict=True))
    if out is None:
        write_csv(None, list(columns), lines)
    write_results(
        (out, counted(len(lines), "prediction"), lambda path: write_csv(path, list(columns), lines))
    )


def _kept(frame: TableLike, names: tuple[str, ...], target: str) -> dict[str, list[Any]]:
    """Return columns to copy by heading; a known target gets the heading ``actual …``."""
    if "*" in names:
        names = tuple(frame.column_names)
    for name in names:
        if name not in frame.column_names:
            raise ValueError(
                f"--keep {name!r} is not a column; choose one of {', '.join(frame.column_names[:20])}"
            )
    return {f"actual {name}" if name == target else name: frame[name].to_pylist() for name in names}


def _prediction_columns(
    fitted: BaseEstimator, data: TableLike, target: str, *, probabilities: bool
) -> dict[str, list[Any]]:
    """Return predictions, and class probabilities if wanted, by heading."""
    columns = {target: fitted.predict(data).tolist()}
    if probabilities:
        classes = fitted.fit_.classes
        if classes is None:
            raise ValueError("--probabilities is for classes, but the model predicts numbers")
        by_class = fitted.predict_proba(data).T.tolist()
        columns |= {f"{target} = {c}": values for c, values in zip(classes, by_class, strict=True)}
    return columns
