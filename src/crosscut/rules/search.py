"""Generators that request rules, and a driver that answers the requests of all tasks together.

Sets of rows are bits of an integer. ``a ^ (a & b)`` is ``a`` without ``b``, and much faster than ``a & ~b``,
because ``~b`` is negative.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from crosscut.engines.progress import watcher

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosscut.rules.examples import Rows

Kind = Literal["ratio", "linear", "foil", "entropy"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the search for rules, which are the same for every task.

    The ``kind`` is the quality of a rule that covers weight n, of which p is of its class: "ratio" is
    (p + a) / (n + b), "linear" is p - n a, "foil" is p (log2(p / n) - log2(P / N)), and "entropy" is minus
    the entropy of the classes it covers. A greedy search adds the best condition until the quality stops
    improving, instead of returning the best rule.
    """

    kind: Kind = "ratio"
    greedy: bool = False
    width: int = 1  # number of rules kept at each length
    max_length: int | None = None  # of a rule
    unequal: bool = False  # whether to allow conditions with !=


class Request(NamedTuple):  # a tuple, because one is created for every rule
    """A request for one rule."""

    rows: int  # to search, as a bit set
    target: int  # the class of the rule; -1 for the class that fits best
    a: tuple[float, ...]  # constants of the quality, one per class
    b: float = 0.0  # constant of the quality
    least: float = 1.0  # minimum weight of the rows a rule covers
    significance: float = 0.0  # minimum likelihood ratio statistic of a rule; 0 for none
    start: tuple[Any, ...] = ()  # conditions to start from, which the rows already satisfy
    done: float = 0.0  # approximate fraction of the learner's work that is done
    train: int = -1  # the task's training rows; -1 if the possible conditions do not depend on them


class CoveringRule(NamedTuple):
    """A rule with the rows that satisfy it."""

    conditions: tuple[Any, ...]
    rows: int


Learner = Generator[Request, tuple[Any, ...], list[CoveringRule]]


def learn_together(
    learners: Sequence[Learner], examples: Rows, settings: Settings
) -> list[list[CoveringRule]]:
    """Run learners together: their requests are answered in shared passes over the rows.

    An answer depends only on its request, so each learner's result is the same as alone.
    """
    results: dict[int, list[CoveringRule]] = {}
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
