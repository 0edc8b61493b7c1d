"""Dates as numbers of days since 1970-01-01, and back."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np

MICROSECONDS = 86_400_000_000  # of a day
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001, dates have no zone


def moment_of(days: float) -> dt.datetime:
    """Return the moment so many days after 1970-01-01, to the microsecond before."""
    return _EPOCH + dt.timedelta(microseconds=math.floor(days * MICROSECONDS))


def cut_text(days: float, *, whole: bool) -> str:
    """Return the last date that is not after a cut, or the moment of the cut.

    ``whole`` tells that the dates on both sides have no time of day.

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
    """Whether a cut lies between two dates without a time of day; those next to it may be unknown."""
    if math.isnan(low) or math.isnan(high):
        return float(2 * cut).is_integer()
    return float(low).is_integer() and float(high).is_integer()


def last_moment(cut: float) -> dt.datetime:
    """Return the last moment that is not after a cut once it is rounded to single precision."""
    single = np.float32(cut)
    if float(single) > cut:  # as doubles: NumPy would round the cut first
        single = np.nextafter(single, np.float32(-np.inf))
    above = np.nextafter(single, np.float32(np.inf))
    microsecond = math.floor((float(single) + float(above)) / 2 * MICROSECONDS) + 2
    while float(np.float32(microsecond / MICROSECONDS)) > cut:
        microsecond -= 1
    return _EPOCH + dt.timedelta(microseconds=microsecond)
