"""A tree as an ONNX model, nominal tests included."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.tree import decisions, probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.schema import Schema
    from crosscut.forest.tree import Tree

_OPSETS = {"": 17, "ai.onnx.ml": 3}
_IR_VERSION = 8  # of the opsets above, for runtimes that are not the newest
_BRANCHES = ("nodes_truenodeids", "nodes_falsenodeids", "nodes_missing_value_tracks_true")
_OWN = "crosscut:"  # begins the names of what is neither input nor output


def onnx_model(tree: Tree, schema: Schema, classes: NDArray[Any] | None) -> Any:
    """Return a tree as ``onnx.ModelProto``.

    Every column is an input of shape (rows, 1): text for nominal columns, in which whatever is no category is
    missing, and floats for the others, in which NaN is missing and dates are days since 1970-01-01. The first
    output is the prediction; for classes the second is the probabilities.

    A nominal test becomes a lookup from categories to the number of the branch, which the tree then compares.
    """
    from onnx import checker, helper

    inputs = [_input(schema, f) for f in range(len(schema))]
    numbers = {f: at for at, f in enumerate(f for f, kind in enumerate(schema.kinds) if kind != "nominal")}
    nominal = np.flatnonzero((tree.feature >= 0) & np.isnan(tree.threshold)).tolist()
    compared = [schema.names[f] for f in numbers] + [f"{_OWN}node {node}" for node in nominal]
    nodes = [_lookup(tree, node, schema) for node in nominal]
    if not compared:  # a leaf, and text only: any lookup tells how many rows there are
        compared = [f"{_OWN}rows"]
        nodes = [_label_encoder(schema, 0, compared[0], {schema.categories[0][0]: 0.0}, 0.0)]
    values = tree.value
    if classes is not None:
        values = np.column_stack([decisions(tree.value, tree.loss), probabilities(tree.value)])
    place = {node: len(numbers) + at for at, node in enumerate(nominal)}
    place |= {node: numbers[f] for node, f in enumerate(tree.feature.tolist()) if f in numbers}
    nodes += [
        helper.make_node("Concat", compared, [f"{_OWN}columns"], axis=1),
        helper.make_node(
            "TreeEnsembleRegressor",
            [f"{_OWN}columns"],
            [f"{_OWN}leaf"],
            domain="ai.onnx.ml",
            n_targets=values.shape[1],
            **_ensemble(tree, place, values),
        ),
    ]
    last, outputs, constants = _outputs(schema, classes)
    graph = helper.make_graph([*nodes, *last], "tree", inputs, outputs, constants)
    opsets = [helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="crosscut")
    checker.check_model(model)
    return model


def _is_text(schema: Schema, column: int) -> bool:
    return any(isinstance(category, str) for category in schema.categories[column])


def _input(schema: Schema, column: int) -> Any:
    from onnx import TensorProto, helper

    dtype = TensorProto.STRING if _is_text(schema, column) else TensorProto.FLOAT
    return helper.make_tensor_value_info(schema.names[column], dtype, [None, 1])


def _lookup(tree: Tree, node: int, schema: Schema) -> Any:
    """Return the branch of each category that the node has seen; what is missing or unknown has the other."""
    column = int(tree.feature[node])
    taken = tree.branches[tree.first_branch[node] : tree.first_branch[node + 1] - 1].tolist()
    branches = {
        category: float(branch)
        for category, branch in zip(schema.categories[column], taken, strict=True)
        if branch >= 0
    }
    return _label_encoder(schema, column, f"{_OWN}node {node}", branches, float(tree.missing[node]))


def _label_encoder(schema: Schema, column: int, name: str, values: dict[Any, float], other: float) -> Any:
    from onnx import helper

    text = _is_text(schema, column)
    keys = (
        {"keys_strings": [str(key) for key in values]}
        if text
        else {"keys_floats": [float(key) for key in values]}
    )
    return helper.make_node(
        "LabelEncoder",
        [schema.names[column]],
        [name],
        domain="ai.onnx.ml",
        values_floats=list(values.values()),
        default_float=other,
        **keys,
    )


def _ensemble(tree: Tree, place: dict[int, int], values: NDArray[np.float64]) -> dict[str, Any]:
    """Return the attributes of the tree; a node with many branches becomes a chain of comparisons."""
    rows: dict[str, list[Any]] = defaultdict(list)
    n_nodes = len(tree)

    def add(
        node: int, mode: str, compared: tuple[int, float] = (0, 0.0), branches: tuple[int, ...] = (0, 0, 0)
    ) -> None:
        rows["nodes_treeids"].append(0)
        rows["nodes_nodeids"].append(node)
        rows["nodes_modes"].append(mode)
        for name, value in zip(("nodes_featureids", "nodes_values"), compared, strict=True):
            rows[name].append(value)
        for name, value in zip(_BRANCHES, branches, strict=True):
            rows[name].append(value)

    for node in range(len(tree)):
        if tree.feature[node] < 0:
            add(node, "LEAF")
            rows["target_treeids"] += [0] * values.shape[1]
            rows["target_nodeids"] += [node] * values.shape[1]
            rows["target_ids"] += range(values.shape[1])
            rows["target_weights"] += values[node].tolist()
            continue
        children = tree.children[tree.first_child[node] : tree.first_child[node + 1]].tolist()
        if not np.isnan(tree.threshold[node]):
            cut = _last_single(float(tree.threshold[node]))
            add(node, "BRANCH_LEQ", (place[node], cut), (*children, int(tree.missing[node] == 0)))
            continue
        at = node
        for branch, child in enumerate(children[:-1]):
            rest = children[-1] if branch == len(children) - 2 else n_nodes
            n_nodes += rest == n_nodes
            add(at, "BRANCH_LEQ", (place[node], branch + 0.5), (child, rest, 0))
            at = rest
    return dict(rows)


def _last_single(cut: float) -> float:
    """Return the largest number in single precision that is at most the cut."""
    single = np.float32(min(cut, float(np.finfo(np.float32).max)))
    # as doubles: NumPy would round the cut first
    return float(single if float(single) <= cut else np.nextafter(single, np.float32(-np.inf)))


def _outputs(schema: Schema, classes: NDArray[Any] | None) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the last nodes of the graph, its outputs, and constants."""
    from onnx import TensorProto, helper

    prediction, shares = (
        name if name not in schema.names else f"{_OWN}{name}" for name in ("prediction", "probabilities")
    )
    if classes is None:
        node = helper.make_node("Identity", [f"{_OWN}leaf"], [prediction])
        return [node], [helper.make_tensor_value_info(prediction, TensorProto.FLOAT, [None, 1])], []
    words = not all(type(label) is int for label in classes.tolist())
    dtype = TensorProto.STRING if words else TensorProto.INT64
    labels: Any = [str(label).encode() if words else label for label in classes.tolist()]
    constants = [helper.make_tensor(f"{_OWN}labels", dtype, [len(labels)], labels)]
    ends = {"0": 0, "1": 1, "end": len(labels) + 1}
    constants += [
        helper.make_tensor(f"{_OWN}{name}", TensorProto.INT64, [1], [k]) for name, k in ends.items()
    ]
    zero, one, end = (f"{_OWN}{name}" for name in ends)
    nodes = [
        helper.make_node("Slice", [f"{_OWN}leaf", zero, one, one], [f"{_OWN}code"]),
        helper.make_node("Squeeze", [f"{_OWN}code", one], [f"{_OWN}flat"]),
        helper.make_node("Cast", [f"{_OWN}flat"], [f"{_OWN}whole"], to=TensorProto.INT64),
        helper.make_node("Gather", [f"{_OWN}labels", f"{_OWN}whole"], [prediction]),
        helper.make_node("Slice", [f"{_OWN}leaf", one, end, one], [shares]),
    ]
    outputs = [
        helper.make_tensor_value_info(prediction, dtype, [None]),
        helper.make_tensor_value_info(shares, TensorProto.FLOAT, [None, len(labels)]),
    ]
    return nodes, outputs, constants
