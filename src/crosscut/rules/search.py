"""Learners that request rules, and a common search for all of them.

Sets of rows are bits of an integer. ``a ^ (a & b)`` is ``a`` without ``b``, and much faster than ``a & ~b``,
whose second operand is negative.
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
    """How to search for rules; the same for every task of a run.

    Attributes
    ----------
    kind : {"ratio", "linear", "foil", "entropy"}
        Quality of a rule that covers weight n, p of it of its class: (p + a) / (n + b), p - n a,
        p (log2(p / n) - log2(P / N)), or minus the entropy of the classes it covers.
    greedy : bool
        Add the best condition until nothing is gained, instead of keeping the best rule found.
    width : int
        Number of rules kept at each length.
    max_length : int or None
        Maximum number of conditions per rule.
    unequal : bool
        Also allow conditions that a nominal value is not a category.
    """

    kind: Kind = "ratio"
    greedy: bool = False
    width: int = 1
    max_length: int | None = None
    unequal: bool = False


class Request(NamedTuple):  # made for every rule, and tuples are fast to make
    """A rule to be found.

    Attributes
    ----------
    rows : int
        The rows to search, as a bit set.
    target : int
        The class it is for; -1 for the class that fits best.
    a : tuple of float
        Constants of the quality, one per class.
    b : float
        The other constant.
    least : float
        Minimum weight of the rows a rule covers.
    significance : float
        Minimum likelihood ratio statistic of a rule; 0 for none.
    start : tuple
        Conditions to start from, which the rows already satisfy.
    done : float
        Which share of the learner's work is done, about.
    """

    rows: int
    target: int
    a: tuple[float, ...]
    b: float = 0.0
    least: float = 1.0
    significance: float = 0.0
    start: tuple[Any, ...] = ()
    done: float = 0.0


class Grown(NamedTuple):
    """A rule with the rows that satisfy it."""

    conditions: tuple[Any, ...]
    rows: int


Growing = Generator[Request, tuple[Any, ...], list[Grown]]


class Searcher(Protocol):
    """Finds rules, about tables or relational examples."""

    n_classes: int
    exponent: int
    of_class: list[int]
    weighted: int

    def search(self, requests: Sequence[Request], settings: Settings) -> list[tuple[Any, ...]]:
        """Find the conditions that each request adds to its start; none if nothing is better."""

    def truth(self, conditions: Sequence[Any]) -> int:
        """Return the rows that satisfy all conditions."""

    def total(self, rows: int) -> float:
        """Return the weight of a set of rows."""

    def unit(self, rows: int) -> float:
        """Return the weight that counts as one row among a task's training rows."""

    def shown_totals(self, rows: int) -> tuple[float, ...]:
        """Return the weight of each class in a set of rows, as the user gave weights."""

    def grow_parts(self, tasks: Sequence[int], seed: int, n: int) -> list[list[int]]:
        """Return ``n`` times about two thirds of the training rows, for each task."""

    def flags_among(self, sets: Sequence[int], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each of some rows is in each of several sets, as a matrix with a row per set."""

    def class_totals(self, rows: int) -> tuple[float, ...]:
        """Return the weight of each class in a set of rows."""

    def n_conditions(self, rows: int) -> int:
        """Return the number of possible conditions on some rows."""


def learn_together(learners: Sequence[Growing], examples: Searcher, settings: Settings) -> list[list[Grown]]:
    """Run learners together: rules requested at the same time are searched for in shared passes.

    The answer to a learner does not depend on the others, so neither does its result.
    """
    results: dict[int, list[Grown]] = {}
    asked: dict[int, Request] = {}

    def resume(number: int, answer: tuple[Any, ...] | None) -> None:
        try:
            asked[number] = next(learners[number]) if answer is None else learners[number].send(answer)
        except StopIteration as stop:
            results[number] = stop.value

    for number in range(len(learners)):
        resume(number, None)
    tell, told = watcher(), 0.0
    while asked:
        numbers = list(asked)
        if tell is not None and time.monotonic() > told + 0.1:
            told = time.monotonic()
            tell((len(results) + sum(request.done for request in asked.values())) / len(learners))
        answers = examples.search([asked.pop(number) for number in numbers], settings)
        for number, answer in zip(numbers, answers, strict=True):
            resume(number, answer)
    if tell is not None:
        tell(1.0)
    return [results[number] for number in range(len(learners))]
