"""Typed columns of pandas, polars and Arrow frames, and of arrays."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.data.columns import Column, Kind, column_of, date_column, empty_error, plain_matrix

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def names_of_frame(X: Any) -> list[str] | None:
    """Return the names of the columns of a pandas, polars or Arrow frame if they are different texts."""
    if _library(X) not in {"pandas", "polars", "pyarrow"}:
        return None
    columns = X.column_names if hasattr(type(X), "column_names") else getattr(X, "columns", ())
    names = columns.tolist() if hasattr(columns, "tolist") else list(columns)
    return names if all(type(name) is str for name in names) and 0 < len(set(names)) == len(names) else None


def _library(X: Any) -> str:
    return type(X).__module__.partition(".")[0]


def columns_of(X: Any) -> list[Column]:
    """Return the typed columns of an array or a frame."""
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
        return [replace(column_of(f"x{f}", array[:, f]), named=False) for f in range(array.shape[1])]
    return _columns_of_frame(X)


def _columns_of_frame(X: Any) -> list[Column]:
    found = dict(_ready_columns(X))
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


def _ready_columns(frame: Any) -> Iterator[tuple[Any, Column]]:
    """Yield the columns of a pandas or polars frame that are easily read; to ask narwhals takes longer."""
    arrays: list[Any] = []
    if pandas := _library(frame) == "pandas":
        arrays = _arrays_of_pandas(frame)
    elif hasattr(type(frame), "get_columns"):
        arrays = frame.get_columns()
    for name, array in zip(frame.columns, arrays, strict=True) if arrays and len(frame) else ():
        column = _column_of_array(str(name), array) if pandas else _column_of_polars(name, array)
        if column is not None:
            yield name, column


def _arrays_of_pandas(frame: Any) -> list[Any]:
    quick = getattr(frame, "_iter_column_arrays", None)  # columns as Series take longer than a small tree
    if quick is not None:
        return list(quick())
    return [own.to_numpy() if isinstance(own.dtype, np.dtype) else own.array for _, own in frame.items()]


def _column_of_array(name: str, array: Any) -> Column | None:
    kind = getattr(array.dtype, "kind", "O")
    if isinstance(array, np.ndarray):
        if kind in "fiub":
            return Column(name, "boolean" if kind == "b" else "numeric", array)
        column = column_of(name, array) if kind == "O" else None
        return column if column and (column.categories or not np.isnan(column.values).all()) else None
    if array.dtype.name == "category":
        return Column(name, "nominal", array.codes, tuple(array.categories.tolist()), ordered=array.ordered)
    text = array.dtype.name in {"str", "string"} and "pyarrow" in sys.modules
    return _text_column(name, array.__arrow_array__()) if text else None


def _column_of_polars(name: str, series: Any) -> Column | None:
    dtype = series.dtype
    if dtype.is_numeric():
        values = series.to_numpy()
        return Column(name, "numeric", values) if values.dtype.kind in "fiu" else None
    kind = type(dtype).__name__
    if kind not in {"String", "Categorical", "Enum"} or "pyarrow" not in sys.modules:
        return None
    order = dtype.categories.to_list() if kind == "Enum" else None
    return _text_column(name, series.alias("").to_arrow(), order)  # it fails on some names


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
    if "pyarrow" in sys.modules:
        return _text_column(name, series.alias("").to_arrow(), order)
    return column_of(name, np.array(series.to_list(), dtype=object), nominal=True, order=order)


def _text_column(name: str, text: Any, order: Sequence[Any] | None = None) -> Column:
    """Return the nominal column of an Arrow array of text: numbered by Arrow, sorted here."""
    import pyarrow as pa

    coded = text.dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.chunk(0) if coded.num_chunks == 1 else coded.unify_dictionaries().combine_chunks()
    found, indices = coded.dictionary.to_pylist(), coded.indices
    if indices.null_count:
        indices = indices.cast(pa.int64()).fill_null(len(found))
    rows = indices.to_numpy()
    ordered = order is not None
    if order is None:
        used = np.flatnonzero(np.bincount(rows, minlength=len(found) + 1)[:-1]).tolist()
        order = sorted(found[entry] for entry in used if found[entry] is not None)
    place = {category: c for c, category in enumerate(order)}
    code = np.array([*(place.get(entry, -1) for entry in found), -1], np.int32)  # the last for missing
    return Column(name, "nominal", code[rows], tuple(order), ordered=ordered)
