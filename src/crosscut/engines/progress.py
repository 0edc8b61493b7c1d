"""Report the progress of passes over a stream and of work in memory."""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    Item = TypeVar("Item")

_watcher: ContextVar[Callable[[float], object] | None] = ContextVar("watcher", default=None)


@contextmanager
def watching(report: Callable[[float], object] | None) -> Iterator[None]:
    """Report the progress of reading, growing or learning in memory within the block to a function.

    Parameters
    ----------
    report : callable
        Called repeatedly with the finished fraction, from 0 to 1. An exception in it stops the work.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from crosscut import TreeClassifier
    >>> fractions = []
    >>> with watching(fractions.append):
    ...     model = TreeClassifier().fit(*load_iris(return_X_y=True))
    >>> fractions[-1]
    1.0
    """
    token = _watcher.set(report)
    try:
        yield
    finally:
        _watcher.reset(token)


def watcher() -> Callable[[float], object] | None:
    """Return the function of the innermost :func:`watching`."""
    return _watcher.get()


@contextmanager
def watching_part(start: float, end: float) -> Iterator[None]:
    """Report the progress of the block as a part of the whole, from fraction ``start`` to ``end``.

    >>> with watching(print), watching_part(0.5, 1.0):
    ...     watcher()(0.5)
    0.75
    """
    report = watcher()
    with watching(None if report is None else lambda fraction: report(start + fraction * (end - start))):
        yield


def each_part(items: Collection[Item], sizes: Sequence[float] | None = None) -> Iterator[Item]:
    """Yield items and report the finished fraction of their sizes after each.

    >>> with watching(print):
    ...     print([item.upper() for item in each_part("ab", [1, 3])])
    0.25
    1.0
    ['A', 'B']
    """
    sizes = [1.0] * len(items) if sizes is None else sizes
    report, done, total = watcher(), 0.0, sum(sizes)
    for item, size in zip(items, sizes, strict=True):
        yield item
        done += size
        if report is not None and total:
            report(done / total)


def part_of(
    report: Callable[[float], object] | None, number: int, n: int
) -> Callable[[float], object] | None:
    """Return a function that converts the fraction of part ``number`` of ``n`` to that of all parts.

    >>> part_of(print, 1, 4)(0.5)
    0.375
    """
    return None if report is None else lambda fraction: report((number + fraction) / n)


@dataclass(frozen=True)
class Progress:
    """Argument of ``progress`` after each batch.

    Attributes
    ----------
    name : str
        Name of the pass, such as "level 3".
    n_pass : int
        Number of the pass, starting at 1.
    rows, n_rows : int
        Finished rows, and all rows of the pass.
    seconds : float
        Time since the pass began.
    """

    name: str
    n_pass: int
    rows: int
    n_rows: int
    seconds: float

    @property
    def rate(self) -> float:
        """Rows per second."""
        return self.rows / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float:
        """Estimated time until the pass ends."""
        return (self.n_rows - self.rows) / self.rate if self.rows else float("inf")

    def __str__(self) -> str:
        return (
            f"pass {self.n_pass} ({self.name}): {self.rows:,} of {self.n_rows:,} rows, "
            f"{self.rate:,.0f} rows/s, {self.seconds_left:.0f} s left"
        )


class Meter:
    """Counter of passes and rows that reports each batch to a function or a terminal line."""

    def __init__(self, report: Callable[[Progress], object] | bool | None) -> None:
        self._report: Any = Bar() if report is True else report or None
        self.n_passes = 0

    def start(self, name: str, n_rows: int) -> None:
        """Begin a pass."""
        self.n_passes += 1
        self._name, self._n_rows, self._rows, self._begin = name, n_rows, 0, time.perf_counter()

    def add(self, n_rows: int) -> None:
        """Count ``n_rows`` more finished rows."""
        self._rows += n_rows
        if self._report is not None:
            seconds = time.perf_counter() - self._begin
            self._report(Progress(self._name, self.n_passes, self._rows, self._n_rows, seconds))


class Bar:
    """A line on the terminal that is updated in place."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(stderr=True)
        self._last = 0.0

    def __call__(self, progress: Progress) -> None:
        """Update the line at most five times a second."""
        now = time.monotonic()
        done = progress.rows >= progress.n_rows
        if done or now - self._last > 0.2:
            self._last = now
            self._console.print(f"{progress}   ", end="\n" if done else "\r", highlight=False, soft_wrap=True)
