"""Export a tree as a Python function without dependencies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.export.text import condition_of
from crosscut.forest.tree import predictions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.schema import Schema
    from crosscut.forest.tree import Tree

_LEVELS = 40  # of indentation; Python allows at most 100
_OPENING = '''\
import datetime
import struct


def _number(value):
    """Return a number, or a date in days, in the single precision of the training; None if it is missing."""
    if value is None or value != value:
        return None
    if isinstance(value, datetime.date):
        moment = datetime.datetime(value.year, value.month, value.day)
        if isinstance(value, datetime.datetime):
            moment = value
            if value.tzinfo is not None:
                moment = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        value = (moment - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)
    return struct.unpack("f", struct.pack("f", value))[0]

'''


def tree_python(tree: Tree, schema: Schema, classes: NDArray[Any] | None) -> str:
    """Return the source of ``predict(row)``, where a row is a mapping from column names to values.

    None, NaN and an absent column are missing values.

    Examples
    --------
    >>> from crosscut import TreeClassifier
    >>> fit = TreeClassifier(cv=None).fit([[1, 0], [2, 1], [4, 0]], ["a", "a", "b"]).fit_
    >>> source = tree_python(fit.final, fit.schema, fit.classes)
    >>> print(source[source.index("def predict"):])
    def predict(row):
        v = {'x0': _number(row.get('x0'))}
        if v['x0'] is None or v['x0'] <= 3.0:
            return 'a'
        else:
            return 'b'
    <BLANKLINE>
    """
    bodies: list[list[str]] = [[] for _ in range(len(tree))]
    heights, predicted = [0] * len(tree), predictions(tree, classes)
    functions: list[str] = []
    for node in reversed(range(len(tree))):  # children before their parents
        if tree.feature[node] < 0:
            bodies[node] = [f"return {_literal(predicted[node])}"]
            continue
        children = tree.children_of(node)
        heights[node] = 1 + max(heights[child] for child in children)
        if heights[node] > _LEVELS:
            for child in children:
                if heights[child]:
                    functions.append(_function(f"_node_{child}(v)", bodies[child]))
                    bodies[child] = [f"return _node_{child}(v)"]
            heights[node] = 1
        bodies[node] = _test(tree, node, schema, [bodies[child] for child in children])
    used = dict.fromkeys(tree.feature[tree.feature >= 0].tolist())
    values = [
        f"{schema.names[f]!r}: row.get({schema.names[f]!r})"
        if schema.kinds[f] == "nominal"
        else f"{schema.names[f]!r}: _number(row.get({schema.names[f]!r}))"
        for f in sorted(used)
    ]
    functions.append(_function("predict(row)", [f"v = {{{', '.join(values)}}}", *bodies[0]]))
    return "\n\n".join([_OPENING, *functions]).replace("\n\n\n\n", "\n\n\n")


def _function(signature: str, lines: list[str]) -> str:
    return "\n".join([f"def {signature}:", *_indented(lines), ""])


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _test(tree: Tree, node: int, schema: Schema, bodies: list[list[str]]) -> list[str]:
    column = int(tree.feature[node])
    value, otherwise = f"v[{schema.names[column]!r}]", int(tree.missing[node])
    threshold = float(tree.threshold[node])
    if np.isinf(threshold):  # present | missing
        return [f"if {value} is not None:", *_indented(bodies[0]), "else:", *_indented(bodies[1])]
    if not np.isnan(threshold):
        missing = f"{value} is None or" if otherwise == 0 else f"{value} is not None and"
        condition = f"if {missing} {value} <= {threshold!r}:"
        return [condition, *_indented(bodies[0]), "else:", *_indented(bodies[1])]
    lines: list[str] = []
    for branch, body in enumerate(bodies):
        if branch != otherwise:
            categories = condition_of(tree, node, branch, schema).categories or ()
            listed = ", ".join(map(_literal, categories)) + ("," if len(categories) == 1 else "")
            lines += [f"{'elif' if lines else 'if'} {value} in ({listed}):", *_indented(body)]
    return [*lines, "else:", *_indented(bodies[otherwise])]


def _literal(value: object) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)
