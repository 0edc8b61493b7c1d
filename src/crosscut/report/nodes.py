"""What the page tells of a node that is clicked: the way there, its rows, and what the folds do there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.export.text import branch_label, number, outcome_label
from crosscut.forest.forest import Forest
from crosscut.forest.predict import apply
from crosscut.forest.tree import probabilities
from crosscut.report.stability import aligned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from crosscut.forest.tree import Tree
    from crosscut.training.fit import Fit

MAX_FOLDS = 30  # that are listed
MAX_CLASSES = 8


def node_facts(
    fit: Fit, forest: Forest, shown: Iterable[int], inner: NDArray[np.bool_], x: NDArray[np.float32] | None
) -> dict[int, dict[str, Any]]:
    """Describe the nodes that are shown of a forest's final tree.

    ``inner`` marks the tests of the fit's own trees; ``own`` is the number of a node in its final tree.
    """
    tree = forest[0]
    packed, number_of = forest.packed.cut(inner)
    trees = Forest(packed).trees
    others = aligned(trees)
    way = _ways(fit, tree)
    held = None if x is None else _held_out(fit, forest, x)
    share = None if fit.classes is None else probabilities(tree.value)
    facts: dict[int, dict[str, Any]] = {}
    for node in sorted(set(shown)):
        told: dict[str, Any] = {"way": way(node), "rows": int(tree.n_rows[node])}
        if share is None:
            told["mean"] = number(float(tree.value[node, 0]))
        else:
            order = np.argsort(-share[node], kind="stable")[:MAX_CLASSES]
            told["shares"] = [
                [str(fit.known_classes[c]), round(float(share[node, c]), 4)]
                for c in order
                if share[node, c] > 0
            ]
        if held is not None:
            told["held"] = held(node)
        own = int(number_of[node])
        if own >= 0:
            told["own"] = own
            told["folds"] = [
                [task, int(trees[task].n_rows[at]), _does(fit, trees[task], at)]
                for task, at in sorted(others[own].items())[:MAX_FOLDS]
            ]
        facts[node] = told
    return facts


def _ways(fit: Fit, tree: Tree) -> Callable[[int], list[str]]:
    """Return a function that gives the conditions on the way to a node."""
    parent: dict[int, tuple[int, int]] = {}
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        for branch, child in enumerate(
            tree.children[tree.first_child[node] : tree.first_child[node + 1]].tolist()
        ):
            parent[child] = node, branch

    def way(node: int) -> list[str]:
        found: list[str] = []
        while node in parent:
            node, branch = parent[node]
            name = fit.schema.names[int(tree.feature[node])]
            found.append(f"{name} {branch_label(tree, node, branch, fit.schema, max_names=12)}")
        return found[::-1]

    return way


def _does(fit: Fit, tree: Tree, node: int) -> str:
    """Say what a tree does at a node."""
    if tree.feature[node] < 0:
        return f"answers {outcome_label(tree, node, fit.classes)}"
    return f"{fit.schema.names[int(tree.feature[node])]} {branch_label(tree, node, 0, fit.schema)}"


def _held_out(fit: Fit, forest: Forest, x: NDArray[np.float32]) -> Callable[[int], str]:
    """Return a function that tells how the rows of a node fare when they are held out."""
    cv, packed = fit.validated("report()"), forest.packed.only(0)
    leaf = apply(packed, x)[0]
    loss = np.abs(cv.y[cv.rows] - cv.decided) if cv.classes is None else cv.losses
    sums = [
        np.bincount(leaf[cv.rows], each, minlength=len(packed.feature)) for each in (np.ones(len(loss)), loss)
    ]
    for node in range(len(packed.feature) - 1, 0, -1):  # preorder: a parent has a lower number
        for each in sums:
            each[packed.parent[node]] += each[node]

    def held(node: int) -> str:
        n, lost = (float(each[node]) for each in sums)
        if not n:
            return ""
        if cv.classes is None:
            return f"off by {number(lost / n, 3)} on average when held out"
        return f"{1 - lost / n:.0%} answered correctly when held out"

    return held
