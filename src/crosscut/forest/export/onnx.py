"""Export a tree, including nominal tests, as an ONNX model."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.export.text import last_single
from crosscut.forest.tree import decisions, probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.schema import Schema
    from crosscut.forest.tree import Tree

_OPSETS = {"": 17, "ai.onnx.ml": 3}
_IR_VERSION = 8  # of these opsets, for older runtimes
_BRANCHES = ("nodes_truenodeids", "nodes_falsenodeids", "nodes_missing_value_tracks_true")
_PREFIX = "crosscut:"  # of names of internal values


def onnx_model(tree: Tree, schema: Schema, classes: NDArray[Any] | None) -> Any:
    """Return a tree as ``onnx.ModelProto``.

    Every column is an input of shape (rows, 1). Nominal columns are text; unknown categories count as
    missing. Other columns are floats, where NaN is missing and dates are days since 1970-01-01. The first
    output is the prediction; classifiers have the probabilities as a second output.

    A nominal test becomes a lookup from categories to branch numbers, which the tree then compares.
    """
    from onnx import checker, helper

    inputs = [_input(schema, f) for f in range(len(schema))]
    numbers = {f: at for at, f in enumerate(f for f, kind in enumerate(schema.kinds) if kind != "nominal")}
    nominal = np.flatnonzero((tree.feature >= 0) & np.isnan(tree.threshold)).tolist()
    compared = [schema.names[f] for f in numbers] + [f"{_PREFIX}node {node}" for node in nominal]
    nodes = [_lookup(tree, node, schema) for node in nominal]
    if not compared:  # a single leaf and only text columns: any lookup gives the number of rows
        compared = [f"{_PREFIX}rows"]
        nodes = [_label_encoder(schema, 0, compared[0], {schema.categories[0][0]: 0.0}, 0.0)]
    values = tree.value
    if classes is not None:
        values = np.column_stack([decisions(tree.value, tree.loss), probabilities(tree.value)])
    place = {node: len(numbers) + at for at, node in enumerate(nominal)}
    place |= {node: numbers[f] for node, f in enumerate(tree.feature.tolist()) if f in numbers}
    nodes += [
        helper.make_node("Concat", compared, [f"{_PREFIX}columns"], axis=1),
        helper.make_node(
            "TreeEnsembleRegressor",
            [f"{_PREFIX}columns"],
            [f"{_PREFIX}leaf"],
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
    """Return a lookup of the branch of each category; missing and unseen ones take the default."""
    column = int(tree.feature[node])
    categories = schema.categories[column]
    taken = tree.branch_by_category(node, len(categories))[:-1].tolist()
    branches = {
        category: float(branch) for category, branch in zip(categories, taken, strict=True) if branch >= 0
    }
    return _label_encoder(schema, column, f"{_PREFIX}node {node}", branches, float(tree.missing[node]))


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
    """Return the attributes of the tree; a multiway test becomes a chain of comparisons."""
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
        children = tree.children_of(node)
        if not np.isnan(tree.threshold[node]):
            cut = last_single(min(float(tree.threshold[node]), float(np.finfo(np.float32).max)))
            add(node, "BRANCH_LEQ", (place[node], cut), (*children, int(tree.missing[node] == 0)))
            continue
        at = node
        for branch, child in enumerate(children[:-1]):
            rest = children[-1] if branch == len(children) - 2 else n_nodes
            n_nodes += rest == n_nodes
            add(at, "BRANCH_LEQ", (place[node], branch + 0.5), (child, rest, 0))
            at = rest
    return dict(rows)


def _outputs(schema: Schema, classes: NDArray[Any] | None) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the last nodes of the graph, its outputs, and constants."""
    from onnx import TensorProto, helper

    prediction, class_probabilities = (
        name if name not in schema.names else f"{_PREFIX}{name}" for name in ("prediction", "probabilities")
    )
    if classes is None:
        node = helper.make_node("Identity", [f"{_PREFIX}leaf"], [prediction])
        return [node], [helper.make_tensor_value_info(prediction, TensorProto.FLOAT, [None, 1])], []
    is_text = not all(type(label) is int for label in classes.tolist())
    dtype = TensorProto.STRING if is_text else TensorProto.INT64
    labels: Any = [str(label).encode() if is_text else label for label in classes.tolist()]
    constants = [helper.make_tensor(f"{_PREFIX}labels", dtype, [len(labels)], labels)]
    ends = {"0": 0, "1": 1, "end": len(labels) + 1}
    constants += [
        helper.make_tensor(f"{_PREFIX}{name}", TensorProto.INT64, [1], [k]) for name, k in ends.items()
    ]
    zero, one, end = (f"{_PREFIX}{name}" for name in ends)
    nodes = [
        helper.make_node("Slice", [f"{_PREFIX}leaf", zero, one, one], [f"{_PREFIX}code"]),
        helper.make_node("Squeeze", [f"{_PREFIX}code", one], [f"{_PREFIX}flat"]),
        helper.make_node("Cast", [f"{_PREFIX}flat"], [f"{_PREFIX}whole"], to=TensorProto.INT64),
        helper.make_node("Gather", [f"{_PREFIX}labels", f"{_PREFIX}whole"], [prediction]),
        helper.make_node("Slice", [f"{_PREFIX}leaf", one, end, one], [class_probabilities]),
    ]
    outputs = [
        helper.make_tensor_value_info(prediction, dtype, [None]),
        helper.make_tensor_value_info(class_probabilities, TensorProto.FLOAT, [None, len(labels)]),
    ]
    return nodes, outputs, constants
