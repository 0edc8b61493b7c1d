"""Write results as CSV, to a file or to standard output."""

from __future__ import annotations

import csv
import sys
from contextlib import contextmanager
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.data.array_file import replacing
from crosscut.training.fit import fit_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # spreadsheets treat such cells as formulas


def write_csv(path: Path | None, headings: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    """Write headings and lines. A file is written completely or not at all."""
    with _stream(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(map(_not_a_formula, headings))
        writer.writerows(map(_not_a_formula, line) for line in lines)


def _not_a_formula(cell: object) -> object:
    """Put an apostrophe before text that a spreadsheet would treat as a formula."""
    if not isinstance(cell, str) or not cell.startswith(_FORMULA_STARTS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


@contextmanager
def _stream(path: Path | None) -> Iterator[Any]:
    if path is None:
        yield sys.stdout
        return
    with replacing(path) as file:
        text = TextIOWrapper(file, encoding="utf-8", newline="")
        yield text
        text.flush()
        text.detach()


def write_out_of_fold(path: Path, model: BaseEstimator, target: str, rows: NDArray[Any]) -> None:
    """Write row number (from 1), fold, actual value, prediction and class probabilities of held-out rows."""
    fit = fit_of(model)
    validation, classes = fit.validated("--oof"), fit.classes
    fold = np.repeat(np.arange(len(validation.row_start) - 1), np.diff(validation.row_start))
    actual, prediction = validation.y[validation.rows], validation.decided
    headings = ["row", "fold", target, f"predicted {target}"]
    columns: list[Any] = [rows[validation.rows].tolist(), fold.tolist()]
    if classes is None:
        columns += [actual.tolist(), prediction.tolist()]
    else:
        columns += [
            classes[actual].tolist(),
            classes[prediction].tolist(),
            *validation.fold_values.T.tolist(),
        ]
        headings += [f"{target} = {label}" for label in classes]
    lines = sorted(zip(*columns, strict=True), key=lambda line: line[:2])
    write_csv(path, headings, lines)
