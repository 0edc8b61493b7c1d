"""Attributes of the examples of linked tables: values and aggregates of linked rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from crosscut_relational.database.attribute_values import AttributeValues
from crosscut_relational.language.attributes import Attribute, Step
from crosscut_relational.language.bias import BiasError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosscut_relational.database.database import Column, Database
    from crosscut_relational.language.bias import Reach
    from crosscut_relational.language.terms import Constant

    Predicate = tuple[str, int]

MOST_ROWS = 20_000_000  # linked rows of all examples together that are still summarised
MOST_CONDITIONS = 5  # constants of a column that rows are counted by


class SchemaAttributes:
    """Attributes of the examples of linked tables.

    Rows that the example refers to, directly or through other rows, contribute their values. Rows that
    refer to one of these are summarised.
    """

    def __init__(self, database: Database, reach: Reach) -> None:
        self.database = database
        self.reach = reach
        self.values = AttributeValues(database)
        self.target = next(each for each in database.columns if each[0] == database.target_name)
        self.own = {predicate: _own(columns) for predicate, columns in database.columns.items()}
        self.as_of = None if reach.as_of is None else self._date_of_examples(reach.as_of)

    def all(self) -> tuple[Attribute, ...]:
        """Return the attributes, nearest rows first."""
        attributes = [value for steps in self.single for value in self._values(steps)]
        aggregates = [each for steps in self.several for each in self._aggregates(steps)]
        return (*attributes, *aggregates[: self.reach.max_aggregates])

    @cached_property
    def single(self) -> list[tuple[Step, ...]]:
        """Paths of links that lead to at most one row per example."""
        ways: list[tuple[Step, ...]] = [(Step(*self.target, -1, self.own[self.target]),)]
        paths = list(ways)
        for _ in range(self.reach.depth_of_links):
            ways = [longer for way in ways for longer in self._to_one(way)]
            paths += ways
        return paths

    @cached_property
    def several(self) -> list[tuple[Step, ...]]:
        """Paths of links that can lead to many rows per example."""
        first = [way for start in self.single for way in self._to_many(start)]
        referred = (
            [way for start in first for way in self._to_one(start)] if self.reach.depth_of_links else []
        )
        return first + referred + [way for start in first for way in self._to_many(start)]

    def _to_one(self, way: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
        last = way[-1]
        types = self.database.relations[last.predicate].types
        for position, column in enumerate(self.database.columns[last.predicate]):
            for other, own in self.own.items():
                if column.kind not in {"key", "link"} or self._type(other, own) != types[position]:
                    continue
                if (column.kind == "key" and other == last.predicate) or position == last.enter != self.own[
                    last.predicate
                ]:
                    continue  # the row itself, or back
                if other == self.target and last.predicate != other:
                    continue  # other examples are entered only from an example that names them
                yield (*way, Step(*other, position, own))

    def _to_many(self, way: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
        last = way[-1]
        own_columns = self.own[last.predicate]
        for other, columns in self.database.columns.items():
            for position, column in enumerate(columns):
                if other == self.target or column.kind != "link" or position == self.own[other]:
                    continue
                if self._type(other, position) != self._type(last.predicate, own_columns):
                    continue
                longer = (*way, Step(*other, own_columns, position, many=True))
                if len(self.values.rows(longer)[0]) <= MOST_ROWS:
                    yield longer

    def _values(self, way: tuple[Step, ...]) -> Iterator[Attribute]:
        for position, column in enumerate(self.database.columns[way[-1].predicate]):
            if column.kind != "key" and not (len(way) == 1 and position == self.as_of):
                yield Attribute(way, position, column.kind)

    def _aggregates(self, way: tuple[Step, ...]) -> Iterator[Attribute]:
        columns = self.database.columns[way[-1].predicate]
        dates = [position for position, column in enumerate(columns) if column.kind == "date"]
        dated = any(
            column.kind == "date" for step in way[1:] for column in self.database.columns[step.predicate]
        )
        if self.as_of is not None and dated and len(dates) != 1:
            return  # it could not be told what happened before
        date = dates[0] if len(dates) == 1 else None
        count = Attribute(way, None, "numeric", "count", date=date, as_of=self.as_of if dates else None)
        windows = [
            count,
            *(replace(count, days=days) for days in self.reach.windows if count.as_of is not None),
        ]
        if way[-1].many:
            yield from windows
        for position, column in enumerate(columns):
            of = replace(count, column=position)
            if column.kind == "numeric":
                for function in ("sum", "mean", "min", "max"):
                    yield replace(of, function=function)
                yield from (replace(each, column=position, function="sum") for each in windows[1:])
            elif column.kind == "date":
                yield from (replace(of, function=function, kind="date") for function in ("min", "max"))
            elif column.kind == "nominal":
                constants = self._frequent(way[-1].predicate, position)
                if len(constants) > 1:
                    for value in constants:
                        yield replace(count, condition=(position, value))
                        yield replace(count, function="share", condition=(position, value))
                    yield replace(of, function="distinct")
            if date is not None and position != date and column.kind in {"numeric", "nominal"}:
                yield replace(of, function="latest", kind=column.kind)

    def _frequent(self, predicate: Predicate, position: int) -> list[Constant]:
        """Return the most frequent constants of a column; none if most occur once."""
        counts = Counter(self.database.relations[predicate].columns[position].tolist())
        if len(counts) > self.reach.max_constants and sum(n == 1 for n in counts.values()) > len(counts) / 2:
            return []
        return [self.database.constants.terms[each] for each, _ in counts.most_common(MOST_CONDITIONS)]

    def _type(self, predicate: Predicate, position: int) -> object:
        return self.database.relations[predicate].types[position]

    def _date_of_examples(self, name: str) -> int:
        columns = self.database.columns[self.target]
        known = [column.name for column in columns if column.kind == "date"]
        for position, column in enumerate(columns):
            if column.name == name and column.kind == "date":
                return position
        raise BiasError(
            f"as_of is {name!r}; it must be a date of the table {self.target[0]}, "
            + (f"which has {', '.join(known)}" if known else "which has none")
        )


def _own(columns: tuple[Column, ...]) -> int:
    return next(position for position, column in enumerate(columns) if column.kind == "key")
