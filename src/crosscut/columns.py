"""Typed columns from whatever the user brings: NumPy arrays, pandas, polars or Arrow frames."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True, eq=False)
class Column:
    """One column as numbers: float32 with NaN for missing, or category codes with -1 for missing."""

    name: str
    kind: Literal["numeric", "boolean", "nominal"]
    values: NDArray[Any]
    categories: tuple[Any, ...] = ()
    named: bool = field(default=True)
    note: str = ""


def plain_matrix(X: Any) -> NDArray[Any] | None:
    """Return X as a two-dimensional array of numbers if that is what it is, else None."""
    if isinstance(X, (list, tuple)):
        X = np.asarray(X, dtype=object) if _has_text(X) else np.asarray(X)
    if not isinstance(X, np.ndarray):
        return None
    if X.ndim != 2:
        raise ValueError(
            f"X must be two-dimensional (rows, columns), but an array of shape {X.shape} was given; "
            "use X.reshape(-1, 1) if it is one column"
        )
    return X if X.dtype.kind in "fiub" else None


def check_finite(
    matrix: NDArray[np.float32], names: tuple[str, ...], given: NDArray[Any] | None = None
) -> None:
    """Refuse infinite values, naming the first one's column and row."""
    # one sum is cheaper than a mask of every cell; NaN or an overflow only leads to the closer look
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(matrix.sum(dtype=np.float64)):
            return
    infinite = np.isinf(matrix)
    if infinite.any():
        row, f = np.argwhere(infinite)[0]
        value = (matrix if given is None else given)[row, f]
        raise infinite_error(names[f], int(row), value)


def infinite_error(name: str, row: int, value: Any) -> ValueError:
    """Return the error for a value that is infinite, or too large for float32."""
    return ValueError(
        f"column {name!r} of X holds {value} in row {row}: infinite values, and values too large for float32, "
        "cannot be ordered; use NaN if the value is missing"
    )


def columns_of(X: Any) -> list[Column]:
    """Return the typed columns of an array or a frame."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError("X is a sparse matrix, which crosscut does not read; use X.toarray()")
    if isinstance(X, (np.ndarray, list, tuple)):
        columns = _columns_of_array(X)
    else:
        columns = _columns_of_frame(X)
    if not columns or not len(columns[0].values):
        raise ValueError("X is empty: it needs at least one row and one column")
    return columns


def _columns_of_array(X: Any) -> list[Column]:
    plain = plain_matrix(X)
    if plain is not None:
        with np.errstate(over="ignore"):  # what is too large becomes infinite and is refused later
            matrix = plain.astype(np.float32)
        kind: Literal["numeric", "boolean"] = "boolean" if plain.dtype.kind == "b" else "numeric"
        return [Column(f"x{f}", kind, matrix[:, f], named=False) for f in range(matrix.shape[1])]
    array = np.asarray(X, dtype=object) if not isinstance(X, np.ndarray) else X
    if array.dtype.kind == "M":
        array = array.astype("datetime64[us]")
        return [_days(f"x{f}", array[:, f], named=False) for f in range(array.shape[1])]
    if array.dtype.kind not in "OUT":
        raise TypeError(f"X is an array of {array.dtype}; numbers, booleans, text or objects are wanted")
    return [column_of_objects(f"x{f}", array[:, f], named=False) for f in range(array.shape[1])]


def _columns_of_frame(X: Any) -> list[Column]:
    import narwhals as nw

    if hasattr(X, "to_batches") is False and hasattr(X, "schema") and hasattr(X, "__arrow_c_array__"):
        import pyarrow as pa

        X = pa.table(X)  # a record batch
    try:
        frame = nw.from_native(X)
    except TypeError:
        raise TypeError(
            f"X is a {type(X).__name__}; a two-dimensional NumPy array or a pandas, polars or Arrow frame is wanted"
        ) from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return [_column_of_series(str(name), frame[name], nw) for name in frame.columns]


def _column_of_series(name: str, series: Any, nw: Any) -> Column:
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        kind: Literal["numeric", "boolean"] = "boolean" if dtype == nw.Boolean else "numeric"
        values = _numbers(series, nw)
        return Column(name, kind, values)
    if dtype == nw.Categorical or isinstance(dtype, nw.Enum) or dtype == nw.Enum:
        return _nominal_of_series(name, series, nw)
    if dtype == nw.Date or dtype == nw.Datetime:
        return _days(name, series.cast(nw.Datetime("us")).to_numpy())
    if dtype in (nw.String, nw.Object, nw.Unknown):
        return column_of_objects(name, series.to_numpy())
    raise TypeError(
        f"column {name!r} of X has type {dtype}, which is neither number, boolean, date, text nor category; "
        "convert it or leave it out"
    )


def _numbers(series: Any, nw: Any) -> NDArray[np.float32]:
    if series.null_count():
        series = series.cast(nw.Float64)
    with np.errstate(over="ignore"):
        values: NDArray[np.float32] = np.asarray(series.to_numpy()).astype(np.float32)
    return values


def _nominal_of_series(name: str, series: Any, nw: Any) -> Column:
    """Keep the user's order of categories where the type has one; else sort them."""
    ordered = nw.is_ordered_categorical(series) or type(series.to_native()).__module__.startswith("pandas")
    values = series.to_numpy()
    if not ordered:
        return column_of_objects(name, values, nominal=True)
    return column_of_objects(name, values, categories=series.cat.get_categories().to_list())


def _days(name: str, moments: NDArray[Any], *, named: bool = True) -> Column:
    """Return dates and times as numbers: days since 1970-01-01."""
    microseconds = np.asarray(moments, dtype="datetime64[us]")
    days = (microseconds.astype(np.int64) / DAY).astype(np.float32)
    days[np.isnat(microseconds)] = np.nan
    note = f"column {name!r} holds dates: they are used as days since 1970-01-01"
    return Column(name, "numeric", days, named=named, note=note)


def column_of_objects(
    name: str,
    objects: NDArray[Any],
    *,
    categories: Iterable[Any] | None = None,
    nominal: bool = False,
    named: bool = True,
) -> Column:
    """Return the column of a sequence of Python objects: text is nominal, numbers and booleans stay what they are."""
    values = objects.tolist()
    types = set(map(type, values))
    missing = {t for t in types if t.__name__ in {"NoneType", "NAType", "NaTType"}}
    absent = [type(v) in missing or v != v for v in values] if types - {str} else None  # noqa: PLR0124, only NaN differs from itself
    present = values if absent is None else [v for v, gone in zip(values, absent, strict=True) if not gone]
    kinds = set(map(type, present))
    if categories is None and not nominal and kinds and not any(issubclass(t, str) for t in kinds):
        return _column_of_numbers(name, values, absent, kinds, named=named)
    if categories is None:
        if not all(issubclass(t, str) for t in kinds) and not nominal:
            raise _mixed_error(name, kinds)
        categories = sorted(set(present))
    order = tuple(categories)
    code = {category: c for c, category in enumerate(order)}
    if absent is None:
        codes = np.fromiter(map(code.__getitem__, values), np.int64, len(values))
    else:
        codes = np.array([-1 if gone else code[v] for v, gone in zip(values, absent, strict=True)], np.int64)
    return Column(name, "nominal", codes, order, named)


def _column_of_numbers(
    name: str, values: list[Any], absent: list[bool] | None, kinds: set[type], *, named: bool
) -> Column:
    import numbers
    from decimal import Decimal

    boolean = kinds <= {bool, np.bool_}
    if not boolean and not all(issubclass(t, (numbers.Real, Decimal)) for t in kinds - {bool, np.bool_}):
        raise _mixed_error(name, kinds)
    if not boolean and kinds & {bool, np.bool_}:
        raise _mixed_error(name, kinds)
    gone = absent or [False] * len(values)
    floats = [float("nan") if g else float(v) for v, g in zip(values, gone, strict=True)]
    with np.errstate(over="ignore"):
        return Column(
            name,
            "boolean" if boolean else "numeric",
            np.array(floats, np.float64).astype(np.float32),
            (),
            named,
        )


def _mixed_error(name: str, kinds: set[type]) -> TypeError:
    found = ", ".join(sorted(t.__name__ for t in kinds))
    return TypeError(
        f"column {name!r} of X mixes or holds types that cannot be ordered together ({found}); "
        "make it all numbers, all booleans or all text"
    )


def _has_text(rows: Any) -> bool:
    """Whether a list of lists holds text, which NumPy would spread to every cell."""
    return any(isinstance(v, str) for row in rows if isinstance(row, (list, tuple)) for v in row)
