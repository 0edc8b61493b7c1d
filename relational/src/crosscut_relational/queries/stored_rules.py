"""Store rules that cannot be inlined as relations over the possible constants of their inputs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from crosscut_relational.database.materialize import Derivation
from crosscut_relational.database.relation import Relation, distinct_facts
from crosscut_relational.language.bias import BiasError
from crosscut_relational.language.modes import Choice, Const

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from crosscut_relational.database.database import Database
    from crosscut_relational.language.bias import Bias
    from crosscut_relational.language.modes import TypeVariable
    from crosscut_relational.language.rule import Goal, Rule

MAX_DOMAIN = 5_000_000


class StoredRules:
    """Adds relations to a database for the rules that a bias uses."""

    def __init__(self, bias: Bias, database: Database) -> None:
        self.bias = bias
        self.database = database
        self.stored: list[Rule] = []

    def store_member(self) -> None:
        """Make ``member/2`` a relation over the lists among the constants."""
        derivation = Derivation.of(self.database)
        derivation.add_member()
        self.database.relations["member", 2] = Relation("member", derivation.facts["member", 2], (None, None))

    def store(self, rule: Rule) -> None:
        """Store a rule that cannot be inlined as a relation over the constants of its inputs."""
        if rule in self.stored:
            return
        self.stored.append(rule)
        domains = {position: self.domain(rule, position) for position in sorted(rule.inputs)}
        self.database.relations[rule.name, rule.arity] = evaluated(rule, self.database, domains)

    def domain(self, rule: Rule, position: int) -> NDArray[np.int32]:
        """Return the constants that the bias can put in one argument of a rule."""
        used = [literal for mode in self.bias.modes for literal in mode.literals]
        used += [literal for each in self.bias.lookahead for literal in each.then]
        order: dict[int, None] = {}
        for literal in used:
            if (literal.name, literal.arity) == (rule.name, rule.arity):
                argument = literal.args[position]
                if isinstance(argument, Const):
                    order[self.database.constants.intern(argument.value)] = None
                elif isinstance(argument, Choice) and argument.values is not None:
                    order |= dict.fromkeys(self.database.constants.intern(value) for value in argument.values)
                else:
                    type_name = self.bias.types.get((rule.name, rule.arity), (None,) * rule.arity)[position]
                    order |= dict.fromkeys(self.constants_of(type_name))
        return np.array(list(order), np.int32)

    def constants_of(self, type_name: str | TypeVariable | None) -> list[int]:
        """Return the constants in columns of a type; all constants if the type has no name."""
        database = self.database
        if not isinstance(type_name, str):
            return list(range(len(database.constants)))
        order: dict[int, None] = {}
        for predicate, types in self.bias.types.items():
            offset = 0
            stored = database.relations.get(predicate)
            if self.bias.implicit_key and stored is None:
                stored, offset = database.relations.get((predicate[0], predicate[1] + 1)), 1
            if stored is not None and predicate not in database.rules:
                for position, name in enumerate(types):
                    if name == type_name:
                        order |= dict.fromkeys(stored.distinct(position + offset).tolist())
        return list(order)


def evaluated(rule: Rule, database: Database, domains: dict[int, NDArray[np.int32]]) -> Relation:
    """Return a rule as a relation over the possible constants of its inputs."""
    size = math.prod(map(len, domains.values()))
    if size > MAX_DOMAIN:
        raise BiasError(
            f"{rule.indicator} ({rule.text}) needs {size} combinations of constants, more than "
            f"{MAX_DOMAIN}; declare narrower types or list its constants"
        )
    grid = np.stack([column.ravel() for column in np.meshgrid(*domains.values(), indexing="ij")])
    derived = Derivation.of(database).solutions((rule.name, rule.arity), grid, list(domains))
    columns = distinct_facts(derived)
    keyed = 0 not in rule.inputs and bool(np.isin(columns[0], database.keys[0]).all())
    return Relation(rule.name, columns, (None,) * rule.arity, keyed)


def with_stored_rules(database: Database, goals: Collection[Goal]) -> Database:
    """Return a database in which rules of the goals that cannot be inlined are relations.

    A variable ranges over the constants of its columns, or over all constants if it is in none.
    """
    calls: dict[tuple[str, int], list[Goal]] = {}
    columns: dict[int, list[NDArray[np.int32]]] = {i: [row] for i, row in enumerate(database.keys)}
    for goal in goals:
        predicate = (goal.name, len(goal.args))
        rule = database.rules.get(predicate)
        if rule is not None and not rule.bodies:
            calls.setdefault(predicate, []).append(goal)
        elif predicate in database.relations and not goal.negated:
            for argument, row in zip(goal.args, database.relations[predicate].columns, strict=True):
                columns.setdefault(argument, []).append(row)
    all_constants = [np.arange(len(database.constants), dtype=np.int32)]

    def domain(argument: int) -> list[NDArray[np.int32]]:
        return [np.array([~argument], np.int32)] if argument < 0 else columns.get(argument, all_constants)

    relations = dict(database.relations)
    for predicate, predicate_goals in calls.items():
        rule = database.rules[predicate]
        domains = {
            place: np.unique(
                np.concatenate([row for goal in predicate_goals for row in domain(goal.args[place])])
            )
            for place in sorted(rule.inputs)
        }
        relations[predicate] = evaluated(rule, database, domains)
    return replace(database, relations=relations) if calls else database
