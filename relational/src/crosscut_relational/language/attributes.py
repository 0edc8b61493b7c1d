"""Attributes of an example: values of the rows that it refers to, and aggregates of rows that refer to it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crosscut_relational.language.terms import Constant

Function: TypeAlias = Literal["value", "count", "min", "max", "sum", "mean", "share", "distinct", "latest"]
Kind: TypeAlias = Literal["numeric", "date", "nominal", "link"]

Columns: TypeAlias = "Mapping[tuple[str, int], tuple[Named, ...]]"  # of tables, by predicate


class Named(Protocol):
    """A column."""

    @property
    def name(self) -> str:
        """What its table calls it."""


@dataclass(frozen=True, slots=True)
class Step:
    """From rows to those of another table whose column ``enter`` has the value of their column ``leave``.

    The first step enters the target's table with the example's key; its ``leave`` is -1. ``many`` says
    whether one row may lead to several.
    """

    table: str
    arity: int
    leave: int
    enter: int
    many: bool = False

    @property
    def predicate(self) -> tuple[str, int]:
        """Name and arity of the table's relation."""
        return self.table, self.arity


@dataclass(frozen=True, slots=True)
class Attribute:
    """A value that every example has, computed once for all trees.

    Attributes
    ----------
    steps : tuple of Step
        From the example to the rows that the value is taken from.
    column : int or None
        The column of the last table; None for a count of rows.
    kind : "numeric", "date", "nominal" or "link"
        What the value is; a "link" is the key of another table's row.
    function : str
        "value" where the steps lead to one row, else how the rows are summarised.
    condition : (int, constant) or None
        Only rows with this constant in this column count. A share is that of such rows among all.
    date : int or None
        The column of the last table that dates its rows.
    as_of : int or None
        A column of the target's table: only rows dated before it count.
    days : int or None
        Only those of the given number of days before.
    """

    steps: tuple[Step, ...]
    column: int | None
    kind: Kind
    function: Function = "value"
    condition: tuple[int, Constant] | None = None
    date: int | None = None
    as_of: int | None = None
    days: int | None = None

    @property
    def is_number(self) -> bool:
        """Whether thresholds are tried."""
        return self.kind in {"numeric", "date"}


def attribute_text(attribute: Attribute, columns: Columns) -> str:
    """Return an attribute in the words of the schema.

    Examples
    --------
    >>> from crosscut_relational.database.database import Column
    >>> columns = {
    ...     ("customer", 2): (Column("customer_id", "key"), Column("age", "numeric")),
    ...     ("purchase", 2): (Column("customer_id", "link"), Column("amount", "numeric")),
    ... }
    >>> own, bought = Step("customer", 2, -1, 0), Step("purchase", 2, 0, 0, many=True)
    >>> attribute_text(Attribute((own,), 1, "numeric"), columns)
    'age'
    >>> attribute_text(Attribute((own, bought), 1, "numeric", "mean"), columns)
    'mean amount of purchases'
    >>> attribute_text(Attribute((own, bought), None, "numeric", "count", condition=(1, 5)), columns)
    'number of purchases with amount = 5'
    """
    last = columns[attribute.steps[-1].predicate]
    column = "" if attribute.column is None else last[attribute.column].name
    if attribute.function == "value":
        return ".".join([*_ways(attribute.steps, columns), column])
    return f"{_WORDS[attribute.function]}{column}{' of ' if column else ''}{rows_text(attribute, columns)}"


def rows_text(attribute: Attribute, columns: Columns) -> str:
    """Return the rows that an aggregate is about, in the words of the schema."""
    words = _ways(attribute.steps, columns)
    many = [step.many for step in attribute.steps[1:]]
    last_many = len(many) - 1 - many[::-1].index(True)
    rows = plural(words[last_many])
    if words[last_many + 1 :]:
        rows = f"{plural('.'.join(words[last_many + 1 :]))} of {rows}"
    before = words[:last_many]
    if before:
        rows += f" of {plural(before[-1]) if many[last_many - 1] else '.'.join(before)}"
    if attribute.condition is not None:
        column, value = attribute.condition
        rows += f" with {columns[attribute.steps[-1].predicate][column].name} = {value}"
    if attribute.as_of is not None:
        as_of = columns[attribute.steps[0].predicate][attribute.as_of].name
        rows += (
            f" before {as_of}" if attribute.days is None else f" in the {attribute.days} days before {as_of}"
        )
    return rows


def plural(noun: str) -> str:
    """Return the plural of a table's name.

    Examples
    --------
    >>> plural("purchase"), plural("category"), plural("orders"), plural("box")
    ('purchases', 'categories', 'orders', 'boxes')
    """
    if noun.endswith("s"):
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("x", "ch", "sh")) else f"{noun}s"


def _ways(steps: tuple[Step, ...], columns: Columns) -> list[str]:
    """Return what each step after the first leads to: the table, or the link if it is named otherwise."""
    words = []
    for before, step in pairwise(steps):
        link = columns[before.predicate][step.leave].name
        plain = link.lower().removesuffix("id").removesuffix("_")
        named = not step.many and plain and plain not in step.table.lower() and step.leave != before.enter
        named = named and "+" not in link  # a key of several columns
        words.append(link[: len(plain)] if named else step.table)
    return words


_WORDS: dict[str, str] = {
    "count": "number of ",
    "share": "share of ",
    "distinct": "number of different ",
    "sum": "sum of ",
    "mean": "mean ",
    "min": "least ",
    "max": "greatest ",
    "latest": "latest ",
}
