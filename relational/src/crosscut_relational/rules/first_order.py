"""Rules whose conditions are conjunctions of literals: conversion to trees and text, and comparison."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from crosscut.rules.wording import Wording
from crosscut_relational.database.database import Database
from crosscut_relational.language.terms import term_text
from crosscut_relational.queries.printing import body_text, clause
from crosscut_relational.queries.queries import Facts, Queries
from crosscut_relational.queries.tree import Node
from crosscut_relational.queries.words import Words

if TYPE_CHECKING:
    from collections.abc import Hashable

    from crosscut.rules.rule_set import Rule, RuleSet
    from crosscut_relational.language.rule import Goal
    from crosscut_relational.queries.tree import Signature

    Conditions = tuple[tuple[Goal, ...], ...]

_THRESHOLDS = ("<", "=<", ">", ">=")


def goals_of(conditions: Conditions) -> tuple[Goal, ...]:
    """Return all literals of a rule."""
    return tuple(goal for test in conditions for goal in test)


class FirstOrderWording(Wording):
    """The wording of rules about a database."""

    schema: Signature
    row = "example"
    between = ", "

    def conditions(self, rule: Rule) -> list[str]:
        """Return the conditions of a rule, with names of the schema or as one conjunction of literals."""
        if not self.schema.columns:
            return [body_text(goals_of(rule.conditions), self.schema)] if rule.conditions else []
        words, texts = Words(self.schema), []
        scope: dict[int, str] = {}
        for test in rule.conditions:
            text, scope = words.test(test, scope)
            texts.append(text)
        return texts

    def label(self, rule: Rule) -> str:
        """Return the class of a rule: the value of a table, otherwise in Prolog syntax."""
        name = self.classes[rule.code]
        return str(name) if self.schema.columns else term_text(name)

    @cached_property
    def _queries(self) -> Queries:
        """The core's registry of queries; queries that differ only in names and order are equal."""
        no_examples = np.empty((self.schema.n_fixed, 0), np.int32)
        return Queries(Facts(Database(constants=self.schema.constants, keys=no_examples)))

    def meaning(self, rule: Rule, *, thresholds: bool) -> Hashable:
        """Return a value that is equal for equivalent rules, optionally ignoring thresholds.

        The order of literals and the numbers of variables are ignored.
        """
        goals = set(goals_of(rule.conditions))
        if not goals:
            return rule.code, None
        if not thresholds:
            goals = {g.renamed(lambda a: max(a, -1)) if g.name in _THRESHOLDS else g for g in goals}
        objects = sorted({a for goal in goals for a in goal.args if a >= self.schema.n_fixed})
        numbers = {a: self.schema.n_fixed + i for i, a in enumerate(objects)}
        return rule.code, self._queries.conjunction(g.renamed(lambda a: numbers.get(a, a)) for g in goals)

    def prolog(self, rules: RuleSet) -> str | None:
        """Return rules as Prolog clauses: a decision list with cuts, or clauses that vote.

        Rules about values and summaries of tables have no Prolog form.
        """
        if self.schema.attributes:
            return None
        classes = tuple(self.classes)

        def write(rule: Rule) -> str:
            leaf = Node(rule.totals, float(rule.code))
            return clause(goals_of(rule.conditions), leaf, self.schema, classes, cut=rules.ordered)

        remark = [] if rules.ordered else ["% if none holds:"]
        return "\n".join([*map(write, rules.rules), *remark, write(rules.default)]) + "\n"
