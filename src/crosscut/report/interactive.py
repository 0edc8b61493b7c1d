"""Data from which the page's script draws the tree in every size, collapses subtrees, and cuts nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.export.layout import TreeBoxes
from crosscut.report.drawing import opened_nodes
from crosscut.report.stability import aligned
from crosscut.report.trial import MAX_LEAVES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.report.trial import Size, Sizes
    from crosscut.training.fit import Fit
    from crosscut.typing import CrossValidation


def tree_of_page(fit: Fit, sizes: Sizes, colours: list[int]) -> tuple[list[int], dict[str, Any]]:
    """Return the nodes that the page can show, in preorder, and their data.

    A node comes with its parent, the condition that leads to it, the column it splits on, and ``level``: it
    is split in the sizes before this number. What a node predicts depends on the shrinkage of the size, so
    there is a list of predictions for every strength. ``change`` is what cutting a node adds to the loss of
    a size.
    """
    forest, largest = sizes.sizes[0].forest, sizes.sizes[0]
    tree = forest[0]
    inner = largest.inner[: len(tree)]
    opened = opened_nodes(tree, inner, MAX_LEAVES)
    boxes = TreeBoxes(tree, fit.schema, fit.classes, colours).root(opened, inner).walk()
    shown = [box.node for box in boxes]
    parents = {child.node: box.node for box in boxes for child in box.children}
    number_of = {node: k for k, node in enumerate(shown)}
    level = np.sum([size.inner[: len(tree)] for size in sizes.sizes], axis=0)
    others = aligned(forest.trees)
    nodes = [
        {
            "parent": number_of[parents[box.node]] if box.node else -1,
            "condition": f"{box.column} {box.branch}".strip(),
            "column": box.label if box.kind == "test" else fit.schema.names[int(tree.feature[box.node])],
            "level": int(level[box.node]) if box.kind != "leaf" else 0,
            "hidden": box.hidden,
            "rows": int(tree.n_rows[box.node]),
            "folds_here": len(others[box.node]),
        }
        for box in boxes
    ]
    place = np.full(len(forest.packed.feature), -1)
    for node, matches in enumerate(others):
        for task, other in matches.items():
            place[forest.packed.node_start[task] + other] = node
    known: dict[int, int] = {}  # index of the predictions by the identity of a forest
    predictions: list[list[Any]] = []
    described = []
    for size in sizes.sizes:
        key = id(size.forest)
        if key not in known:
            known[key] = len(predictions)
            of_size = TreeBoxes(size.forest[0], fit.schema, fit.classes, colours)
            predictions.append([_prediction(of_size, node) for node in shown])
        now, change = cut_changes(fit.validated("report()"), size, sizes.node, place, len(tree))
        described.append(
            {
                "predictions": known[key],
                "loss": float(now.sum()),
                "change": [round(float(change[k]), 6) for k in shown],
            }
        )
    rows = len(fit.validated("report()").rows)
    measure = "error" if fit.classes is None else "correct" if fit.final.loss is None else "cost"
    return shown, {
        "nodes": nodes,
        "predictions": predictions,
        "sizes": described,
        "held_out_rows": rows,
        "folds": len(forest) - 1,
        "measure": measure,
    }


def _prediction(boxes: TreeBoxes, node: int) -> list[Any]:
    """Return the label, the fraction of the predicted class, its colour, and the bar."""
    box = boxes.box(node)
    bar = [[colour, round(part, 3)] for colour, part in box.bar if part > 0.001]
    return [box.label, box.majority, box.colour, bar]


def cut_changes(
    cv: CrossValidation, size: Size, node: NDArray[np.int64], place: NDArray[np.int64], n_nodes: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the loss of every held-out row, and what cutting each node of the final tree adds to their sum.

    A node is cut in the trees of all folds that have it in the same place (``place``: the node of the final
    tree, or -1); trees without it stay as they are. ``node`` is the node of ``size.forest`` that each
    held-out row reaches. The loss is 0-1, the cost of a class, or the absolute error. Changes of nodes that
    are not above each other add up exactly.
    """
    packed = size.forest.packed
    actual = cv.y[cv.rows]

    def loss(at: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        predicted = size.decided[at]
        if cv.classes is None:
            return np.asarray(np.abs(actual[rows] - predicted))
        if packed.loss is not None:
            return np.asarray(packed.loss[actual[rows], predicted])
        return np.asarray(actual[rows] != predicted, dtype=np.float64)

    rows = np.arange(len(node))
    at = packed.ends(size.inner)[node]
    now, change = loss(at, rows), np.zeros(n_nodes)
    start = packed.node_start[packed.tree_of]
    while len(rows):
        here = place[at] >= 0
        np.add.at(change, place[at[here]], loss(at[here], rows[here]) - now[rows[here]])
        above = packed.parent[at].astype(np.int64)
        rows, at = rows[above >= 0], (start[at] + above)[above >= 0]
    return now, change
