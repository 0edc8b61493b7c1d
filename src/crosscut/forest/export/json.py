"""Export a tree as plain data: nested for JSON and programs in other languages, or columns of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.data.columns import cut_text
from crosscut.forest.export.text import condition_of, walk
from crosscut.forest.tree import predictions, proportions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.schema import Schema
    from crosscut.forest.tree import Tree


def tree_data(tree: Tree, schema: Schema, classes: NDArray[Any] | None) -> dict[str, Any]:
    """Return a tree as dicts and lists.

    Nodes are a flat list, so deep trees are not deeply nested; ``to`` is an index into it. A numeric
    branch is taken if the value is ``at_most`` or ``above`` its threshold, a nominal one if it is ``one_of``
    some categories (``null`` is a missing value). Thresholds of dates are days since 1970-01-01, and ``date``
    is the last date that is at most that. All other values take branch ``otherwise``.

    Examples
    --------
    >>> import json
    >>> from crosscut import TreeClassifier
    >>> model = TreeClassifier(cv=None).fit([[1.0], [2.0], [4.0]], ["a", "a", "b"])
    >>> fit = model.fit_
    >>> print(json.dumps(tree_data(fit.final, fit.schema, fit.classes)["nodes"][0]["branches"]))
    [{"to": 1, "at_most": 3.0}, {"to": 2, "above": 3.0}]
    """
    predicted = predictions(tree, classes)
    nodes = []
    for node in range(len(tree)):
        data: dict[str, Any] = {
            "rows": int(tree.n_rows[node]),
            "weight": float(tree.weight[node]),
            "impurity": float(tree.impurity[node]),
        }
        if classes is None:
            data["mean"] = float(predicted[node])
        else:
            data["class"] = _plain(predicted[node])
            data["class_weights"] = tree.value[node].tolist()
        if tree.feature[node] >= 0:
            children = tree.children[tree.first_child[node] : tree.first_child[node + 1]]
            data["column"] = schema.names[int(tree.feature[node])]
            data["otherwise"] = int(tree.missing[node])
            data["branches"] = [
                {"to": int(child), **_branch(tree, node, branch, schema)}
                for branch, child in enumerate(children)
            ]
        nodes.append(data)
    return {
        "columns": [
            {"name": name, "kind": kind}
            | ({"categories": [_plain(c) for c in categories]} if categories else {})
            for name, kind, categories in zip(schema.names, schema.kinds, schema.categories, strict=True)
        ],
        "classes": None if classes is None else [_plain(c) for c in classes],
        "nodes": nodes,
    }


def node_columns(tree: Tree, schema: Schema, classes: NDArray[Any] | None) -> dict[str, Any]:
    """Return the nodes of a tree as columns, in preorder.

    ``condition`` leads from the parent to the node, ``column`` and ``threshold`` are those of the node's own
    test, and ``= class`` is the fraction of a class among the node's rows.
    """
    steps = list(walk(tree))
    columns: dict[str, Any] = {
        "parent": [parent for _, parent, _ in steps],
        "depth": tree.depth,
        "condition": [
            "" if parent < 0 else str(condition_of(tree, parent, branch, schema))
            for _, parent, branch in steps
        ],
        "column": [None if f < 0 else schema.names[f] for f in tree.feature.tolist()],
        "threshold": tree.threshold,
        "missing_go_to": [
            int(tree.children_of(node)[tree.missing[node]]) if tree.feature[node] >= 0 else -1
            for node in range(len(tree))
        ],
        "prediction": predictions(tree, classes),
        "rows": tree.n_rows,
        "weight": tree.weight,
        "impurity": tree.impurity,
    }
    if classes is not None:
        columns |= {f"= {c}": part for c, part in zip(classes, proportions(tree).T, strict=True)}
    return columns


def _branch(tree: Tree, node: int, branch: int, schema: Schema) -> dict[str, Any]:
    condition = condition_of(tree, node, branch, schema)
    if condition.categories is not None:
        return {"one_of": [_plain(c) for c in condition.categories] + [None] * bool(condition.missing)}
    if condition.missing is not None:
        return {"missing": condition.missing}
    cut, key = (condition.high, "at_most") if branch == 0 else (condition.low, "above")
    dated = {} if condition.kind == "numeric" else {"date": cut_text(cut, whole=condition.kind == "date")}
    return {key: cut} | dated


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, bool | int | float | str) else str(value)
