"""Find the parts that the trees of a forest share (the paper's Figure 3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from crosscut.forest.forest import Packed


@dataclass(eq=False)
class SharedNode:
    """A node of the forest: nodes of several tasks' trees that are reached by the same tests.

    ``groups`` are the sets of tasks with the same test here, the largest first; with more than one, the node
    is a fork. Tasks for which the node is a leaf are in no group. ``children[g]`` are the nodes below group
    ``g``, one per branch.
    """

    depth: int
    tasks: tuple[int, ...]
    nodes: tuple[int, ...]  # the node's number in each task's tree
    groups: tuple[tuple[int, ...], ...] = ()
    children: tuple[tuple[SharedNode, ...], ...] = field(default=(), repr=False)

    @property
    def is_fork(self) -> bool:
        """Whether tasks chose different tests here (the paper's bifurcation point)."""
        return len(self.groups) > 1

    def __iter__(self) -> Iterator[SharedNode]:
        """Iterate over this node and all below it, in preorder."""
        todo = [self]
        while todo:
            node = todo.pop()
            yield node
            todo.extend(child for below in reversed(node.children) for child in reversed(below))


@dataclass(frozen=True, eq=False)
class Sharing:
    """Nodes and tests that the trees of a forest have in common, by level; level 0 is the root.

    f(i) is the number of different tests per test of an average tree: 1 if all trees agree, and the number of
    trees if all differ (section 3.2.1 of the paper).
    """

    packed: Packed = field(repr=False)
    place: NDArray[np.int64] = field(repr=False)  # the forest's node of each tree's node
    test: NDArray[np.int64] = field(repr=False)  # the forest's test of each tree's node, -1 at leaves
    n_trees: int
    f: NDArray[np.float64]  # the paper's f(i): 1 to n_trees
    n_tests: NDArray[np.int64]  # different tests on each level
    n_forks: NDArray[np.int64]  # forks on each level
    n_nodes: NDArray[np.int64]  # nodes of the forest with a test, on each level
    n_tree_nodes: NDArray[np.int64]  # nodes with a test, summed over the trees, on each level

    @classmethod
    def of(cls, packed: Packed) -> Sharing:
        """Compare the trees of a forest.

        Two tests are the same if one threshold (or one grouping of categories) fits both: the cuts lie
        between overlapping pairs of training values, so they split the training rows of both tasks in the
        same way.
        """
        place, test = _places(packed)
        inner = np.flatnonzero(test >= 0)
        tests, nodes = (inner[np.unique(of[inner], return_index=True)[1]] for of in (test, place))
        forks = nodes[np.bincount(place[tests])[place[nodes]] > 1]
        n_tests, n_forks, n_nodes, n_tree_nodes = (
            np.bincount(packed.depth[part], minlength=int(packed.depth.max()))
            for part in (tests, forks, nodes, inner)
        )
        f = n_tests * packed.n_trees / np.maximum(n_tree_nodes, 1)
        return cls(packed, place, test, packed.n_trees, f, n_tests, n_forks, n_nodes, n_tree_nodes)

    @cached_property
    def root(self) -> SharedNode:
        """The forest as nodes with children."""
        packed, place, test = self.packed, self.place.tolist(), self.test.tolist()
        tasks = packed.tree_of.tolist()
        numbers = (np.arange(len(place)) - packed.node_start[packed.tree_of]).tolist()
        members: list[list[int]] = [[] for _ in range(max(place) + 1)]
        for node, at in enumerate(place):  # tree by tree, so tasks ascend
            members[at].append(node)
        shared_nodes = [
            SharedNode(
                int(packed.depth[nodes[0]]), *zip(*((tasks[i], numbers[i]) for i in nodes), strict=True)
            )
            for nodes in members
        ]
        below: dict[int, list[SharedNode]] = {}
        for at, nodes in enumerate(members[1:], 1):  # places below a test are consecutive, ordered by branch
            above = int(packed.node_start[tasks[nodes[0]]]) + int(packed.parent[nodes[0]])
            below.setdefault(test[above], []).append(shared_nodes[at])
        for shared, nodes in zip(shared_nodes, members, strict=True):
            groups: dict[int, list[int]] = {}
            for node in nodes:
                if test[node] >= 0:
                    groups.setdefault(test[node], []).append(tasks[node])
            order = sorted(groups, key=lambda t: (-len(groups[t]), groups[t]))
            shared.groups = tuple(tuple(groups[t]) for t in order)
            shared.children = tuple(tuple(below[t]) for t in order)
        return shared_nodes[0]

    def __repr__(self) -> str:
        lines = [f"{self.n_trees} trees; level: tests of the trees, nodes of the forest, forks, f(i)"]
        lines += [
            f"{i:5d}: {tests:6d} {nodes:6d} {forks:6d} {f:6.2f}"
            for i, (tests, nodes, forks, f) in enumerate(
                zip(self.n_tree_nodes, self.n_nodes, self.n_forks, self.f, strict=True), 1
            )
        ]
        return "\n".join(lines)


def _places(packed: Packed) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the forest's node and test of each tree's node; computed level by level."""
    place, test = np.zeros(len(packed.feature), np.int64), np.full(len(packed.feature), -1)
    branch, multiway = _branches(packed)
    n_tests = n_places = 1
    levels = [(np.flatnonzero(packed.depth == 0), None), *packed.by_depth()]
    for nodes, parents in levels:
        if parents is not None:
            key = test[parents] * (int(branch.max()) + 1) + branch[nodes]
            place[nodes] = n_places + np.unique(key, return_inverse=True)[1]
            n_places = int(place[nodes].max()) + 1
        inner = nodes[packed.feature[nodes] >= 0]
        nominal = np.isnan(packed.threshold[inner])
        for group, number in ((inner[~nominal], _same_cuts), (inner[nominal], _same_categories)):
            if len(group):
                test[group] = n_tests + number(packed, group, place, multiway)
                n_tests = int(test[group].max()) + 1
    return place, test


def _runs(*keys: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where runs of equal keys begin."""
    changes = [np.append(True, key[1:] != key[:-1]) for key in keys]
    return np.asarray(np.logical_or.reduce(changes))


def _same_cuts(
    packed: Packed, nodes: NDArray[np.int64], place: NDArray[np.int64], _multiway: bool
) -> NDArray[np.int64]:
    """Return a number for each node's test; overlapping cuts of one column in one place share it."""
    low, high = packed.low[nodes].astype(np.float64), packed.high[nodes].astype(np.float64)
    unknown = np.isnan(low) | np.isnan(high)  # bins and "present | missing": compare thresholds
    low, high = (np.where(unknown, packed.threshold[nodes], end) for end in (low, high))
    order = np.lexsort((nodes, high, low, packed.feature[nodes], place[nodes]))
    low, high = low[order], high[order]
    begins = _runs(place[nodes][order], packed.feature[nodes][order])
    first = np.flatnonzero(begins)
    size, least = np.diff(first, append=len(order)), high[first]
    for k in range(1, int(size.max())):  # the k-th cut of every run; all cuts of a test overlap
        runs = np.flatnonzero(size > k)
        at = first[runs] + k
        begins[at] = (low[at] >= least[runs]) & ~((low[at] == high[at]) & (high[at] == least[runs]))
        least[runs] = np.where(begins[at], high[at], np.minimum(least[runs], high[at]))
    number = np.empty(len(nodes), np.int64)
    number[order] = np.cumsum(begins) - 1
    return number


def _same_categories(
    packed: Packed, nodes: NDArray[np.int64], place: NDArray[np.int64], multiway: bool
) -> NDArray[np.int64]:
    """Return a number for each node's test; tests that agree on all common categories share it."""
    order = np.lexsort((nodes, packed.feature[nodes], place[nodes]))
    begins = _runs(place[nodes][order], packed.feature[nodes][order])
    number, n_tests = np.empty(len(nodes), np.int64), 0
    width = int(packed.branches[:, 0].max()) + 1
    for members in np.split(order, np.flatnonzero(begins)[1:]):
        groups: list[NDArray[Any]] = []
        for i in members:
            category, branch = _branches_of(packed, int(nodes[i])).T
            taken = np.full(width, -1)
            # multiway: one branch per category, so only which categories occur matters
            taken[category] = category if multiway else branch
            same = (g for g, agreed in enumerate(groups) if _agree(taken, agreed))
            if (g := next(same, len(groups))) == len(groups):
                groups.append(taken)
            groups[g] = np.where(groups[g] < 0, taken, groups[g])
            number[i] = n_tests + g
        n_tests += len(groups)
    return number


def _agree(a: NDArray[Any], b: NDArray[Any]) -> bool:
    both = (a >= 0) & (b >= 0)
    return np.array_equal(a[both], b[both])


def _branches_of(packed: Packed, node: int) -> NDArray[np.int32]:
    """Return the categories that occur at a node with a nominal test, and the branch of each."""
    tree = int(packed.tree_of[node])
    begin, end = packed.branch_start[tree] + packed.first_branch[node + tree : node + tree + 2]
    return packed.branches[begin:end]


def _branches(packed: Packed) -> tuple[NDArray[np.int64], bool]:
    """Return the branch that leads to each node, and whether nominal tests have one branch per category.

    If they do, the branch is the code of the category. All nominal tests of a forest are of the same kind.
    """
    owner = packed.child_owner
    children = packed.node_start[packed.tree_of[owner]] + packed.children
    n_branches = np.bincount(owner, minlength=len(packed.feature))
    first = np.cumsum(n_branches) - n_branches
    branch = np.zeros(len(packed.feature), np.int64)
    branch[children] = np.arange(len(owner)) - first[owner]
    nominal = np.isnan(packed.threshold) & (packed.feature >= 0)
    multiway = bool(np.any(nominal & (n_branches > 2)))
    if multiway:
        for node in np.flatnonzero(nominal):
            category, taken = _branches_of(packed, int(node)).T
            branch[children[first[node] + taken]] = category
    return branch, multiway
