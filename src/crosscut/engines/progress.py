"""How far a pass over a stream is, or work in memory."""

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
def watching(tell: Callable[[float], object] | None) -> Iterator[None]:
    """Tell a function how much of the reading, growing or learning in memory within the block is done.

    Parameters
    ----------
    tell : callable
        Called now and then with a share from 0 to 1. What it raises stops the work.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from crosscut import TreeClassifier
    >>> shares = []
    >>> with watching(shares.append):
    ...     model = TreeClassifier().fit(*load_iris(return_X_y=True))
    >>> shares[-1]
    1.0
    """
    token = _watcher.set(tell)
    try:
        yield
    finally:
        _watcher.reset(token)


def watcher() -> Callable[[float], object] | None:
    """Return the function of the innermost :func:`watching`."""
    return _watcher.get()


@contextmanager
def watching_part(start: float, end: float) -> Iterator[None]:
    """Take what is told within the block for a part of the whole, from one share to another.

    >>> with watching(print), watching_part(0.5, 1.0):
    ...     watcher()(0.5)
    0.75
    """
    tell = watcher()
    with watching(None if tell is None else lambda share: tell(start + share * (end - start))):
        yield


def each_part(items: Collection[Item], sizes: Sequence[float] | None = None) -> Iterator[Item]:
    """Yield items of some sizes, and tell the watcher how much is done after each.

    >>> with watching(print):
    ...     print([item.upper() for item in each_part("ab", [1, 3])])
    0.25
    1.0
    ['A', 'B']
    """
    sizes = [1.0] * len(items) if sizes is None else sizes
    tell, done, total = watcher(), 0.0, sum(sizes)
    for item, size in zip(items, sizes, strict=True):
        yield item
        done += size
        if tell is not None and total:
            tell(done / total)


def part_of(tell: Callable[[float], object] | None, number: int, n: int) -> Callable[[float], object] | None:
    """Return a function of the share of one of ``n`` parts that tells the share of all of them.

    >>> part_of(print, 1, 4)(0.5)
    0.375
    """
    return None if tell is None else lambda share: tell((number + share) / n)


@dataclass(frozen=True)
class Progress:
    """What is told to ``progress`` after every batch.

    Attributes
    ----------
    name : str
        Of the pass, such as "level 3".
    n_pass : int
        Number of the pass, from 1.
    rows, n_rows : int
        Rows done, and rows of the pass.
    seconds : float
        Since the pass began.
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
        """Time the rest of the pass will take."""
        return (self.n_rows - self.rows) / self.rate if self.rows else float("inf")

    def __str__(self) -> str:
        return (
            f"pass {self.n_pass} ({self.name}): {self.rows:,} of {self.n_rows:,} rows, "
            f"{self.rate:,.0f} rows/s, {self.seconds_left:.0f} s left"
        )


class Meter:
    """Counts passes and rows, and tells whoever wants to know."""

    def __init__(self, tell: Callable[[Progress], object] | bool | None) -> None:
        self._tell: Any = Bar() if tell is True else tell or None
        self.n_passes = 0

    def start(self, name: str, n_rows: int) -> None:
        """Begin a pass."""
        self.n_passes += 1
        self._name, self._n_rows, self._rows, self._begin = name, n_rows, 0, time.perf_counter()

    def add(self, n_rows: int) -> None:
        """So many rows more are done."""
        self._rows += n_rows
        if self._tell is not None:
            seconds = time.perf_counter() - self._begin
            self._tell(Progress(self._name, self.n_passes, self._rows, self._n_rows, seconds))


class Bar:
    """A line on the terminal that is written again and again."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(stderr=True)
        self._last = 0.0

    def __call__(self, progress: Progress) -> None:
        """Write the line again, a few times a second."""
        now = time.monotonic()
        done = progress.rows >= progress.n_rows
        if done or now - self._last > 0.2:
            self._last = now
            self._console.print(f"{progress}   ", end="\n" if done else "\r", highlight=False, soft_wrap=True)
