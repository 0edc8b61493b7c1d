"""Conditions, rules and rule sets, and their predictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from crosscut.data.columns import cut_text, separates_days
from crosscut.forest.export.text import threshold_text
from crosscut.forest.tree import probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.data.schema import Schema
    from crosscut.rules.examples import Rows
    from crosscut.rules.search import CoveringRule

Operator = Literal["<=", ">", "=", "!="]
OPERATORS: tuple[Operator, ...] = ("<=", ">", "=", "!=")


class Condition(NamedTuple):  # a tuple, because it is hashed often
    """A comparison of a column with a constant. Missing values satisfy no condition.

    Attributes
    ----------
    feature : int
        The column.
    operator : {"<=", ">", "=", "!="}
        ``=`` and ``!=`` are for nominal columns.
    value : float
        A threshold, or the code of a category. ``<= inf`` holds for all values that are not missing.

    Examples
    --------
    >>> from crosscut.data.schema import Schema
    >>> schema = Schema(("age", "sex"), ("numeric", "nominal"), ((), ("f", "m")))
    >>> Condition(0, "<=", 40.5).text(schema), Condition(1, "=", 1.0).text(schema)
    ('age <= 40.5', 'sex = m')
    >>> Condition(0, ">", 0.5).text(Schema(("member",), ("boolean",), ((),)))
    'member = true'
    """

    feature: int
    operator: Operator
    value: float

    def holds(self, x: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Return whether the condition holds for each row of a matrix from ``Schema.matrix``."""
        column = x[:, self.feature].astype(np.float64)
        if self.operator == "=":
            return np.asarray(column == self.value)
        if self.operator == "!=":
            return np.asarray((column != self.value) & ~np.isnan(column))
        return np.asarray(column <= self.value if self.operator == "<=" else column > self.value)

    def text(self, schema: Schema) -> str:
        """Return the condition as a formula."""
        name = schema.names[self.feature]
        if self.operator in {"=", "!="}:
            return f"{name} {self.operator} {schema.categories[self.feature][int(self.value)]}"
        if np.isinf(self.value):
            return f"{name} is present"
        if schema.kinds[self.feature] == "boolean":
            return f"{name} = {'true' if self.operator == '>' else 'false'}"
        if schema.kinds[self.feature] == "date":
            return f"{name} {self.operator} {cut_text(self.value, whole=separates_days(self.value))}"
        return f"{name} {self.operator} {threshold_text(self.value)}"


@dataclass(frozen=True, slots=True)
class Rule:
    """A conjunction of conditions, and the classes of the training rows that satisfy it.

    Attributes
    ----------
    conditions : tuple
        The conditions; a rule without conditions always holds.
    totals : tuple of float
        Weight of each class among the training rows that the rule covers. In a decision list, rows that an
        earlier rule covers are left out.
    """

    conditions: tuple[Any, ...]
    totals: tuple[float, ...]

    @property
    def code(self) -> int:
        """Code of the predicted class, which is the most frequent."""
        return int(np.argmax(self.totals))

    @property
    def coverage(self) -> float:
        """Weight of the rows it covers."""
        return sum(self.totals)

    @property
    def precision(self) -> float:
        """Fraction of the predicted class among the rows it covers."""
        return max(self.totals) / self.coverage


@dataclass(frozen=True)
class RuleSet:
    """The rules of a task.

    Attributes
    ----------
    rules : tuple of Rule
        The rules; a decision list tries them in this order.
    default : Rule
        The rule without conditions, for rows that no other rule covers.
    ordered : bool
        Whether the first rule that applies decides; otherwise, all rules that apply vote with their totals.
    """

    rules: tuple[Rule, ...]
    default: Rule
    ordered: bool = field(default=True)

    def __len__(self) -> int:
        return len(self.rules)

    @property
    def with_default(self) -> tuple[Rule, ...]:
        """The rules, followed by the default."""
        return (*self.rules, self.default)

    @property
    def n_conditions(self) -> int:
        """Number of conditions in all rules."""
        return sum(len(rule.conditions) for rule in self.rules)

    def values(self, satisfied: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the class probabilities of rows; the matrix (rules, rows) says which satisfy each rule."""
        totals = np.array([rule.totals for rule in self.with_default])
        satisfied = np.vstack([satisfied, ~satisfied.any(axis=0)])
        votes = totals[satisfied.argmax(axis=0)] if self.ordered else satisfied.T @ totals
        return probabilities(votes)


def decision_list(examples: Rows, train: int, learnt: Sequence[CoveringRule]) -> RuleSet:
    """Make a decision list, in which a rule covers only rows that no earlier rule covers."""
    rules = []
    remaining = train
    for conditions, rows in learnt:
        covered = rows & remaining
        if covered:  # a rule whose rows are all covered by earlier rules is never used
            rules.append(Rule(conditions, examples.shown_totals(covered)))
            remaining ^= covered
    return RuleSet(tuple(rules), Rule((), examples.shown_totals(remaining or train)))


def voting_rules(examples: Rows, train: int, learnt: Sequence[CoveringRule]) -> RuleSet:
    """Make voting rules, each with all training rows it covers."""
    rules = tuple(Rule(conditions, examples.shown_totals(rows & train)) for conditions, rows in learnt)
    return RuleSet(rules, Rule((), examples.shown_totals(train)), ordered=False)
