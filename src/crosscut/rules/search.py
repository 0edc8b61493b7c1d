"""Generators that request rules, and a driver that answers the requests of all tasks together.

Sets of rows are bits of an integer. ``a ^ (a & b)`` is ``a`` without ``b``, and much faster than ``a & ~b``,
because ``~b`` is negative.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from crosscut.engines.progress import watcher

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

Kind = Literal["ratio", "linear", "foil", "entropy"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the search for rules, which are the same for every task.

    Attributes
    ----------
    kind : {"ratio", "linear", "foil", "entropy"}
        Quality of a rule that covers weight n, of which p is of its class: (p + a) / (n + b), p - n a,
        p (log2(p / n) - log2(P / N)), or minus the entropy of the classes it covers.
    greedy : bool
        Add the best condition until the quality stops improving, instead of returning the best rule.
    width : int
        Number of rules kept at each length.
    max_length : int or None
        Maximum number of conditions per rule.
    unequal : bool
        Also allow conditions with ``!=``.
    """

    kind: Kind = "ratio"
    greedy: bool = False
    width: int = 1
    max_length: int | None = None
    unequal: bool = False


class Request(NamedTuple):  # a tuple, because one is created for every rule
    """A request for one rule.

    Attributes
    ----------
    rows : int
        The rows to search, as a bit set.
    target : int
        The class of the rule; -1 for the class that fits best.
    a : tuple of float
        Constants of the quality, one per class.
    b : float
        Constant of the quality.
    least : float
        Minimum weight of the rows a rule covers.
    significance : float
        Minimum likelihood ratio statistic of a rule; 0 for none.
    start : tuple
        Conditions to start from, which the rows already satisfy.
    done : float
        Approximate fraction of the learner's work that is done.
    train : int
        The task's training rows, as a bit set; -1 if the possible conditions do not depend on them.
    """

    rows: int
    target: int
    a: tuple[float, ...]
    b: float = 0.0
    least: float = 1.0
    significance: float = 0.0
    start: tuple[Any, ...] = ()
    done: float = 0.0
    train: int = -1


class Grown(NamedTuple):
    """A rule with the rows that satisfy it."""

    conditions: tuple[Any, ...]
    rows: int


Growing = Generator[Request, tuple[Any, ...], list[Grown]]


class Searcher(Protocol):
    """Searches for rules about tables or relational examples."""

    n_classes: int
    exponent: int
    of_class: list[int]
    weighted: int

    def search(self, requests: Sequence[Request], settings: Settings) -> list[tuple[Any, ...]]:
        """Return the conditions to add to the start of each request; none if nothing improves it."""

    def truth(self, conditions: Sequence[Any]) -> int:
        """Return the rows that satisfy all conditions."""

    def total(self, rows: int) -> float:
        """Return the weight of a set of rows."""

    def unit(self, rows: int) -> float:
        """Return the weight that counts as one row among a task's training rows."""

    def shown_totals(self, rows: int) -> tuple[float, ...]:
        """Return the weight of each class in a set of rows, in the user's unit."""

    def grow_parts(self, tasks: Sequence[int], seed: int, n: int) -> list[list[int]]:
        """Draw about two thirds of the training rows of each task, ``n`` times."""

    def flags_among(self, sets: Sequence[int], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return a matrix (sets, rows) that says whether each row is in each set."""

    def class_totals(self, rows: int) -> tuple[float, ...]:
        """Return the weight of each class in a set of rows."""

    def n_conditions(self, rows: int) -> int:
        """Return the number of possible conditions on the training rows of a task."""


def learn_together(learners: Sequence[Growing], examples: Searcher, settings: Settings) -> list[list[Grown]]:
    """Run learners together: their requests are answered in shared passes over the rows.

    An answer depends only on its request, so each learner's result is the same as alone.
    """
    results: dict[int, list[Grown]] = {}
    requests: dict[int, Request] = {}

    def resume(number: int, answer: tuple[Any, ...] | None) -> None:
        try:
            requests[number] = next(learners[number]) if answer is None else learners[number].send(answer)
        except StopIteration as stop:
            results[number] = stop.value

    for number in range(len(learners)):
        resume(number, None)
    report, last_report = watcher(), 0.0
    while requests:
        numbers = list(requests)
        if report is not None and time.monotonic() > last_report + 0.1:
            last_report = time.monotonic()
            report((len(results) + sum(request.done for request in requests.values())) / len(learners))
        answers = examples.search([requests.pop(number) for number in numbers], settings)
        for number, answer in zip(numbers, answers, strict=True):
            resume(number, answer)
    if report is not None:
        report(1.0)
    return [results[number] for number in range(len(learners))]
