"""C4.5's pessimistic error estimate, by which TILDE prunes (in ``cpp/query_pruning.cpp``)."""

from __future__ import annotations

from crosscut import _core


def additional_errors(n: float, errors: float, confidence: float = 0.25) -> float:
    """Return how many more errors C4.5 (release 8) expects than the `errors` seen among `n` examples.

    The normal deviation that belongs to the confidence level is interpolated in C4.5's table, as TILDE does.

    Examples
    --------
    >>> round(additional_errors(6, 0), 4)
    1.2378
    >>> round(additional_errors(100, 5), 4)
    2.3016
    """
    if n <= 0 or not 0 <= errors <= n:
        raise ValueError(
            f"n is {n} and errors {errors}; there have to be examples, and no more errors than examples"
        )
    if not 0 < confidence <= 1:
        raise ValueError(f"confidence is {confidence}; it has to be above 0 and at most 1")
    return _core.additional_errors(n, errors, confidence)
