"""The tree of a task while it grows level by level."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut import _core
from crosscut.forest.tree import SHARED, Tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from crosscut.data.grid import ExactGrid, Grids
    from crosscut.engines.stream.coding import Coding
    from crosscut.forest.forest import Packed
    from crosscut.tasks.growth import Criterion, Limits

_TREE_FIELDS = tuple(f.name for f in fields(Tree) if f.name not in SHARED)
_NO_BRANCHES = np.empty(0, np.int32)


@dataclass
class GrowingTree:
    """Nodes in the order of their creation; node 0 is the root."""

    depth: list[int] = field(default_factory=list)
    n_rows: list[int] = field(default_factory=list)
    stats: list[NDArray[np.float64]] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=list)
    # nominal tests: the branch of each code, -1 if it is not present; otherwise empty
    branches: list[NDArray[np.int32]] = field(default_factory=list)
    subtrees: dict[int, Tree] = field(default_factory=dict)  # grown in memory, replacing a node
    weight: float = 0.0  # of all rows, by which impurity decreases are divided

    def add_node(self, depth: int, n_rows: int, stats: NDArray[np.float64]) -> int:
        """Add a leaf."""
        self.depth.append(depth)
        self.n_rows.append(n_rows)
        self.stats.append(stats)
        self.feature.append(-1)
        self.threshold.append(math.nan)
        self.missing.append(-1)
        self.children.append([])
        self.branches.append(_NO_BRANCHES)
        return len(self.depth) - 1

    def may_split(self, node: int, limits: Limits, n_classes: int) -> bool:
        """Whether the limits allow a node to have a test."""
        n = self.n_rows[node]
        if limits.max_depth is not None and self.depth[node] >= limits.max_depth:
            return False
        if n < limits.min_samples_split or n < 2 * limits.min_samples_leaf:
            return False
        return not (n_classes and np.count_nonzero(self.stats[node] > 0) <= 1)

    def flatten(self, n_classes: int, criterion: Criterion) -> Tree:
        """Return the tree with nodes in preorder; values are set only if they are counts."""
        order = list(self._preorder())
        sizes = [len(self.subtrees[node]) if node in self.subtrees else 1 for node in order]
        start = np.concatenate([[0], np.cumsum(sizes)])
        number = {node: int(at) for node, at in zip(order, start, strict=False)}
        pieces = [
            self.subtrees[node] if node in self.subtrees else self._single(node, n_classes, criterion)
            for node in order
        ]
        arrays: dict[str, Any] = {}
        for name in _TREE_FIELDS:
            if name not in {"first_child", "first_branch", "children", "depth"}:
                arrays[name] = np.concatenate([getattr(part, name) for part in pieces])
        arrays["depth"] = np.concatenate(
            [part.depth + self.depth[node] for node, part in zip(order, pieces, strict=True)]
        ).astype(np.int32)
        children = [
            part.children + int(at)
            if node in self.subtrees
            else np.array([number[child] for child in self.children[node]], np.int32)
            for node, part, at in zip(order, pieces, start, strict=False)
        ]
        n_children = [np.diff(part.first_child) for part in pieces]
        arrays["children"] = np.concatenate(children).astype(np.int32)
        arrays["first_child"] = np.cumsum(np.concatenate([[0], *n_children]), dtype=np.int64)
        n_branches = [np.diff(part.first_branch) for part in pieces]
        arrays["first_branch"] = np.cumsum(np.concatenate([[0], *n_branches]), dtype=np.int64)
        return Tree(**arrays)

    def _preorder(self) -> Iterator[int]:
        stack = [0]
        while stack:
            node = stack.pop()
            yield node
            stack += reversed(self.children[node])

    def _single(self, node: int, n_classes: int, criterion: Criterion) -> Tree:
        """Return a node as a tree without its children."""
        stats = self.stats[node] if n_classes else np.zeros(1)
        weight = 0.0
        for v in stats.tolist():
            weight += v
        impurity = impurity_of(stats.tolist(), weight, criterion) if n_classes else 0.0
        nan = np.array([np.nan], np.float32)
        category = np.flatnonzero(self.branches[node] >= 0)
        return Tree(
            feature=np.array([self.feature[node]], np.int32),
            threshold=np.array([self.threshold[node]]),
            missing=np.array([self.missing[node]], np.int32),
            first_child=np.array([0, len(self.children[node])], np.int64),
            children=np.empty(0, np.int32),  # numbered by `flatten`
            first_branch=np.array([0, len(category)], np.int64),
            branches=np.stack([category, self.branches[node][category]], axis=1).astype(np.int32),
            low=nan,
            high=nan,
            depth=np.zeros(1, np.int32),
            n_rows=np.array([self.n_rows[node]], np.int64),
            weight=np.array([weight]),
            value=stats.reshape(1, -1).astype(np.float64),
            impurity=np.array([impurity]),
        )

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything as arrays, for a checkpoint."""
        arrays: dict[str, Any] = {
            name: np.array(getattr(self, name))
            for name in ("depth", "n_rows", "stats", "feature", "threshold", "missing")
        }
        for name in ("children", "branches"):
            lists = getattr(self, name)
            arrays[f"n_{name}"] = np.array([len(values) for values in lists], np.int64)
            arrays[name] = np.array([v for values in lists for v in values], np.int32)
        arrays["weight"] = np.array(self.weight)
        arrays["subtrees"] = np.array(list(self.subtrees), np.int64)
        for node, tree in self.subtrees.items():
            arrays |= {f"subtree{node}.{name}": getattr(tree, name) for name in _TREE_FIELDS}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> GrowingTree:
        """Return the tree of a checkpoint."""
        values: dict[str, Any] = {
            name: arrays[name].tolist() for name in ("depth", "n_rows", "feature", "threshold", "missing")
        }
        values["stats"] = list(arrays["stats"])
        for name in ("children", "branches"):
            lists = parts(arrays[name], arrays[f"n_{name}"])
            values[name] = [part.tolist() if name == "children" else part for part in lists]
        values["subtrees"] = {
            node: Tree(**{name: arrays[f"subtree{node}.{name}"] for name in _TREE_FIELDS})
            for node in arrays["subtrees"].tolist()
        }
        return cls(**values, weight=float(arrays["weight"]))


def parts(array: NDArray[Any], counts: NDArray[Any]) -> list[NDArray[Any]]:
    """Cut an array into parts of the given lengths."""
    if counts.min(initial=0) < 0 or int(counts.sum()) != len(array):
        raise ValueError("the lengths of lists do not fit")
    return np.split(array, np.cumsum(counts)[:-1]) if len(counts) else []


def impurity_of(value: list[float], weight: float, criterion: Criterion) -> float:
    """Return the impurity of class weights (docs/semantics.md, leaf values)."""
    return float(_core.impurity(criterion, np.array([value]), np.array([weight]))[0])


def coded_trees(packed: Packed, coding: Coding) -> Packed:
    """Return the trees with codes as thresholds: each threshold is the edge after a bin."""
    threshold = packed.threshold.copy()
    for f in np.unique(packed.feature[~np.isnan(threshold)]).tolist():
        nodes = packed.feature == f
        threshold[nodes] = np.searchsorted(coding.edges[f], packed.threshold[nodes], side="left")
    return replace(packed, threshold=threshold)


def with_values(packed: Packed, leaf_sums: NDArray[np.int64], grids: Grids, criterion: Criterion) -> Packed:
    """Set the values of all nodes: leaves from their rows, inner nodes from their children."""
    total = leaf_sums.copy()
    for nodes, parents in reversed(list(packed.by_depth())):
        np.add.at(total, parents, total[nodes])
    if not grids.numbers:
        return _with_class_weights(packed, total, grids.trained, criterion)
    weight, mean, impurity = np.empty(len(total)), np.empty((len(total), 1)), np.empty(len(total))
    for i, digits in enumerate(total.tolist()):
        parts = pairwise(grids.trained.starts)
        wy, w, wyy = (grids.trained.value(q, digits[first:end]) for q, (first, end) in enumerate(parts))
        weight[i], mean[i, 0], impurity[i] = float(w), float(wy / w), float(wyy / w - (wy / w) ** 2)
    return replace(packed, weight=weight, value=mean, impurity=impurity)


def _with_class_weights(
    packed: Packed, total: NDArray[np.int64], grid: ExactGrid, criterion: Criterion
) -> Packed:
    width = grid.starts[-1]
    n_classes = total.shape[1] // width
    weight, value, impurity = np.empty(len(total)), np.empty((len(total), n_classes)), np.empty(len(total))
    for i, digits in enumerate(total.tolist()):
        sums = [grid.value(0, digits[c * width : (c + 1) * width]) for c in range(n_classes)]
        class_weights = [float(v) for v in sums]
        weight[i], value[i] = float(sum(sums)), class_weights
        impurity[i] = impurity_of(class_weights, float(weight[i]), criterion)
    return replace(packed, weight=weight, value=value, impurity=impurity)
