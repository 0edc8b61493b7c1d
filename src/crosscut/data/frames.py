"""Typed columns of pandas, polars and Arrow frames, and of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut import _core
from crosscut.data.columns import Column, Kind, column_of, date_column, empty_error, plain_matrix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_TEXT_IN_PANDAS = {"str", "string", "string[pyarrow]", "large_string[pyarrow]"}
_TEXT_IN_POLARS = {"String", "Categorical", "Enum"}
_READY_IN_POLARS = {
    *_TEXT_IN_POLARS,
    *("Float32", "Float64", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"),
}


def names_of_frame(X: Any) -> list[str] | None:
    """Return the names of the columns of a pandas, polars or Arrow frame if they are different texts."""
    if _library(X) not in {"pandas", "polars", "pyarrow"}:
        return None
    names = _names(X)
    return names if all(type(name) is str for name in names) and 0 < len(set(names)) == len(names) else None


def _names(frame: Any) -> list[Any]:
    columns = frame.column_names if hasattr(type(frame), "column_names") else getattr(frame, "columns", ())
    return _listed(columns) if hasattr(columns, "tolist") else list(columns)


def _listed(index: Any) -> list[Any]:
    """Return the entries of an index of pandas, which takes longer to list text itself."""
    stored = getattr(index.array, "_pa_array", None)
    entries: list[Any] = index.tolist() if stored is None or index.dtype != "str" else stored.to_pylist()
    return entries


def _library(X: Any) -> str:
    return type(X).__module__.partition(".")[0]


def columns_of(X: Any, names: list[str] | None = None) -> list[Column]:
    """Return the typed columns of an array or a frame; ``names`` are those of its columns, if known."""
    if hasattr(type(X), "toarray") and hasattr(X, "nnz"):
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
        return [column_of(f"x{f}", array[:, f])._replace(named=False) for f in range(array.shape[1])]
    return _columns_of_frame(X, names)


def _columns_of_frame(X: Any, names: list[str] | None) -> list[Column]:
    found = dict(_ready_columns(X, names))
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
        raise empty_error(frame.shape)
    return [found.get(name) or _column_of_series(str(name), frame.get_column(name)) for name in frame.columns]


def _ready_columns(frame: Any, names: list[Any] | None) -> Iterator[tuple[Any, Column]]:
    """Yield the columns of a pandas, polars or Arrow frame that are easily read; narwhals takes longer."""
    of, is_pandas = type(frame), _library(frame) == "pandas"
    is_polars = hasattr(of, "get_columns")
    if not (is_pandas or is_polars or hasattr(of, "to_batches")) or not len(frame):
        return
    names = names or _names(frame)
    if is_pandas:
        columns = map(_column_of_pandas, map(str, names), _arrays_of_pandas(frame))
    else:
        if is_polars:
            names, frame = _ready_in_polars(names, frame)
        columns = map(_column_of_arrow, names, _core.read_columns(frame))
    for name, column in zip(names, columns, strict=True):
        if column is not None:
            yield name, column


def _ready_in_polars(names: list[str], frame: Any) -> tuple[list[str], Any]:
    """Return the columns that polars can hand over; with other types, or names, it may end the process."""
    typed = zip(names, frame.dtypes, strict=True)
    ready = [name for name, own in typed if type(own).__name__ in _READY_IN_POLARS and "\0" not in name]
    return ready, frame if len(ready) == len(names) else frame.select(ready)


def _arrays_of_pandas(frame: Any) -> list[Any]:
    quick = getattr(frame, "_iter_column_arrays", None)  # columns as Series take longer than a small tree
    if quick is not None:
        return list(quick())
    return [own.to_numpy() if isinstance(own.dtype, np.dtype) else own.array for _, own in frame.items()]


def _column_of_pandas(name: str, array: Any) -> Column | None:
    if isinstance(array, np.ndarray):
        kind = array.dtype.kind
        if kind in "fiub":
            return Column(name, "boolean" if kind == "b" else "numeric", array)
        column = column_of(name, array) if kind == "O" else None
        return column if column and (column.categories or not np.isnan(column.values).all()) else None
    if array.dtype.name == "category":
        return Column(name, "nominal", array.codes, tuple(_listed(array.categories)), ordered=array.ordered)
    return _text_column(name, array)


def _column_of_arrow(name: str, read: Any) -> Column | None:
    """Return the column that the core has read."""
    if not isinstance(read, tuple):
        return None if read is None else Column(name, "numeric", read)
    codes, categories, ordered = read
    return Column(name, "nominal", codes, tuple(categories), ordered=ordered)


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
        return date_column(name, np.asarray(series.cast(nw.Datetime("us")).to_numpy()))
    if dtype == nw.Datetime:
        if dtype.time_zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return date_column(name, np.asarray(series.to_numpy()))
    column = _text_column(name, series.to_native()) if dtype == nw.String else None
    if column is not None:
        return column
    if dtype in {nw.String, nw.Object, nw.Unknown}:
        return column_of(name, series.to_numpy(), nominal=dtype == nw.String)
    raise TypeError(
        f"column {name!r} of X has type {dtype}, which is neither number, boolean, date, text nor category; "
        "convert it or leave it out"
    )


def _nominal_column(name: str, series: Any) -> Column:
    """Keep the order of categories if the user's type has one; else sort them."""
    native = series.to_native()
    column = _text_column(name, native)
    if column is not None:
        return column
    order = getattr(series.dtype, "categories", None)
    if order is None and getattr(getattr(native, "type", None), "ordered", False):
        order = native.unify_dictionaries().chunk(0).dictionary.to_pylist()  # Arrow's
    return column_of(name, np.array(series.to_list(), dtype=object), nominal=True, order=order)


def coded_text(column: Any) -> tuple[NDArray[np.int32], list[str], bool] | None:
    """Return a column that is stored as Arrow's text as the core reads it; None for anything else.

    These are codes, -1 where a text is missing; the texts; and if these are in an order of their own, with
    some perhaps that no row has. Otherwise they are sorted.
    """
    if isinstance(getattr(column, "dtype", None), np.dtype):
        return None
    library = _library(column)
    if library == "pandas":
        array = getattr(column, "array", column)
        column = getattr(array, "_pa_array", None) if array.dtype.name in _TEXT_IN_PANDAS else None
    elif library == "polars":  # which may crash if it hands over other types, or names
        text = type(column.dtype).__name__ in _TEXT_IN_POLARS
        column = (column.alias("") if "\0" in column.name else column) if text else None
    if not hasattr(type(column), "__arrow_c_stream__"):
        return None
    (read,) = _core.read_columns(column)
    return read if isinstance(read, tuple) else None


def _text_column(name: str, column: Any) -> Column | None:
    """Return the nominal column of text that is stored as Arrow's; None for anything else."""
    read = coded_text(column)
    return None if read is None else _column_of_arrow(name, read)
