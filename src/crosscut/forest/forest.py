"""Forest, the result of growing: the trees of all tasks in concatenated arrays."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from crosscut import _core
from crosscut.forest.tree import SHARED, Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from crosscut.forest.sharing import Sharing

_AT_LEAVES = {"feature": -1, "threshold": np.nan, "missing": -1, "low": np.nan, "high": np.nan}
PATHS = (
    *("node_start", "branch_start", "feature", "threshold", "missing"),
    *("first_child", "children", "first_branch", "branches"),
)
PER_NODE = (*_AT_LEAVES, "depth", "n_rows", "weight", "value", "impurity")


@dataclass(frozen=True, eq=False)
class Packed:
    """Concatenated arrays of many trees, in the layout of the C++ core.

    Tree ``t`` has the nodes ``node_start[t]:node_start[t + 1]``. Node numbers in ``children`` and the
    offsets in ``first_child`` and ``first_branch`` count from the start of the tree, so tree ``t`` is a slice
    of every array: ``first_child`` and ``first_branch`` have one more entry per tree than it has nodes,
    ``children`` has one fewer (every node except the root is a child), and ``branches`` has its own offsets
    ``branch_start``.
    """

    few_rows: ClassVar[float] = 4096  # this many reach few nodes, so preparing all nodes takes longer
    node_start: NDArray[np.int64]  # n_trees + 1
    branch_start: NDArray[np.int64]  # n_trees + 1
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing: NDArray[np.int32]
    first_child: NDArray[np.int64]
    children: NDArray[np.int32]
    first_branch: NDArray[np.int64]
    branches: NDArray[np.int32]  # (n_entries, 2)
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    depth: NDArray[np.int32]
    n_rows: NDArray[np.int64]
    weight: NDArray[np.float64]
    value: NDArray[np.float64]
    impurity: NDArray[np.float64]
    loss: NDArray[np.float64] | None = None
    class_weights: NDArray[np.float64] | None = None

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.node_start) - 1

    @cached_property
    def core(self) -> _core.Forest:
        """The trees as a core object; its arrays are checked once and become read-only."""
        arrays = [*self._paths, self.depth, self.n_rows, self.weight]
        for array in arrays:
            array.setflags(write=False)
        return _core.Forest(*arrays)

    @property
    def _paths(self) -> list[NDArray[Any]]:
        """The arrays that decide where a row goes, in the order of the core's arguments."""
        return [getattr(self, name) for name in PATHS]

    @property
    def _shared(self) -> dict[str, Any]:
        """The fields that describe all trees."""
        return {name: getattr(self, name) for name in SHARED}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "core"}

    def reached_by_few(self, n_rows: int) -> bool:
        """Whether this many rows reach few of the nodes."""
        return n_rows <= self.few_rows and 2 * n_rows < self.node_start[-1]

    def leaves_of_few(
        self, x: NDArray[Any], rows: NDArray[np.int64], row_start: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """Return the leaves of a few rows of each tree, tree by tree; checks only nodes on their paths."""
        return _core.leaves_of_few(*[*self._paths, x, rows, row_start])

    def value_of(self, node: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the values of some nodes, numbered over all trees."""
        return self.value[node]

    def with_fields(self, **changes: Any) -> Packed:
        """Return the trees with other arrays."""
        return replace(self, **changes)

    @cached_property
    def parent(self) -> NDArray[np.int32]:
        """Each node's parent (a number within its tree), -1 at roots."""
        return self.core.parents()

    @cached_property
    def tree_of(self) -> NDArray[np.int64]:
        """Each node's tree."""
        return np.repeat(np.arange(self.n_trees), np.diff(self.node_start))

    @cached_property
    def alphas(self) -> dict[str, NDArray[np.float64]]:
        """Cache of ``smaller_trees.node_alphas`` by measure."""
        return {}

    @cached_property
    def child_owner(self) -> NDArray[np.int64]:
        """The parent of each entry of ``children``, numbered over all trees."""
        return self._owners(self.first_child)

    def by_depth(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield the nodes of depth 1, 2, … with their parents, both numbered over all trees."""
        order = np.argsort(self.depth, kind="stable")
        bounds = np.searchsorted(self.depth[order], np.arange(1, int(self.depth.max()) + 2))
        for begin, end in pairwise(bounds):
            nodes = order[begin:end]
            yield nodes, self.node_start[self.tree_of[nodes]] + self.parent[nodes]

    def ends(self, inner: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return where a row that reaches each node ends if only the ``inner`` nodes have tests."""
        at = np.arange(len(self.feature))
        for nodes, parents in self.by_depth():
            ended = (at[parents] != parents) | ~inner[parents]
            at[nodes] = np.where(ended, at[parents], nodes)
        return at

    def tree(self, t: int) -> Tree:
        """Return tree ``t``; its arrays are views."""
        begin, end = int(self.node_start[t]), int(self.node_start[t + 1])
        offsets = slice(begin + t, end + t + 1)
        return Tree(
            first_child=self.first_child[offsets],
            children=self.children[begin - t : end - t - 1],
            first_branch=self.first_branch[offsets],
            branches=self.branches[self.branch_start[t] : self.branch_start[t + 1]],
            **{name: getattr(self, name)[begin:end] for name in PER_NODE},
            **self._shared,
        )

    def trees(self) -> tuple[Tree, ...]:
        """Return all trees."""
        return tuple(self.tree(t) for t in range(self.n_trees))

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> Packed:
        """Concatenate the arrays of ``trees``."""
        arrays: dict[str, Any] = {
            field.name: np.concatenate([getattr(tree, field.name) for tree in trees])
            for field in fields(cls)
            if field.name not in {"node_start", "branch_start", *SHARED}
        }
        return cls(
            node_start=starts([len(tree) for tree in trees]),
            branch_start=starts([len(tree.branches) for tree in trees]),
            **arrays,
            **{name: getattr(trees[0], name) for name in SHARED},
        )

    def only(self, t: int) -> Packed:
        """Return tree ``t`` alone; its arrays are views."""
        tree = self.tree(t)
        return Packed(
            node_start=self.node_start[t : t + 2] - self.node_start[t],
            branch_start=self.branch_start[t : t + 2] - self.branch_start[t],
            **vars(tree),
        )

    def select(self, trees: Sequence[int]) -> Packed:
        """Return the given trees in this order; the arrays of consecutive trees are views."""
        chosen = np.asarray(trees, dtype=np.int64)
        if np.array_equal(chosen, np.arange(self.n_trees)):
            return self
        numbers = np.arange(self.n_trees + 1)
        nodes = _entries(self.node_start, chosen)
        offsets = _entries(self.node_start + numbers, chosen)
        arrays: dict[str, Any] = {name: getattr(self, name)[nodes] for name in PER_NODE}
        return Packed(
            node_start=starts(np.diff(self.node_start)[chosen]),
            branch_start=starts(np.diff(self.branch_start)[chosen]),
            first_child=self.first_child[offsets],
            children=self.children[_entries(self.node_start - numbers, chosen)],
            first_branch=self.first_branch[offsets],
            branches=self.branches[_entries(self.branch_start, chosen)],
            **arrays,
            **self._shared,
        )

    def cut(self, inner: NDArray[np.bool_]) -> tuple[Packed, NDArray[np.int32]]:
        """Return smaller trees, in which only the nodes marked ``inner`` keep their branches.

        Returns
        -------
        packed
            The smaller trees.
        number
            New number of each old node within its tree, -1 if it was removed.
        """
        node_start = self.node_start
        at = node_start[self.tree_of]
        inner = inner & (self.feature >= 0)
        keep = self.parent < 0
        for nodes, parents in self.by_depth():
            keep[nodes] = keep[parents] & inner[parents]
        kept = np.concatenate([[0], np.cumsum(keep)])
        number = np.where(keep, kept[:-1] - kept[at], -1).astype(np.int32)
        inner = inner & keep

        n_children, n_branches = (
            np.where(inner, np.delete(np.diff(offsets), node_start[1:-1] + np.arange(self.n_trees - 1)), 0)
            for offsets in (self.first_child, self.first_branch)
        )
        branch_owner = self._owners(self.first_branch)
        children_kept = inner[self.child_owner]
        child_tree = self.tree_of[self.child_owner]
        new_children = number[node_start[child_tree[children_kept]] + self.children[children_kept]]
        start = kept[node_start].astype(np.int64)
        per_node: dict[str, Any] = {name: getattr(self, name)[keep] for name in PER_NODE}
        leaf = ~inner[keep]
        for name, at_leaf in _AT_LEAVES.items():
            per_node[name][leaf] = at_leaf
        branches_kept = inner[branch_owner]
        branch_count = np.bincount(self.tree_of[branch_owner[branches_kept]], minlength=self.n_trees)
        return (
            Packed(
                node_start=start,
                branch_start=starts(branch_count),
                first_child=offsets_of(n_children[keep], start),
                children=new_children,
                first_branch=offsets_of(n_branches[keep], start),
                branches=self.branches[branches_kept],
                **per_node,
                **self._shared,
            ),
            number,
        )

    def _owners(self, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the node that each entry between these offsets belongs to."""
        last = self.node_start[1:-1] + np.arange(self.n_trees - 1)
        return np.repeat(np.arange(len(self.feature)), np.delete(np.diff(offsets), last))


def starts(counts: ArrayLike) -> NDArray[np.int64]:
    """Return the offsets of parts of these sizes, and the total size at the end."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def ranges(start: NDArray[np.int64], parts: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the positions of the entries of some parts, part by part."""
    sizes = np.diff(start)[parts]
    at: NDArray[np.int64] = np.arange(sizes.sum()) + np.repeat(start[parts] - starts(sizes)[:-1], sizes)
    return at


def _entries(start: NDArray[np.int64], parts: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    """Return an index of the entries of some parts; a slice if the parts are consecutive."""
    if len(parts) and (np.diff(parts) == 1).all():
        return slice(start[parts[0]], start[parts[-1] + 1])
    return ranges(start, parts)


def offsets_of(counts: NDArray[np.int64], start: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each tree's own offsets: one more entry per tree than it has nodes."""
    total = starts(counts)
    n_trees = len(start) - 1
    tree = np.repeat(np.arange(n_trees), np.diff(start) + 1)
    within = np.arange(start[-1] + n_trees) - tree
    offsets: NDArray[np.int64] = total[within] - total[start[tree]]
    return offsets


class Forest:
    """The trees of all tasks, grown together; tree 0 belongs to task 0, which trains on all rows.

    Parameters
    ----------
    trees : sequence of Tree, or Packed
        One tree per task, as a sequence or concatenated.
    work : mapping of str to array, or function that returns it, optional
        Work on each level: refined ``bundles``, visited ``rows``, ``seconds``, and for streams ``passes``.
        Counts that are not known by level are absent.
    """

    def __init__(
        self,
        trees: Sequence[Tree] | Packed,
        work: Mapping[str, NDArray[Any]] | Callable[[], Mapping[str, NDArray[Any]]] | None = None,
    ) -> None:
        if isinstance(trees, Packed):
            self.packed = trees
        else:
            self.__dict__["trees"] = tuple(trees)
        self._work = work

    @cached_property
    def work(self) -> Mapping[str, NDArray[Any]] | None:
        """The engine's work on each level."""
        return self._work() if callable(self._work) else self._work

    @classmethod
    def joined(cls, forests: Iterable[Forest]) -> Forest:
        """Return the trees of several forests; their work is added up by level."""
        forests = list(forests)
        work: dict[str, NDArray[Any]] = {}
        for forest in forests:
            for name, counts in (forest.work or {}).items():
                longer, shorter = sorted((work.get(name, counts[:0]), counts), key=len, reverse=True)
                work[name] = longer.copy()
                work[name][: len(shorter)] += shorter
        return cls(Packed.of([tree for forest in forests for tree in forest.trees]), work)

    @cached_property
    def trees(self) -> tuple[Tree, ...]:
        """The tree of each task."""
        return self.packed.trees()

    @cached_property
    def packed(self) -> Packed:
        """The concatenated arrays of all trees."""
        return Packed.of(self.trees)

    @cached_property
    def sharing(self) -> Sharing:
        """Common nodes of the trees, and f(i) of each level."""
        from crosscut.forest.sharing import Sharing

        return Sharing.of(self.packed)

    @property
    def levels(self) -> dict[str, NDArray[np.int64]]:
        """Counts for each level, the same for all engines.

        ``nodes`` of the forest that have a test, ``forks`` among them, different ``tests``, and the number of
        tests in all trees (``tree_tests``).
        """
        sharing = self.sharing
        return {
            "nodes": sharing.n_nodes,
            "forks": sharing.n_forks,
            "tests": sharing.n_tests,
            "tree_tests": sharing.n_tree_nodes,
        }

    def __len__(self) -> int:
        return len(self.trees) if "trees" in self.__dict__ else self.packed.n_trees

    def __getitem__(self, t: int) -> Tree:
        return self.trees[t] if "trees" in self.__dict__ else self.packed.tree(range(len(self))[t])

    def __iter__(self) -> Iterator[Tree]:
        return iter(self.trees)

    def __reduce__(self) -> tuple[type[Forest], tuple[Packed, Mapping[str, NDArray[Any]] | None]]:
        return Forest, (self.packed, self.work)

    def _repr_html_(self) -> str:
        from crosscut.forest.export.notebook import forest_html

        return forest_html(self)

    def __repr__(self) -> str:
        return f"Forest({len(self)} trees, {len(self.packed.feature)} nodes)"
