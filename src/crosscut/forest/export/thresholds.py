"""The one number by which a numeric test is known, wherever it is shown."""

from __future__ import annotations

import numpy as np


def shown_threshold(threshold: float) -> float:
    """Return the shortest decimal that decides every row as a threshold does.

    Rows are single precision, so all numbers from the last one of these that is not above the threshold up to
    the next one are the same test.

    Examples
    --------
    >>> shown_threshold(2.449999988079071), shown_threshold(10066.91357421875), shown_threshold(0.5)
    (2.45, 10066.914, 0.5)
    """
    if not np.isfinite(threshold):
        return threshold
    last = np.float32(threshold)
    if float(last) > threshold:  # as doubles: NumPy would round the threshold first
        last = np.nextafter(last, np.float32(-np.inf))
    low, high = float(last), float(np.nextafter(last, np.float32(np.inf)))
    for digits in range(1, 17):  # if a number with this many digits is between, the one nearest the middle is
        shown = float(f"{(low + high) / 2:.{digits}g}")
        if low <= shown < high:
            return shown
    return threshold


def threshold_text(threshold: float, decimals: int = 0) -> str:
    """Return that number as text, padded with zeros to this many decimals.

    Examples
    --------
    >>> threshold_text(2.449999988079071), threshold_text(9.5, 2), threshold_text(123456.0)
    ('2.45', '9.50', '123456')
    """
    shown = shown_threshold(threshold)
    padded = f"{shown:.{decimals}f}"
    return padded if float(padded) == shown else repr(shown)
