"""Attributes of an example: values of rows it refers to, and aggregates of rows that refer to it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crosscut_relational.language.terms import Constant

Function: TypeAlias = Literal["value", "count", "min", "max", "sum", "mean", "share", "distinct", "latest"]
Kind: TypeAlias = Literal["numeric", "date", "nominal", "link"]

ColumnKind: TypeAlias = Literal["key", "link", "numeric", "date", "nominal"]
Columns: TypeAlias = "Mapping[tuple[str, int], tuple[Column, ...]]"  # of tables, by predicate

KEY_OF_SEVERAL = "+"  # joins the names, and the values, of the columns of a composite key


@dataclass(frozen=True)
class Column:
    """A column of a relation that comes from a table.

    ``kind`` is "key" for the table's primary key, "link" for a key of another table, "numeric", "date" or
    "nominal". The relation's type of a key or link is the name of the table it belongs to.
    """

    name: str
    kind: ColumnKind
    refers_to: str | None = None  # the column that a link refers to, if it is not the other table's key
    table: str | None = None  # the table of that column, or of a key

    @property
    def parts(self) -> tuple[str, ...]:
        """The columns of the table that it combines; a composite key has several."""
        return tuple(self.name.split(KEY_OF_SEVERAL))

    @property
    def referred(self) -> Column:
        """The column that a link refers to."""
        return Column(self.refers_to or self.name, "key")

    def is_key_of(self, link: Column) -> bool:
        """Whether it is the key of the table that a link refers to by another column."""
        return self.kind == "key" and link.refers_to is not None and self.table in {None, link.table}


def key_position(columns: Sequence[Column]) -> int:
    """Return the position of a table's key."""
    return next(position for position, column in enumerate(columns) if column.kind == "key")


@dataclass(frozen=True, slots=True)
class Step:
    """A join: column ``leave`` of the current rows equals column ``enter`` of the next table.

    The first step joins the example's key to the target's table; its ``leave`` is -1. ``many`` is True if
    one row may match several rows.
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


@dataclass(frozen=True, slots=True, repr=False)
class Attribute:
    """A value that every example has, computed once for all trees.

    The steps are joins from the example to the rows that hold the value, in a column of the last table. The
    function is "value" if they lead to one row, otherwise that of a summary of rows. A condition restricts it
    to rows with a constant in a column ("share" is the fraction of such rows), and ``as_of``, a date column
    of the target's table, to rows dated before it, or at most ``days`` before it.
    """

    steps: tuple[Step, ...]
    column: int | None  # None for a count of rows
    kind: Kind  # a "link" is the key of a row of another table
    function: Function = "value"
    condition: tuple[int, Constant] | None = None
    date: int | None = None  # the column of the last table with the date of each row
    as_of: int | None = None
    days: int | None = None

    def __repr__(self) -> str:
        column = "" if self.column is None else f" of column {self.column}"
        return f"<Attribute: {self.function}{column}, {'.'.join(step.table for step in self.steps)}>"

    @property
    def is_number(self) -> bool:
        """Whether tests compare the attribute with thresholds."""
        return self.kind in {"numeric", "date"}


def attribute_text(attribute: Attribute, columns: Columns) -> str:
    """Return a readable name of an attribute, made from table and column names.

    Examples
    --------
    >>> columns = {
    ...     ("customer", 2): (Column("customer_id", "key"), Column("age", "numeric")),
    ...     ("purchase", 2): (Column("customer_id", "link"), Column("amount", "numeric")),
    ... }
    >>> customer, purchases = Step("customer", 2, -1, 0), Step("purchase", 2, 0, 0, many=True)
    >>> attribute_text(Attribute((customer,), 1, "numeric"), columns)
    'age'
    >>> attribute_text(Attribute((customer, purchases), 1, "numeric", "mean"), columns)
    'mean amount of purchases'
    >>> number = Attribute((customer, purchases), None, "numeric", "count", condition=(1, 5))
    >>> attribute_text(number, columns)
    'number of purchases with amount = 5'
    """
    last = columns[attribute.steps[-1].predicate]
    column = "" if attribute.column is None else last[attribute.column].name
    if attribute.function == "value":
        return ".".join([*_step_names(attribute.steps, columns), column])
    return f"{_WORDS[attribute.function]}{column}{' of ' if column else ''}{rows_text(attribute, columns)}"


def rows_text(attribute: Attribute, columns: Columns) -> str:
    """Return a readable description of the aggregated rows."""
    words = _step_names(attribute.steps, columns)
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
    >>> plural("purchase"), plural("category"), plural("orders"), plural("box"), plural("Batting")
    ('purchases', 'categories', 'orders', 'boxes', 'Batting')
    """
    if noun.endswith(("s", "ing")):
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("x", "ch", "sh")) else f"{noun}s"


def singular(noun: str) -> str:
    """Return the singular of a table's name that looks like a plural.

    Examples
    --------
    >>> singular("Orders"), singular("categories"), singular("boxes"), singular("address"), singular("box")
    ('Order', 'category', 'box', 'address', 'box')
    """
    for ending, replaced in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("s", "")):
        if noun.endswith(ending) and len(noun) > len(ending) + 1 and not noun.endswith(("ss", "us")):
            return noun[: -len(ending)] + replaced
    return noun


def _step_names(steps: tuple[Step, ...], columns: Columns) -> list[str]:
    """Name each step after the first by its table, or by its link if the link has a different name."""
    names = []
    for before, step in pairwise(steps):
        link = columns[before.predicate][step.leave].name
        plain = link.lower().removesuffix("id").removesuffix("_")
        use_link = not step.many and plain and plain not in step.table.lower() and step.leave != before.enter
        use_link = use_link and "+" not in link  # "+" joins the columns of a composite key
        names.append(link[: len(plain)] if use_link else step.table if step.many else singular(step.table))
    return names


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
