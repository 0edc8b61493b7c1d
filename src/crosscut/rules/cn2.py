"""Sequential covering with beam search (Clark & Niblett 1989; Clark & Boswell 1991)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal

from crosscut.rules.search import Request

if TYPE_CHECKING:
    from collections.abc import Generator

    from crosscut.rules.search import Searcher

Measure = Literal["laplace", "m_estimate", "wracc", "entropy"]
Found = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Quality:
    """How rules are rated: the constants of the measure for the rows of a task.

    Attributes
    ----------
    measure : {"laplace", "m_estimate", "wracc", "entropy"}
        The measure.
    m : float
        Weight of the prior in the m-estimate.
    """

    measure: Measure
    m: float = 2.0


@dataclass(frozen=True)
class Covering:
    """Learner of the rules of a task: each is for rows that no earlier rule covers.

    Attributes
    ----------
    examples : Searcher
        The rows, and the search for rules.
    train : int
        The task's rows.
    quality : Quality
        How rules are rated.
    min_rows : float
        Minimum number of rows that a rule covers, in units of weight.
    level : float or None
        Level of the likelihood ratio test.
    """

    examples: Searcher
    train: int
    quality: Quality
    min_rows: float
    level: float | None

    @cached_property
    def prior(self) -> tuple[float, ...]:
        """The shares of the classes in training."""
        return shares(self.examples.class_totals(self.train))

    @cached_property
    def unit(self) -> float:
        """The weight that counts as one row."""
        return self.examples.unit(self.train)

    def request(self, rows: int, target: int) -> Request:
        """Request a rule for some of the rows; classes that do not occur in training play no part."""
        measure, m = self.quality.measure, self.quality.m * self.unit
        present = sum(share > 0 for share in self.prior)
        a, b = shares(self.examples.class_totals(rows)), 0.0
        if measure == "laplace":
            a, b = (self.unit,) * len(a), self.unit * present
        elif measure == "m_estimate":
            a, b = tuple(m * share for share in self.prior), m
        freedom = max(1, present - 1) if target < 0 else 1
        significance = 0.0 if self.level is None else statistic(self.level, freedom) * self.unit
        return Request(rows, target, a, b, self.min_rows * self.unit, significance)

    def ordered(self) -> Generator[Request, tuple[Any, ...], Found]:
        """Learn a decision list: each rule is for the rows that no earlier rule covers."""
        found: Found = []
        remaining = self.train
        while remaining:
            conditions = yield self.request(remaining, -1)
            if not conditions:
                break
            found.append(conditions)
            remaining &= ~self.examples.truth(conditions)
        return found

    def unordered(self, target: int) -> Generator[Request, tuple[Any, ...], Found]:
        """Learn rules for one class: each is for rows of the class that no earlier rule covers."""
        found: Found = []
        remaining, own = self.train, self.examples.of_class[target]
        while remaining & own:
            conditions = yield self.request(remaining, target)
            if not conditions:
                break
            found.append(conditions)
            remaining &= ~(self.examples.truth(conditions) & own)
        return found


@cache
def statistic(level: float, freedom: int) -> float:
    """Return the likelihood ratio statistic that is significant at a level."""
    from scipy.stats import chi2

    return float(chi2.isf(level, freedom))


def shares(totals: tuple[float, ...]) -> tuple[float, ...]:
    """Return class weights as shares of their sum."""
    whole = sum(totals)
    return tuple(total / whole for total in totals)
