"""One grown decision tree as flat arrays, as every engine returns it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Tree:
    """A decision tree; node 0 is the root and nodes are numbered in preorder.

    Branch ``j`` of node ``i`` leads to node ``children[first_child[i] + j]``; a leaf has no branches and
    ``feature[i] == -1``. A numeric test sends ``value <= threshold[i]`` to branch 0 and the rest to branch 1.
    A nominal test has an entry ``(category, branch)`` for each category that occurs in the node's training
    rows, in the order of their codes: ``branches[first_branch[i]:first_branch[i + 1]]``. Missing values have
    the code after the last category. Missing and other categories take branch ``missing[i]``.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]  # NaN for nominal tests and leaves
    missing: NDArray[np.int32]  # branch of missing and unseen values, -1 at leaves
    first_child: NDArray[np.int64]  # n_nodes + 1 offsets into children
    children: NDArray[np.int32]
    first_branch: NDArray[np.int64]  # n_nodes + 1 offsets into branches (empty for numeric tests and leaves)
    branches: NDArray[np.int32]  # (n_entries, 2)
    low: NDArray[np.float32]  # the training values next to a numeric cut, else NaN
    high: NDArray[np.float32]
    depth: NDArray[np.int32]
    n_rows: NDArray[np.int64]  # training rows at the node
    weight: NDArray[np.float64]  # total weight of these rows
    value: NDArray[np.float64]  # (n_nodes, n_classes) class weights, or (n_nodes, 1) means
    impurity: NDArray[np.float64]
    loss: NDArray[np.float64] | None = None  # cost [class, predicted class] that leaves minimise
    class_weights: NDArray[np.float64] | None = None  # contained in ``value``

    def __len__(self) -> int:
        return len(self.feature)

    def __repr__(self) -> str:
        return f"Tree({self.n_leaves} leaves, depth {self.max_depth}, {int(self.n_rows[0])} rows)"

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.feature < 0))

    @property
    def max_depth(self) -> int:
        """Depth of the deepest leaf; a single leaf has depth 0."""
        return int(self.depth.max())

    def children_of(self, node: int) -> list[int]:
        """Return the children of a node in the order of its branches."""
        children: list[int] = self.children[self.first_child[node] : self.first_child[node + 1]].tolist()
        return children

    def branch_by_category(self, node: int, n_categories: int) -> NDArray[np.int32]:
        """Return the branch of each category at a nominal test, then of missing values; -1 without entry."""
        branch = np.full(n_categories + 1, -1, np.int32)
        category, taken = self._of("branches", node).T
        branch[category] = taken
        return branch

    def equals(self, other: Tree) -> bool:
        """Whether both trees are the same, bit for bit."""
        return all(
            np.array_equal(getattr(self, name), getattr(other, name), equal_nan=True)
            for name in self.__dataclass_fields__
            if name not in {"feature", "children", "first_child", "first_branch", "branches", *SHARED}
        ) and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("feature", "children", "first_child", "first_branch", "branches")
        )

    def difference(self, other: Tree) -> str | None:
        """Describe the first node in which another tree differs; None if both are the same, bit for bit.

        Examples
        --------
        >>> import numpy as np
        >>> from crosscut import TreeClassifier
        >>> X = np.arange(8.0).reshape(-1, 1)
        >>> deep, stump = (
        ...     TreeClassifier(max_depth=depth, cv=2).fit(X, [0, 0, 1, 1, 0, 0, 0, 0]).tree_
        ...     for depth in (2, 1)
        ... )
        >>> deep.difference(deep)
        >>> print(deep.difference(stump))  # doctest: +NORMALIZE_WHITESPACE
        node 1, on the path 0: column 0 <= 1.5, value [2. 2.] against a leaf, value [2. 2.]
        (different: feature, threshold, missing, low, high)
        """
        if self.equals(other):
            return None
        paths = {0: ""}
        for node in range(min(len(self), len(other))):
            differs = [
                name
                for name in _NODE_FIELDS
                if not np.array_equal(getattr(self, name)[node], getattr(other, name)[node], equal_nan=True)
            ]
            if not np.array_equal(self._of("branches", node), other._of("branches", node)):
                differs.append("branches")
            if differs:
                where = f"node {node}, on the path {paths[node]}" if node else "node 0, the root"
                tests = f"{self._described(node)} against {other._described(node)}"
                return f"{where}: {tests} (different: {', '.join(differs)})"
            for branch, child in enumerate(self._of("children", node).tolist()):
                paths[child] = f"{paths[node]} {branch}".strip()
        return f"{len(self)} nodes against {len(other)}, with another layout of their arrays"

    def _of(self, name: str, node: int) -> NDArray[Any]:
        """Return the part of ``children`` or ``branches`` that belongs to a node."""
        first = self.first_child if name == "children" else self.first_branch
        return np.asarray(getattr(self, name)[first[node] : first[node + 1]])

    def _described(self, node: int) -> str:
        """Return a node's test and value."""
        value = f"value {self.value[node]}"
        if self.feature[node] < 0:
            return f"a leaf, {value}"
        branches = self._of("branches", node)
        test = f"<= {self.threshold[node]}" if not len(branches) else f"by branches {branches.tolist()}"
        return f"column {self.feature[node]} {test}, {value}"


SHARED = ("loss", "class_weights")  # fields that describe all trees of a forest
_NODE_FIELDS = (
    "feature",
    "threshold",
    "missing",
    "low",
    "high",
    "depth",
    "n_rows",
    "weight",
    "value",
    "impurity",
)


def probabilities(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return class weights as probabilities, uniform for nodes without weight."""
    total: NDArray[np.float64] = value.sum(axis=1, keepdims=True)
    return np.where(total > 0, value / np.where(total > 0, total, 1.0), 1.0 / value.shape[1])


def decisions(value: NDArray[np.float64], loss: NDArray[np.float64] | None = None) -> NDArray[np.int64]:
    """Return the class code that each node predicts: the most probable, or with ``loss`` the cheapest class.

    Ties go to the first class. Probabilities are compared, not weights, so that ``predict`` agrees with
    ``predict_proba`` even if weights differ by a rounding error.
    """
    fractions = probabilities(value)
    return np.asarray(fractions.argmax(axis=1) if loss is None else expected(fractions, loss).argmin(axis=1))


def predictions(tree: Tree, classes: NDArray[Any] | None) -> NDArray[Any]:
    """Return the prediction of each node: a class, or the mean for regression."""
    return tree.value[:, 0] if classes is None else np.asarray(classes[decisions(tree.value, tree.loss)])


def expected(weights: NDArray[np.float64], loss: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cost of predicting each class for rows of these class weights."""
    cost = np.zeros((len(weights), loss.shape[1]))
    for of_class, row in zip(weights.T, loss, strict=True):  # a fixed order of summation
        cost += of_class[:, None] * row
    return cost


def proportions(tree: Tree) -> NDArray[np.float64]:
    """Return the probability of each class at each node for rows as they are, without class weights.

    With class weights, ``probabilities`` are those of rows in which classes are as frequent as their weights
    make them, and those decide on the predicted class.
    """
    if tree.class_weights is None:
        return probabilities(tree.value)
    weighted = tree.class_weights > 0
    return probabilities(np.where(weighted, tree.value / np.where(weighted, tree.class_weights, 1.0), 0.0))


def shares(tree: Tree) -> NDArray[np.float64]:
    """Return the proportion of the class that each node predicts."""
    return proportions(tree)[np.arange(len(tree)), decisions(tree.value, tree.loss)]
