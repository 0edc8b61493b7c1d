"""Trees that share nodes: the trees of many tasks that hold out few rows each."""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from crosscut import _core
from crosscut.forest.forest import PATHS, PER_NODE, Packed, offsets_of, ranges, starts
from crosscut.forest.tree import SHARED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.forest.tree import Tree

_PATHS = tuple(name for name in PATHS if name not in {"node_start", "branch_start"})


class SharedTrees(Packed):
    """`Packed` whose arrays are made when they are first used, from arrays with each different node once.

    Leave-one-out on 5,000 rows has 5,000 trees with millions of nodes, but hundreds of times fewer
    different ones.

    Parameters
    ----------
    distinct : Packed
        The different nodes as one tree with several roots, in which a node may have several parents.
    root : int32 array (n_trees,)
        The root of each tree.
    size : int32 array
        Number of nodes below and including each node of ``distinct``.
    """

    few_rows: ClassVar[float] = np.inf
    distinct: Packed
    root: NDArray[np.int32]
    size: NDArray[np.int32]

    def __init__(self, distinct: Packed, root: NDArray[np.int32], size: NDArray[np.int32]) -> None:
        self.__dict__.update(
            distinct=distinct,
            root=root,
            size=size,
            node_start=starts(size[root]),
            **{name: getattr(distinct, name) for name in SHARED},
        )

    def __getattr__(self, name: str) -> NDArray[Any]:
        """Make an array when it is first used."""
        array: NDArray[Any]
        if name in PER_NODE:
            array = getattr(self.distinct, name)[self._unfolded[0]]
        elif name == "children":
            array = self._unfolded[1]
        elif name in {"first_child", "first_branch"}:
            counts = np.diff(getattr(self.distinct, name))
            array = offsets_of(counts[self._unfolded[0]], self.node_start)
        elif name == "branches":
            array = self.distinct.branches[ranges(self.distinct.first_branch, self._unfolded[0])]
        elif name == "branch_start":
            last = self.node_start[1:] + np.arange(self.n_trees)
            array = starts(self.first_branch[last])
        else:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.__dict__[name] = array
        return array

    def __getstate__(self) -> dict[str, Any]:
        kept = {"distinct", "root", "size", "node_start", *SHARED}
        return {name: value for name, value in self.__dict__.items() if name in kept}

    @cached_property
    def _core(self) -> _core.SharedTrees:
        distinct = self.distinct
        arrays = [self.size, *(getattr(distinct, name) for name in _PATHS), distinct.depth]
        for array in arrays:
            array.setflags(write=False)
        return _core.SharedTrees(*arrays)

    @cached_property
    def _unfolded(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The nodes of all trees, and the numbers of their children."""
        return self._core.unfold(self.root)

    def leaves_of_few(
        self, x: NDArray[Any], rows: NDArray[np.int64], row_start: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """Return the leaves of a few rows of each tree, tree by tree."""
        return self._core.apply(self.root, x, rows, row_start)

    def value_of(self, node: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the values of some nodes, numbered over all trees."""
        return self.distinct.value[self._core.nodes_of(self.root, self.node_start, node)]

    def tree(self, t: int) -> Tree:
        """Return tree ``t``."""
        return super().tree(t) if self.n_trees == 1 or "_unfolded" in self.__dict__ else self.only(t).tree(0)

    def trees(self) -> tuple[Tree, ...]:
        """Return all trees."""
        return tuple(super(SharedTrees, self).tree(t) for t in range(self.n_trees))

    def only(self, t: int) -> Packed:
        """Return tree ``t`` alone."""
        return self.select([t])

    def select(self, trees: Sequence[int]) -> Packed:
        """Return the given trees in this order."""
        selected = SharedTrees(self.distinct, self.root[np.asarray(trees, dtype=np.int64)], self.size)
        selected.__dict__["_core"] = self._core  # its arrays are checked once
        return selected

    def with_fields(self, **changes: Any) -> Packed:
        """Return the trees with other arrays."""
        if changes.keys() <= set(SHARED):
            return SharedTrees(self.distinct.with_fields(**changes), self.root, self.size)
        return Packed(**{field.name: getattr(self, field.name) for field in fields(self)} | changes)
