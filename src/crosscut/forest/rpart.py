"""rpart's complexity of every node, which differs from CART's where pruning comes in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.forest import Packed


def rpart_alphas(packed: Packed, risk: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the lowest complexity at which each node is a leaf in rpart, and -inf where it always is one.

    From the leaves up, a node's complexity is the risk that its splits save, per split. A son whose own
    complexity is below that counts as a leaf, the lower of the two first; what is below a son is not looked
    at again. A node that saves nothing becomes a leaf. From the root down, no node has a complexity above
    its parent's.

    Parameters
    ----------
    packed : Packed
        Trees whose tests have two branches.
    risk : float64 array
        Error of every node as a leaf.
    """
    if np.any(np.diff(packed.child_owner[::2]) == 0) or len(packed.child_owner) % 2:
        raise ValueError("rpart's tests have two branches, but these trees have more; use splits='binary'")
    inner = packed.child_owner[::2]
    left, right = (packed.node_start[packed.tree_of[inner]] + packed.children[k::2] for k in (0, 1))
    complexity, below, splits = np.zeros(len(risk)), risk.copy(), np.zeros(len(risk))
    root = risk[packed.node_start[packed.tree_of]]

    for depth in range(int(packed.depth.max()) - 1, -1, -1):
        now = packed.depth[inner] == depth
        me, a, b = inner[now], left[now], right[now]
        a, b = np.where(complexity[b] > complexity[a], [a, b], [b, a])  # a collapses first
        under, number = below[[a, b]], splits[[a, b]]
        falls = np.ones(len(me), bool)
        for k, son in enumerate((a, b)):
            falls &= (risk[me] - under.sum(axis=0)) / (number.sum(axis=0) + 1) > complexity[son]
            under[k], number[k] = np.where(falls, risk[son], under[k]), np.where(falls, 0, number[k])
        saved = (risk[me] - under.sum(axis=0)) / (number.sum(axis=0) + 1)
        some = saved > 1e-12 * root[me]  # above 0 by more than rounding
        complexity[me] = np.where(some, saved, 0.0)
        below[me] = np.where(some, under.sum(axis=0), risk[me])
        splits[me] = np.where(some, number.sum(axis=0) + 1, 0)

    for nodes, parents in packed.by_depth():
        complexity[nodes] = np.minimum(complexity[nodes], complexity[parents])
    return np.where(complexity > 0, complexity, -np.inf)
