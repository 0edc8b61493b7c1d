"""RIPPER: grow, prune and optimise rule sets by description length (Cohen 1995)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from math import log2
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.rules.search import CoveringRule, Request

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crosscut.rules.examples import Rows
    from crosscut.rules.search import Learner

REDUNDANCY = 0.5  # conditions are not independent, so only half of their bits count


def subset_bits(n: float, k: float, share: float) -> float:
    """Return the bits that encode which ``k`` of ``n`` things are chosen; ``share`` is the expected fraction.

    Examples
    --------
    >>> subset_bits(8, 4, 0.5)
    8.0
    """
    bits = -k * log2(share) if k > 0 and share > 0 else 0.0
    if n > k and share < 1:
        bits -= (n - k) * log2(1 - share)
    return bits


@lru_cache(maxsize=2**16)
def rule_bits(n_conditions: int, n_possible: int) -> float:
    """Return the bits of a rule: the number of its conditions, and the choice among the possible ones."""
    if n_conditions == 0 or n_possible == 0:
        return 0.0
    length = log2(n_conditions)
    bits = length + (2 * log2(length) if length > 1 else 0.0)
    share = min(1.0, n_conditions / n_possible)
    return REDUNDANCY * (bits + subset_bits(n_possible, n_conditions, share))


def exception_bits(
    covered: float, uncovered: float, false_positives: float, false_negatives: float, share: float
) -> float:
    """Return the bits of the exceptions: the errors among covered rows and among uncovered rows.

    ``share`` is the expected fraction of false positives among the errors.
    """
    errors = false_positives + false_negatives
    bits = log2(covered + uncovered + 1)
    if covered > uncovered:
        bits += subset_bits(covered, false_positives, min(1.0, share * errors / covered))
        return bits + (
            subset_bits(uncovered, false_negatives, false_negatives / uncovered) if uncovered else 0.0
        )
    if covered:
        bits += subset_bits(covered, false_positives, false_positives / covered)
    if uncovered:
        bits += subset_bits(uncovered, false_negatives, min(1.0, (1 - share) * errors / uncovered))
    return bits


Conditions = tuple[Any, ...]
SLACK = 64.0  # growing stops at this many bits above the shortest rule set so far


@dataclass(frozen=True)
class Ripper:
    """Learns the rules of a task."""

    examples: Rows
    train: int  # the task's training rows
    grow_parts: list[int]  # rows to grow rules on: in the first pass, and in each optimisation pass
    min_rows: float  # minimum number of rows a rule covers, in units of weight

    def learn(self) -> Learner:
        """Learn rules class by class, starting with the rarest; the most frequent class is the default."""
        totals = self.examples.class_totals(self.train)
        order = sorted((total, code) for code, total in enumerate(totals) if total > 0)
        n_possible = self.examples.n_conditions(self.train)
        remaining = self.train
        learnt: list[CoveringRule] = []
        n_stages = len(self.grow_parts) * max(1, len(order) - 1)
        for number, (_, code) in enumerate(order[:-1]):
            learner = _OneClass(self, code, remaining, n_possible)
            learner.done = number * len(self.grow_parts) / n_stages
            rules = yield from learner.build([], self.grow_parts[0])
            for part in self.grow_parts[1:]:
                learner.done += 1 / n_stages
                rules = yield from learner.optimise(rules, part)
            learnt += rules
            remaining ^= learner.union(rules)
        return learnt


class _OneClass:
    """Learns the rules that separate one class from the classes after it."""

    def __init__(self, ripper: Ripper, code: int, rows: int, n_possible: int) -> None:
        examples = ripper.examples
        self.examples = examples
        self.train = ripper.train
        self.unit = examples.unit(ripper.train)
        self.min_weight = ripper.min_rows * self.unit
        self.code = code
        self.rows = rows
        self.positive = rows & examples.of_class[code]
        self.n_possible = n_possible
        self.n_positive, self.n = examples.total(self.positive), examples.total(rows)
        self.share = self.n_positive / self.n if rows else 0.0
        self.done = 0.0  # fraction of the task

    def rule(self, conditions: Conditions) -> CoveringRule:
        return CoveringRule(conditions, self.examples.truth(conditions))

    def union(self, rules: Iterable[CoveringRule]) -> int:
        covered = 0
        for rule in rules:
            covered |= rule.rows
        return covered & self.rows

    def length(self, rules: list[CoveringRule]) -> float:
        """Return the description length of a rule set and its exceptions. Sums of weights are exact."""
        rows, unit = self.union(rules), self.unit
        covered, correct = self.examples.total(rows), self.examples.total(rows & self.positive)
        data = exception_bits(
            covered / unit,
            (self.n - covered) / unit,
            (covered - correct) / unit,
            (self.n_positive - correct) / unit,
            self.share,
        )
        return math.fsum([data, *[rule_bits(len(rule.conditions), self.n_possible) for rule in rules]])

    def request(self, rows: int, start: Conditions = ()) -> Request:
        a = (0.0,) * self.examples.n_classes
        return Request(rows, self.code, a, 0.0, self.min_weight, 0.0, start, self.done, self.train)

    def build(self, rules: list[CoveringRule], part: int) -> Learner:
        """Add rules while the description stays short (IREP*)."""
        total = self.examples.total
        rules = list(rules)
        uncovered = self.rows ^ self.union(rules)
        shortest = self.length(rules)
        while uncovered & self.positive:
            grow = uncovered & part
            if not grow & self.positive:
                grow = uncovered
            conditions = yield self.request(grow)
            if not conditions:
                break
            rule = self.prune(conditions, uncovered ^ grow, per_row=True)
            covered = rule.rows & uncovered
            correct = total(covered & self.positive)
            if correct < self.min_weight or correct <= total(covered) - correct:
                break
            length = self.length([*rules, rule])
            if length > shortest + SLACK:
                break
            shortest = min(shortest, length)
            rules.append(rule)
            uncovered ^= covered
        return self.reduce(rules)

    def prune(self, conditions: Conditions, rows: int, *, per_row: bool = False) -> CoveringRule:
        """Drop final conditions that the pruning rows do not support.

        A rule is worth the rows of the class that it covers, less the other rows. For a new rule this is
        divided by all rows that it covers (``per_row``).
        """
        if not rows:
            return self.rule(conditions)
        total = self.examples.total

        def worth(rule: CoveringRule) -> float:
            covered = rule.rows & rows
            n = total(covered)
            gain = 2 * total(covered & self.positive) - n
            return gain if not per_row else gain / n if covered else -1.0

        shorter = [self.rule(conditions[:n]) for n in range(1, len(conditions) + 1)]
        return max(shorter, key=worth)  # the shortest, if several are equal

    def optimise(self, rules: list[CoveringRule], part: int) -> Learner:
        """Try to replace or revise each rule, then cover the remaining rows."""
        rules = list(rules)
        for i, rule in enumerate(rules):
            local = self.rows ^ self.union(rules[:i])
            grow = local & part
            if not grow & self.positive:
                continue
            rest = local ^ grow
            rest ^= rest & self.union(rules[i + 1 :])
            versions = [rule]
            replacement = yield self.request(grow)
            if replacement:
                versions.append(self.prune(replacement, rest))
            covered = rule.rows & grow
            if covered & self.positive:
                added = yield self.request(covered, rule.conditions)
                if added:
                    versions.append(self.prune(rule.conditions + added, rest))
            lengths = [self.length([*rules[:i], version, *rules[i + 1 :]]) for version in versions]
            rules[i] = versions[int(np.argmin(lengths))]
        return (yield from self.build(rules, part))

    def reduce(self, rules: list[CoveringRule]) -> list[CoveringRule]:
        """Delete rules that make the description longer, starting with the last."""
        rules = list(rules)
        length = self.length(rules)
        for i in reversed(range(len(rules))):
            without = rules[:i] + rules[i + 1 :]
            shorter = self.length(without)
            if shorter < length:
                rules, length = without, shorter
        return rules
