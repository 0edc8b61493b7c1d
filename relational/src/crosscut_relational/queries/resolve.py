"""Resolve a bias against a database: check it, choose constants and make keys explicit."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from crosscut_relational.database.attribute_values import AttributeValues
from crosscut_relational.database.thresholds import equal_frequency, generated
from crosscut_relational.language.bias import BiasError
from crosscut_relational.language.modes import (
    AutoLookahead,
    Choice,
    Const,
    Key,
    Language,
    Literal,
    Lookahead,
    Mode,
    TypeVariable,
    Var,
)
from crosscut_relational.language.rule import ALIASES, COMPARISONS, Goal
from crosscut_relational.queries.stored_rules import StoredRules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from crosscut_relational.database.database import Database
    from crosscut_relational.language.bias import Bias
    from crosscut_relational.language.modes import Argument, TypeNames
    from crosscut_relational.language.terms import Constant


def resolve(bias: Bias, database: Database, cuts: Sequence[Mode] = ()) -> Language:
    """Return the language: checked modes with numbered constants and explicit keys.

    Trees try every threshold of a numeric attribute. Rules try the `cuts`, which follow the other modes.
    """
    resolver = _Resolver(bias, database)
    modes = [
        replace(mode, literals=literals, generator=None, source=source)
        for source, mode in enumerate((*bias.modes, *cuts))
        for literals in resolver.choices(mode)
    ]
    lookahead = [
        Lookahead(resolver.template(each.first), then)
        for each in bias.lookahead
        for then in resolver.expanded(each.then)
    ]
    auto = [AutoLookahead(resolver.template(each.first), each.variables) for each in bias.auto_lookahead]
    root, root_types = resolver.root()
    if resolver.problems:
        raise BiasError("\n".join(resolver.problems))
    return Language(
        modes=tuple(modes),
        lookahead=tuple(lookahead),
        auto_lookahead=tuple(auto),
        root=root,
        root_types=root_types,
        types=resolver.types,
        typed=bias.typed,
        implicit_key=bias.implicit_key,
        settings=bias.settings,
        attributes=bias.attributes,
    )


def cuts_of_tasks(
    bias: Bias, database: Database, trains: Sequence[NDArray[np.bool_]]
) -> tuple[list[Mode], NDArray[np.bool_]]:
    """Return modes that compare numeric attributes with thresholds of equal frequency, and who uses them.

    The thresholds of a task come from its training examples. The array of shape (tasks, modes) says which
    modes each task may use; the modes of the bias come first.
    """
    values = AttributeValues(database)
    modes: list[Mode] = []
    used = [np.ones(len(trains), bool) for _ in bias.modes]
    for number, each in enumerate(bias.attributes, len(database.keys)):
        if not each.is_number:
            continue
        numbers = values.numbers(each)
        known = ~np.isnan(numbers)
        thresholds = [set(equal_frequency(numbers[known & train], bias.max_thresholds)) for train in trains]
        for comparison in ("=<", ">"):
            for cut in sorted(set().union(*thresholds)):
                modes.append(Mode((Literal(comparison, (Key(number), Const(cut))),)))
                used.append(np.array([cut in own for own in thresholds]))
    return modes, np.stack(used, axis=1) if used else np.ones((len(trains), 0), bool)


class _Resolver:
    def __init__(self, bias: Bias, database: Database) -> None:
        self.bias = bias
        self.database = database
        self.types: dict[tuple[str, int], TypeNames] = {}
        self.missing: set[tuple[str, int]] = set()
        self.problems: list[str] = []
        self.rules = StoredRules(bias, database)

    def choices(self, mode: Mode) -> Iterator[tuple[Literal, ...]]:
        if mode.generator is None:
            yield from self.expanded(mode.literals)
            return
        names = mode.generator.variables
        for values in generated(mode.generator, self.bias, self.database):
            chosen = dict(zip(names, values, strict=True))

            def place(argument: Argument, chosen: dict[str, Constant] = chosen) -> Argument:
                if isinstance(argument, Var) and argument.is_input and argument.name in chosen:
                    return Const(chosen[argument.name])
                return argument

            yield from self.expanded(tuple(literal.changed(place) for literal in mode.literals))

    def expanded(self, literals: tuple[Literal, ...]) -> Iterator[tuple[Literal, ...]]:
        """Yield the conjunction once for every choice of constants."""
        located = [self.located(literal) for literal in literals]
        options = [
            product(*(self.options(literal, column) for column in range(literal.arity)))
            for literal in located
        ]
        for chosen in product(*options):
            yield tuple(replace(literal, args=args) for literal, args in zip(located, chosen, strict=True))

    def located(self, literal: Literal, *, is_template: bool = False) -> Literal:
        """Return the literal with its key, after checking it against the database and the types."""
        written = literal.predicate
        name = ALIASES.get(literal.name, literal.name)
        literal = replace(literal, name=name)
        if name in COMPARISONS and literal.arity == 2:
            self.types.setdefault((name, 2), self.bias.types.get(written, (None, None)))
            return literal
        if self.bias.typed and written not in self.bias.types:
            problem = f"{name}/{literal.arity} has no declared types, but the language is typed: "
            problem += f"add type({name}(...)) with {literal.arity} type names, or leave typed_language off"
            if not is_template:  # a template without a mode matches nothing
                raise BiasError(problem)
            warnings.warn(problem, UserWarning, stacklevel=6)
        declared = self.bias.types.get(written, (None,) * literal.arity)
        if self.bias.implicit_key and self.takes_key(name, literal.arity):
            literal = replace(literal, args=(Key(0), *literal.args))
            declared = (*self.database.key_types, *declared)
        self.types[literal.predicate] = declared
        if literal.predicate == ("member", 2):
            self.rules.store_member()
        self.check_known(literal)
        rule = self.database.rules.get(literal.predicate)
        if rule is not None and not rule.bodies:
            self.rules.store(rule)
        return literal

    def takes_key(self, name: str, arity: int) -> bool:
        """Whether a literal written without a key implicitly has the example's key."""
        relation = self.database.relations.get((name, arity + 1))
        if relation is not None:
            return relation.keyed
        return (name, arity + 1) in self.database.rules and (name, arity) not in self.database.rules

    def check_known(self, literal: Literal) -> None:
        database = self.database
        predicate = literal.predicate
        rule = database.rules.get(predicate)
        if rule is not None:
            for position in rule.inputs:
                argument = literal.args[position]
                if isinstance(argument, Var) and argument.mark == "-":
                    raise BiasError(
                        f"argument {position + 1} of {rule.indicator} must be bound before the test "
                        f"({rule.text}); use +, a constant or # instead of -"
                    )
        if rule is not None or predicate in database.relations or predicate in self.missing:
            return
        self.missing.add(predicate)
        hidden = int(self.bias.implicit_key and isinstance(next(iter(literal.args), None), Key))
        arities = database.arities(literal.name)
        if arities:
            known = " and ".join(f"{literal.name}/{arity - hidden}" for arity in arities)
            self.problems.append(
                f"a mode uses {literal.name}/{literal.arity - hidden}, but the database has {known}"
            )
            return
        warnings.warn(
            f"a mode uses {literal.name}/{literal.arity - hidden}, which has no facts and no rules; "
            "it is false for every example",
            UserWarning,
            stacklevel=7,
        )

    def options(self, literal: Literal, column: int) -> list[Argument]:
        argument = literal.args[column]
        rule = self.database.rules.get(literal.predicate)
        match argument:
            case Const(value):
                return [self.constant(value)]
            case Choice(None):
                return self.column_constants(literal, column)
            case Choice(values):
                return [self.constant(value) for value in values or ()]
            case Var("+-", name) if rule is not None and column in rule.inputs:
                return [Var("+", name)]
        return [argument]

    def constant(self, value: Constant) -> Const:
        return Const(value, self.database.constants.intern(value))

    def column_constants(self, literal: Literal, column: int) -> list[Argument]:
        """Return the constants of a ``#`` argument, taken from its column.

        If the predicate is not stored, they are taken from all columns of the argument's type.
        """
        database = self.database
        relation = database.relations.get(literal.predicate)
        if relation is not None:
            return [Const(database.constants.terms[each], int(each)) for each in relation.distinct(column)]
        type_name = self.types.get(literal.predicate, (None,) * literal.arity)[column]
        constants = self.rules.constants_of(type_name) if isinstance(type_name, str) else []
        if not constants and literal.predicate not in self.missing:
            raise BiasError(
                f"# in {literal}: no stored relation has an argument of type {type_name} to take constants "
                "from; list them as #[a,b,...]"
            )
        return [Const(database.constants.terms[each], each) for each in constants]

    def template(self, literal: Literal) -> Literal:
        """Return a template's literal with numbered constants."""
        located = self.located(literal, is_template=True)
        return located.changed(lambda a: self.constant(a.value) if isinstance(a, Const) else a)

    def root(self) -> tuple[tuple[Goal, ...], TypeNames]:
        n_keys = len(self.database.keys)
        numbers: dict[str, int] = {}
        # a key without a declared type gets the type of its first use on a path
        types: list[str | TypeVariable | None] = [
            TypeVariable(f"Key{number}") if name is None and self.bias.typed else name
            for number, name in enumerate(self.database.key_types)
        ]
        goals = []
        for literal in self.bias.root:
            located = self.located(literal)
            args = []
            for argument, type_name in zip(
                located.args,
                self.types.get(located.predicate, (None,) * located.arity),
                strict=True,
            ):
                if isinstance(argument, Key):
                    args.append(argument.index)
                elif isinstance(argument, Const):
                    args.append(~self.constant(argument.value).id)
                elif isinstance(argument, Choice):
                    raise BiasError(f"root({literal}): a root cannot choose constants")
                else:
                    if argument.name not in numbers:
                        numbers[argument.name] = n_keys + len(numbers)
                        types.append(type_name if isinstance(type_name, str) else None)
                    args.append(numbers[argument.name])
            goals.append(Goal(located.name, tuple(args), located.negated))
        return tuple(goals), tuple(types)
