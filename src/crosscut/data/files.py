"""Read tables from files: CSV, JSON, Excel, Parquet, Arrow, ARFF, DuckDB and SQLite."""

from __future__ import annotations

import difflib
import sqlite3
import sys
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from crosscut.data.arff import ArffFile
from crosscut.data.columnar_files import ArrowFile, ParquetFile
from crosscut.data.converted import Json, JsonLines, Workbook
from crosscut.data.databases import DatabaseFile
from crosscut.data.file_kind import (
    Contents,
    EncodingError,
    FileKind,
    Place,
    check_file,
    check_names,
)
from crosscut.data.frames import check_arrow
from crosscut.data.text.dialect import READ_AS, TextOptions
from crosscut.data.text.text_file import TextFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from crosscut.typing import TableLike


def read_file(
    path: str | PathLike[str],
    *,
    table: str | None = None,
    header: bool | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] = (),
    dates: str | None = None,
    timeout: float | None = None,
) -> pa.Table:
    r"""Read a file as an Arrow table, which every estimator accepts as ``X``.

    The ending of the name selects the format: ``.csv``, ``.tsv``, ``.tab`` or ``.arff`` (also with ``.gz`` or
    ``.bz2``), ``.parquet``, ``.pq``, ``.arrow``, ``.feather``, ``.ipc``, ``.duckdb``, ``.sqlite`` or ``.db``;
    ``.txt`` or ``.data`` (text with any separator); ``.json`` (a list of objects) or ``.jsonl``; ``.xlsx``,
    ``.xls``, ``.xlsb`` or ``.ods``, which need ``pip install "crosscut[excel]"``.

    The format of a text file is detected: encoding, separator, header, decimal mark, thousands separator,
    currencies, percent, dates, and spaces around values. An empty cell, ``?``, ``NA``, ``NaN``, ``null``,
    ``None`` and their usual variants are missing values. :func:`reading_of` describes what was detected.
    An ambiguous file is an error that names the option to set.

    Parameters
    ----------
    path : path
        The file. ``shop.duckdb::customers`` is the table ``customers`` of the database ``shop.duckdb``.
    table : str, optional
        Table of a database, or sheet of a workbook; not needed if there is only one.
    header : bool, optional
        Whether the first line of a text file holds names. Without names, columns are c1, c2, and so on.
    separator : str, optional
        One character, or ``comma``, ``semicolon``, ``tab``, ``pipe`` or ``space``.
    decimal : "." or ",", optional
        The decimal mark.
    encoding : str, optional
        Such as ``utf-8`` or ``cp1252``.
    missing : sequence of str
        Words that mean a missing value, besides the usual ones.
    dates : str, optional
        ``dmy``, ``mdy`` or ``ymd``; a pattern such as ``%Y%m%d``; or ``none`` to read no text as dates.
    timeout : float, optional
        Limit of a database query in seconds. Set it for untrusted files, whose views can run forever.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("size;plan;since\n1,5;a;31.12.2024\n?;b;1.2.2023\n")
    ...     people = read_file(path)
    >>> people["size"].to_pylist(), str(people["since"][0])
    ([1.5, None], '2024-12-31')
    >>> reading_of(people)
    "';' separated, decimal comma, 'since': dates (day, month, year)"
    """
    options = TextOptions(header, separator, decimal, encoding, missing, dates)
    place = replace(existing_place(path, table, options), timeout=timeout)
    with readable(place) as kind:
        rows = kind.whole(place)
        _check_columns(place, rows.schema)
    return rows


def reading_of(table: pa.Table) -> str:
    """Describe in one line how a table's file was read; empty if the file has the usual format."""
    return str((table.schema.metadata or {}).get(READ_AS, b""), "utf-8")


def contents_of(place: Place) -> Contents:
    """Return the columns of a file with the types they have in :func:`read_file`, and its parts."""
    with readable(place) as kind:
        contents = kind.contents(place)
        _check_columns(place, contents.schema)
    return contents


def _check_columns(place: Place, schema: pa.Schema) -> None:
    for c, dtype in enumerate(schema.types):
        if pa.types.is_nested(dtype):
            raise ValueError(
                f"{place}: column {schema.field(c).name!r} holds values of type {dtype}; "
                "flatten it to numbers, booleans, dates or text, or remove it from the file"
            )
    check_names(place, schema)


def existing_place(
    path: str | PathLike[str], table: str | None = None, options: TextOptions | None = None
) -> Place:
    """Return the place of a path such as ``shop.duckdb::customers``; raise if there is no such file."""
    name = str(path)
    if "://" in name:
        raise ValueError(f"{name!r} is a URL, which crosscut does not open; download the file first")
    if table is None and "::" in name and not Path(name).exists():
        name, table = name.rsplit("::", 1)
    check_file(Path(name))
    if table is not None and ending_of(name) not in (*DATABASES, *WORKBOOKS):
        raise ValueError(
            f"table={table!r} was given, but {name!r} is not a database or workbook; leave it out"
        )
    return Place(Path(name), table, options or TextOptions())


def ending_of(path: str | PathLike[str]) -> str:
    """Return the longest known ending of a file name; empty if there is none."""
    name = Path(path).name.lower()
    return max((ending for ending in ENDINGS if name.endswith(ending)), key=len, default="")


@contextmanager
def readable(place: Place) -> Iterator[FileKind]:
    """Provide the kind of a file, and add the file name to errors of reading it."""
    name, ending = str(place.path), ending_of(place.path)
    if not ending:
        raise ValueError(f"{name!r} ends in {place.path.suffix!r}; supported endings: {READ}")
    if ending in {".duckdb", ".ddb"} and find_spec("duckdb") is None:
        raise ImportError(f"reading {name!r} needs duckdb: pip install 'crosscut[duckdb]'")
    if ending in WORKBOOKS and find_spec("python_calamine") is None:
        raise ImportError(f"reading {name!r} needs python-calamine: pip install 'crosscut[excel]'")
    try:
        yield ENDINGS[ending]
    except UnicodeDecodeError as error:
        raise EncodingError(place) from error
    except PermissionError as error:
        raise PermissionError(f"{name!r} cannot be read: {error.strerror or error}") from error
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{name!r} no longer exists") from error
    except TimeoutError:
        raise
    except _memory_errors() as error:
        raise MemoryError(f"{name!r} does not fit into memory: {error}") from error
    except _duckdb_errors("PermissionException") as error:
        raise ValueError(
            f"{place} reads other files or loads extensions, which crosscut does not allow; "
            f"store the rows in the database instead: {error}"
        ) from error
    except (pa.ArrowException, OSError, sqlite3.Error, *_duckdb_errors()) as error:
        if place.path.stat().st_size == 0 or "Empty CSV file" in str(error):
            raise ValueError(f"{name!r} is empty") from error
        raise ValueError(
            f"{name!r} cannot be read; it is damaged, incomplete, or does not match its ending: {error}"
        ) from error


def _duckdb_errors(name: str = "Error") -> tuple[type[Exception], ...]:
    """Return an exception class of DuckDB in a tuple; empty if DuckDB is not imported."""
    return (getattr(sys.modules["duckdb"], name),) if "duckdb" in sys.modules else ()


def _memory_errors() -> tuple[type[Exception], ...]:
    return MemoryError, *_duckdb_errors("OutOfMemoryException")


def split_target(frame: TableLike, target: str) -> tuple[Any, NDArray[Any]]:
    """Split a frame into feature columns and target values.

    Examples
    --------
    >>> import polars as pl
    >>> X, y = split_target(pl.DataFrame({"age": [20, 30], "plan": ["a", "b"]}), "plan")
    >>> X.columns, y
    (['age'], array(['a', 'b'], dtype=object))
    """
    import narwhals as nw

    check_arrow(frame=frame)
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
            f"target column {target!r} is missing in {missing.sum()} row(s), first in row {row}; "
            "remove these rows (--drop-missing-target on the command line)"
        )
    text = not (series.dtype.is_numeric() or series.dtype == nw.Boolean)
    y = np.array(series.to_list(), dtype=object) if text else np.asarray(series.to_numpy())
    return columns.drop(target).to_native(), y


_TEXTS: dict[str, FileKind] = {
    ".csv": TextFile(","),
    ".tsv": TextFile("\t"),
    ".tab": TextFile("\t"),
    ".arff": ArffFile(),
    ".txt": TextFile(","),
    ".data": TextFile(","),
    ".json": Json(),
    **dict.fromkeys((".jsonl", ".ndjson"), JsonLines()),
}
WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
DATABASES = (".duckdb", ".ddb", ".db", ".sqlite", ".sqlite3")
ENDINGS: dict[str, FileKind] = {
    **_TEXTS,
    **{f"{ending}.{packed}": kind for packed in ("gz", "bz2") for ending, kind in _TEXTS.items()},
    **dict.fromkeys((".parquet", ".pq"), ParquetFile()),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), ArrowFile()),
    **dict.fromkeys(DATABASES, DatabaseFile()),
    **dict.fromkeys(WORKBOOKS, Workbook()),
}
# files that must be named: a folder of tables may also have a README.txt
NOT_IN_FOLDERS = (*DATABASES, *WORKBOOKS, ".txt", ".data", ".json")
READ = f"{', '.join(ending for ending in ENDINGS if ending.count('.') == 1)} (text also with .gz or .bz2)"
