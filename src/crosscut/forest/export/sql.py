"""A tree as an SQL expression, and the parts that rules are written with too."""

from __future__ import annotations

import datetime as dt
import textwrap
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from crosscut.data.columns import cut_text, last_moment
from crosscut.data.databases import quoted
from crosscut.forest.export.text import condition_of
from crosscut.forest.tree import predictions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.schema import Schema
    from crosscut.forest.export.text import Condition
    from crosscut.forest.tree import Tree

SqlDialect = Literal["duckdb", "sqlite", "postgresql"]


def tree_sql(tree: Tree, schema: Schema, classes: NDArray[Any] | None, dialect: SqlDialect = "duckdb") -> str:
    """Return a tree as nested ``CASE`` expressions over the columns; NULL is a missing value.

    Examples
    --------
    >>> from crosscut import TreeClassifier
    >>> fit = TreeClassifier(cv=None).fit([[1, 0], [2, 1], [4, 0]], ["a", "a", "b"]).fit_
    >>> print(tree_sql(fit.final, fit.schema, fit.classes))
    CASE
      WHEN "x0" > 3.0000001192092896e0 THEN 'b'
      ELSE 'a'
    END
    """
    check_dialect(dialect)
    parts, said = [""] * len(tree), predictions(tree, classes)
    for node in reversed(range(len(tree))):  # children come after their parents
        if tree.feature[node] < 0:
            parts[node] = literal(said[node])
            continue
        children = tree.children[tree.first_child[node] : tree.first_child[node + 1]].tolist()
        otherwise = int(tree.missing[node])
        name = schema.names[int(tree.feature[node])]
        boolean = schema.kinds[int(tree.feature[node])] == "boolean"
        lines = ["CASE"]
        for branch, child in enumerate(children):
            if branch != otherwise:  # which takes what is missing or unknown, too
                asked = _asked(condition_of(tree, node, branch, schema), name, dialect, boolean=boolean)
                lines.append(f"  WHEN {asked} THEN {_inner(parts[child])}")
        lines += [f"  ELSE {_inner(parts[children[otherwise]])}", "END"]
        parts[node] = "\n".join(lines)
    return parts[0]


def check_dialect(dialect: str) -> None:
    """Refuse a dialect of SQL that is not known."""
    if dialect not in get_args(SqlDialect):
        raise ValueError(
            f"dialect must be one of {', '.join(get_args(SqlDialect))}, but {dialect!r} was given"
        )


def comparison(
    name: str, operator: str, cut: float, kind: str, dialect: SqlDialect, *, boolean: bool = False
) -> str:
    """Compare a column with a cut: a number, a date, or a moment.

    Trees are grown in single precision. The constant is the last number in double precision that is rounded
    to one at most the cut, so that the comparison is the same in every database, whatever the column's type.
    """
    column = quoted(name)
    if kind == "numeric":
        return f"{f'CAST({column} AS INTEGER)' if boolean else column} {operator} {literal(last_double(cut))}"
    if kind == "date":
        day = cut_text(cut, whole=True)
        return (
            f"date({column}) {operator} '{day}'"
            if dialect == "sqlite"
            else f"{column} {operator} DATE '{day}'"
        )
    moment = last_moment(cut)
    if dialect == "sqlite":
        shown = f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03}"
        return f"strftime('%Y-%m-%d %H:%M:%f', {column}) {operator} '{shown}'"
    return f"{column} {operator} TIMESTAMP '{moment:%Y-%m-%d %H:%M:%S.%f}'"


def last_double(cut: float) -> float:
    """Return the largest number that is at most the cut once it is rounded to single precision."""
    single = np.float32(cut)
    if float(single) > cut:  # as doubles: NumPy would round the cut first
        single = np.nextafter(single, np.float32(-np.inf))
    above = float(np.nextafter(single, np.float32(np.inf)))
    if np.isinf(above):
        return float(single)
    middle = (float(single) + above) / 2
    return middle if float(np.float32(middle)) <= cut else float(np.nextafter(middle, -np.inf))


def literal(value: Any) -> str:
    """Return a value as SQL writes it."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):  # DuckDB takes a number without an exponent for a decimal
        return repr(value) if "e" in repr(value) else f"{value!r}e0"
    if isinstance(value, dt.date):
        return f"'{value.isoformat()}'"
    return "'" + str(value).replace("'", "''") + "'"


def _asked(condition: Condition, name: str, dialect: SqlDialect, *, boolean: bool) -> str:
    if condition.categories is not None:
        return f"{quoted(name)} IN ({', '.join(map(literal, condition.categories))})"
    if condition.missing is not None:
        return f"{quoted(name)} IS {'' if condition.missing else 'NOT '}NULL"
    operator, cut = ("<=", condition.high) if np.isinf(condition.low) else (">", condition.low)
    return comparison(name, operator, cut, condition.kind, dialect, boolean=boolean)


def _inner(part: str) -> str:
    """Return a part as it stands after WHEN or ELSE: alone, or in lines of its own."""
    return part if "\n" not in part else "\n" + textwrap.indent(part, "    ", lambda _: True)
