"""Export trees as text; labels of tests, branches and nodes for plots, reports and the terminal."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from crosscut.data.columns import cut_text, separates_days
from crosscut.data.visible import short, visible
from crosscut.forest.tree import decisions, predictions, shares

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from crosscut.data.schema import Schema
    from crosscut.forest.tree import Tree


def last_single(cut: float) -> float:
    """Return the largest single-precision number that is at most the cut."""
    single = np.float32(cut)
    # as doubles: NumPy would round the cut first
    return float(single if float(single) <= cut else np.nextafter(single, np.float32(-np.inf)))


def shown_threshold(threshold: float) -> float:
    """Return the shortest decimal that splits all rows in the same way as a threshold.

    Rows are single precision, so all numbers between the threshold's two single-precision neighbours are the
    same test.

    Examples
    --------
    >>> shown_threshold(2.449999988079071), shown_threshold(10066.91357421875), shown_threshold(0.5)
    (2.45, 10066.914, 0.5)
    """
    if not np.isfinite(threshold):
        return threshold
    low = last_single(threshold)
    high = float(np.nextafter(np.float32(low), np.float32(np.inf)))
    for digits in range(1, 17):  # if any number with this many digits fits, this one does
        shown = float(f"{(low + high) / 2:.{digits}g}")
        if low <= shown < high:
            return shown
    return threshold


def threshold_text(threshold: float, decimals: int = 0) -> str:
    """Return :func:`shown_threshold` as text, padded with zeros to ``decimals`` decimals.

    Examples
    --------
    >>> threshold_text(2.449999988079071), threshold_text(9.5, 2), threshold_text(123456.0)
    ('2.45', '9.50', '123456')
    """
    shown = shown_threshold(threshold)
    padded = f"{shown:.{decimals}f}"
    return padded if float(padded) == shown else repr(shown)


@dataclass(frozen=True)
class Condition:
    """The condition of a branch on one column: a value in (low, high], or one of several categories.

    ``missing`` is whether missing values satisfy it; None for numeric columns if no test on the path decides
    it.
    """

    column: str
    low: float = -np.inf
    high: float = np.inf
    categories: tuple[Any, ...] | None = None
    missing: bool | None = None
    kind: Literal["numeric", "date", "moment"] = "numeric"  # a moment is a date with a time of day

    def text(self, decimals: int = 2) -> str:
        """Return the condition as a formula."""
        if self.categories is not None:
            names = [str(category) for category in self.categories] + ["missing"] * bool(self.missing)
            return (
                f"{self.column} = {names[0]}"
                if len(names) == 1
                else f"{self.column} in {{{', '.join(names)}}}"
            )
        if self.missing:
            return f"{self.column} is missing"
        if np.isinf(self.low) and np.isinf(self.high):
            return f"{self.column} is present"
        low, high = self._shown(self.low, decimals), self._shown(self.high, decimals)
        if np.isinf(self.low):
            return f"{self.column} <= {high}"
        return f"{self.column} > {low}" if np.isinf(self.high) else f"{low} < {self.column} <= {high}"

    def _shown(self, value: float, decimals: int) -> str:
        if self.kind == "numeric" or np.isinf(value):
            return threshold_text(value, decimals)
        return cut_text(value, whole=self.kind == "date")

    def __and__(self, other: Condition) -> Condition:
        """Return the conjunction of two conditions on the same column."""
        if self.categories is not None and other.categories is not None:
            kept = tuple(category for category in self.categories if category in other.categories)
            return replace(self, categories=kept, missing=bool(self.missing and other.missing))
        missing = other.missing if self.missing is None else self.missing
        kind = other.kind if self.kind == "date" else self.kind
        low, high = max(self.low, other.low), min(self.high, other.high)
        return replace(self, low=low, high=high, missing=missing, kind=kind)

    def __str__(self) -> str:
        return self.text()


@dataclass(frozen=True)
class TreeRule:
    """One leaf: rows that satisfy all conditions get the prediction."""

    conditions: tuple[Condition, ...]
    prediction: Any
    n_rows: int
    weight: float
    probability: float | None  # of the predicted class in the leaf; None for regression
    leaf: int

    def text(self, decimals: int = 2) -> str:
        """Return the rule as a sentence."""
        conditions = " and ".join(condition.text(decimals) for condition in self.conditions) or "always"
        outcome = str(self.prediction)
        if self.probability is None:
            outcome = f"{self.prediction:.{decimals}f}"
        suffix = "" if self.probability is None else f", probability {self.probability:.{decimals}f}"
        return f"if {conditions} then {outcome} ({self.n_rows} rows{suffix})"

    def __str__(self) -> str:
        return self.text()


class TreeRules(tuple[TreeRule, ...]):
    """The rules of a tree; exactly one of them holds for each row."""

    __slots__ = ()

    def __repr__(self) -> str:
        return visible("\n".join(str(rule) for rule in self))


def condition_of(tree: Tree, node: int, branch: int, schema: Schema) -> Condition:
    """Return the condition of a node's branch."""
    column = int(tree.feature[node])
    name = schema.names[column]
    threshold = float(tree.threshold[node])
    if not np.isnan(threshold):
        if np.isinf(threshold):  # present | missing
            return Condition(name, missing=bool(branch))
        kind = cut_kind(tree, node, schema)
        if kind == "numeric":
            threshold = shown_threshold(threshold)
        low, high = (-np.inf, threshold) if branch == 0 else (threshold, np.inf)
        return Condition(name, low, high, kind=kind)
    known = schema.categories[column]
    entries = tree.branches[tree.first_branch[node] : tree.first_branch[node + 1]]
    codes = entries[entries[:, 1] == branch, 0].tolist()
    categories = tuple(known[code] for code in codes if code < len(known))
    return Condition(name, categories=categories, missing=len(known) in codes)


def cut_kind(tree: Tree, node: int, schema: Schema) -> Literal["numeric", "date", "moment"]:
    """Return what a numeric test compares: numbers, dates, or moments (dates with times)."""
    if schema.kinds[int(tree.feature[node])] != "date":
        return "numeric"
    whole = separates_days(float(tree.threshold[node]), float(tree.low[node]), float(tree.high[node]))
    return "date" if whole else "moment"


def walk(tree: Tree) -> Iterator[tuple[int, int, int]]:
    """Yield every node in preorder, with its parent and the branch that leads to it (-1 at the root)."""
    todo = [(0, -1, -1)]
    while todo:
        node, parent, branch = todo.pop()
        yield node, parent, branch
        children = tree.children[tree.first_child[node] : tree.first_child[node + 1]]
        todo.extend((int(child), node, j) for j, child in reversed(list(enumerate(children))))


def export_text(
    tree: Tree, schema: Schema, classes: NDArray[Any] | None, *, decimals: int = 2, weights: bool = False
) -> str:
    """Return the tree as text, one line per branch and leaf."""
    lines, predicted = [], predictions(tree, classes)
    for node, parent, branch in walk(tree):
        indent = "|   " * int(tree.depth[node])
        if parent >= 0:
            condition = condition_of(tree, parent, branch, schema).text(decimals)
            lines.append(f"{indent[4:]}|--- {condition}")
        if tree.feature[node] < 0:
            shown = (
                f"value: {predicted[node]:.{decimals}f}" if classes is None else f"class: {predicted[node]}"
            )
            if weights and classes is not None:
                listed = ", ".join(f"{w:.{decimals}f}" for w in tree.value[node])
                shown = f"weights: [{listed}] {shown}"
            lines.append(f"{indent}|--- {shown}")
    return visible("\n".join(lines)) + "\n"


def rules_of(tree: Tree, schema: Schema, classes: NDArray[Any] | None) -> TreeRules:
    """Return one rule per leaf, from left to right."""
    predicted, probability = predictions(tree, classes), None if classes is None else shares(tree)
    conditions: list[dict[str, Condition]] = [{} for _ in range(len(tree))]
    rules = []
    for node, parent, branch in walk(tree):
        if parent >= 0:
            new = condition_of(tree, parent, branch, schema)
            above = conditions[parent]
            conditions[node] = above | {new.column: above[new.column] & new if new.column in above else new}
        if tree.feature[node] < 0:
            prediction = float(predicted[node]) if classes is None else predicted[node]
            rules.append(
                TreeRule(
                    tuple(conditions[node].values()),
                    prediction,
                    int(tree.n_rows[node]),
                    float(tree.weight[node]),
                    None if probability is None else float(probability[node]),
                    node,
                )
            )
    return TreeRules(rules)


MAX_CATEGORIES = 4  # shown categories of a set, including "3 more"


def number(value: float, digits: int = 4) -> str:
    """Return a number with ``digits`` significant digits, without an exponent unless it is very long.

    Examples
    --------
    >>> number(0.30000001), number(123456.0), number(2.5)
    ('0.3', '123456', '2.5')
    """
    if not math.isfinite(value):
        return str(value)
    if value == round(value) and abs(value) < 1e15:
        return f"{value:.0f}"
    if abs(value) >= 10**digits and abs(value) < 1e15:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def percent(fraction: float) -> str:
    """Return a fraction in percent; 0% and 100% are exact.

    Examples
    --------
    >>> percent(0.42), percent(0.998), percent(0.99999), percent(1.0)
    ('42%', '99.8%', '>99.9%', '100%')
    """
    if 0.005 <= fraction < 0.995 or fraction in {0.0, 1.0} or not 0 < fraction < 1:
        return f"{fraction:.0%}"
    if 0.0005 <= fraction < 0.9995:
        return f"{fraction:.1%}"
    return "<0.1%" if fraction < 0.5 else ">99.9%"


def counted(n: int, what: str, several: str = "") -> str:
    """Return a count with its noun in the singular or plural.

    Examples
    --------
    >>> counted(1, "rule"), counted(1200, "rule"), counted(2, "leaf", "leaves")
    ('1 rule', '1,200 rules', '2 leaves')
    """
    return f"{n:,} {what if n == 1 else several or what + 's'}"


def branch_label(
    tree: Tree, node: int, branch: int, schema: Schema, max_names: int | None = MAX_CATEGORIES
) -> str:
    """Return the condition of a branch, without the column's name."""
    condition = condition_of(tree, node, branch, schema)
    if condition.categories is None:
        if condition.missing is not None:
            return "missing" if condition.missing else "present"
        if schema.kinds[int(tree.feature[node])] == "boolean":
            return f"= {'true' if branch else 'false'}"
        sign = "≤ " if branch == 0 else "> "
        if condition.kind == "numeric":
            return sign + threshold_text(float(tree.threshold[node]))
        return sign + cut_text(float(tree.threshold[node]), whole=condition.kind == "date")
    names = [short(category) for category in condition.categories] + ["missing"] * bool(condition.missing)
    if len(names) == 1:
        return f"= {names[0]}"
    if max_names is not None and len(names) > max_names:
        names = [*names[: max_names - 1], f"{len(names) - max_names + 1} more"]
    return f"in {{{', '.join(names)}}}"


def outcome_label(tree: Tree, node: int, classes: NDArray[Any] | None) -> str:
    """Return the prediction of a node: a class or a mean."""
    if classes is None:
        return number(float(tree.value[node, 0]))
    return short(classes[int(decisions(tree.value[node : node + 1], tree.loss)[0])])


def fold_label(tasks: Sequence[int]) -> str:
    """Return a short list of trees.

    Examples
    --------
    >>> fold_label([0, 1, 2, 3, 7])
    'final, 1-3, 7'
    """
    parts = ["final"] if 0 in tasks else []
    folds = sorted(task for task in tasks if task)
    begin = 0
    for k, fold in enumerate(folds):
        if k + 1 == len(folds) or folds[k + 1] != fold + 1:
            first = folds[begin]
            parts.append(
                str(first) if first == fold else f"{first}-{fold}" if fold - first > 1 else f"{first}, {fold}"
            )
            begin = k + 1
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """Return a time with its unit."""
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
