"""Rules as text and SQL, and keys that say whether two rules are the same."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.data.columns import separates_days
from crosscut.data.databases import quoted
from crosscut.forest.export.sql import check_dialect, comparison, literal

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from crosscut.data.schema import Schema
    from crosscut.forest.export.sql import SqlDialect
    from crosscut.rules.rule_set import Condition, Rule, RuleSet


def rule_text(rule: Rule, sentence: str, held_out: tuple[float, float] | None = None) -> str:
    """Return a rule as text, with its coverage, and its precision in training and out of fold.

    ``held_out`` is the weight of the held-out rows that the rule decides, and the precision on them.

    Examples
    --------
    >>> from crosscut.rules import Rule
    >>> rule_text(Rule((), (3.0, 1.0)), "if age > 40 then yes", (4.0, 0.5))
    'if age > 40 then yes  [covers 4, precision 0.750, out of fold 0.500 of 4]'
    """
    text = f"{sentence}  [covers {rule.coverage:g}, precision {rule.precision:.3f}"
    if held_out is not None:
        text += f", out of fold {held_out[1]:.3f} of {held_out[0]:g}" if held_out[0] else ", out of fold none"
    return text + "]"


def sql_case(rules: RuleSet, schema: Schema, classes: Sequence[Any], dialect: SqlDialect = "duckdb") -> str:
    """Write a rule set as an SQL expression over the columns.

    A decision list is one ``CASE``. Voting rules add up their class weights, and the class with the largest
    sum wins.
    """
    check_dialect(dialect)
    if rules.ordered:
        lines = [
            f"  WHEN {_sql_conditions(rule, schema, dialect)} THEN {literal(classes[rule.code])}"
            for rule in rules.rules
        ]
        default = literal(classes[rules.default.code])
        return "\n".join(["CASE", *lines, f"  ELSE {default}", "END"]) if lines else default
    sums = []
    for code in range(len(classes)):
        votes = [
            f"CASE WHEN {_sql_conditions(rule, schema, dialect)} THEN {literal(rule.totals[code])} ELSE 0 END"
            for rule in rules.rules
            if rule.totals[code]
        ]
        sums.append("(" + " + ".join(votes or ["0"]) + ")")
    best = [
        f"  WHEN {' AND '.join(f'{votes} >= {other}' for other in sums if other is not votes)} "
        f"AND {votes} > 0 THEN {literal(label)}"
        for votes, label in zip(sums, classes, strict=True)
        if len(sums) > 1
    ]
    default = literal(classes[rules.default.code])
    return "\n".join(["CASE", *best, f"  ELSE {default}", "END"]) if best else default


def _sql_conditions(rule: Rule, schema: Schema, dialect: SqlDialect) -> str:
    return " AND ".join(_sql_condition(condition, schema, dialect) for condition in rule.conditions) or "TRUE"


def _sql_condition(condition: Condition, schema: Schema, dialect: SqlDialect) -> str:
    name, kind = schema.names[condition.feature], schema.kinds[condition.feature]
    if condition.operator in {"=", "!="}:
        categories = list(schema.categories[condition.feature])
        category = categories.pop(int(condition.value))
        if condition.operator == "=":
            return f"{quoted(name)} = {literal(category)}"
        # not <>: an unknown category is missing, and so satisfies no condition
        return f"{quoted(name)} IN ({', '.join(map(literal, categories))})" if categories else "FALSE"
    if np.isinf(condition.value):
        return f"{quoted(name)} IS NOT NULL"
    compared = "numeric" if kind != "date" else "date" if separates_days(condition.value) else "moment"
    return comparison(name, condition.operator, condition.value, compared, dialect, boolean=kind == "boolean")


@dataclass(frozen=True, eq=False)
class Wording(ABC):
    """Turns rules about ``schema``, the columns of a table or the signature of a database, into text."""

    schema: Any
    classes: NDArray[Any]

    row = "row"  # or "example"
    between = " and "  # separator of conditions

    @abstractmethod
    def conditions(self, rule: Rule) -> list[str]:
        """Return the conditions of a rule as text."""

    def condition_text(self, rule: Rule) -> str:
        """Return all conditions of a rule; empty if it has none."""
        return self.between.join(self.conditions(rule))

    @abstractmethod
    def meaning(self, rule: Rule, *, thresholds: bool) -> Hashable:
        """Return a key that is equal for rules that are the same, or the same up to thresholds."""

    def prolog(self, rules: RuleSet) -> str | None:  # noqa: ARG002, overridden
        """Return the rules in Prolog, or None for rules about a table."""
        return None

    def label(self, rule: Rule) -> str:
        """Return the class of a rule."""
        return str(self.classes[rule.code])

    def sentence(self, rule: Rule) -> str:
        """Return a rule as a sentence."""
        conditions = self.condition_text(rule)
        return f"{f'if {conditions}' if conditions else 'else'} then {self.label(rule)}"

    def text(self, rules: RuleSet, held_out: Sequence[tuple[float, float]] | None = None) -> str:
        """Return rules, one per line, with coverage and precision, also out of fold if that is known."""
        every = rules.with_default
        results = [None] * len(every) if held_out is None else held_out
        return "\n".join(
            rule_text(rule, self.sentence(rule), result) for rule, result in zip(every, results, strict=True)
        )


class TableWording(Wording):
    """Turns rules about the columns of a table into text."""

    schema: Schema

    def conditions(self, rule: Rule) -> list[str]:
        """Return the conditions of a rule as text."""
        return [condition.text(self.schema) for condition in rule.conditions]

    def meaning(self, rule: Rule, *, thresholds: bool) -> Hashable:
        """Return a key that is equal for rules that are the same, or the same up to thresholds."""
        conditions = (
            (c.feature, c.operator, c.value if thresholds or c.operator in {"=", "!="} else None)
            for c in rule.conditions
        )
        return rule.code, frozenset(conditions)
