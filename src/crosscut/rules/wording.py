"""The wording of rules, and when two of them are the same."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crosscut.rules.export import rule_text

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from crosscut.data.schema import Schema
    from crosscut.rules.rule_set import Rule, RuleSet


@dataclass(frozen=True, eq=False)
class Wording(ABC):
    """Words for rules about ``schema``: the columns of a table, or the signature of a database."""

    schema: Any
    classes: NDArray[Any]

    row = "row"  # the noun for what a rule covers
    between = " and "  # what stands between conditions

    @abstractmethod
    def conditions(self, rule: Rule) -> list[str]:
        """Return the conditions of a rule as text."""

    def asked(self, rule: Rule) -> str:
        """Return all that a rule asks; nothing if it has no conditions."""
        return self.between.join(self.conditions(rule))

    @abstractmethod
    def meaning(self, rule: Rule, *, thresholds: bool) -> Hashable:
        """Return a key that is equal for rules that are the same, or the same up to thresholds."""

    def prolog(self, rules: RuleSet) -> str | None:  # noqa: ARG002, one of some kinds of rules
        """Return the rules in Prolog, if they can be written so."""
        return None

    def label(self, rule: Rule) -> str:
        """Return the class of a rule."""
        return str(self.classes[rule.code])

    def sentence(self, rule: Rule) -> str:
        """Return a rule as a sentence."""
        asked = self.asked(rule)
        return f"{f'if {asked}' if asked else 'else'} then {self.label(rule)}"

    def text(self, rules: RuleSet, held_out: Sequence[tuple[float, float]] | None = None) -> str:
        """Return rules, one per line, with coverage, and precision in training and, if known, out of fold."""
        every = rules.with_default
        seen = [None] * len(every) if held_out is None else held_out
        return "\n".join(
            rule_text(rule, self.sentence(rule), of) for rule, of in zip(every, seen, strict=True)
        )


class TableWording(Wording):
    """Words for rules about the columns of a table."""

    schema: Schema

    def conditions(self, rule: Rule) -> list[str]:
        """Return the conditions of a rule as text."""
        return [condition.text(self.schema) for condition in rule.conditions]

    def meaning(self, rule: Rule, *, thresholds: bool) -> Hashable:
        """Return a key that is equal for rules that are the same, or the same up to thresholds."""
        asked = (
            (c.feature, c.operator, c.value if thresholds or c.operator in {"=", "!="} else None)
            for c in rule.conditions
        )
        return rule.code, frozenset(asked)
