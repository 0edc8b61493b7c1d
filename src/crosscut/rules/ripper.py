"""Growing, pruning and optimising rule sets by description length (RIPPER, Cohen 1995)."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crosscut.rules.description_length import exception_bits, rule_bits
from crosscut.rules.search import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crosscut.rules.search import Searcher

Conditions = tuple[Any, ...]
SLACK = 64.0  # growing stops at this many bits above the shortest rule set so far


class Grown(NamedTuple):
    """A rule with the rows that satisfy it."""

    conditions: Conditions
    rows: int


Growing = Generator[Request, Conditions, list[Grown]]


@dataclass(frozen=True)
class Ripper:
    """Learner of the rules of a task.

    Attributes
    ----------
    examples : Searcher
        The rows, and the search for rules.
    train : int
        The task's rows.
    grow_parts : sequence of int
        Rows to grow rules on: first, and in each pass of optimisation.
    min_rows : float
        Minimum number of rows a rule covers, in units of weight.
    """

    examples: Searcher
    train: int
    grow_parts: tuple[int, ...]
    min_rows: float

    def learn(self) -> Generator[Request, Conditions, list[Conditions]]:
        """Learn rules class by class, from the rarest; the most frequent class needs none."""
        totals = self.examples.class_totals(self.train)
        order = sorted((total, code) for code, total in enumerate(totals) if total > 0)
        n_possible = self.examples.n_conditions(self.train)
        remaining = self.train
        found: list[Conditions] = []
        for _, code in order[:-1]:
            one = _OneClass(self, code, remaining, n_possible)
            rules = yield from one.build([], self.grow_parts[0])
            for part in self.grow_parts[1:]:
                rules = yield from one.optimise(rules, part)
            found += [rule.conditions for rule in rules]
            remaining &= ~one.union(rules)
        return found


class _OneClass:
    """Rules that separate one class from the later ones."""

    def __init__(self, ripper: Ripper, code: int, rows: int, n_possible: int) -> None:
        examples = ripper.examples
        self.examples = examples
        self.unit = examples.unit(ripper.train)
        self.min_weight = ripper.min_rows * self.unit
        self.code = code
        self.rows = rows
        self.positive = rows & examples.of_class[code]
        self.n_possible = n_possible
        self.share = examples.total(self.positive) / examples.total(rows) if rows else 0.0

    def grown(self, conditions: Conditions) -> Grown:
        return Grown(conditions, self.examples.truth(conditions))

    def union(self, rules: Iterable[Grown]) -> int:
        covered = 0
        for rule in rules:
            covered |= rule.rows
        return covered & self.rows

    def length(self, rules: list[Grown]) -> float:
        """Return the description length of a rule set and its exceptions."""

        def total(rows: int) -> float:  # as a number of rows
            return self.examples.total(rows) / self.unit

        covered = self.union(rules)
        data = exception_bits(
            total(covered),
            total(self.rows & ~covered),
            total(covered & ~self.positive),
            total(self.positive & ~covered),
            self.share,
        )
        return math.fsum([data, *(rule_bits(len(rule.conditions), self.n_possible) for rule in rules)])

    def request(self, rows: int, start: Conditions = ()) -> Request:
        return Request(rows, self.code, (0.0,) * self.examples.n_classes, 0.0, self.min_weight, 0.0, start)

    def build(self, rules: list[Grown], part: int) -> Growing:
        """Add rules while that keeps the description short (IREP*)."""
        total = self.examples.total
        rules = list(rules)
        uncovered = self.rows & ~self.union(rules)
        shortest = self.length(rules)
        while uncovered & self.positive:
            grow = uncovered & part
            if not grow & self.positive:
                grow = uncovered
            conditions = yield self.request(grow)
            if not conditions:
                break
            rule = self.prune(conditions, uncovered & ~grow, self.precision)
            covered = rule.rows & uncovered
            right = total(covered & self.positive)
            if right < self.min_weight or right <= total(covered & ~self.positive):
                break
            length = self.length([*rules, rule])
            if length > shortest + SLACK:
                break
            shortest = min(shortest, length)
            rules.append(rule)
            uncovered &= ~covered
        return self.reduce(rules)

    def precision(self, covered: int, _: int) -> float:
        if not covered:
            return -1.0
        right, n = self.examples.total(covered & self.positive), self.examples.total(covered)
        return (2 * right - n) / n

    def accuracy(self, covered: int, rows: int) -> float:
        total = self.examples.total
        return total(covered & self.positive) + total(rows & ~covered & ~self.positive)

    def prune(self, conditions: Conditions, rows: int, worth: Callable[[int, int], float]) -> Grown:
        """Drop final conditions that the pruning rows do not support."""
        if not rows:
            return self.grown(conditions)
        shorter = [self.grown(conditions[:n]) for n in range(1, len(conditions) + 1)]
        return max(shorter, key=lambda rule: worth(rule.rows & rows, rows))  # the first of several

    def optimise(self, rules: list[Grown], part: int) -> Growing:
        """Try to replace or revise each rule, then cover the remaining rows."""
        rules = list(rules)
        for i, rule in enumerate(rules):
            local = self.rows & ~self.union(rules[:i])
            grow = local & part
            if not grow & self.positive:
                continue
            rest = local & ~grow & ~self.union(rules[i + 1 :])
            versions = [rule]
            replacement = yield self.request(grow)
            if replacement:
                versions.append(self.prune(replacement, rest, self.accuracy))
            covered = rule.rows & grow
            if covered & self.positive:
                added = yield self.request(covered, rule.conditions)
                if added:
                    versions.append(self.prune(rule.conditions + added, rest, self.accuracy))
            lengths = [self.length([*rules[:i], version, *rules[i + 1 :]]) for version in versions]
            rules[i] = versions[int(np.argmin(lengths))]
        return (yield from self.build(rules, part))

    def reduce(self, rules: list[Grown]) -> list[Grown]:
        """Delete rules, from the last one, if that makes the description shorter."""
        rules = list(rules)
        length = self.length(rules)
        for i in reversed(range(len(rules))):
            without = rules[:i] + rules[i + 1 :]
            shorter = self.length(without)
            if shorter < length:
                rules, length = without, shorter
        return rules
