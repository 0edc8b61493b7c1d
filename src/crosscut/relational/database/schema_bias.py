"""A bias made from the keys of linked tables, or from declared types."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from crosscut.relational.database.database import Column, ColumnKind
from crosscut.relational.database.thresholds import column_thresholds
from crosscut.relational.language.bias import Bias, BiasError
from crosscut.relational.language.modes import Choice, Key, Literal, Mode, Var

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosscut.relational.database.database import Database
    from crosscut.relational.database.relation import Relation
    from crosscut.relational.language.bias import Reach
    from crosscut.relational.language.modes import Argument
    from crosscut.relational.language.settings import Settings
    from crosscut.relational.language.terms import Constant


def bias_from_schema(database: Database, reach: Reach, settings: Settings) -> Bias:
    """Make the bias; see `Bias.from_schema`."""
    if settings.discretize == "entropy":  # labels must not be seen where folds are held out
        settings = replace(settings, discretize="equal_freq")
    described = {
        predicate: database.columns.get(predicate) or _columns_from_types(database, relation)
        for predicate, relation in database.relations.items()
    }
    if not any(column.kind in {"key", "link"} for columns in described.values() for column in columns):
        raise BiasError(
            "the database has no keys to follow: make it from tables, or declare types in which the "
            "example's key occurs"
        )
    modes = [
        mode
        for predicate, columns in described.items()
        for mode in _Table(database, database.relations[predicate], columns, reach).modes()
    ]
    types = {predicate: relation.types for predicate, relation in database.relations.items()}
    if settings.regression != (database.target is not None and not database.classes):
        settings = replace(settings, regression=not settings.regression)
        if settings.regression and settings.heuristic == "gainratio":
            settings = replace(settings, heuristic="variance")
    return Bias(
        modes=tuple(replace(mode, source=number) for number, mode in enumerate(modes)),
        types=types,
        typed=True,
        settings=settings,
    )


def _columns_from_types(database: Database, relation: Relation) -> tuple[Column, ...]:
    """Kinds of a stated relation's arguments: types that occur in several places are links."""
    uses = Counter(
        name for each in database.relations.values() for name in each.types if isinstance(name, str)
    ) + Counter(name for name in database.key_types if name is not None)
    columns = []
    for position, name in enumerate(relation.types):
        numbers = database.constants.numbers[relation.columns[position]]
        if isinstance(name, str) and uses[name] > 1:
            columns.append(Column(f"{name}{position + 1}", "link"))
        else:
            kind: ColumnKind = "numeric" if len(numbers) and not np.isnan(numbers).any() else "nominal"
            columns.append(Column(f"A{position + 1}", kind))
    return tuple(columns)


class _Table:
    """Modes of one relation."""

    def __init__(
        self, database: Database, relation: Relation, columns: tuple[Column, ...], reach: Reach
    ) -> None:
        self.database = database
        self.relation = relation
        self.columns = columns
        self.reach = reach
        # a link is called what it leads to, unless two lead there
        self.names = [
            _variable_name(
                str(name)
                if column.kind in {"key", "link"} and relation.types.count(name) == 1
                else column.name
            )
            for column, name in zip(columns, relation.types, strict=True)
        ]
        self.own = next((position for position, column in enumerate(columns) if column.kind == "key"), None)

        # a fact that other tables refer to may be met on the way from another example
        referred = any(
            kind.kind == "link" and relation.types[self.own or 0] == other.types[position]
            for predicate, other in database.relations.items()
            if other is not relation and self.own is not None
            for position, kind in enumerate(database.columns.get(predicate, ()))
        )
        self.is_owned = relation.keyed and not referred

    def modes(self) -> Iterator[Mode]:
        links = [position for position, column in enumerate(self.columns) if column.kind in {"key", "link"}]
        if self.relation.name == self.database.target_name and self.own is not None:
            links = [self.own]  # other examples are not entered
        links = [
            position
            for position in links
            if position == self.own or self._fanout(position) <= self.reach.max_fanout
        ]
        for entry in links:
            yield from self._joins(entry)
            for position, column in enumerate(self.columns):
                if column.kind == "nominal":
                    yield from self._equalities(entry, position)
                elif column.kind == "numeric":
                    yield from self._comparisons(entry, position)

    def _fanout(self, position: int) -> float:
        """Return how many facts share a value of a link, on average."""
        return self.relation.n_facts / max(len(self.relation.distinct(position)), 1)

    def _literal(self, entry: int, tested: int | None = None, argument: Argument | None = None) -> Literal:
        """Return the relation's literal: ``+`` at the entry, ``argument`` at the tested column.

        A test binds the row it is about; a join binds every other link as well. Facts that belong to one
        example are looked up with its key, so that names can be reused in other examples.
        """
        args: list[Argument] = []
        for position, column in enumerate(self.columns):
            back = self.relation.types[position] in self.database.key_types
            follow = column.kind == "link" and not back and (tested is None or self.own is None)
            if position == entry:
                args.append(Var("+", self.names[position]))
            elif position == tested and argument is not None:
                args.append(argument)
            elif follow or position == self.own:
                args.append(Var("-", self.names[position]))
            elif position == 0 and self.is_owned:
                args.append(Key(0))
            else:
                args.append(Var("_", self.names[position]))
        return Literal(self.relation.name, tuple(args))

    def _joins(self, entry: int) -> Iterator[Mode]:
        literal = self._literal(entry)
        only_links = self.relation.name != self.database.target_name and all(
            column.kind in {"key", "link"} for column in self.columns
        )
        # a table of nothing but links is a test by itself
        if only_links or any(isinstance(argument, Var) and argument.mark == "-" for argument in literal.args):
            yield Mode((literal,))

    def _equalities(self, entry: int, position: int) -> Iterator[Mode]:
        constants = _frequent(self.database, self.relation, position, self.reach.max_constants)
        if constants and (len(constants) > 1 or entry != self.own):
            yield Mode((self._literal(entry, position, Choice(constants)),))

    def _comparisons(self, entry: int, position: int) -> Iterator[Mode]:
        predicate = (self.relation.name, self.relation.arity)
        cuts = column_thresholds(self.database, predicate, position, self.reach.max_thresholds)
        value = Var("", self.names[position])
        # of the example's own row "at most" says it all; of several "some at most" and "some above" differ
        single = entry == self.own and self.relation.types[entry] in self.database.key_types
        for comparison in ("=<",) if single else ("=<", ">"):
            if cuts:
                test = Literal(comparison, (value, Choice(tuple(cuts))))
                yield Mode((self._literal(entry, position, value), test))


def _variable_name(column: str) -> str:
    """Return a column's name as a Prolog variable: ``machine_id`` becomes ``Machine``."""
    words = [
        word for word in "".join(c if c.isalnum() else " " for c in column).split() if word.lower() != "id"
    ]
    words = words or ["Id"]
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name if "A" <= name[0] <= "Z" else f"V{name}"


def _frequent(database: Database, relation: Relation, column: int, limit: int) -> tuple[Constant, ...]:
    """Constants of a column that occur most often, at most `limit`, in the order of their first fact."""
    ids, first, counts = np.unique(relation.columns[column], return_index=True, return_counts=True)
    if len(ids) > limit and np.count_nonzero(counts == 1) > len(ids) / 2:
        return ()
    kept = sorted(np.lexsort((first, -counts))[:limit], key=lambda each: first[each])
    return tuple(database.constants.terms[ids[each]] for each in kept)
