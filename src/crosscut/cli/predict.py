"""`crosscut predict`: apply a model file to new rows."""

from __future__ import annotations

import csv
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crosscut.cli import options
from crosscut.cli.failure import NOT_A_MODEL, UNSUITABLE, UNWRITABLE, failing_with
from crosscut.cli.relational import is_relational, predict_relational
from crosscut.cli.source import read_rows
from crosscut.cli.terminal import waiting

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from crosscut.data.dialect import TextOptions


@click.command(short_help="Predict new rows with a saved model.")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path())
@options.table
@options.reading
@click.option("--probabilities", is_flag=True, help="Also print the probability of every class.")
@click.option("--out", type=click.Path(path_type=Path), help="Write to this CSV file.")
def predict(
    model: Path, file: str, table: str | None, probabilities: bool, out: Path | None, **given: Any
) -> None:
    """Predict the rows of FILE with MODEL, a file saved by `crosscut cv` or `rules` `--save`; prints CSV.

    For a model saved by `crosscut relational --save`, FILE is what that command reads: a folder of tables,
    DuckDB or SQLite file whose --target may be empty or absent, or an ACE settings file such as app.s.
    """
    fitted, target = read_model_file(model)
    if is_relational(fitted):
        options.refuse(("table",), "is for models of one table; this one is about linked tables")
        headings, columns = predict_relational(fitted, file, probabilities=probabilities)
    else:
        text = options.text_options(given)
        headings, columns = _predict_rows(fitted, target, file, table, text, probabilities=probabilities)
    with failing_with(UNWRITABLE), _written(out) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(headings)
        writer.writerows(zip(*columns, strict=True))


def _predict_rows(
    fitted: Any, target: str, file: str, table: str | None, text: TextOptions, *, probabilities: bool
) -> tuple[list[str], list[Any]]:
    with waiting(f"reading {Path(file).name}"):
        frame = read_rows(file, table, text)
    headings = [target]
    with failing_with(UNSUITABLE, f"{file}: "):
        schema = fitted.fit_.schema
        names = schema.names
        absent = [name for name in names if name not in frame.column_names]
        if absent:
            raise ValueError(f"the model needs the column {absent[0]!r}, which is absent")
        # a model fitted on an array knows its columns by position, x0, x1, ...
        frame = frame.select(list(names)) if schema.named else _matrix(frame, names)
        columns: list[Any] = [fitted.predict(frame).tolist()]
        if probabilities:
            if not hasattr(fitted, "classes_"):
                raise ValueError("--probabilities is for classes, but the model predicts numbers")
            columns += fitted.predict_proba(frame).T.tolist()
            headings += [f"{target} = {c}" for c in fitted.classes_]
    return headings, columns


def _matrix(frame: Any, names: tuple[str, ...]) -> Any:
    import numpy as np

    return np.column_stack([frame[name].to_numpy() for name in names])


def read_model_file(path: Path) -> tuple[Any, str]:
    """Read a model file and the name of its target; what is none is a failure."""
    from crosscut.model_file.model import read_model

    with failing_with(NOT_A_MODEL):
        return read_model(path)


def _written(path: Path | None) -> AbstractContextManager[Any]:
    return nullcontext(sys.stdout) if path is None else path.open("w", encoding="utf-8", newline="")
