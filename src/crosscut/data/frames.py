"""Convert pandas, polars and Arrow frames and arrays to typed columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crosscut.data.columns import Column, Kind, column_of, date_column, empty_error, plain_matrix

if TYPE_CHECKING:
    import narwhals as nw
    from numpy.typing import NDArray

    from crosscut.typing import TableLike


class CodedText(NamedTuple):
    """Text as codes (-1 if missing) and categories: sorted and all used, or in the user's order."""

    codes: NDArray[np.int32]
    categories: list[str]
    ordered: bool


def names_of_frame(X: object) -> list[str] | None:
    """Return the column names of a pandas, polars or Arrow frame if they are distinct strings."""
    if type(X).__module__.partition(".")[0] not in {"pandas", "polars", "pyarrow"}:
        return None
    columns = getattr(X, "column_names" if hasattr(type(X), "column_names") else "columns", ())
    names = list(columns)
    if len(set(names)) < len(names):
        name = next(name for k, name in enumerate(names) if name in names[:k])
        raise ValueError(f"X has more than one column named {name!r}; rename or leave out all but one")
    return names if names and all(type(name) is str for name in names) else None


def check_arrow(**data: object) -> None:
    """Check Arrow data, also in pandas, fully before anything reads it.

    Damaged offsets and codes point outside of its memory, and most libraries do not look.
    """
    for name, each in data.items():
        for part in _arrow_parts(each):
            import pyarrow as pa

            try:
                part.validate(full=True)
            except pa.ArrowException as error:
                raise ValueError(f"{name} is damaged Arrow data: {error}") from error


def _arrow_parts(data: Any) -> list[Any]:
    """Return what Arrow holds of a frame or column of pyarrow or pandas."""
    library = type(data).__module__.partition(".")[0]
    if library == "pyarrow":
        return [data] if hasattr(data, "validate") else []
    if library != "pandas":
        return []
    frame = hasattr(data, "columns")
    dtypes = data.dtypes if frame else [getattr(data, "dtype", None)]
    series = (each for _, each in data.items()) if frame else [data]
    arrays: list[Any] = [
        getattr(each, "array", None)
        for each, dtype in zip(series, dtypes, strict=True)
        if not isinstance(dtype, np.dtype)
    ]
    arrays += [array.categories.array for array in arrays if hasattr(array, "categories")]
    dtypes = [getattr(array, "dtype", None) for array in arrays]
    return [
        array.__arrow_array__()
        for array, dtype in zip(arrays, dtypes, strict=True)
        if hasattr(dtype, "pyarrow_dtype") or str(getattr(dtype, "storage", "")).startswith("pyarrow")
    ]


def columns_of(X: object) -> list[Column]:
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
            raise TypeError(f"X is an array of {array.dtype}; use numbers, booleans, dates, text or objects")
        return [column_of(f"x{f}", array[:, f])._replace(named=False) for f in range(array.shape[1])]
    return _columns_of_frame(X)


def _columns_of_frame(X: TableLike) -> list[Column]:
    import narwhals as nw

    if hasattr(X, "__arrow_c_array__") and hasattr(X, "column_names"):  # a record batch
        import pyarrow as pa

        X = pa.table(X)
    check_arrow(X=X)
    if nw.dependencies.is_pandas_dataframe(X):  # its own columns: narwhals takes 15 µs to wrap one
        if 0 in X.shape:
            raise empty_error(X.shape)
        return [_column_of_series(str(name), series) for name, series in X.items()]
    try:
        frame = nw.from_native(X)
    except TypeError:
        raise TypeError(
            f"X is a {type(X).__name__}; use a two-dimensional NumPy array or a pandas, polars or Arrow frame"
        ) from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if 0 in frame.shape:
        raise empty_error(frame.shape)
    return [
        _column_of_series(str(name), series)
        for name, series in zip(frame.columns, frame.iter_columns(), strict=True)
    ]


def _column_of_series(name: str, column: Any) -> Column:
    """Return the typed column of a pandas or narwhals series."""
    stored = getattr(column, "dtype", None)
    if isinstance(stored, np.dtype) and stored.kind in "fiub":
        return Column(name, "boolean" if stored.kind == "b" else "numeric", column.to_numpy())
    array: Any = getattr(column, "array", None)
    if hasattr(array, "codes"):  # categories of pandas
        return Column(name, "nominal", array.codes, tuple(array.categories.tolist()), ordered=array.ordered)
    import narwhals as nw

    series: nw.Series[Any] = nw.from_native(column, series_only=True)
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        values = np.asarray(series.to_numpy())
        if values.dtype.kind not in "fiub":  # objects, because values are missing or decimal
            values = np.asarray(series.cast(nw.Float64).to_numpy())
        return Column(name, "boolean" if dtype == nw.Boolean else "numeric", values)
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        return _nominal_column(name, series)
    if dtype == nw.Date:
        return date_column(name, np.asarray(series.alias("").to_arrow()))
    if isinstance(dtype, nw.Datetime):
        if dtype.time_zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return date_column(name, np.asarray(series.to_numpy()))
    coded = coded_text(series)
    if coded is not None:
        return Column(name, "nominal", coded.codes, tuple(coded.categories), ordered=coded.ordered)
    if dtype in {nw.String, nw.Object, nw.Unknown}:
        return column_of(name, series.to_numpy(), nominal=dtype == nw.String and not series.count())
    raise TypeError(
        f"column {name!r} of X has type {dtype}, which is neither number, boolean, date, text nor category; "
        "convert it or leave it out"
    )


def _nominal_column(name: str, series: nw.Series[Any]) -> Column:
    """Return a column of categories, in the order of the user's type if it has one, else sorted."""
    coded = coded_text(series)
    if coded is not None:
        return Column(name, "nominal", coded.codes, tuple(coded.categories), ordered=coded.ordered)
    native, order = series.to_native(), None
    if getattr(getattr(native, "type", None), "ordered", False):
        order = native.unify_dictionaries().chunk(0).dictionary.to_pylist()  # Arrow's
    return column_of(name, np.array(series.to_list(), dtype=object), nominal=True, order=order)


def coded_text(column: object) -> CodedText | None:
    """Return codes for a column that its library stores as text; None for other columns."""
    if isinstance(getattr(column, "dtype", None), np.dtype):  # Python objects or numbers
        return None
    import narwhals as nw

    series = nw.from_native(column, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return None
    if not isinstance(series.dtype, (nw.String, nw.Categorical, nw.Enum)):
        return None
    if isinstance(getattr(series.to_native(), "dtype", None), np.dtype):
        return None
    import pyarrow as pa
    from pyarrow import compute

    if "\0" in (series.name or ""):  # polars cannot export such a name
        series = series.alias("")
    values = series.to_arrow()
    if not isinstance(values, pa.ChunkedArray):
        values = pa.chunked_array([values])
    is_coded = pa.types.is_dictionary(values.type)
    stored = values.type.value_type if is_coded else values.type
    if stored not in (pa.string(), pa.large_string(), pa.string_view()):
        return None
    ordered = is_coded and bool(values.type.ordered)
    if ordered:
        categories = values.unify_dictionaries().chunk(0).dictionary.cast(pa.large_string()).unique()
    if stored != pa.large_string() or is_coded:
        values = values.cast(pa.large_string())
    if not ordered:
        categories = values.unique()
        categories = categories.take(compute.sort_indices(categories))
    if categories.null_count:
        categories = categories.drop_null()
    codes = compute.index_in(values, value_set=categories).fill_null(-1).to_numpy()
    return CodedText(codes, categories.to_pylist(), ordered)
