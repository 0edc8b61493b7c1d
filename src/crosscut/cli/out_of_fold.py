"""Out-of-fold predictions as CSV: one line for every time a row is held out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.cli.csv_output import write_csv
from crosscut.training.fit import fit_of

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator


def write_out_of_fold(path: Path, model: BaseEstimator, target: str, rows: NDArray[Any]) -> None:
    """Write row (its number in the file, from 1), fold, truth, prediction, and class probabilities."""
    fit = fit_of(model)
    validation, classes = fit.validated("--oof"), fit.classes
    fold = np.repeat(np.arange(len(validation.row_start) - 1), np.diff(validation.row_start))
    truth, prediction = validation.y[validation.rows], validation.decided
    headings = ["row", "fold", target, f"predicted {target}"]
    columns: list[Any] = [rows[validation.rows].tolist(), fold.tolist()]
    if classes is None:
        columns += [truth.tolist(), prediction.tolist()]
    else:
        columns += [classes[truth].tolist(), classes[prediction].tolist(), *validation.said.T.tolist()]
        headings += [f"{target} = {label}" for label in classes]
    lines = sorted(zip(*columns, strict=True), key=lambda line: line[:2])
    write_csv(path, headings, lines)
