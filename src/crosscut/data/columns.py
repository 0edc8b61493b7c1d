"""Typed columns, and their construction from Python objects."""

from __future__ import annotations

import datetime as dt
import math
import numbers
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.typing import TableLike

MICROSECONDS = 86_400_000_000  # per day
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001, dates have no zone


def moment_of(days: float) -> dt.datetime:
    """Return the time ``days`` after 1970-01-01, rounded down to microseconds."""
    return _EPOCH + dt.timedelta(microseconds=math.floor(days * MICROSECONDS))


def cut_text(days: float, *, whole: bool) -> str:
    """Return the last date that is not after a cut, or the time of the cut.

    ``whole`` means that the dates on both sides have no time of day.

    Examples
    --------
    >>> cut_text(19536.5, whole=True), cut_text(19536.5, whole=False)
    ('2023-06-28', '2023-06-28 12:00')
    """
    moment = moment_of(days)
    if whole or moment.time() == dt.time():
        return f"{moment:%Y-%m-%d}"
    return f"{moment:%Y-%m-%d %H:%M:%S}" if moment.second else f"{moment:%Y-%m-%d %H:%M}"


def separates_days(cut: float, low: float = math.nan, high: float = math.nan) -> bool:
    """Whether a cut lies between two dates without a time of day; NaN means that a neighbour is unknown."""
    if math.isnan(low) or math.isnan(high):
        return float(2 * cut).is_integer()
    return float(low).is_integer() and float(high).is_integer()


def last_moment(cut: float) -> dt.datetime:
    """Return the latest time that, rounded to single precision, is not after a cut."""
    single = np.float32(cut)
    if float(single) > cut:  # as doubles: NumPy would round the cut first
        single = np.nextafter(single, np.float32(-np.inf))
    above = np.nextafter(single, np.float32(np.inf))
    microsecond = math.floor((float(single) + float(above)) / 2 * MICROSECONDS) + 2
    while float(np.float32(microsecond / MICROSECONDS)) > cut:
        microsecond -= 1
    return _EPOCH + dt.timedelta(microseconds=microsecond)


_WIDE_UNITS = {"Y", "M", "W", "D", "h", "m", "s", "ms", "us"}  # the others reach from 1677 to 2262

Kind = Literal["numeric", "boolean", "date", "nominal"]

# names of columns that number the rows, and of columns that hold times
_KEY_WORDS = "id|key|uuid|guid|index|idx|row|nr|no|number"
ROW_NUMBERS = rf"(?i:(^|[\W_])({_KEY_WORDS})$|^c1$|^row ?names?$|^unnamed: ?\d+$)|[a-z]I[dD]$"
TIMES = r"(?i:(^|[\W_])(date|time|timestamp|year|quarter|month|week|day)([\W_]|$))"

_MISSING = {"NoneType", "NAType", "NaTType"}  # names of types, because pandas may not be installed


def is_missing(value: object) -> bool:
    """Whether a Python object means that a value is missing: None, NaN, or pandas' NA and NaT."""
    return type(value).__name__ in _MISSING or bool(value != value)  # noqa: PLR0124, NaN differs from itself


class Column(NamedTuple):
    """One column as an array: numbers with NaN for missing, or category codes with -1 for missing."""

    name: str
    kind: Kind
    values: NDArray[Any]
    categories: tuple[Any, ...] = ()
    named: bool = True  # the name comes from the data, not from the position
    note: str = ""
    ordered: bool = False  # the categories are ordered by the user, and some may have no rows


def plain_matrix(X: TableLike) -> NDArray[Any] | None:
    """Return X as a two-dimensional array of numbers if that is what it is, else None."""
    if isinstance(X, (list, tuple)):
        X = _array_of_lists(X)
    if not isinstance(X, np.ndarray):
        return None
    if isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "fiub":
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if X.ndim != 2:
        raise ValueError(
            f"X must be two-dimensional (rows, columns), but has shape {X.shape}; "
            "use X.reshape(-1, 1) if it is one column"
        )
    if 0 in X.shape:
        raise empty_error(X.shape)
    return X if X.dtype.kind in "fiub" else None


def selected_columns(columns: list[Column], names: Sequence[str] | None) -> list[Column]:
    """Name the columns of an array, or select the named columns of a frame."""
    if names is None:
        return columns
    wanted = checked_names(names)
    if not columns[0].named:
        if len(wanted) != len(columns):
            raise ValueError(f"names has {len(wanted)} entries, but X has {len(columns)} columns")
        return [column._replace(name=name, named=True) for column, name in zip(columns, wanted, strict=True)]
    known = {column.name: column for column in columns}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ValueError(f"names contains {unknown}, but the columns of X are {list(known)}")
    return [known[name] for name in wanted]


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names as text; refuse repeated ones."""
    wanted = tuple(str(name) for name in names)
    repeated = (
        sorted({name for name in wanted if wanted.count(name) > 1}) if len(set(wanted)) < len(wanted) else []
    )
    if repeated or not wanted:
        raise ValueError(f"names must be unique and not empty; repeated: {repeated}")
    return wanted


def infinite_error(name: str, row: int, value: object) -> ValueError:
    """Return the error for a value that is infinite, or too large for float32."""
    return ValueError(
        f"column {name!r} of X holds {value} in row {row}: infinity, or a value too large for "
        "dtype('float32'), cannot be used; give NaN if the value is missing"
    )


def empty_error(shape: tuple[int, ...]) -> ValueError:
    """Return the error for a table without rows or columns."""
    # worded like scikit-learn's, whose checks of estimators look for it
    rows, columns = shape
    if not rows:
        return ValueError(f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required.")
    return ValueError(
        f"Found array with {columns} feature(s) (shape={shape}) while a minimum of 1 is required."
    )


def _array_of_lists(rows: Any) -> NDArray[Any]:
    array = np.asarray(rows)
    # NumPy turns a row with numbers and text into text; keep the original objects
    return np.asarray(rows, dtype=object) if array.dtype.kind in "US" else array


def date_column(name: str, moments: NDArray[Any]) -> Column:
    """Return dates and times as days since 1970-01-01; they must be dates of Python."""
    if np.datetime_data(moments.dtype)[0] in _WIDE_UNITS:
        first, last = np.datetime64("0001-01-01"), np.datetime64("10000-01-01")
        strange = np.flatnonzero(
            (moments < first.astype(moments.dtype)) | (moments >= last.astype(moments.dtype))
        )
        if len(strange):
            raise ValueError(
                f"column {name!r} of X holds a date outside of the years 1 to 9999 in row {strange[0]}; "
                "correct it, or make it missing"
            )
    moments = moments.astype("datetime64[us]")
    days = moments.astype(np.int64) / MICROSECONDS
    days[np.isnat(moments)] = np.nan
    return Column(name, "date", days, note=f"column {name!r} holds dates: used as days since 1970-01-01")


def column_of(
    name: str, objects: NDArray[Any], *, nominal: bool = False, order: Sequence[Any] | None = None
) -> Column:
    """Return a column of Python objects: text becomes nominal; numbers, booleans and dates keep their kind.

    Examples
    --------
    >>> import numpy as np
    >>> column = column_of("sex", np.array(["m", None, "f"], dtype=object))
    >>> column.kind, column.categories, column.values
    ('nominal', ('f', 'm'), array([ 1, -1,  0]))
    """
    if objects.dtype.kind == "M":
        return date_column(name, objects)
    cells = objects.tolist()
    try:
        distinct = list(dict.fromkeys(cells))
    except TypeError:
        raise _mixed_error(name, set(map(type, cells))) from None
    present = [v for v in distinct if not is_missing(v)]
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
        return date_column(name, np.array([v if v in known else None for v in cells], "datetime64[us]"))
    boolean = types <= {bool, np.bool_}
    if not boolean and (
        types & {bool, np.bool_} or not all(issubclass(t, (numbers.Real, Decimal)) for t in types)
    ):
        raise _mixed_error(name, types)
    number = dict.fromkeys(distinct, np.nan) | {v: float(v) for v in present}
    values = np.fromiter(map(number.__getitem__, cells), np.float64, len(cells))
    return Column(name, "boolean" if boolean else "numeric", values)


def _mixed_error(name: str, types: set[type]) -> TypeError:
    held = ", ".join(sorted(t.__name__ for t in types if t.__name__ not in _MISSING))
    return TypeError(
        f"column {name!r} of X holds objects of type {held}; "
        "all must be numbers, all booleans, all dates or all text"
    )
