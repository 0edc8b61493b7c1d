"""Typed columns from whatever the user brings: NumPy arrays, pandas, polars or Arrow frames."""

from __future__ import annotations

import datetime as dt
import numbers
import sys
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from crosscut.data.days import MICROSECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

Kind = Literal["numeric", "boolean", "date", "nominal"]

_MISSING = {"NoneType", "NAType", "NaTType"}  # names of types, since pandas may not be there


@dataclass(frozen=True, eq=False)
class Column:
    """One column as an array: numbers with NaN for missing, or category codes with -1 for missing."""

    name: str
    kind: Kind
    values: NDArray[Any]
    categories: tuple[Any, ...] = ()
    named: bool = True  # by the data, not by its position
    note: str = ""
    ordered: bool = False  # the categories have an order of their own, and some may have no row


def plain_matrix(X: Any) -> NDArray[Any] | None:
    """Return X as a two-dimensional array of numbers if that is what it is, else None."""
    if isinstance(X, (list, tuple)):
        X = _array_of_lists(X)
    if not isinstance(X, np.ndarray):
        return None
    if isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "fiub":
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if X.ndim != 2:
        raise ValueError(
            f"X must be two-dimensional (rows, columns), but an array of shape {X.shape} was given; "
            "use X.reshape(-1, 1) if it is one column"
        )
    if 0 in X.shape:
        raise _empty_error(X.shape)
    return X if X.dtype.kind in "fiub" else None


def columns_of(X: Any) -> list[Column]:
    """Return the typed columns of an array or a frame."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError("X is a sparse matrix, which crosscut does not read; use X.toarray()")
    plain = plain_matrix(X)
    if plain is not None:
        kind: Kind = "boolean" if plain.dtype.kind == "b" else "numeric"
        return [Column(f"x{f}", kind, plain[:, f], named=False) for f in range(plain.shape[1])]
    if isinstance(X, (np.ndarray, list, tuple)):
        array = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
        if array.dtype.kind not in "OUTM":
            raise TypeError(
                f"X is an array of {array.dtype}; numbers, booleans, dates, text or objects are wanted"
            )
        return [replace(column_of(f"x{f}", array[:, f]), named=False) for f in range(array.shape[1])]
    return _columns_of_frame(X)


def chosen(columns: list[Column], names: Sequence[str] | None) -> list[Column]:
    """Give the columns of an array their names; of a frame, pick the columns of these names."""
    if names is None:
        return columns
    wanted = checked_names(names)
    if not columns[0].named:
        if len(wanted) != len(columns):
            raise ValueError(f"names has {len(wanted)} entries, but X has {len(columns)} columns")
        return [replace(column, name=name, named=True) for column, name in zip(columns, wanted, strict=True)]
    found = {column.name: column for column in columns}
    unknown = [name for name in wanted if name not in found]
    if unknown:
        raise ValueError(f"names asks for {unknown}, but the columns of X are {list(found)}")
    return [found[name] for name in wanted]


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names as text; refuse repeated ones."""
    wanted = tuple(str(name) for name in names)
    repeated = (
        sorted({name for name in wanted if wanted.count(name) > 1}) if len(set(wanted)) < len(wanted) else []
    )
    if repeated or not wanted:
        raise ValueError(f"names must be different from each other and not empty; repeated: {repeated}")
    return wanted


def infinite_error(name: str, row: int, value: Any) -> ValueError:
    """Return the error for a value that is infinite, or too large for float32."""
    return ValueError(
        f"column {name!r} of X holds {value} in row {row}: infinity, or a value too large for "
        "dtype('float32'), cannot be used; give NaN if the value is missing"
    )


def _empty_error(shape: tuple[int, ...]) -> ValueError:
    # worded like scikit-learn's, whose checks of estimators look for it
    rows, columns = shape
    if not rows:
        return ValueError(f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required.")
    return ValueError(
        f"Found array with {columns} feature(s) (shape={shape}) while a minimum of 1 is required."
    )


def _array_of_lists(rows: Any) -> NDArray[Any]:
    array = np.asarray(rows)
    # NumPy turns a row with numbers and text into text; keep what was given
    return np.asarray(rows, dtype=object) if array.dtype.kind in "US" else array


def _columns_of_frame(X: Any) -> list[Column]:
    found = dict(_pandas_columns(X)) if hasattr(X, "iloc") else {}
    if found and len(found) == X.shape[1]:
        return list(found.values())
    import narwhals as nw

    if hasattr(X, "__arrow_c_array__") and hasattr(X, "column_names"):  # a record batch
        import pyarrow as pa

        X = pa.table(X)
    try:
        frame = nw.from_native(X)
    except TypeError:
        raise TypeError(
            f"X is a {type(X).__name__}; a two-dimensional NumPy array or a pandas, polars or Arrow frame "
            "is wanted"
        ) from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if 0 in frame.shape:
        raise _empty_error(frame.shape)
    return [found.get(name) or _column_of_series(str(name), frame.get_column(name)) for name in frame.columns]


def _pandas_columns(frame: Any) -> Iterator[tuple[Any, Column]]:
    """Yield the columns of a pandas frame that are numbers or codes already; to ask narwhals takes longer."""
    for name, series in frame.items() if len(frame) else ():
        dtype = series.dtype
        if isinstance(dtype, np.dtype) and dtype.kind in "fiub":
            kind: Kind = "boolean" if dtype.kind == "b" else "numeric"
            yield name, Column(str(name), kind, series.to_numpy())
        elif dtype.name == "category" and type(series).__module__.split(".")[0] == "pandas":
            coded = series.array
            categories = tuple(coded.categories.tolist())
            yield name, Column(str(name), "nominal", coded.codes, categories, ordered=coded.ordered)


def _column_of_series(name: str, series: Any) -> Column:
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        values = np.asarray(series.to_numpy())
        if values.dtype.kind not in "fiub":  # objects, since values are missing or decimal
            values = np.asarray(series.cast(nw.Float64).to_numpy())
        return Column(name, "boolean" if dtype == nw.Boolean else "numeric", values)
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        return _nominal_column(name, series)
    if dtype == nw.Date:
        return _date_column(name, np.asarray(series.cast(nw.Datetime("us")).to_numpy()))
    if dtype == nw.Datetime:
        if dtype.time_zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return _date_column(name, np.asarray(series.to_numpy()))
    objects = str(getattr(series.to_native(), "dtype", "")) == "object"
    if dtype == nw.String and not objects and "pyarrow" in sys.modules:
        return _text_column(name, series.alias("").to_arrow())  # polars fails on some names
    if dtype in {nw.String, nw.Object, nw.Unknown}:
        return column_of(name, series.to_numpy(), nominal=dtype == nw.String)
    raise TypeError(
        f"column {name!r} of X has type {dtype}, which is neither number, boolean, date, text nor category; "
        "convert it or leave it out"
    )


def _nominal_column(name: str, series: Any) -> Column:
    """Keep the order of categories if the user's type has one; else sort them."""
    native = series.to_native()
    order = getattr(series.dtype, "categories", None)
    if order is None and getattr(
        getattr(native, "type", None), "ordered", False
    ):  # Arrow's ordered dictionary
        order = native.unify_dictionaries().chunk(0).dictionary.to_pylist()
    return column_of(name, np.array(series.to_list(), dtype=object), nominal=True, order=order)


def _text_column(name: str, text: Any) -> Column:
    """Return the nominal column of an Arrow array of text: numbered by Arrow, sorted here."""
    import pyarrow as pa

    chunks = text if isinstance(text, pa.ChunkedArray) else pa.chunked_array([text])
    coded = chunks.dictionary_encode().unify_dictionaries()
    found = coded.chunk(0).dictionary.to_pylist()
    categories = sorted(found)
    place = {category: c for c, category in enumerate(categories)}
    code = np.array([*(place[category] for category in found), -1])  # the last for missing
    numbers = [chunk.indices.fill_null(len(found)).to_numpy(zero_copy_only=False) for chunk in coded.chunks]
    return Column(name, "nominal", code[np.concatenate(numbers)], tuple(categories))


def _date_column(name: str, moments: NDArray[Any]) -> Column:
    """Return dates and times as days since 1970-01-01, which keeps their order and is easy to read back."""
    moments = moments.astype("datetime64[us]")
    days = moments.astype(np.int64) / MICROSECONDS
    days[np.isnat(moments)] = np.nan
    return Column(name, "date", days, note=f"column {name!r} holds dates: used as days since 1970-01-01")


def column_of(
    name: str, objects: NDArray[Any], *, nominal: bool = False, order: Sequence[Any] | None = None
) -> Column:
    """Return a column of Python objects: text is nominal; numbers, booleans and dates stay what they are.

    Examples
    --------
    >>> import numpy as np
    >>> column = column_of("sex", np.array(["m", None, "f"], dtype=object))
    >>> column.kind, column.categories, column.values
    ('nominal', ('f', 'm'), array([ 1, -1,  0]))
    """
    if objects.dtype.kind == "M":
        return _date_column(name, objects)
    cells = objects.tolist()
    try:
        distinct = list(dict.fromkeys(cells))
    except TypeError:
        raise _mixed_error(name, set(map(type, cells))) from None
    present = [v for v in distinct if type(v).__name__ not in _MISSING and v == v]  # noqa: PLR0124, NaN differs from itself
    types = set(map(type, present))
    if not nominal and not all(issubclass(t, str) for t in types):
        return _column_of_numbers(name, cells, distinct, present, types)
    if not nominal and not types:
        return Column(name, "numeric", np.full(len(cells), np.nan))
    categories = tuple(sorted(present) if order is None else order)
    code = dict.fromkeys(distinct, -1) | {category: c for c, category in enumerate(categories)}
    codes = np.fromiter(map(code.__getitem__, cells), np.int64, len(cells))
    return Column(name, "nominal", codes, categories, ordered=order is not None)


def _column_of_numbers(
    name: str, cells: list[Any], distinct: list[Any], present: list[Any], types: set[type]
) -> Column:
    if all(issubclass(t, dt.date) for t in types):
        known = set(present)
        return _date_column(name, np.array([v if v in known else None for v in cells], "datetime64[us]"))
    boolean = types <= {bool, np.bool_}
    if not boolean and (
        types & {bool, np.bool_} or not all(issubclass(t, (numbers.Real, Decimal)) for t in types)
    ):
        raise _mixed_error(name, types)
    number = dict.fromkeys(distinct, np.nan) | {v: float(v) for v in present}
    values = np.fromiter(map(number.__getitem__, cells), np.float64, len(cells))
    return Column(name, "boolean" if boolean else "numeric", values)


def _mixed_error(name: str, types: set[type]) -> TypeError:
    found = ", ".join(sorted(t.__name__ for t in types if t.__name__ not in _MISSING))
    return TypeError(
        f"column {name!r} of X holds objects of type {found}; "
        "one kind is wanted: all numbers, all booleans, all dates or all text"
    )
