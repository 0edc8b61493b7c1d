"""Rules with the classes they cover, and how rule sets predict."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.tree import probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.rules.search import Grown, Searcher


@dataclass(frozen=True, slots=True)
class Rule:
    """A conjunction of conditions, and the classes of the training rows that satisfy it.

    Attributes
    ----------
    conditions : tuple
        The conditions; a rule without conditions always holds.
    totals : tuple of float
        Weight of each class among the rows it covers: in a decision list, those that no earlier rule covers;
        otherwise all training rows.
    """

    conditions: tuple[Any, ...]
    totals: tuple[float, ...]

    @property
    def code(self) -> int:
        """Code of the predicted class: the most frequent one."""
        return int(np.argmax(self.totals))

    @property
    def coverage(self) -> float:
        """Weight of the rows it covers."""
        return sum(self.totals)

    @property
    def precision(self) -> float:
        """Share of the predicted class among the rows it covers."""
        return max(self.totals) / self.coverage


@dataclass(frozen=True)
class RuleSet:
    """Rules of a task.

    Attributes
    ----------
    rules : tuple of Rule
        The rules; in a decision list, in the order in which they are tried.
    default : Rule
        The rule without conditions, for rows that no other rule covers.
    ordered : bool
        Whether the first rule that holds decides; otherwise, all that hold vote with the classes they cover.
    """

    rules: tuple[Rule, ...]
    default: Rule
    ordered: bool = field(default=True)

    def __len__(self) -> int:
        return len(self.rules)

    @property
    def with_default(self) -> tuple[Rule, ...]:
        """The rules, and the default as the last."""
        return (*self.rules, self.default)

    @property
    def n_conditions(self) -> int:
        """Number of conditions in all rules."""
        return sum(len(rule.conditions) for rule in self.rules)

    def values(self, held: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the class probabilities of rows, given which of them satisfy each rule (rules, rows)."""
        totals = np.array([rule.totals for rule in self.with_default])
        held = np.vstack([held, ~held.any(axis=0)])
        return probabilities(totals)[held.argmax(axis=0)] if self.ordered else probabilities(held.T @ totals)


def decision_list(examples: Searcher, train: int, found: Sequence[Grown]) -> RuleSet:
    """Make a decision list: each rule with the rows that no earlier rule covers, and the default."""
    rules = []
    remaining = train
    for conditions, rows in found:
        covered = rows & remaining
        if covered:  # a rule whose rows are all covered by earlier rules is never used
            rules.append(Rule(conditions, examples.shown_totals(covered)))
            remaining ^= covered
    return RuleSet(tuple(rules), Rule((), examples.shown_totals(remaining or train)))


def voting_rules(examples: Searcher, train: int, found: Sequence[Grown]) -> RuleSet:
    """Make rules that vote, each with all training rows it covers."""
    rules = tuple(Rule(conditions, examples.shown_totals(rows & train)) for conditions, rows in found)
    return RuleSet(rules, Rule((), examples.shown_totals(train)), ordered=False)
