"""Out-of-fold predictions of relational trees, and the choice of their size and shrinkage by them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.forest import Forest, Packed
from crosscut.forest.predict import HeldOut
from crosscut.forest.pruning_table import Objective
from crosscut.forest.tree import decisions, probabilities
from crosscut.statistics.validation import TreeValidation, Validation
from crosscut_relational.queries.tree import RelationalTree, linked, no_branches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.forest.pruning_table import PruningTable
    from crosscut.forest.tree import Tree
    from crosscut_relational.language.settings import Settings
    from crosscut_relational.queries.tree import Node


class RelationalValidation(Validation):
    """Out-of-fold results of relational trees: the final tree, and those of the folds.

    ``leaf`` is the leaf that each held-out example reaches, as a number of its tree's nodes in preorder.
    """

    def __init__(
        self,
        trees: Sequence[RelationalTree],
        rows: NDArray[np.int64],
        row_start: NDArray[np.int64],
        *,
        leaf: NDArray[np.int32],
        y: NDArray[Any],
        classes: NDArray[Any] | None,
        settings: Settings,
    ) -> None:
        self.trees, self.leaf, self.settings = trees, leaf, settings
        self.nodes = [list(tree.root.walk()) for tree in trees]
        numbers = [leaf[begin:end] for begin, end in pairwise(row_start)]
        self.reached = [[self.nodes[t][i] for i in each] for t, each in enumerate(numbers)]
        m = settings.m_estimate or 0.0
        values = [tree.values(reached, m) for tree, reached in zip(trees, self.reached, strict=True)]
        super().__init__(y, classes, rows, row_start, np.concatenate(values))

    @cached_property
    def decided(self) -> NDArray[Any]:
        """Class code, or number, that the leaf of each held-out example predicts."""
        values = np.array([leaf.prediction for each in self.reached for leaf in each], np.float64)
        return values if self.classes is None else values.astype(np.int64)

    @cached_property
    def predictions(self) -> NDArray[Any]:
        """Out-of-fold predictions. For examples in no fold: NaN for numbers, an error for classes."""
        if self.classes is None or len(self.rows) < len(self.y):
            return super().predictions
        codes = np.empty(len(self.y), np.int64)
        codes[self.rows] = self.decided
        return np.asarray(self.classes[codes])

    @property
    def objective(self) -> Objective:
        """What the size of the tree and its shrinkage minimise."""
        shrinkage = self.settings.shrinkage if self.settings.chooses else None
        if self.classes is None:
            return Objective("impurity", "squared", shrinkage)
        return Objective("impurity", "error" if shrinkage is None else "brier", shrinkage)

    @cached_property
    def of_arrays(self) -> TreeValidation:
        """The same results for the trees as arrays, whose tests are numbers of different tests."""
        held_out = HeldOut(self.rows, self.row_start, self.leaf)
        forest = Forest(_packed(self.nodes, self.settings))
        result = TreeValidation(
            forest, held_out, self.y, self.classes, self.weights, objective=self.objective
        )
        result.groups = self.groups
        return result

    @property
    def pruning_table(self) -> PruningTable:
        """The cross-validated pruning table."""
        return self.of_arrays.pruning_table

    def chosen(self, table: PruningTable) -> RelationalValidation:
        """Return the results of the pruning that the settings choose, corrected for the choice."""
        assert self.settings.pruning == "best" or self.settings.pruning == "1se"  # noqa: PLR1714, for mypy
        arrays = self.of_arrays
        smaller = arrays.chosen(table, self.settings.pruning)
        packed = arrays.forest.packed
        kept = packed.cut(table.tests_kept(packed, table.choose(self.settings.pruning)))[1] >= 0
        strength = float(table.shrinkage[table.choose(self.settings.pruning)])
        trees, last = [], 0
        for tree, nodes, cut in zip(self.trees, self.nodes, smaller.forest, strict=True):
            first, last = last, last + len(nodes)
            left = [node for node, stays in zip(nodes, kept[first:last], strict=True) if stays]
            no = np.full(len(cut), -1)
            no[cut.feature >= 0] = cut.children[1::2]
            left = [
                replace(node, test=node.test if test >= 0 else (), yes=None, no=None)
                for node, test in zip(left, cut.feature, strict=True)
            ]
            if strength:
                left = _shrunk(left, cut, classifies=self.classes is not None)
            trees.append(replace(tree, root=linked(left, no.tolist())))
        result = RelationalValidation(
            trees,
            self.rows,
            self.row_start,
            leaf=smaller.held_out.leaf,
            y=self.y,
            classes=self.classes,
            settings=self.settings,
        )
        result.weights, result.groups, result.selection = self.weights, self.groups, smaller.selection
        return result


def _shrunk(nodes: Sequence[Node], tree: Tree, *, classifies: bool) -> list[Node]:
    """Return nodes that predict the shrunk class probabilities or means of a tree."""
    if not classifies:
        means = tree.value[:, 0].tolist()
        return [replace(node, prediction=mean) for node, mean in zip(nodes, means, strict=True)]
    decided, values = decisions(tree.value).tolist(), probabilities(tree.value).tolist()
    return [
        replace(node, prediction=float(code), shrunk=tuple(value))
        for node, code, value in zip(nodes, decided, values, strict=True)
    ]


def _packed(trees: Sequence[Sequence[Node]], settings: Settings) -> Packed:
    """Return trees, given by their nodes in preorder, as the arrays that pruning works on.

    A test becomes a numeric test of a column of its own; the *yes* branch is branch 0.
    """
    flat = [node for nodes in trees for node in nodes]
    numbers = {test: number for number, test in enumerate(dict.fromkeys(node.test for node in flat))}
    inner = np.array([not node.is_leaf for node in flat])
    start = np.cumsum([0, *map(len, trees)]).astype(np.int64)
    tests = np.split(inner, start[1:-1])
    no = [np.array(no_branches(nodes)) for nodes in trees]
    children = [
        np.stack([np.flatnonzero(of_tree) + 1, no[t][of_tree]], axis=1).ravel()
        for t, of_tree in enumerate(tests)
    ]
    statistics = np.array([node.statistics for node in flat], np.float64)
    nan, n_trees = np.full(len(flat), np.nan), len(trees)
    if settings.regression:
        weight, value = statistics[:, 0], statistics[:, 1:2]
        impurity = statistics[:, 2] / weight
    else:
        weight, value = statistics.sum(axis=1), statistics
        fractions = value / weight[:, None]
        impurity = 1 - np.einsum("ij,ij->i", fractions, fractions)
    depth = np.zeros(len(flat), np.int32)
    for t, below in enumerate(children):
        of_tree = depth[start[t] : start[t + 1]]
        for parent, pair in zip(np.flatnonzero(tests[t]), below.reshape(-1, 2), strict=True):
            of_tree[pair] = of_tree[parent] + 1
    return Packed(
        node_start=start,
        branch_start=np.zeros(n_trees + 1, np.int64),
        feature=np.array([numbers[node.test] if node.test else -1 for node in flat], np.int32),
        threshold=np.where(inner, 0.0, np.nan),
        missing=np.where(inner, 1, -1).astype(np.int32),
        first_child=np.concatenate([2 * np.cumsum([0, *of_tree]) for of_tree in tests]).astype(np.int64),
        children=np.concatenate(children).astype(np.int32),
        first_branch=np.zeros(len(flat) + n_trees, np.int64),
        branches=np.empty((0, 2), np.int32),
        low=nan.astype(np.float32),
        high=nan.astype(np.float32),
        depth=depth,
        n_rows=np.rint(weight).astype(np.int64),
        weight=np.ascontiguousarray(weight),
        value=np.ascontiguousarray(value),
        impurity=np.ascontiguousarray(impurity),
    )
