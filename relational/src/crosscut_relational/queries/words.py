"""Readable tests and trees over tables: "some purchase with amount > 80 and returned = yes"."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from crosscut.data.columns import cut_text, separates_days
from crosscut.forest.export.text import number
from crosscut_relational.database.database import MISSING
from crosscut_relational.language.attributes import attribute_text, key_position, rows_text, singular
from crosscut_relational.queries.printing import drawn, query_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosscut_relational.language.rule import Goal
    from crosscut_relational.queries.tree import Node, RelationalTree, Signature

    Scope = dict[int, str]  # names of rows in the tests above a node, by the variable of their key

_SIGNS = {"=<": "<=", "\\=": "is not"}


class Words:
    """Writes tests with the names of tables and columns."""

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self.first = signature.n_keys
        self.last = signature.n_keys + len(signature.attributes)

    def test(self, goals: Sequence[Goal], scope: Scope) -> tuple[str, Scope]:
        """Return a test as text or, failing that, as Prolog, and the rows its *yes* branch can refer to."""
        if len(goals) == 1 and goals[0].is_comparison:
            text = self._attribute_test(goals[0])
        else:
            text, scope = self._rows(goals, scope)
        return text or query_text(goals, self.signature), scope

    def _constant(self, argument: int, kind: str) -> str:
        value = self.signature.constants.terms[~argument]
        if isinstance(value, int | float):
            return cut_text(value, whole=separates_days(value)) if kind == "date" else number(value, 6)
        return str(value)

    def _attribute_test(self, goal: Goal) -> str:
        left, right = goal.args
        if not (self.first <= left < self.last and right < 0) or goal.negated:
            return ""
        attribute = self.signature.attributes[left - self.first]
        columns = self.signature.columns
        if attribute.function in {"count", "distinct"} and goal.name in {"=<", ">"}:
            n = math.floor(float(self.signature.constants.numbers[~right]))
            rows = rows_text(attribute, columns)
            if attribute.function == "distinct":
                column = columns[attribute.steps[-1].predicate][attribute.column or 0]
                rows = f"different {column.name} of {rows}"
            if n == 0:
                return f"{'no' if goal.name == '=<' else 'some'} {rows}"
            if n == 1 and attribute.function == "count":
                return f"{'at most one' if goal.name == '=<' else 'more than one'} of the {rows}"
            return f"{'at most' if goal.name == '=<' else 'more than'} {n} {rows}"
        return f"{attribute_text(attribute, columns)} {self._compared(goal.name, right, attribute.kind)}"

    def _compared(self, name: str, argument: int, kind: str) -> str:
        """Return a comparison with a constant, such as "<= 80" and "is missing"."""
        constant = self._constant(argument, kind)
        return "is missing" if name == "=" and constant == MISSING else f"{_SIGNS.get(name, name)} {constant}"

    def _rows(self, goals: Sequence[Goal], scope: Scope) -> tuple[str, Scope]:
        """Return the text of a test of linked rows, or "" if it has no simple wording."""
        compared: dict[int, list[Goal]] = {}
        rows = [goal for goal in goals if not goal.is_comparison]
        for goal in goals:
            if goal.is_comparison:
                compared.setdefault(goal.args[0], []).append(goal)
        plain = all(goal.args[1] < 0 for each in compared.values() for goal in each)
        tables = all((goal.name, len(goal.args)) in self.signature.columns for goal in rows)
        if not plain or not tables or (len(rows) > 1 and any(goal.negated for goal in rows)):
            return "", scope
        known = dict(scope)
        phrases: list[tuple[str, list[str]]] = []
        inside: dict[int, tuple[int, str]] = {}  # row variables of this test: phrase, name
        for goal in rows:
            columns = self.signature.columns[goal.name, len(goal.args)]
            noun = singular(goal.name)
            label = noun if goal.negated else _label(noun, known)
            key = goal.args[key_position(columns)]
            if key < self.signature.n_keys and not goal.negated:  # the example itself
                place, prefix = len(phrases), ""
                phrases.append(("", []))
            elif self.first <= key < self.last and not goal.negated:  # a row that the example refers to
                place, prefix = len(phrases), f"{self._link(key)}."
                is_test = len(rows) == 1 and not compared and all(a >= 0 for a in goal.args)
                phrases.append((f"{self._link(key)} is in {goal.name}" if is_test else "", []))
            elif key in scope:
                place, prefix = len(phrases), ""
                phrases.append((f"that {scope[key]} has", []))
            elif key in inside:
                place, prefix = inside[key]
                prefix += "."
            else:
                place, prefix = len(phrases), ""
                which = "no" if goal.negated else "some"
                phrases.append((f"{which} {label}{self._holder(goal, scope, inside)}", []))
            for argument, column in zip(goal.args, columns, strict=True):
                conditions = phrases[place][1]
                if argument < 0:
                    conditions.append(f"{prefix}{column.name} {self._compared('=', argument, column.kind)}")
                for each in compared.get(argument, ()):
                    text = self._compared(each.name, each.args[1], column.kind)
                    conditions.append(f"{prefix}{column.name} {text}")
                if argument >= self.signature.n_fixed and column.kind == "link" and argument not in inside:
                    link = column.name.removesuffix("_id").removesuffix("id") or column.name
                    inside[argument] = place, f"{prefix}{link}"
                    known.setdefault(argument, link)
            if key >= self.signature.n_fixed:
                inside.setdefault(key, (place, label))
                known.setdefault(key, label)
        sentences = []
        for begin, conditions in phrases:
            between = "" if not begin else " " if begin.endswith(" has") else " with "
            sentences.append(begin + (between + " and ".join(conditions) if conditions else ""))
        if any(goal.negated for goal in rows):
            known = scope
        return " and ".join(sentences), known

    def _holder(self, goal: Goal, scope: Scope, inside: dict[int, tuple[int, str]]) -> str:
        """Return the row that a new row belongs to, as " of ..."; empty if it is the example."""
        for argument in goal.args:
            if self.first <= argument < self.last:
                return f" of {self._link(argument)}"
            if argument in scope or argument in inside:
                return f" of that {scope.get(argument) or inside[argument][1]}"
        return ""

    def _link(self, variable: int) -> str:
        """Name the row that a link of the example refers to."""
        attribute = self.signature.attributes[variable - self.first]
        return attribute_text(attribute, self.signature.columns).removesuffix("_id")


def _label(table: str, known: Scope) -> str:
    """Name a new row of a table; a number distinguishes it from earlier rows, one of which it may be."""
    same = sum(name.partition(" (")[0] == table for name in known.values())
    return f"{table} ({same + 1})" if same else table


def _leaf(tree: RelationalTree, node: Node) -> str:
    if not tree.classes:
        return f"{number(node.prediction, 6)} ({node.statistics[0]:.0f} examples)"
    code = int(node.prediction)
    return f"{tree.classes[code]} ({node.statistics[code]:.0f} of {sum(node.statistics):.0f})"


def tree_in_words(tree: RelationalTree) -> str:
    """Write a tree over tables, one line per test and leaf."""
    words = Words(tree.signature)

    def test(node: Node, scope: Scope) -> tuple[str, Scope]:
        text, inner = words.test(node.test, scope)
        return f"{text}?", inner

    start: Scope = {}
    return f"{tree.signature.predicted}\n{drawn(tree.root, start, test, lambda leaf: _leaf(tree, leaf))}"


def tree_data(tree: RelationalTree) -> dict[str, Any]:
    """Return a tree as nested dicts, with tests as text and as Prolog."""
    words = Words(tree.signature)

    def data(node: Node, scope: Scope, path: tuple[Goal, ...]) -> dict[str, Any]:
        here: dict[str, Any] = {"prediction": node.prediction}
        if tree.classes:
            here["prediction"] = tree.classes[int(node.prediction)]
            here["counts"] = dict(zip(map(str, tree.classes), node.statistics, strict=True))
        else:
            here["examples"] = node.statistics[0]
        if node.branches:
            here["test"], inner = words.test(node.test, scope)
            here["query"] = query_text((*path, *node.test), tree.signature)
            here["yes"] = data(node.branches[0], inner, (*path, *node.test))
            here["no"] = data(node.branches[1], scope, path)
        return here

    return data(tree.root, {}, ())
