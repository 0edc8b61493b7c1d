"""Export a tree as an SQL expression; rules use the same conditions."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from crosscut.data.columns import cut_text, last_moment
from crosscut.data.databases import quoted
from crosscut.forest.export.text import condition_of, last_single
from crosscut.forest.tree import predictions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.schema import Schema
    from crosscut.forest.export.text import Condition
    from crosscut.forest.tree import Tree

SqlDialect = Literal["duckdb", "sqlite", "postgresql"]
_MAX_DEPTH = 500  # DuckDB and SQLite refuse a nesting depth of 1,000
_SQLITE_NESTING = 15  # before 3.46, SQLite's parser stack has 100 entries


def tree_sql(tree: Tree, schema: Schema, classes: NDArray[Any] | None, dialect: SqlDialect = "duckdb") -> str:
    """Return a tree as nested ``CASE`` expressions over the columns; NULL is a missing value.

    SQLite parses only about 15 nested expressions: a deeper tree becomes one ``CASE`` with a ``WHEN`` for
    each leaf.

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
    labels, depth = predictions(tree, classes), tree.max_depth
    if depth > _MAX_DEPTH:
        raise ValueError(
            f"the tree has {depth} levels, but SQL supports at most {_MAX_DEPTH}, because databases "
            "refuse deeper expressions; prune the tree (prune='best') or limit it (max_depth=...)"
        )
    if dialect == "sqlite" and depth > _SQLITE_NESTING:
        return _flat(tree, schema, labels, dialect)
    lines: list[str] = []
    pending: list[tuple[str, str, int]] = [("", "", 0)]  # indentation, start of line, node or -1
    while pending:
        indent, start, node = pending.pop()
        if node < 0:
            lines.append(indent + start)
            continue
        if tree.feature[node] < 0:
            lines.append(f"{indent}{start}{literal(labels[node])}")
            continue
        if start:
            lines.append(indent + start.rstrip())
            indent += "  "
        lines.append(indent + "CASE")
        tested, otherwise = _branches(tree, node, schema, dialect)
        pending.append((indent, "END", -1))
        pending.append((indent + "  ", "ELSE ", otherwise))
        for test, child in reversed(tested):
            pending.append((indent + "  ", f"WHEN {test} THEN ", child))
    return "\n".join(lines)


def _branches(
    tree: Tree, node: int, schema: Schema, dialect: SqlDialect
) -> tuple[list[tuple[str, int]], int]:
    """Return test and child of each branch, and the child of all other and missing values."""
    children = tree.children_of(node)
    otherwise = int(tree.missing[node])
    name = schema.names[int(tree.feature[node])]
    boolean = schema.kinds[int(tree.feature[node])] == "boolean"
    tested = [
        (_test(condition_of(tree, node, branch, schema), name, dialect, boolean=boolean), child)
        for branch, child in enumerate(children)
        if branch != otherwise
    ]
    return tested, children[otherwise]


def _flat(tree: Tree, schema: Schema, labels: NDArray[Any], dialect: SqlDialect) -> str:
    """Return a tree as one ``CASE`` with a ``WHEN`` for each leaf.

    A leaf on the last branch of a node needs no test of that node, because the leaves before it have taken
    all rows of the other branches.
    """
    lines = ["CASE"]
    pending: list[tuple[tuple[str, ...], int]] = [((), 0)]
    while pending:
        tests, node = pending.pop()
        if tree.feature[node] < 0:
            start = f"WHEN {' AND '.join(tests)} THEN" if tests else "ELSE"
            lines.append(f"  {start} {literal(labels[node])}")
            continue
        tested, otherwise = _branches(tree, node, schema, dialect)
        pending.append((tests, otherwise))
        pending += [((*tests, test), child) for test, child in reversed(tested)]
    return "\n".join([*lines, "END"])


def check_dialect(dialect: str) -> None:
    """Raise if the SQL dialect is unknown."""
    if dialect not in get_args(SqlDialect):
        raise ValueError(f"dialect must be one of {', '.join(get_args(SqlDialect))}, not {dialect!r}")


def comparison(
    name: str, operator: str, cut: float, kind: str, dialect: SqlDialect, *, boolean: bool = False
) -> str:
    """Return the comparison of a column with a cut: a number, a date, or a date with a time.

    Trees are grown in single precision. The constant is the largest double that rounds to a single-precision
    number of at most the cut, so the result does not depend on the database or the column's type.
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
    """Return the largest double that, rounded to single precision, is at most the cut."""
    single = last_single(cut)
    above = float(np.nextafter(np.float32(single), np.float32(np.inf)))
    if np.isinf(above):
        return single
    middle = (single + above) / 2
    return middle if float(np.float32(middle)) <= cut else float(np.nextafter(middle, -np.inf))


def literal(value: Any) -> str:
    """Return a value as an SQL literal."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):  # without an exponent, DuckDB reads a decimal
        return repr(value) if "e" in repr(value) else f"{value!r}e0"
    if isinstance(value, dt.date):
        return f"'{value.isoformat()}'"
    text = str(value)
    if "\0" in text:
        raise ValueError(f"{text!r} contains a NUL character, which SQL cannot express; rename this value")
    return "'" + text.replace("'", "''") + "'"


def _test(condition: Condition, name: str, dialect: SqlDialect, *, boolean: bool) -> str:
    if condition.categories is not None:
        return f"{quoted(name)} IN ({', '.join(map(literal, condition.categories))})"
    if condition.missing is not None:
        return f"{quoted(name)} IS {'' if condition.missing else 'NOT '}NULL"
    operator, cut = ("<=", condition.high) if np.isinf(condition.low) else (">", condition.low)
    return comparison(name, operator, cut, condition.kind, dialect, boolean=boolean)
