"""Which parts the trees of a forest share (the paper's Figure 3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from crosscut.forest.tree import Tree


@dataclass(eq=False)
class SharedNode:
    """A node of the forest: the nodes of some tasks that were reached by the same tests.

    ``groups`` are the tasks that chose the same test here, largest group first; more than one makes the node
    a fork. Tasks for which the node is a leaf are in no group. ``children[g]`` are the nodes below group
    ``g``, one per branch.
    """

    depth: int
    tasks: tuple[int, ...]
    nodes: tuple[int, ...]  # the node's number in each task's tree
    groups: tuple[tuple[int, ...], ...] = ()
    children: tuple[tuple[SharedNode, ...], ...] = field(default=(), repr=False)

    @property
    def is_fork(self) -> bool:
        """Whether the tasks chose different tests here (the paper's bifurcation point)."""
        return len(self.groups) > 1

    def __iter__(self) -> Iterator[SharedNode]:
        """Iterate over this node and all below it, in preorder."""
        todo = [self]
        while todo:
            node = todo.pop()
            yield node
            todo.extend(child for below in reversed(node.children) for child in reversed(below))


@dataclass(frozen=True)
class Sharing:
    """How much the trees of a forest have in common; level 0 is the root.

    f(i) is the number of different tests per test of an average tree: 1 while all trees agree, the number of
    trees once each goes its own way (section 3.2.1 of the paper).
    """

    root: SharedNode
    n_trees: int
    f: NDArray[np.float64]  # the paper's f(i): how often the work of a level is done, 1 to n_trees
    n_tests: NDArray[np.int64]  # different tests on each level
    n_forks: NDArray[np.int64]  # forks on each level
    n_nodes: NDArray[np.int64]  # nodes of the forest with a test, on each level
    n_tree_nodes: NDArray[np.int64]  # nodes with a test, summed over the trees, on each level

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> Sharing:
        """Compare the trees of a forest.

        Two tasks chose the same test if one threshold (or one grouping of categories) would do for both:
        their cuts lie between overlapping pairs of training values, so no training row of either tells them
        apart.
        """
        root = _share(trees)
        depth = max(tree.max_depth for tree in trees)
        n_tests, n_nodes, n_forks, n_tree_nodes = np.zeros((4, depth), dtype=np.int64)
        for node in root:
            if node.groups:
                n_nodes[node.depth] += 1
                n_tests[node.depth] += len(node.groups)
                n_forks[node.depth] += node.is_fork
                n_tree_nodes[node.depth] += sum(len(group) for group in node.groups)
        return cls(
            root,
            len(trees),
            n_tests * len(trees) / np.maximum(n_tree_nodes, 1),
            n_tests,
            n_forks,
            n_nodes,
            n_tree_nodes,
        )

    def __str__(self) -> str:
        lines = [f"{self.n_trees} trees; level: tests of the trees, nodes of the forest, forks, f(i)"]
        lines += [
            f"{i:5d}: {tests:6d} {nodes:6d} {forks:6d} {f:6.2f}"
            for i, (tests, nodes, forks, f) in enumerate(
                zip(self.n_tree_nodes, self.n_nodes, self.n_forks, self.f, strict=True), 1
            )
        ]
        return "\n".join(lines)


def _share(trees: Sequence[Tree]) -> SharedNode:
    # one branch per category, or two sets of categories: all nominal tests of a forest are of one kind
    multiway = any(
        np.any((np.diff(tree.first_child) > 2) & np.isnan(tree.threshold) & (tree.feature >= 0))
        for tree in trees
    )
    tasks = tuple(range(len(trees)))
    root = SharedNode(0, tasks, (0,) * len(trees))
    todo = [root]
    while todo:
        node = todo.pop()
        at = dict(zip(node.tasks, node.nodes, strict=True))
        node.groups = _same_tests(trees, at, multiway)
        node.children = tuple(
            tuple(
                SharedNode(node.depth + 1, tuple(branch), tuple(branch.values()))
                for branch in _branches(trees, {task: at[task] for task in group}, multiway)
            )
            for group in node.groups
        )
        todo.extend(child for below in node.children for child in below)
    return root


def _same_tests(trees: Sequence[Tree], at: dict[int, int], multiway: bool) -> tuple[tuple[int, ...], ...]:
    """Return the tasks grouped by the test they chose, largest group first, without tasks that stop here."""
    by_feature: dict[tuple[int, bool], list[tuple[int, int]]] = {}
    for task, node in at.items():
        tree = trees[task]
        feature = int(tree.feature[node])
        if feature >= 0:
            nominal = bool(np.isnan(tree.threshold[node]))
            by_feature.setdefault((feature, nominal), []).append((task, node))
    groups: list[tuple[int, ...]] = []
    for (_, nominal), members in sorted(by_feature.items()):
        groups += _same_categories(trees, members, multiway) if nominal else _same_cuts(trees, members)
    return tuple(sorted(groups, key=lambda group: (-len(group), group)))


def _same_cuts(trees: Sequence[Tree], members: list[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Group cuts by overlapping neighbours: all members of a group overlap."""
    cuts = []
    for task, node in members:
        tree = trees[task]
        low, high = float(tree.low[node]), float(tree.high[node])
        if np.isnan(low) or np.isnan(high):  # bins and "present | missing": the threshold itself is the test
            low = high = float(tree.threshold[node])
        cuts.append((low, high, task))
    groups: list[list[int]] = []
    least_high = -np.inf
    for low, high, task in sorted(cuts):
        if groups and (low < least_high or low == high == least_high):
            groups[-1].append(task)
            least_high = min(least_high, high)
        else:
            groups.append([task])
            least_high = high
    return [tuple(sorted(group)) for group in groups]


def _same_categories(
    trees: Sequence[Tree], members: list[tuple[int, int]], multiway: bool
) -> list[tuple[int, ...]]:
    """Group by sets of categories that agree on every category both tasks have seen."""
    groups: list[tuple[NDArray[Any], list[int]]] = []
    for task, node in members:
        tree = trees[task]
        taken = tree.branches[tree.first_branch[node] : tree.first_branch[node + 1]].copy()
        if multiway:  # every category has its own branch, whatever its number among the categories seen
            taken = np.where(taken >= 0, np.arange(len(taken)), -1)
        for agreed, group in groups:
            both = (taken >= 0) & (agreed >= 0)
            if np.array_equal(taken[both], agreed[both]):
                agreed[agreed < 0] = taken[agreed < 0]
                group.append(task)
                break
        else:
            groups.append((taken, [task]))
    return [tuple(sorted(group)) for _, group in groups]


def _branches(trees: Sequence[Tree], at: dict[int, int], multiway: bool) -> list[dict[int, int]]:
    """Return, for each branch of a shared test, the tasks that have it and the node it leads to."""
    below: dict[int, dict[int, int]] = {}
    for task, node in at.items():
        tree = trees[task]
        children = tree.children[tree.first_child[node] : tree.first_child[node + 1]]
        if multiway and np.isnan(tree.threshold[node]):
            own = tree.branches[tree.first_branch[node] : tree.first_branch[node + 1]]
            keys = [int(np.flatnonzero(own == j)[0]) for j in range(len(children))]
        else:
            keys = list(range(len(children)))
        for key, child in zip(keys, children, strict=True):
            below.setdefault(key, {})[task] = int(child)
    return [below[key] for key in sorted(below)]
