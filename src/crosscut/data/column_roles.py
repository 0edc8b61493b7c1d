"""Find columns to leave out or to check: identifiers, free text, constants, leaks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crosscut.data.column_types import kind_of_values
from crosscut.data.columns import ROW_NUMBERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

IN_ORDER = "numbers the rows in their order"  # a reason unless it is the only column
FEWEST_ROWS = 20  # with fewer rows, all values may differ by chance
NEARLY_ALL = 0.5  # distinct values per row of an identifier
MANY_WORDS = 4  # per value on average, in free text
MANY_CATEGORIES = 50
LEAKS = 0.999  # fraction of the target that one column determines


class Finding(NamedTuple):
    """A column with a special role, and why."""

    name: str
    what: str  # "identifier", "free text", "constant", "many categories" or "leak"
    reason: str


def findings(X: pa.Table, y: NDArray[Any], *, classes: bool) -> list[Finding]:
    """Return the columns of a table that are not plain predictors of ``y``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = pa.table({"key": [f"k{i}" for i in range(40)], "age": [i % 7 for i in range(40)]})
    >>> [(finding.name, finding.what) for finding in findings(rows, np.arange(40) % 2, classes=True)]
    [('key', 'identifier')]
    """
    result = []
    codes = np.unique(y, return_inverse=True)[1] if classes else None
    for name in X.column_names:
        finding = _role(name, X[name]) or _leak(name, X[name], y, codes)
        if finding is not None and not (finding.reason == IN_ORDER and X.num_columns == 1):
            result.append(finding)
    return result


def _role(name: str, column: pa.ChunkedArray) -> Finding | None:
    rows = len(column) - column.null_count
    values = pc.unique(column).drop_null()
    n = len(values)
    if n == 1 and not column.null_count:
        return Finding(name, "constant", f"is {values[0].as_py()} in every row")
    if kind_of_values(column.type) == "text":
        texts = [str(value) for value in values.to_pylist()]
        if n >= FEWEST_ROWS and n > rows / 2 and np.mean([len(text.split()) for text in texts]) >= MANY_WORDS:
            return Finding(name, "free text", f"is free text, such as {texts[0][:40]!r}")
        if n >= FEWEST_ROWS and n >= NEARLY_ALL * rows:
            return Finding(name, "identifier", f"has {n:,} different values in {rows:,} rows")
        if n > MANY_CATEGORIES:
            return Finding(name, "many categories", f"has {n:,} categories in {rows:,} rows")
    elif pa.types.is_integer(column.type) and n == len(column) >= FEWEST_ROWS:
        span = pc.min_max(column).as_py()
        if re.search(ROW_NUMBERS, name) and span["max"] - span["min"] < 2 * n:
            return Finding(name, "identifier", "numbers the rows")
        if column[-1].as_py() - column[0].as_py() == n - 1 == span["max"] - span["min"]:
            return Finding(name, "identifier", IN_ORDER)
    return None


def _leak(
    name: str, column: pa.ChunkedArray, y: NDArray[Any], classes: NDArray[np.int64] | None
) -> Finding | None:
    """Return a finding if the column determines the target: by its values, or by one cut."""
    if len(y) < FEWEST_ROWS:
        return None
    codes = np.asarray(column.combine_chunks().dictionary_encode().indices.fill_null(-1)) + 1
    n = int(codes.max()) + 1
    fraction = 0.0
    if n <= max(2, len(y) // 20):
        fraction = _eta_squared(codes, n, y) if classes is None else _purity(codes, n, classes)
    if fraction < LEAKS and kind_of_values(column.type) in {"numbers", "dates"} and not column.null_count:
        numbers = np.asarray(
            column.cast("float64")
            if kind_of_values(column.type) == "numbers"
            else column.cast("timestamp[us]", safe=False).cast("int64")
        )
        fraction = max(fraction, _linear(numbers, y) if classes is None else _best_cut(numbers, classes))
    return Finding(name, "leak", f"determines {fraction:.1%} of the target") if fraction >= LEAKS else None


def _purity(codes: NDArray[Any], n: int, classes: NDArray[np.int64]) -> float:
    """Return the fraction of rows in the most frequent class of their value."""
    n_classes = int(classes.max()) + 1
    counts = np.bincount(codes * n_classes + classes, minlength=n * n_classes).reshape(n, -1)
    return float(counts.max(axis=1).sum() / len(classes))


def _eta_squared(codes: NDArray[Any], n: int, y: NDArray[Any]) -> float:
    """Return the fraction of the variance explained by the values (eta squared)."""
    sizes = np.bincount(codes, minlength=n)
    means = np.bincount(codes, y, n) / np.maximum(sizes, 1)
    return 1 - float(((y - means[codes]) ** 2).sum() / max(((y - y.mean()) ** 2).sum(), 1e-300))


def _best_cut(numbers: NDArray[Any], classes: NDArray[np.int64]) -> float:
    """Return the accuracy of the best threshold for two classes; 0 for more classes."""
    n = len(classes)
    if classes.max() != 1:
        return 0.0
    order = np.argsort(numbers, kind="stable")
    below = np.cumsum(2 * classes[order] - 1)
    ends = np.append(np.flatnonzero(np.diff(numbers[order])), n - 1)
    right = np.abs(2 * below[ends] - below[-1]).max()
    return float((right + n) / (2 * n))


def _linear(numbers: NDArray[Any], y: NDArray[Any]) -> float:
    """Return the fraction of the variance that a linear fit explains."""
    if numbers.std() == 0 or y.std() == 0:
        return 0.0
    return float(np.corrcoef(numbers.astype(np.float64), y.astype(np.float64))[0, 1] ** 2)
