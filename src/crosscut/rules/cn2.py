"""Sequential covering with beam search (Clark & Niblett 1989; Clark & Boswell 1991)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from crosscut.rules.search import Request

if TYPE_CHECKING:
    from collections.abc import Generator

    from crosscut.rules.search import Searcher

Measure = Literal["laplace", "m_estimate", "wracc", "entropy"]
Found = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Quality:
    """How rules are rated: the constants of the measure for a set of rows.

    Attributes
    ----------
    measure : {"laplace", "m_estimate", "wracc", "entropy"}
        The measure.
    m : float
        Weight of the prior in the m-estimate.
    """

    measure: Measure
    m: float = 2.0

    def request(self, examples: Searcher, rows: int, target: int, prior: tuple[float, ...]) -> Request:
        """Request a rule for some rows; ``prior`` gives the shares of the classes in training."""
        if self.measure == "laplace":
            return Request(rows, target, (1.0,) * examples.n_classes, float(examples.n_classes))
        if self.measure == "m_estimate":
            return Request(rows, target, tuple(self.m * share for share in prior), self.m)
        return Request(rows, target, shares(examples.class_totals(rows)))


def shares(totals: tuple[float, ...]) -> tuple[float, ...]:
    """Return class weights as shares of their sum."""
    whole = sum(totals)
    return tuple(total / whole for total in totals)


def ordered(examples: Searcher, train: int, quality: Quality) -> Generator[Request, tuple[Any, ...], Found]:
    """Learn a decision list: each rule is for the rows that no earlier rule covers."""
    prior = shares(examples.class_totals(train))
    found: Found = []
    remaining = train
    while remaining:
        conditions = yield quality.request(examples, remaining, -1, prior)
        if not conditions:
            break
        found.append(conditions)
        remaining &= ~examples.truth(conditions)
    return found


def unordered(
    examples: Searcher, train: int, quality: Quality, target: int
) -> Generator[Request, tuple[Any, ...], Found]:
    """Learn rules for one class: each is for rows of the class that no earlier rule covers."""
    prior = shares(examples.class_totals(train))
    found: Found = []
    remaining = train
    while remaining & examples.of_class[target]:
        conditions = yield quality.request(examples, remaining, target, prior)
        if not conditions:
            break
        found.append(conditions)
        remaining &= ~(examples.truth(conditions) & examples.of_class[target])
    return found
