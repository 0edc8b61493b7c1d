"""Rules that cannot be written in place of a call, stored as relations over the constants they may get."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from crosscut.relational.database.bindings import Bindings
from crosscut.relational.database.materialize import Derivation
from crosscut.relational.database.relation import Relation, distinct_facts
from crosscut.relational.language.bias import BiasError
from crosscut.relational.language.modes import Choice, Const
from crosscut.relational.language.terms import Variable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.relational.database.database import Database
    from crosscut.relational.language.bias import Bias
    from crosscut.relational.language.modes import TypeVariable
    from crosscut.relational.language.rule import Rule

MAX_DOMAIN = 5_000_000


class StoredRules:
    """Adds relations to a database for what a bias asks of its rules."""

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
        """Make a rule that cannot be written in place a relation over the constants its inputs can take."""
        if rule in self.stored:
            return
        self.stored.append(rule)
        inputs = sorted(rule.inputs)
        domains = [self.domain(rule, position) for position in inputs]
        size = math.prod(map(len, domains))
        if size > MAX_DOMAIN:
            raise BiasError(
                f"{rule.indicator} ({rule.text}) would have to be evaluated on {size} combinations of "
                f"constants, more than {MAX_DOMAIN}; declare narrower types or list its constants"
            )
        derivation = Derivation.of(self.database)
        grid = np.meshgrid(*domains, indexing="ij")
        derived = []
        for conjunction in rule.definition:
            bindings = Bindings(self.database.constants)
            bindings.n_rows = size
            bindings.columns = {
                variable: column.ravel()
                for variable, column in zip((conjunction.head[each] for each in inputs), grid, strict=True)
                if isinstance(variable, Variable)
            }
            derived.append(derivation.evaluate(conjunction, start=bindings))
        columns = distinct_facts(np.concatenate(derived, axis=1))
        keyed = (
            rule.arity > 0 and 0 not in rule.inputs and bool(np.isin(columns[0], self.database.keys[0]).all())
        )
        self.database.relations[rule.name, rule.arity] = Relation(
            rule.name, columns, (None,) * rule.arity, keyed
        )

    def domain(self, rule: Rule, position: int) -> NDArray[np.int32]:
        """Return the constants that the bias can put in one argument of a rule."""
        used = [literal for mode in self.bias.modes for literal in mode.literals]
        used += [literal for each in self.bias.lookahead for literal in each.then]
        found: dict[int, None] = {}
        for literal in used:
            if (literal.name, literal.arity) == (rule.name, rule.arity):
                argument = literal.args[position]
                if isinstance(argument, Const):
                    found[self.database.constants.intern(argument.value)] = None
                elif isinstance(argument, Choice) and argument.values is not None:
                    found |= dict.fromkeys(self.database.constants.intern(value) for value in argument.values)
                else:
                    wanted = self.bias.types.get((rule.name, rule.arity), (None,) * rule.arity)[position]
                    found |= dict.fromkeys(self.constants_of(wanted))
        return np.array(list(found), np.int32)

    def constants_of(self, wanted: str | TypeVariable | None) -> list[int]:
        """Return the constants in columns of a type; all there are if it is not a named one."""
        database = self.database
        if not isinstance(wanted, str):
            return list(range(len(database.constants)))
        found: dict[int, None] = {}
        for predicate, types in self.bias.types.items():
            offset = 0
            stored = database.relations.get(predicate)
            if self.bias.implicit_key and stored is None:
                stored, offset = database.relations.get((predicate[0], predicate[1] + 1)), 1
            if stored is not None and predicate not in database.rules:
                for position, name in enumerate(types):
                    if name == wanted:
                        found |= dict.fromkeys(stored.distinct(position + offset).tolist())
        return list(found)
