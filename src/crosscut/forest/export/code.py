"""Export a tree as a function ``predict(row)`` in Python, C, Java or JavaScript, without dependencies."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from crosscut.forest.export.text import condition_of
from crosscut.forest.tree import predictions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.data.schema import Schema
    from crosscut.forest.tree import Tree

Language = Literal["python", "c", "java", "javascript"]
_LEVELS = 40  # of indentation; Python allows at most 100
_LINES = 400  # of a function; Java allows 64 kB of code


def tree_code(tree: Tree, schema: Schema, classes: NDArray[Any] | None, language: Language = "python") -> str:
    """Return the source of a function that predicts one row.

    Subtrees that are deep or long become functions of their own.

    Examples
    --------
    >>> from crosscut import TreeClassifier
    >>> fit = TreeClassifier(cv=None).fit([[1, 0], [2, 1], [4, 0]], ["a", "a", "b"]).fit_
    >>> source = tree_code(fit.final, fit.schema, fit.classes)
    >>> print(source[source.index("def predict"):])
    def predict(row):
        v = {'x0': _number(row.get('x0'))}
        if v['x0'] is None or v['x0'] <= 3.0:
            return 'a'
        else:
            return 'b'
    <BLANKLINE>
    >>> source = tree_code(fit.final, fit.schema, fit.classes, "c")
    >>> print(source[source.index("const char *predict"):])
    const char *predict(const struct row *row) {
        struct row v = {number(row->x0)};
        if (!(v.x0 > 3.0)) {
            return "a";
        } else {
            return "b";
        }
    }
    <BLANKLINE>
    """
    if language not in _SYNTAX:
        raise ValueError(f"language must be one of {', '.join(get_args(Language))}, not {language!r}")
    predicted = predictions(tree, classes)
    used = sorted(set(tree.feature[tree.feature >= 0].tolist()))
    syntax = _SYNTAX[language](schema, used, predicted)
    bodies: list[list[str]] = [[] for _ in range(len(tree))]
    heights = [0] * len(tree)
    functions: list[str] = []
    for node in reversed(range(len(tree))):  # children before their parents
        if tree.feature[node] < 0:
            bodies[node] = [syntax.returning(syntax.literal(predicted[node]))]
            continue
        children = tree.children_of(node)
        heights[node] = 1 + max(heights[child] for child in children)
        if heights[node] > _LEVELS or sum(len(bodies[child]) for child in children) > _LINES:
            for child in children:
                if heights[child]:
                    functions.append(syntax.function(f"node_{child}", bodies[child]))
                    bodies[child] = [syntax.returning(syntax.call(f"node_{child}"))]
            heights[node] = 1
        bodies[node] = _test(tree, node, schema, syntax, [bodies[child] for child in children])
    return syntax.program(functions, bodies[0])


def _test(tree: Tree, node: int, schema: Schema, syntax: _Python, bodies: list[list[str]]) -> list[str]:
    f, otherwise, cut = int(tree.feature[node]), int(tree.missing[node]), float(tree.threshold[node])
    if np.isinf(cut):  # present | missing
        return syntax.chain([(syntax.present(f), bodies[0])], bodies[1])
    if not np.isnan(cut):
        return syntax.chain([(syntax.at_most(f, cut, missing=otherwise == 0), bodies[0])], bodies[1])
    tests = [
        (syntax.among(f, condition_of(tree, node, branch, schema).categories or ()), body)
        for branch, body in enumerate(bodies)
        if branch != otherwise
    ]
    return syntax.chain(tests, bodies[otherwise])


def _plain(value: object) -> Any:
    return value.item() if isinstance(value, np.generic) else value


class _Python:
    """Syntax of Python. ``predict`` takes a mapping; None, NaN and an absent column are missing values."""

    opening = '''\
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

    def __init__(self, schema: Schema, used: Sequence[int], predicted: NDArray[Any]) -> None:
        self.schema, self.used = schema, list(used)
        labels = [_plain(label) for label in predicted[:1]]
        self.kind = next((kind for kind in (bool, int, float) if isinstance(labels[0], kind)), str)

    def is_text(self, f: int) -> bool:
        """Whether a column is nominal."""
        return self.schema.kinds[f] == "nominal"

    def literal(self, value: object) -> str:
        """Return a prediction or category as source."""
        return repr(_plain(value))

    def value(self, f: int) -> str:
        """Return the expression of a column's value."""
        return f"v[{self.schema.names[f]!r}]"

    def present(self, f: int) -> str:
        """Return the test that a value is not missing."""
        return f"{self.value(f)} is not None"

    def at_most(self, f: int, cut: float, *, missing: bool) -> str:
        """Return the test that a number is at most a cut, or missing."""
        either = f"{self.value(f)} is None or" if missing else f"{self.value(f)} is not None and"
        return f"{either} {self.value(f)} <= {cut!r}"

    def among(self, f: int, categories: Sequence[Any]) -> str:
        """Return the test that a category is one of several."""
        listed = ", ".join(map(self.literal, categories)) + ("," if len(categories) == 1 else "")
        return f"{self.value(f)} in ({listed})"

    def returning(self, value: str) -> str:
        """Return the statement that returns a value."""
        return f"return {value}"

    def call(self, name: str) -> str:
        """Return a call of a function with the values."""
        return f"_{name}(v)"

    def chain(self, tests: list[tuple[str, list[str]]], otherwise: list[str]) -> list[str]:
        """Return statements that run the lines of the first test that holds."""
        lines: list[str] = []
        for test, body in tests:
            lines += [f"{'elif' if lines else 'if'} {test}:", *_indented(body)]
        return [*lines, "else:", *_indented(otherwise)]

    def function(self, name: str, lines: list[str]) -> str:
        """Return a function of the values."""
        return "\n".join([f"def _{name}(v):", *_indented(lines), ""])

    def program(self, functions: list[str], body: list[str]) -> str:
        """Return the source of the whole program."""
        names = {f: repr(self.schema.names[f]) for f in self.used}
        read = {f: f"row.get({name})" for f, name in names.items()}
        values = [f"{names[f]}: {read[f] if self.is_text(f) else f'_number({read[f]})'}" for f in self.used]
        main = "\n".join(["def predict(row):", *_indented([f"v = {{{', '.join(values)}}}", *body]), ""])
        return "\n\n".join([self.opening, *functions, main]).replace("\n\n\n\n", "\n\n\n")


class _JavaScript(_Python):
    """Syntax of JavaScript: ``predict`` takes an object; null, NaN and absent columns are missing values."""

    opening = """\
// A number, Date (in days) or boolean in the single precision of the training; NaN if it is missing.
function number(value) {
    if (value === null || value === undefined || value === "") return NaN;
    return Math.fround(value instanceof Date ? value.getTime() / 86400000 : Number(value));
}

function text(value) {
    return value === null || value === undefined ? null : String(value);
}
"""

    def literal(self, value: object) -> str:
        value = _plain(value)
        return json.dumps(value if isinstance(value, bool | int | float | str) else str(value))

    def category(self, value: object) -> str:
        """Return a category as text: numbers and booleans as JavaScript writes them."""
        value = _plain(value)
        return self.literal(value if isinstance(value, str) else json.dumps(value, default=str))

    def value(self, f: int) -> str:
        return f"v[{self.used.index(f)}]"

    def present(self, f: int) -> str:
        return f"{self.value(f)} == {self.value(f)}"  # NaN differs from itself

    def at_most(self, f: int, cut: float, *, missing: bool) -> str:
        return f"!({self.value(f)} > {cut!r})" if missing else f"{self.value(f)} <= {cut!r}"

    def among(self, f: int, categories: Sequence[Any]) -> str:
        return f"[{', '.join(map(self.category, categories))}].includes({self.value(f)})"

    def returning(self, value: str) -> str:
        return f"return {value};"

    def call(self, name: str) -> str:
        return f"{name}(v)"

    def chain(self, tests: list[tuple[str, list[str]]], otherwise: list[str]) -> list[str]:
        lines: list[str] = []
        for test, body in tests:
            lines += [f"{'} else ' if lines else ''}if ({test}) {{", *_indented(body)]
        return [*lines, "} else {", *_indented(otherwise), "}"]

    def function(self, name: str, lines: list[str]) -> str:
        return "\n".join([f"function {name}(v) {{", *_indented(lines), "}", ""])

    def program(self, functions: list[str], body: list[str]) -> str:
        values = [
            f"{'text' if self.is_text(f) else 'number'}(row[{self.literal(self.schema.names[f])}])"
            for f in self.used
        ]
        main = ["function predict(row) {", *_indented([f"const v = [{', '.join(values)}];", *body]), "}", ""]
        ending = 'if (typeof module !== "undefined") module.exports = { predict };\n'
        return "\n".join([self.opening, *functions, "\n".join(main), ending])


class _Java(_JavaScript):
    """Syntax of Java. ``Tree.predict`` takes a map; null, NaN and an absent column are missing values."""

    opening = """\
final class Tree {
    // A number, date (in days) or boolean in the single precision of the training; NaN if it is missing.
    private static Object number(Object value) {
        double number = Double.NaN;
        if (value instanceof Boolean) number = (Boolean) value ? 1 : 0;
        else if (value instanceof Number) number = ((Number) value).doubleValue();
        else if (value instanceof java.time.LocalDate) number = ((java.time.LocalDate) value).toEpochDay();
        else if (value instanceof java.time.LocalDateTime) {
            java.time.LocalDateTime moment = (java.time.LocalDateTime) value;
            number = (moment.toEpochSecond(java.time.ZoneOffset.UTC) + moment.getNano() / 1e9) / 86400;
        } else if (value != null) throw new IllegalArgumentException("neither a number nor a date: " + value);
        return (double) (float) number;
    }
"""
    types: ClassVar = {bool: "boolean", int: "long", float: "double", str: "String"}

    def literal(self, value: object) -> str:
        return super().literal(value) + "L" * (type(_plain(value)) is int)

    def value(self, f: int) -> str:
        return f"v[{self.used.index(f)}]" if self.is_text(f) else f"(double) v[{self.used.index(f)}]"

    def among(self, f: int, categories: Sequence[Any]) -> str:
        return (
            f"java.util.Arrays.asList({', '.join(map(self.category, categories))}).contains({self.value(f)})"
        )

    def function(self, name: str, lines: list[str]) -> str:
        opening = f"private static {self.types[self.kind]} {name}(Object[] v) {{"
        return "\n".join(_indented([opening, *_indented(lines), "}", ""]))

    def program(self, functions: list[str], body: list[str]) -> str:
        read = {f: f"row.get({self.literal(self.schema.names[f])})" for f in self.used}
        values = [
            f"{read[f]} == null ? null : String.valueOf({read[f]})"
            if self.is_text(f)
            else f"number({read[f]})"
            for f in self.used
        ]
        main = [
            f"static {self.types[self.kind]} predict(java.util.Map<String, Object> row) {{",
            *_indented([f"Object[] v = {{{', '.join(values)}}};", *body]),
            "}",
        ]
        return "\n".join([self.opening, *functions, *_indented(main), "}", ""])


class _C(_JavaScript):
    """Syntax of C99: ``predict`` takes a struct; NaN and NULL are missing, dates are days since 1970."""

    opening = """\
#include <stdbool.h>
#include <string.h>
"""
    numbers = """\
/* The single precision of the training. */
static double number(double value) {
    volatile float single = (float)value;
    return single;
}
"""
    texts = """\
static bool is(const char *value, const char *category) {
    return value && strcmp(value, category) == 0;
}
"""
    types: ClassVar = {bool: "bool ", int: "long long ", float: "double ", str: "const char *"}

    def __init__(self, schema: Schema, used: Sequence[int], predicted: NDArray[Any]) -> None:
        super().__init__(schema, used, predicted)
        self.names: dict[int, str] = {}
        for f in self.used:  # identifiers
            name = re.sub(r"\W", "_", schema.names[f], flags=re.ASCII).lower()
            name = name if name[:1].isalpha() and not _KEYWORD.fullmatch(name) else f"c_{name}"
            self.names[f] = name if name not in self.names.values() else f"{name}_{f}"

    def literal(self, value: object) -> str:
        value = _plain(value)
        if not isinstance(value, str):
            return super().literal(value) + "LL" * (type(value) is int)
        if "\0" in value:
            raise ValueError(f"{value!r} contains a NUL character, which C cannot compare; rename this value")
        quoted = (chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in value.encode())
        return f'"{"".join(quoted)}"'

    def value(self, f: int) -> str:
        return f"v.{self.names[f]}"

    def among(self, f: int, categories: Sequence[Any]) -> str:
        return " || ".join(f"is({self.value(f)}, {self.category(category)})" for category in categories)

    def function(self, name: str, lines: list[str]) -> str:
        opening = f"static {self.types[self.kind]}{name}(struct row v) {{"
        return "\n".join([opening, *_indented(lines), "}", ""])

    def program(self, functions: list[str], body: list[str]) -> str:
        fields = [
            f"{'const char *' if self.is_text(f) else 'double '}{self.names[f]}; /* "
            f"{json.dumps(self.schema.names[f]).replace('*/', '* /')} */"
            for f in self.used
        ]
        struct = ["struct row {", *_indented(fields or ["char unused;"]), "};", ""]
        values = [
            f"row->{self.names[f]}" if self.is_text(f) else f"number(row->{self.names[f]})" for f in self.used
        ]
        first = f"struct row v = {{{', '.join(values)}}};" if values else "(void)row;"
        opening = f"{self.types[self.kind]}predict(const struct row *row) {{"
        main = [opening, *_indented([first, *body]), "}", ""]
        texts = [self.is_text(f) for f in self.used]
        helpers = [self.numbers] * (not all(texts)) + [self.texts] * any(texts)
        parts = [self.opening, "\n".join(struct), *helpers, *functions, "\n".join(main)]
        return "\n".join(parts)


_KEYWORD = re.compile(
    "auto|bool|break|case|char|const|continue|default|do|double|else|enum|extern|false|float|for|goto|if|inline|"
    "int|long|register|restrict|return|short|signed|sizeof|static|struct|switch|true|typedef|union|unsigned|void|"
    "volatile|while"
)
_SYNTAX: dict[str, type[_Python]] = {"python": _Python, "c": _C, "java": _Java, "javascript": _JavaScript}


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" if line else line for line in lines]
