"""Make a bias from the keys of linked tables, or from declared types."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut_relational.database.database import MISSING
from crosscut_relational.database.schema_attributes import SchemaAttributes, frequent
from crosscut_relational.database.thresholds import column_thresholds
from crosscut_relational.language.attributes import Column, ColumnKind, attribute_text
from crosscut_relational.language.bias import Bias, BiasError
from crosscut_relational.language.modes import Choice, Key, Literal, Mode, Var
from crosscut_relational.language.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crosscut_relational.database.database import Database
    from crosscut_relational.database.relation import Relation
    from crosscut_relational.language.attributes import Attribute
    from crosscut_relational.language.bias import Reach
    from crosscut_relational.language.modes import Argument
    from crosscut_relational.language.terms import Constant

    Writer = Callable[[int, Argument], Literal]  # makes the literal with an argument in a column


# words of the SQL of views that combine several rows
_COMBINES = frozenset(
    {"avg", "count", "count_star", "distinct", "group", "limit", "max", "min", "over", "sum", "total"}
)


def bias_from_schema(database: Database, reach: Reach, settings: dict[str, Any]) -> Bias:
    """Make the bias; see `Bias.from_schema`."""
    is_number = database.target is not None and not database.classes
    defaults: dict[str, Any] = {"pruning": "best", "regression": is_number}
    defaults["heuristic"] = "variance" if is_number else "gain"
    if database.n_examples >= 100:
        defaults["minimal_cases"] = 5
    # held-out labels must not affect the thresholds
    settings = {**defaults, **settings, "discretize": "equal_freq"}
    if reach.as_of is not None:
        database = _without_timeless_views(database)
    described = {
        predicate: database.columns.get(predicate) or _columns_from_types(database, relation)
        for predicate, relation in database.relations.items()
    }
    if not any(column.kind in {"key", "link"} for columns in described.values() for column in columns):
        raise BiasError(
            "the database has no keys to follow: make it from tables, or declare types in which the "
            "example's key occurs"
        )
    tables = [
        _Table(database, database.relations[predicate], columns, reach)
        for predicate, columns in described.items()
        # dated rows may lie in the future of an example; only aggregates exclude those
        if reach.as_of is None or not any(column.kind == "date" for column in columns)
    ]
    attributes = SchemaAttributes(database, reach).all() if database.columns else ()
    modes = [
        *_equations(database, attributes, reach),
        *(mode for table in tables for mode in table.modes(tables)),
    ]
    types = {predicate: relation.types for predicate, relation in database.relations.items()}
    return Bias(
        modes=tuple(replace(mode, source=number) for number, mode in enumerate(modes)),
        attributes=attributes,
        max_thresholds=reach.max_thresholds,
        types=types,
        typed=True,
        settings=Settings(**settings),
    )


def _without_timeless_views(database: Database) -> Database:
    """Leave out views whose rows cannot be restricted to those before a date: they may count later rows."""
    dated = {
        name.lower()
        for (name, _), columns in database.columns.items()
        if name != database.target_name and any(column.kind == "date" for column in columns)
    }
    words = {  # without the names of the view and of the tables that columns belong to
        name: re.findall(r"\w+", re.sub(r"(?s)^\s*create\b.*?\bas\b|\w+\W*\.", "", text.lower()))
        for name, text in database.views.items()
        if name != database.target_name
    }
    hidden = [
        name
        for name, each in words.items()
        if name.lower() not in dated or not _COMBINES.isdisjoint(each) or sum(w in dated for w in each) > 1
    ]
    for name in hidden:  # grows during the loop: views of views
        hidden += [other for other in words if name.lower() in words[other] and other not in hidden]
    if hidden:
        warnings.warn(
            f"as_of: left out views that may count later rows: {', '.join(hidden)}; a view needs a date of "
            "its own and one table with dates, and no GROUP BY, DISTINCT or aggregate function",
            UserWarning,
            stacklevel=4,
        )
    return replace(
        database,
        relations={key: each for key, each in database.relations.items() if key[0] not in hidden},
        columns={key: each for key, each in database.columns.items() if key[0] not in hidden},
    )


def _equations(database: Database, attributes: Sequence[Attribute], reach: Reach) -> Iterator[Mode]:
    """Return modes: is a nominal attribute one of its most frequent constants, is a number missing."""
    missing = database.constants.id(MISSING)
    for number, each in enumerate(attributes):
        if each.column is None or each.kind == "link":
            continue
        relation = database.relations[each.steps[-1].predicate]
        values: tuple[Constant, ...] = ()
        if each.kind == "nominal":
            values = frequent(database, relation.columns[each.column], reach.max_constants)
        elif each.function == "value" and (relation.columns[each.column] == missing).any():
            values = (MISSING,)
        if len(values) > (each.kind == "nominal"):
            value = Key(len(database.keys) + number, attribute_text(each, database.columns))
            yield Mode((Literal("=", (value, Choice(values))),))


def _columns_from_types(database: Database, relation: Relation) -> tuple[Column, ...]:
    """Return the columns of a relation; arguments whose type occurs in several places are links."""
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
        # a link is named after its table, unless several links refer to that table
        self.names = [
            _variable_name(
                str(name)
                if column.kind in {"key", "link"} and relation.types.count(name) == 1
                else column.name
            )
            for column, name in zip(columns, relation.types, strict=True)
        ]
        self.key_position = next(
            (position for position, column in enumerate(columns) if column.kind == "key"), None
        )

        # if other tables refer to a row, another example may reach it through them
        referred = any(
            kind.kind == "link" and relation.types[self.key_position or 0] == other.types[position]
            for predicate, other in database.relations.items()
            if other is not relation and self.key_position is not None
            for position, kind in enumerate(database.columns.get(predicate, ()))
        )
        self.is_owned = relation.keyed and not referred

    def modes(self, tables: Sequence[_Table]) -> Iterator[Mode]:
        links = [position for position, column in enumerate(self.columns) if column.kind in {"key", "link"}]
        if self.relation.name == self.database.target_name and self.key_position is not None:
            links = []  # values of the example are attributes; rows of other examples are not joined
        for entry in links:
            is_key = entry == self.key_position
            if is_key and self.relation.types[entry] in self.database.key_types:
                continue
            if not is_key and self._fanout(entry) > self.reach.max_fanout:
                continue
            yield from self._joins(entry)
            yield from self.tests((), self.entered(entry), alone=is_key)
            # for a row reached before, these tests were generated together with the row
            if not is_key:
                yield from self._tests_of_referenced_rows(entry, tables)

    def tests(self, before: tuple[Literal, ...], literal: Writer, *, alone: bool) -> Iterator[Mode]:
        """Return a mode for each testable column; `alone`, a column with a single constant is skipped."""
        for position, values in self.choices.items():
            if self.columns[position].kind == "nominal":
                if len(values) > 1 or not alone:
                    yield Mode((*before, literal(position, Choice(values))))
                continue
            value = Var("", self.unused(self.names[position], before))
            for comparison in ("=<", ">"):
                test = Literal(comparison, (value, Choice(values)))
                yield Mode((*before, literal(position, value), test))

    def _tests_of_referenced_rows(self, entry: int, tables: Sequence[_Table]) -> Iterator[Mode]:
        """Return tests of the rows that a row refers to.

        A join with a single row holds for nearly every row and would never be chosen as a test. The same mode
        therefore contains the test that uses it.
        """
        paths: list[tuple[_Table, tuple[Literal, ...], Writer, int | None]]
        paths = [(self, (), self.entered(entry), entry)]
        for _ in range(self.reach.depth_of_links):
            further = []
            for table, before, literal, done in paths:
                for position, column in enumerate(table.columns):
                    if column.kind != "link" or position == done:
                        continue
                    for other in tables:
                        if other.is_named_by(table, position):
                            link = Var("", table.unused(table.names[position], before))
                            path = (*before, literal(position, link))
                            further.append((other, path, other.referenced(link, path), other.key_position))
            for table, before, literal, _ in further:
                yield from table.tests(before, literal, alone=True)
            paths = further

    def is_named_by(self, table: _Table, position: int) -> bool:
        """Whether a link of a table refers to rows of this one; links to the example itself are excluded."""
        if (
            self.key_position is None
            or self.relation.types[self.key_position] != table.relation.types[position]
        ):
            return False
        is_target = self.relation.types[self.key_position] in self.database.key_types
        return not is_target or table is self

    def entered(self, entry: int) -> Writer:
        """Return the literal for a row that is reached through one of its columns."""
        return lambda tested, argument: self._literal(entry, tested, argument)

    def referenced(self, key: Var, before: tuple[Literal, ...]) -> Writer:
        """Return the literal for the row whose key earlier literals bind."""

        def literal(tested: int, argument: Argument) -> Literal:
            args: list[Argument] = [
                key
                if position == self.key_position
                else argument
                if position == tested
                else Var("_", self.unused(name, before))
                for position, name in enumerate(self.names)
            ]
            return Literal(self.relation.name, tuple(args))

        return literal

    def unused(self, name: str, before: tuple[Literal, ...]) -> str:
        """Return a name for a column that no earlier literal of a mode has."""
        used = {each.name for literal in before for each in literal.args if isinstance(each, Var)}
        if name not in used:
            return name
        name = f"{_variable_name(self.relation.name)}{name}"
        return name if name not in used else f"{name}{len(before) + 1}"

    def _fanout(self, position: int) -> float:
        """Return the mean number of facts per value of a link."""
        return self.relation.n_facts / max(len(self.relation.distinct(position)), 1)

    def _literal(self, entry: int, tested: int | None = None, argument: Argument | None = None) -> Literal:
        """Return the relation's literal: ``+`` at the entry, ``argument`` at the tested column.

        A test binds the key of its row; a join also binds every other link. Facts that belong to one example
        are looked up with its key, so that other examples may use the same names.
        """
        args: list[Argument] = []
        for position, column in enumerate(self.columns):
            back = self.relation.types[position] in self.database.key_types
            follow = column.kind == "link" and not back and (tested is None or self.key_position is None)
            if position == entry:
                args.append(Var("+", self.names[position]))
            elif position == tested and argument is not None:
                args.append(argument)
            elif follow or position == self.key_position:
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
        # joining a table that has only links is a test by itself
        if only_links or any(isinstance(argument, Var) and argument.mark == "-" for argument in literal.args):
            yield Mode((literal,))

    @cached_property
    def choices(self) -> dict[int, tuple[Constant, ...]]:
        """Constants of nominal and thresholds of numeric columns, by position; without empty ones."""
        constants: dict[int, tuple[Constant, ...]] = {}
        for position, column in enumerate(self.columns):
            if column.kind == "nominal":
                ids = self.relation.columns[position]
                constants[position] = frequent(self.database, ids, self.reach.max_constants)
            elif column.kind in {"numeric", "date"}:
                predicate = (self.relation.name, self.relation.arity)
                limit = self.reach.max_thresholds
                constants[position] = tuple(column_thresholds(self.database, predicate, position, limit))
        return {position: values for position, values in constants.items() if values}


def _variable_name(column: str) -> str:
    """Return a column's name as a Prolog variable: ``machine_id`` becomes ``Machine``."""
    words = [
        word for word in "".join(c if c.isalnum() else " " for c in column).split() if word.lower() != "id"
    ]
    words = words or ["Id"]
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name if "A" <= name[0] <= "Z" else f"V{name}"
