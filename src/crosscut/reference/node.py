"""A grown tree as nested nodes, the information in its nodes, and its conversion to arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from crosscut.forest.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from crosscut.reference.examples import Examples
    from crosscut.reference.task import Task
    from crosscut.reference.test import Test


@dataclass(frozen=True)
class Info:
    """info(T) of Figure 1: a summary of the training examples of a node."""

    n_rows: int
    weight: float
    value: tuple[float, ...]  # class weights, or the mean
    impurity: float
    pure: bool


@dataclass(frozen=True)
class Node:
    """A leaf, or a test with one child per branch."""

    info: Info
    test: Test | None = None
    children: list[Node] = field(default_factory=list)


def info(examples: Examples, task: Task, rows: NDArray[np.int64]) -> Info:
    """Return the summary of examples; sums are exact, and every value is rounded once."""
    times = task.multiplicity[rows]
    w = np.repeat(examples.weights[rows], times)
    y = np.repeat(examples.y[rows], times)
    weight = math.fsum(w)
    pure = bool(np.all(y == y[0]))
    if examples.n_classes == 0:
        W, WY = (examples.amounts[rows, 1:] * times[:, None]).sum(axis=0)
        WYY = (examples.squares[rows] * times).sum()
        unit = Fraction(2) ** examples.units[1]
        mean = Fraction(WY, W) * unit
        variance = Fraction(WYY, W) * unit * unit - mean * mean
        return Info(len(rows), weight, (float(mean),), float(variance), pure)
    value = tuple(math.fsum(w[y == c]) for c in range(examples.n_classes))
    gini = {"gini": True, "entropy": False, "gain_ratio": False}[examples.growth.criterion]
    total = 0.0
    for q in (v / weight for v in value):  # not `sum`, which rounds differently since Python 3.12
        total += q * q if gini else -q * math.log2(q) if q > 0 else 0.0
    return Info(len(rows), weight, value, 1.0 - total if gini else total, pure)


def flatten(root: Node, examples: Examples) -> Tree:
    """Return the tree as :class:`crosscut.forest.tree.Tree`, with nodes in preorder."""
    numbered = list(preorder(root, 0))
    number = {id(node): i for i, (node, _) in enumerate(numbered)}
    nodes = [node for node, _ in numbered]
    tests = [node.test for node in nodes]
    children = [[number[id(child)] for child in node.children] for node in nodes]
    branches = [
        [(code, test.branches.index(o)) for code, o in enumerate(test.outcomes) if o >= 0]
        if test and examples.is_nominal(test.column)
        else []
        for test in tests
    ]
    nan = float("nan")
    return Tree(
        feature=np.array([test.column if test else -1 for test in tests], np.int32),
        threshold=np.array([test.threshold if test else nan for test in tests], np.float64),
        missing=np.array([test.missing if test else -1 for test in tests], np.int32),
        first_child=np.cumsum([0, *map(len, children)], dtype=np.int64),
        children=np.array([child for of_node in children for child in of_node], np.int32),
        first_branch=np.cumsum([0, *map(len, branches)], dtype=np.int64),
        branches=np.array([entry for of_node in branches for entry in of_node], np.int32).reshape(-1, 2),
        low=np.array([test.low if test else nan for test in tests], np.float32),
        high=np.array([test.high if test else nan for test in tests], np.float32),
        depth=np.array([depth for _, depth in numbered], np.int32),
        n_rows=np.array([node.info.n_rows for node in nodes], np.int64),
        weight=np.array([node.info.weight for node in nodes], np.float64),
        value=np.array([node.info.value for node in nodes], np.float64),
        impurity=np.array([node.info.impurity for node in nodes], np.float64),
    )


def preorder(node: Node, depth: int) -> Iterator[tuple[Node, int]]:
    """Yield the nodes of a tree with their depths, parents first."""
    yield node, depth
    for child in node.children:
        yield from preorder(child, depth + 1)
