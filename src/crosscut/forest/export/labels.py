"""Short labels of tests, branches and nodes, for pictures, reports and the terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from crosscut.data.columns import cut_text
from crosscut.data.visible import short
from crosscut.forest.export.text import condition_of, threshold_text
from crosscut.forest.tree import decisions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.data.schema import Schema
    from crosscut.forest.tree import Tree


MAX_CATEGORIES = 4  # shown of a set; then "3 more"


def number(value: float, digits: int = 4) -> str:
    """Return a number with this many significant digits, without an exponent if it is short enough.

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
    """Return what a node predicts: a class, or its mean."""
    own = tree.value[node : node + 1]
    return number(float(own[0, 0])) if classes is None else short(classes[int(decisions(own, tree.loss)[0])])


def fold_label(tasks: Sequence[int]) -> str:
    """Return a short list of trees: ``final, 1-3, 7``.

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
    """Return a time in words."""
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
