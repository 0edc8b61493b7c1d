"""Warnings about training rows for which cross-validation reports misleading numbers.

A held-out row is like a new row only if the training rows do not contain its copy or its neighbours in time,
and if its columns say something about other rows, unlike a row number or a name. The checks look at ranks and
counts of distinct values, so they cost little beside growing a tree.
"""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

import numpy as np

from crosscut import _core
from crosscut.data.columns import ROW_NUMBERS, TIMES
from crosscut.forest.export.text import counted
from crosscut.statistics.scores import accuracy, r_squared
from crosscut.warning import CrosscutWarning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from crosscut.statistics.validation import Validation
    from crosscut.training.training_set import TrainingSet

LEAST_ROWS = 20  # in fewer rows all values may differ by chance
LEAST_COPIES = 0.01  # fraction of the rows
MOST_ROWS = 200_000  # of more rows, copies are not counted
LEAVE_OUT = "leave it out"


def guard(data: TrainingSet, cv: Validation | None, n_folds: int | None) -> tuple[str, ...]:
    """Warn about rows and columns that make the numbers of a fit misleading, and return the warnings.

    ``n_folds`` is None if the user has chosen how to split, not only a number of folds.
    """
    notes = [*_identifiers(data), *_row_numbers(data)]
    if cv is not None and n_folds:
        notes += [*_rare_classes(data, n_folds), *_times(data), *_copies(data, cv)]
    for note in notes:
        warnings.warn(note, CrosscutWarning, stacklevel=4)
    return tuple(notes)


def _identifiers(data: TrainingSet) -> Iterator[str]:
    n, schema = data.n_rows, data.schema
    for f, kind in enumerate(schema.kinds):
        if kind == "nominal" and data.table.n_values[f] > max(n / 2, LEAST_ROWS):
            yield (
                f"column {schema.names[f]!r} has {len(schema.categories[f]):,} categories in {n:,} rows, so "
                f"it nearly identifies rows and fits by chance; {LEAVE_OUT}"
            )


def _row_numbers(data: TrainingSet) -> Iterator[str]:
    n, matrix, schema = data.n_rows, data.matrix, data.schema
    if n < LEAST_ROWS or matrix.shape[1] == 1:
        return
    ascending = (matrix[-1].astype(np.float64) - matrix[0] == n - 1).tolist()
    for f, kind in enumerate(schema.kinds):
        named = schema.named and re.search(ROW_NUMBERS, schema.names[f])
        if kind != "numeric" or not (ascending[f] or named):
            continue
        in_order = ascending[f] and bool(np.all(np.diff(matrix[:, f].astype(np.float64)) == 1))
        if in_order or (named and int(data.table.n_values[f]) == n):
            name = schema.names[f]
            yield f"column {name!r} numbers the rows, which says nothing about new rows; {LEAVE_OUT}"


def _rare_classes(data: TrainingSet, n_folds: int) -> Iterator[str]:
    if data.classes is None:
        return
    codes, n_classes = data.target.values, len(data.classes)
    if np.bincount(codes[: 100 * n_folds * n_classes], minlength=n_classes).min() >= n_folds:
        return
    counts = np.bincount(codes, minlength=n_classes)
    for k in np.flatnonzero((counts > 1) & (counts < n_folds)).tolist():
        few = f"{counted(counts[k], 'row')}, fewer than the {n_folds} folds"
        yield f"class {data.classes[k]!s} has {few}, so its recall is uncertain"


def _times(data: TrainingSet) -> Iterator[str]:
    dates = [f for f, kind in enumerate(data.schema.kinds) if kind == "date"]
    named = range(data.table.n_columns) if data.schema.named else ()
    for f in dates or (f for f in named if re.search(TIMES, data.schema.names[f])):
        rank, sorted_rows = data.table.ranks[f], False
        if data.schema.kinds[f] != "nominal" and data.table.n_values[f] >= LEAST_ROWS / 2:
            sorted_rows = bool(np.all(rank[1:] >= rank[:-1]) or np.all(rank[1:] <= rank[:-1]))
        if sorted_rows or len(dates) == 1:
            name, how = data.schema.names[f], "is in order of" if sorted_rows else "holds"
            yield (
                f"column {name!r} {how} time, but folds mix earlier and later rows, so the score may be too "
                "good for future rows; use cv=TimeSeriesSplit() on rows in order of time, or on the command "
                f"line --time {name}"
            )


def copies(data: TrainingSet) -> NDArray[np.bool_]:
    """Return which rows have the same values and target as another row.

    Of rows with few possible values many are equal by nature: none is returned if there are fewer possible
    rows than 100 times the pairs of rows.
    """
    table, n = data.table, data.n_rows
    copied = np.zeros(n, np.bool_)
    few = np.log(np.maximum(table.n_values, 1)).sum() < np.log(100) + 2 * np.log(n)
    if few or not LEAST_ROWS <= n <= MOST_ROWS or np.any(table.n_values == n):
        return copied
    y = data.target.values
    _core.copied_rows(
        table.ranks, y.view(np.uint64) if y.dtype == np.float64 else y.astype(np.uint64), copied
    )
    return copied


def _copies(data: TrainingSet, cv: Validation) -> Iterator[str]:
    copied = copies(data)
    n = int(np.count_nonzero(copied))
    if cv.groups is not None or n < max(LEAST_COPIES * data.n_rows, 5):
        return
    alone = ~copied[cv.rows]
    name, measure = ("R²", r_squared) if data.classes is None else ("accuracy", accuracy)
    y, predicted = cv.y[cv.rows], cv.decided
    scores = measure(y[alone], predicted[alone]), measure(y, predicted)
    yield (
        f"{n:,} of {data.n_rows:,} rows are copies of other rows, which may be in the training rows of the "
        f"fold that holds them out: {name} {scores[0]:.3f} on the rows without a copy, {scores[1]:.3f} on "
        "all; remove the copies, or keep them in one fold by groups"
    )
