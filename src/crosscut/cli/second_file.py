"""How a fitted model does on a second file, of which it has seen nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.cli.failure import UNSUITABLE, Failure, failing_with
from crosscut.cli.source import read_rows, rows_for
from crosscut.data.files import split_target
from crosscut.statistics.intervals import LossSums, error_of, interval_of, score_of

if TYPE_CHECKING:
    from crosscut.data.text.dialect import TextOptions

LEVEL = 0.9  # of the interval


def judged(model: Any, file: str, target: str, options: TextOptions) -> dict[str, Any]:
    """Return the error on another file: a rate of wrong classes, or a root mean square; and its interval."""
    frame = read_rows(file, None, options)
    with failing_with(UNSUITABLE, f"{file}: "):
        X, y = split_target(frame, target)
        said = model.predict(rows_for(model, X))
    classes = model.fit_.classes
    if classes is None:
        if y.dtype.kind not in "fiub":
            raise Failure(f"{file}: {target!r} holds no numbers, but the model predicts them", UNSUITABLE)
        y = y.astype(np.float64)
        loss, centred = (y - said) ** 2, y - y.mean()
    else:
        # whole numbers may be read with or without a decimal point
        y = y.astype(classes.dtype) if classes.dtype.kind in "iu" and y.dtype.kind == "f" else y
        loss, centred = np.asarray(said != y, dtype=np.float64), None
    sums = LossSums.of(loss, centred, None, np.zeros(len(y), np.int64), 1)
    error, score = error_of(sums), score_of(sums)[0]
    low, high = interval_of(sums, sums, LEVEL, "rows")
    measured = {"error": error.value, "standard_error": error.standard_error}
    if classes is None and error.value > 0:
        root = float(np.sqrt(error.value))
        measured = {"error": root, "standard_error": error.standard_error / (2 * root)}
    return {"file": Path(file).name, "rows": len(y), "score": score, "low": low, "high": high, **measured}
