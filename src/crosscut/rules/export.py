"""Rules as text and as SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.data.columns import separates_days
from crosscut.data.databases import quoted
from crosscut.forest.export.sql import check_dialect, comparison, literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosscut.data.schema import Schema
    from crosscut.forest.export.sql import SqlDialect
    from crosscut.rules.condition import Condition
    from crosscut.rules.rule_set import Rule, RuleSet


def rule_text(rule: Rule, sentence: str, held_out: tuple[float, float] | None = None) -> str:
    """Return a rule as text, with its coverage and its precision in training and out of fold.

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

    A decision list is one ``CASE``; rules that vote add up the weights of their classes, and the class with
    the largest sum wins.
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
        f"  WHEN {' AND '.join(f'{own} >= {other}' for other in sums if other is not own)} "
        f"AND {own} > 0 THEN {literal(label)}"
        for own, label in zip(sums, classes, strict=True)
        if len(sums) > 1
    ]
    default = literal(classes[rules.default.code])
    return "\n".join(["CASE", *best, f"  ELSE {default}", "END"]) if best else default


def _sql_conditions(rule: Rule, schema: Schema, dialect: SqlDialect) -> str:
    return " AND ".join(_sql_condition(condition, schema, dialect) for condition in rule.conditions) or "TRUE"


def _sql_condition(condition: Condition, schema: Schema, dialect: SqlDialect) -> str:
    name, kind = schema.names[condition.feature], schema.kinds[condition.feature]
    if condition.operator in {"=", "!="}:
        sign = "=" if condition.operator == "=" else "<>"
        return f"{quoted(name)} {sign} {literal(schema.categories[condition.feature][int(condition.value)])}"
    if np.isinf(condition.value):
        return f"{quoted(name)} IS NOT NULL"
    compared = "numeric" if kind != "date" else "date" if separates_days(condition.value) else "moment"
    return comparison(name, condition.operator, condition.value, compared, dialect, boolean=kind == "boolean")
