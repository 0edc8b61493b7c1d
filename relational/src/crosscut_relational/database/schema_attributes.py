"""Attributes of the examples of linked tables: values and aggregates of linked rows."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from crosscut import CrosscutWarning
from crosscut_relational.database.attribute_values import AttributeValues
from crosscut_relational.language.attributes import Attribute, Step, key_position
from crosscut_relational.language.bias import BiasError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from crosscut_relational.database.database import Database
    from crosscut_relational.language.bias import Reach
    from crosscut_relational.language.terms import Constant

    Predicate = tuple[str, int]

MOST_ROWS = 20_000_000  # links that lead to more rows, summed over the examples, are not aggregated
MOST_CONDITIONS = 5  # maximum number of constants per column used as conditions of aggregates


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
        self.key_positions = {
            predicate: key_position(columns) for predicate, columns in database.columns.items()
        }
        self.as_of = None if reach.as_of is None else self._date_of_examples(reach.as_of)

    def all(self) -> tuple[Attribute, ...]:
        """Return the attributes, nearest rows first."""
        attributes = [value for steps in self.single for value in self._values(steps)]
        return (*attributes, *self._kept([list(self._aggregates(steps)) for steps in self.several]))

    def _kept(self, aggregates: list[list[Attribute]]) -> list[Attribute]:
        """Return at most `max_aggregates` summaries, about as many of each path.

        The summaries of a path are ordered from simple to detailed, so those that are left out are the most
        detailed ones. The choice does not depend on the target.
        """
        n, limit = sum(map(len, aggregates)), self.reach.max_aggregates
        if n <= limit:
            return [each for of_path in aggregates for each in of_path]
        ranked = sorted((rank, path) for path, of in enumerate(aggregates) for rank in range(len(of)))
        counts = Counter(path for _, path in ranked[:limit])
        if limit:
            warnings.warn(
                f"max_aggregates={limit} keeps {limit} of {n:,} summaries of linked rows; a larger number "
                "takes longer and may give better models",
                CrosscutWarning,
                stacklevel=5,
            )
        return [each for path, of_path in enumerate(aggregates) for each in of_path[: counts[path]]]

    @cached_property
    def single(self) -> list[tuple[Step, ...]]:
        """Paths of links that lead to at most one row per example."""
        newest: list[tuple[Step, ...]] = [(Step(*self.target, -1, self.key_positions[self.target]),)]
        paths = list(newest)
        for _ in range(self.reach.depth_of_links):
            newest = [longer for path in newest for longer in self._to_one(path)]
            paths += newest
        return paths

    @cached_property
    def several(self) -> list[tuple[Step, ...]]:
        """Paths of links that can lead to many rows per example."""
        first = [path for start in self.single for path in self._to_many(start)]
        referred = (
            [path for start in first for path in self._to_one(start)] if self.reach.depth_of_links else []
        )
        return first + referred + [path for start in first for path in self._to_many(start)]

    def _to_one(self, path: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
        last = path[-1]
        types = self.database.relations[last.predicate].types
        for position, column in enumerate(self.database.columns[last.predicate]):
            for other, key in self.key_positions.items():
                if column.kind not in {"key", "link"} or self._type(other, key) != types[position]:
                    continue
                if (
                    column.kind == "key" and other == last.predicate
                ) or position == last.enter != self.key_positions[last.predicate]:
                    continue  # the row itself, or the previous row
                if other == self.target and last.predicate != other:
                    continue  # rows of other examples are reached only by a link of the example itself
                yield (*path, Step(*other, position, key))

    def _to_many(self, path: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
        last = path[-1]
        key = self.key_positions[last.predicate]
        if len(path) > 1 and last.enter == key and last.leave == self.key_positions[path[-2].predicate]:
            return  # tables with the same keys: the rows that refer to one are reached from the other
        for other, columns in self.database.columns.items():
            for position, column in enumerate(columns):
                if other == self.target or column.kind != "link" or position == self.key_positions[other]:
                    continue
                if self._type(other, position) != self._type(last.predicate, key):
                    continue
                longer = (*path, Step(*other, key, position, many=True))
                if len(self.values.rows(longer)[0]) <= MOST_ROWS:
                    yield longer

    def _values(self, path: tuple[Step, ...]) -> Iterator[Attribute]:
        for position, column in enumerate(self.database.columns[path[-1].predicate]):
            if column.kind != "key" and not (len(path) == 1 and position == self.as_of):
                yield Attribute(path, position, column.kind)

    def _aggregates(self, path: tuple[Step, ...]) -> Iterator[Attribute]:
        columns = self.database.columns[path[-1].predicate]
        dates = [position for position, column in enumerate(columns) if column.kind == "date"]
        dated = any(
            column.kind == "date" for step in path[1:] for column in self.database.columns[step.predicate]
        )
        if self.as_of is not None and dated and len(dates) != 1:
            return  # without a unique date, rows before as_of cannot be selected
        date = dates[0] if len(dates) == 1 else None
        count = Attribute(path, None, "numeric", "count", date=date, as_of=self.as_of if dates else None)
        windows = [
            count,
            *(replace(count, days=days) for days in self.reach.windows if count.as_of is not None),
        ]
        if path[-1].many:
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
                ids = self.database.relations[path[-1].predicate].columns[position]
                constants = frequent(self.database, ids, self.reach.max_constants, MOST_CONDITIONS)
                if len(constants) > 1:
                    for value in constants:
                        yield replace(count, condition=(position, value))
                        yield replace(count, function="share", condition=(position, value))
                    yield replace(of, function="distinct")
            if date is not None and position != date and column.kind in {"numeric", "nominal"}:
                yield replace(of, function="latest", kind=column.kind)

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


def frequent(
    database: Database, column: NDArray[np.int32], limit: int, most: int | None = None
) -> tuple[Constant, ...]:
    """Return the `most` (or `limit`) frequent constants of a column, in the order of their first fact.

    A column with more than `limit` constants, most of which occur once, has none.
    """
    ids, first, counts = np.unique(column, return_index=True, return_counts=True)
    if len(ids) > limit and np.count_nonzero(counts == 1) > len(ids) / 2:
        return ()
    kept = sorted(np.lexsort((first, -counts))[: most or limit], key=lambda each: first[each])
    return tuple(database.constants.terms[ids[each]] for each in kept)
