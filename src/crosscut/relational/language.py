"""A bias resolved against a database: the concrete literals that tests are made of."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from crosscut.relational.bias import (
    AnyConst,
    Argument,
    AutoLookahead,
    Bias,
    Const,
    In,
    InOut,
    Key,
    ListConst,
    Literal,
    Lookahead,
    Mode,
    Out,
    Shared,
)
from crosscut.relational.rule import COMPARISONS, Goal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crosscut.relational.bias import TypeNames
    from crosscut.relational.database import Database
    from crosscut.relational.settings import Settings
    from crosscut.relational.terms import Constant

ALIASES = {"==": "=", "=:=": "=", "\\==": "\\=", "=\\=": "\\="}


@dataclass(frozen=True)
class Language:
    """What refinement works with; made by `Bias.resolve`.

    Every literal's arguments are `Key`, `In`, `Out`, `InOut`, `Shared` or `Const` with its id: choices among constants
    have been expanded, one mode each, and generated constants and thresholds computed. In the models format the
    key has been added in front of literals on keyed relations. A literal's predicate is a relation of the database, one of
    its rules, or a comparison (`COMPARISONS`, aliases such as ``==`` replaced).

    Attributes
    ----------
    modes : tuple of Mode
        In order of generation: modes as in the bias, within one the constants in their order (the last argument's
        change fastest). ``mode.source`` is the number of the bias' mode, ``mode.choice`` counts within it.
    lookahead : tuple of Lookahead
        Expanded in the same way.
    auto_lookahead : tuple of AutoLookahead
        Templates as in the bias.
    root : tuple of Goal
        Goals every query starts with. Variables ``0 .. n_keys-1`` are the example's keys, the next ones are new.
    root_types : tuple of str or None
        Types of the variables bound by key and root, by variable number.
    types : dict of (name, arity) to tuple
        Argument types with the key's included; use `types_of`.
    typed : bool
        Whether types restrict which variable an input can be.
    implicit_key : bool
        Whether to leave out the key when a keyed relation's literal is printed.
    settings : Settings
        How trees are grown and pruned.
    """

    modes: tuple[Mode, ...]
    lookahead: tuple[Lookahead, ...]
    auto_lookahead: tuple[AutoLookahead, ...]
    root: tuple[Goal, ...]
    root_types: tuple[str | None, ...]
    types: Mapping[tuple[str, int], TypeNames]
    typed: bool
    implicit_key: bool
    settings: Settings

    def types_of(self, name: str, arity: int) -> TypeNames:
        """Type of each argument: a name, a `TypeVariable`, or None where any type fits."""
        return self.types.get((name, arity), (None,) * arity)


class BiasError(ValueError):
    """The bias does not fit the database."""


def resolve(bias: Bias, database: Database) -> Language:
    """What `Bias.resolve` returns."""
    resolver = _Resolver(bias, database)
    modes = [
        replace(mode, literals=literals, generator=None, source=source, choice=choice)
        for source, mode in enumerate(bias.modes)
        for choice, literals in enumerate(resolver.choices(mode))
    ]
    lookahead = [
        Lookahead(resolver.template(each.first), then, source, choice)
        for source, each in enumerate(bias.lookahead)
        for choice, then in enumerate(resolver.expanded(each.then))
    ]
    auto = [AutoLookahead(resolver.template(each.first), each.variables) for each in bias.auto_lookahead]
    root, root_types = resolver.root()
    return Language(
        modes=tuple(modes),
        lookahead=tuple(lookahead),
        auto_lookahead=tuple(auto),
        root=root,
        root_types=root_types,
        types=resolver.types,
        typed=bias.typed,
        implicit_key=database.implicit_key,
        settings=bias.settings,
    )


class _Resolver:
    def __init__(self, bias: Bias, database: Database) -> None:
        self.bias = bias
        self.database = database
        self.types: dict[tuple[str, int], TypeNames] = {}
        self.missing: set[tuple[str, int]] = set()

    def choices(self, mode: Mode) -> Iterator[tuple[Literal, ...]]:
        if mode.generator is None:
            yield from self.expanded(mode.literals)
            return
        from crosscut.relational.thresholds import generated

        names = mode.generator.variables
        for values in generated(mode.generator, self.bias, self.database):
            chosen = dict(zip(names, values, strict=True))
            literals = tuple(
                replace(
                    literal,
                    args=tuple(
                        Const(chosen[a.name]) if isinstance(a, (Shared, In, InOut)) and a.name in chosen else a
                        for a in literal.args
                    ),
                )
                for literal in mode.literals
            )
            yield from self.expanded(literals)

    def expanded(self, literals: tuple[Literal, ...]) -> Iterator[tuple[Literal, ...]]:
        """The conjunction once for every choice of constants."""
        located = [self.located(literal) for literal in literals]
        options: list[list[Argument]] = [
            self.options(literal, column) for literal in located for column in range(literal.arity)
        ]
        for chosen in product(*options):
            position = 0
            made = []
            for literal in located:
                made.append(replace(literal, args=tuple(chosen[position : position + literal.arity])))
                position += literal.arity
            yield tuple(made)

    def located(self, literal: Literal) -> Literal:
        """The literal with its key, after checks that the database and the types know it."""
        name = ALIASES.get(literal.name, literal.name)
        literal = replace(literal, name=name)
        if name in COMPARISONS and literal.arity == 2:
            self.types.setdefault((name, 2), self.bias.types.get((name, 2), (None, None)))
            return literal
        written = (name, literal.arity)
        if self.bias.typed and written not in self.bias.types:
            raise BiasError(
                f"{name}/{literal.arity} has no declared types, but the language is typed: add type({name}(...)) with "
                f"{literal.arity} type names, or leave typed_language off"
            )
        declared = self.bias.types.get(written, (None,) * literal.arity)
        keyed = self.database.relations.get((name, literal.arity + 1))
        if self.database.implicit_key and keyed is not None and keyed.keyed:
            literal = replace(literal, args=(Key(0), *literal.args))
            declared = (*self.database.key_types, *declared)
        self.types[name, literal.arity] = declared
        self.check_known(literal)
        return literal

    def check_known(self, literal: Literal) -> None:
        database = self.database
        predicate = (literal.name, literal.arity)
        rule = database.rules.get(predicate)
        if rule is not None:
            for position in rule.inputs:
                if isinstance(literal.args[position], Out):
                    raise BiasError(
                        f"argument {position + 1} of {rule.indicator} has to be bound before the test ({rule.text}); "
                        f"write +, a constant or # instead of -"
                    )
        if rule is not None or predicate in database.relations or predicate in self.missing:
            return
        self.missing.add(predicate)
        hidden = int(database.implicit_key and isinstance(next(iter(literal.args), None), Key))
        arities = database.arities(literal.name)
        if arities:
            known = " and ".join(f"{literal.name}/{arity - hidden}" for arity in arities)
            raise BiasError(f"a mode uses {literal.name}/{literal.arity - hidden}, but the database has {known}")
        warnings.warn(
            f"a mode uses {literal.name}/{literal.arity - hidden}, which has no facts and no rules: "
            "it is false for every example",
            UserWarning,
            stacklevel=7,
        )

    def options(self, literal: Literal, column: int) -> list[Argument]:
        argument = literal.args[column]
        if isinstance(argument, Const):
            return [self.constant(argument.value)]
        if isinstance(argument, ListConst):
            return [self.constant(value) for value in argument.values]
        if isinstance(argument, AnyConst):
            return self.column_constants(literal, column)
        rule = self.database.rules.get((literal.name, literal.arity))
        if isinstance(argument, InOut) and rule is not None and column in rule.inputs:
            return [In(argument.name)]
        return [argument]

    def constant(self, value: Constant) -> Const:
        return Const(value, self.database.constants.intern(value))

    def column_constants(self, literal: Literal, column: int) -> list[Argument]:
        """Constants of a ``#`` argument: those of its column, or of its type's columns if the predicate is not stored."""
        database = self.database
        relation = database.relations.get((literal.name, literal.arity))
        if relation is not None:
            return [Const(database.constants.terms[each], int(each)) for each in relation.distinct(column)]
        wanted = self.types.get((literal.name, literal.arity), ())[column]
        found: dict[int, None] = {}
        for predicate, types in self.bias.types.items():
            offset = 0
            stored = database.relations.get(predicate)
            if database.implicit_key and stored is None:
                stored, offset = database.relations.get((predicate[0], predicate[1] + 1)), 1
            if stored is not None:
                for position, name in enumerate(types):
                    if name is not None and name == wanted:
                        found |= dict.fromkeys(stored.distinct(position + offset).tolist())
        if not found and (literal.name, literal.arity) not in self.missing:
            raise BiasError(
                f"# in {literal}: no stored relation has an argument of type {wanted} to take constants from; "
                "list them as #[a,b,...]"
            )
        return [Const(database.constants.terms[each], each) for each in found]

    def template(self, literal: Literal) -> Literal:
        """A template's literal, its constants numbered."""
        located = self.located(literal)
        return replace(
            located, args=tuple(self.constant(a.value) if isinstance(a, Const) else a for a in located.args)
        )

    def root(self) -> tuple[tuple[Goal, ...], tuple[str | None, ...]]:
        n_keys = len(self.database.keys)
        numbers: dict[str, int] = {}
        types: list[str | None] = list(self.database.key_types)
        goals = []
        for literal in self.bias.root:
            located = self.located(literal)
            args = []
            for argument, type_name in zip(
                located.args, self.types.get((located.name, located.arity), (None,) * located.arity), strict=True
            ):
                if isinstance(argument, Key):
                    args.append(argument.index)
                elif isinstance(argument, Const):
                    args.append(~self.constant(argument.value).id)
                elif isinstance(argument, (AnyConst, ListConst)):
                    raise BiasError(f"root({literal}): a root cannot choose constants")
                else:
                    if argument.name not in numbers:
                        numbers[argument.name] = n_keys + len(numbers)
                        types.append(type_name if isinstance(type_name, str) else None)
                    args.append(numbers[argument.name])
            goals.append(Goal(located.name, tuple(args), located.negated))
        return tuple(goals), tuple(types)
