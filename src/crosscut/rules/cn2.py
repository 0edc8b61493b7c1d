"""CN2: sequential covering with beam search (Clark & Niblett 1989; Clark & Boswell 1991)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Literal

from crosscut.rules.search import CoveringRule, Request

if TYPE_CHECKING:
    from crosscut.rules.examples import Rows
    from crosscut.rules.search import Learner

Measure = Literal["laplace", "m_estimate", "wracc", "entropy"]


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality measure of rules."""

    measure: Measure
    m: float = 2.0  # weight of the prior in the m-estimate


@dataclass(frozen=True)
class Covering:
    """Learns the rules of a task; each is learnt from rows that no earlier rule covers."""

    examples: Rows
    train: int  # the task's training rows
    quality: Quality  # of a rule
    min_rows: float  # minimum number of rows that a rule covers, in units of weight
    level: float | None  # significance level of the likelihood ratio test

    @cached_property
    def prior(self) -> tuple[float, ...]:
        """The class proportions of the training rows."""
        return proportions(self.examples.class_totals(self.train))

    @cached_property
    def unit(self) -> float:
        """The weight that counts as one row."""
        return self.examples.unit(self.train)

    @cached_property
    def constants(self) -> tuple[tuple[float, ...], float] | None:
        """The constants of the measure, if they do not depend on the remaining rows.

        Classes that do not occur in the training rows are ignored.
        """
        unit, m = self.unit, self.quality.m * self.unit
        if self.quality.measure == "laplace":
            return (unit,) * len(self.prior), unit * self.present
        return (
            (tuple(m * fraction for fraction in self.prior), m)
            if self.quality.measure == "m_estimate"
            else None
        )

    @cached_property
    def present(self) -> int:
        """Number of classes that occur in the training rows."""
        return sum(fraction > 0 for fraction in self.prior)

    def ordered(self) -> Learner:
        """Learn a decision list: each rule applies to rows that no earlier rule covers."""
        return self._cover(-1, self.train, max(1, self.present - 1))

    def unordered(self, target: int) -> Learner:
        """Learn rules for one class, each from rows of the class that no earlier rule covers."""
        return self._cover(target, self.examples.of_class[target], 1)

    def _cover(self, target: int, wanted: int, freedom: int) -> Learner:
        """Learn rules until they cover all wanted rows."""
        least = self.min_rows * self.unit
        significance = 0.0 if self.level is None else statistic(self.level, freedom) * self.unit
        rules: list[CoveringRule] = []
        remaining, n = self.train, (self.train & wanted).bit_count()
        while remaining & wanted:
            a, b = self.constants or (proportions(self.examples.class_totals(remaining)), 0.0)
            done = 1 - (remaining & wanted).bit_count() / n
            conditions = yield Request(
                remaining, target, a, b, least, significance, done=done, train=self.train
            )
            if not conditions:
                break
            rule = CoveringRule(conditions, self.examples.truth(conditions))
            rules.append(rule)
            remaining ^= remaining & rule.rows & wanted
        return rules


@cache
def statistic(level: float, freedom: int) -> float:
    """Return the smallest likelihood ratio statistic that is significant at a level."""
    from scipy.stats import chi2

    return float(chi2.isf(level, freedom))


def proportions(totals: tuple[float, ...]) -> tuple[float, ...]:
    """Return class weights as fractions of their sum."""
    total_weight = sum(totals)
    return tuple(total / total_weight for total in totals)
