"""`crosscut predict`: apply a saved model to new rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crosscut.cli import options
from crosscut.cli.csv_output import write_csv
from crosscut.cli.failure import UNSUITABLE, UNWRITABLE, failing_with
from crosscut.cli.saved_models import read_model_file, viewer_of
from crosscut.cli.source import read_rows, rows_for
from crosscut.cli.terminal import waiting
from crosscut.data.files import reading_of

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from crosscut.typing import TableLike


@click.command(short_help="Predict new rows with a saved model.")
@click.argument("model", type=click.Path(path_type=Path), is_eager=True)
@click.argument("file", type=click.Path(), is_eager=True)
@options.table
@options.reading
@click.option("--probabilities", is_flag=True, help="Also print the probability of every class.")
@click.option("--out", type=options.Output(), help="Write to this CSV file.")
def predict(
    model: Path, file: str, table: str | None, probabilities: bool, out: Path | None, **arguments: Any
) -> None:
    """Predict the rows of FILE with MODEL, a file saved by `crosscut cv` or `rules` `--save`; prints CSV.

    For a model saved by `crosscut relational --save`, FILE is what that command reads: a folder of tables or
    a database, whose --target may be empty or absent, or an ACE settings file such as app.s.
    """
    fitted, target = read_model_file(model)
    viewer = viewer_of(fitted)
    if viewer is not None:
        options.refuse(("table",), "is for models of one table; this model was learnt from linked tables")
        named, data, target = viewer.rows(fitted, file)
    else:
        with waiting(f"reading {Path(file).name}"):
            frame = read_rows(file, table, options.text_options(arguments))
        if reading_of(frame):
            click.echo(f"crosscut: note: {file} read as: {reading_of(frame)}", err=True)
        with failing_with(UNSUITABLE, f"{file}: "):
            named, data = {}, rows_for(fitted, frame)
    with failing_with(UNSUITABLE, f"{file}: "):
        columns = named | _prediction_columns(fitted, data, target, probabilities=probabilities)
    with failing_with(UNWRITABLE):
        write_csv(out, list(columns), zip(*columns.values(), strict=True))


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
