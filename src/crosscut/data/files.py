"""Tables from files: CSV, Parquet, Arrow, ARFF, DuckDB and SQLite."""

from __future__ import annotations

import difflib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    import pyarrow as pa
    from numpy.typing import NDArray


def read_file(path: str | PathLike[str], *, table: str | None = None) -> pa.Table:
    r"""Read a table from a file as an Arrow table, which every estimator takes for ``X``.

    The ending of the name decides: ``.csv``, ``.tsv`` or ``.tab`` (also with ``.gz``), ``.parquet``,
    ``.arrow``, ``.feather`` or ``.ipc``, ``.arff``, ``.duckdb``, ``.sqlite`` or ``.db``. In a CSV file an
    empty cell, ``NA``, ``NaN``, ``null`` and ``?`` are missing.

    Parameters
    ----------
    path : path
        The file. ``shop.duckdb::customers`` is the table ``customers`` of the database ``shop.duckdb``.
    table : str, optional
        The table of a database; not needed if it has only one.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("age,plan\n30,a\n?,b\n")
    ...     read_file(path).to_pydict()
    {'age': [30, None], 'plan': ['a', 'b']}
    """
    name = str(path)
    if table is None and "::" in name:
        name, table = name.rsplit("::", 1)
    file = Path(name)
    if not file.exists():
        raise FileNotFoundError(f"there is no file {name!r}")
    endings = [ending.lower() for ending in file.suffixes]
    ending = (
        endings[-2] if len(endings) > 1 and endings[-1] in {".gz", ".bz2"} else endings[-1] if endings else ""
    )
    if ending not in _READERS:
        raise ValueError(f"{name!r} ends in {ending!r}; these kinds of files are read: {', '.join(_READERS)}")
    for library in ("pyarrow", *(["duckdb"] if ending in {".duckdb", ".ddb"} else [])):
        if find_spec(library) is None:
            raise ImportError(f"reading {name!r} needs {library}: pip install 'crosscut[files]'")
    if table is not None and ending not in _DATABASES:
        raise ValueError(f"table={table!r} was given, but {name!r} is not a database")
    return _READERS[ending](file, table)


def split_target(frame: Any, target: str) -> tuple[Any, NDArray[Any]]:
    """Split a frame in the columns to test and the values to predict.

    Examples
    --------
    >>> import polars as pl
    >>> X, y = split_target(pl.DataFrame({"age": [20, 30], "plan": ["a", "b"]}), "plan")
    >>> X.columns, y
    (['age'], array(['a', 'b'], dtype=object))
    """
    import narwhals as nw

    columns = nw.from_native(frame, eager_only=True)
    if target not in columns.columns:
        near = difflib.get_close_matches(target, columns.columns, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; the columns are {columns.columns}"
        raise ValueError(f"there is no column {target!r}{hint}")
    series = columns[target]
    missing = series.is_null() | series.is_nan() if series.dtype.is_float() else series.is_null()
    if missing.any():
        row = int(np.flatnonzero(missing.to_numpy())[0])
        raise ValueError(
            f"target column {target!r} is missing in {missing.sum()} row(s), the first of them row {row}; "
            "leave those rows out"
        )
    text = not (series.dtype.is_numeric() or series.dtype == nw.Boolean)
    y = np.array(series.to_list(), dtype=object) if text else np.asarray(series.to_numpy())
    return columns.drop(target).to_native(), y


def _read_csv(path: Path, delimiter: str) -> pa.Table:
    from pyarrow import csv

    options = csv.ConvertOptions()
    nulls = [*options.null_values, "?"]
    options = csv.ConvertOptions(null_values=nulls, strings_can_be_null=True)
    try:
        return csv.read_csv(
            path, parse_options=csv.ParseOptions(delimiter=delimiter), convert_options=options
        )
    except ValueError as error:  # pyarrow's errors are ValueErrors that do not name the file
        raise ValueError(
            f"{str(path)!r} is not a table of values separated by {delimiter!r}: {error}"
        ) from error


def _read_parquet(path: Path, _table: str | None) -> pa.Table:
    from pyarrow import parquet

    return parquet.read_table(path)


def _read_arrow(path: Path, _table: str | None) -> pa.Table:
    from pyarrow import feather

    return feather.read_table(path)


def _read_arff(path: Path, _table: str | None) -> pa.Table:
    from crosscut.data.arff import read_arff

    return read_arff(path)


def _read_database(path: Path, table: str | None) -> pa.Table:
    with path.open("rb") as file:
        is_sqlite = file.read(16) == b"SQLite format 3\0"
    return _read_sqlite(path, table) if is_sqlite else _read_duckdb(path, table)


def _read_duckdb(path: Path, table: str | None) -> pa.Table:
    import duckdb

    with duckdb.connect(str(path), read_only=True) as database:
        tables = [name for (name,) in database.execute("SHOW TABLES").fetchall()]
        return database.sql(f"SELECT * FROM {_chosen(path, tables, table)}").to_arrow_table()  # noqa: S608, quoted


def _read_sqlite(path: Path, table: str | None) -> pa.Table:
    # Python's own module: DuckDB would have to download an extension
    import sqlite3
    from contextlib import closing

    import pyarrow as pa

    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        found = database.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        )
        tables = [name for (name,) in found]
        rows = database.execute(f"SELECT * FROM {_chosen(path, tables, table)}")  # noqa: S608, quoted
        names = [column[0] for column in rows.description]
        cells = list(zip(*rows, strict=True)) or [()] * len(names)
    columns = {}
    for name, column in zip(names, cells, strict=True):
        try:
            columns[name] = pa.array(column)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise TypeError(f"column {name!r} of {str(path)!r} mixes types: {error}") from error
    return pa.table(columns)


def _chosen(path: Path, tables: list[str], table: str | None) -> str:
    """Return the table's name, quoted for SQL."""
    if table is None and len(tables) == 1:
        table = tables[0]
    if table is None:
        raise ValueError(
            f"{str(path)!r} has the tables {tables}; choose one with table=... or '{path}::{{table}}'"
        )
    if table not in tables:
        raise ValueError(f"{str(path)!r} has no table {table!r}; it has {tables}")
    return '"' + table.replace('"', '""') + '"'


_DATABASES = {".duckdb", ".ddb", ".db", ".sqlite", ".sqlite3"}
_READERS: dict[str, Callable[[Path, str | None], pa.Table]] = {
    ".csv": lambda path, _table: _read_csv(path, ","),
    ".tsv": lambda path, _table: _read_csv(path, "\t"),
    ".tab": lambda path, _table: _read_csv(path, "\t"),
    ".parquet": _read_parquet,
    ".arrow": _read_arrow,
    ".feather": _read_arrow,
    ".ipc": _read_arrow,
    ".arff": _read_arff,
    **dict.fromkeys(sorted(_DATABASES), _read_database),
}
