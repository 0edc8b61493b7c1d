"""The forest as the page's script reads it: one short list per shared node, in preorder."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.labels import branch_label
from crosscut.forest.tree import predictions, shares

if TYPE_CHECKING:
    from crosscut.forest.sharing import SharedNode
    from crosscut.training.fit import Fit

MAX_NODES = 12_000  # more would make the page slow, and nobody reads them


def shared_nodes(fit: Fit, max_nodes: int = MAX_NODES) -> dict[str, Any]:
    """Return the forest of a fit as dicts and lists.

    Every node is ``[tasks, rows, predictions, shares, groups]``: the trees that reach it; for each of them
    its training rows there, its prediction (a class number, or a mean) and the predicted class's share in
    percent; and one ``[tasks, column, [[condition, child], ...]]`` per different test. Sets of trees are
    numbers into ``sets``. Only the first ``max_nodes`` nodes, level by level, are included; groups below have
    no children.
    """
    trees, schema, classes = fit.forest.trees, fit.schema, fit.classes
    codes = None if classes is None else np.arange(len(classes))
    predicted = [predictions(tree, codes) for tree in trees]
    percent = [] if classes is None else [np.rint(100 * shares(tree)) for tree in trees]
    sets: dict[tuple[int, ...], int] = {}
    root = fit.forest.sharing.root
    kept = _kept(root, max_nodes)
    order = [node for node in root if id(node) in kept]
    number = {id(node): k for k, node in enumerate(order)}
    nodes = []
    for node in order:
        at = dict(zip(node.tasks, node.nodes, strict=True))
        groups = []
        for group, below in zip(node.groups, node.children, strict=True):
            told = [_condition(fit, child, at) for child in below]
            children = [
                [condition, number[id(child)]]
                for condition, child in zip(told, below, strict=True)
                if id(child) in number
            ]
            column = schema.names[int(trees[group[0]].feature[at[group[0]]])]
            if node.is_fork:  # tests of one column differ by what they ask of it
                column += " " + branch_label(trees[group[0]], at[group[0]], 0, schema)
            groups.append([sets.setdefault(group, len(sets)), column, children])
        nodes.append(
            [
                sets.setdefault(node.tasks, len(sets)),
                [int(trees[t].n_rows[i]) for t, i in at.items()],
                [
                    int(predicted[t][i]) if classes is not None else float(f"{predicted[t][i]:.4g}")
                    for t, i in at.items()
                ],
                [] if classes is None else [int(percent[t][i]) for t, i in at.items()],
                groups,
            ]
        )
    return {
        "classes": None if classes is None else [str(c) for c in classes],
        "trees": len(trees),
        "sets": [list(tasks) for tasks in sets],
        "nodes": nodes,
        "left_out": sum(1 for _ in root) - len(nodes),
    }


def _kept(root: SharedNode, max_nodes: int) -> set[int]:
    kept: set[int] = set()
    todo = deque([root])
    while todo and len(kept) < max_nodes:
        node = todo.popleft()
        kept.add(id(node))
        todo.extend(child for below in node.children for child in below)
    return kept


def _condition(fit: Fit, child: SharedNode, at: dict[int, int]) -> str:
    """Return what the first of its trees asks on the way to a node; others may use another constant."""
    task = child.tasks[0]
    tree, parent = fit.forest.trees[task], at[task]
    children = tree.children[tree.first_child[parent] : tree.first_child[parent + 1]].tolist()
    return branch_label(tree, parent, children.index(child.nodes[0]), fit.schema)
