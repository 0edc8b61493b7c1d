"""Bundles that fit in memory: their rows are gathered, and the C++ core finishes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut import _core
from crosscut.forest import Packed
from crosscut.masks import BLOCK
from crosscut.threads import n_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.engines.bundle import Bundle
    from crosscut.engines.coding import Coding, Grids
    from crosscut.growth import Growth, Limits
    from crosscut.tree import Tree

_NO_LIMIT = 2**62
_LOCAL_ROWS = 2048


def gathered_bytes(n_columns: int) -> int:
    """Bytes that a gathered row takes, the core's work on it included."""
    return 7 * n_columns + 100


def grow_gathered(
    bundle: Bundle,
    rows: list[tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[Any]]],
    coding: Coding,
    grids: Grids | None,
    *,
    growth: Growth,
    limits: tuple[Limits, ...],
    n_jobs: int | None,
) -> list[Tree]:
    """Grow the subtrees of a bundle's tasks.

    A node's subtree depends on its rows and limits only, with one exception: ``min_impurity_decrease``
    compares with the weight of all rows of the task. So with that limit only a root bundle may be gathered.
    """
    codes = np.ascontiguousarray(np.concatenate([part[0] for part in rows], axis=1))
    tasks = np.concatenate([part[1] for part in rows])
    target = np.concatenate([part[2] for part in rows])
    n_lanes = len(bundle.tasks)
    masks = np.zeros((-(-n_lanes // BLOCK), codes.shape[1]), np.uint16)
    for lane, task in enumerate(bundle.tasks):
        bit = (tasks >> np.uint64(task)) & np.uint64(1)
        masks[lane // BLOCK] |= (bit << np.uint64(lane % BLOCK)).astype(np.uint16)
    own = [limits[task] for task in bundle.tasks]
    integers = [
        (
            _NO_LIMIT if limit.max_depth is None else limit.max_depth - bundle.depth,
            limit.min_samples_split,
            limit.min_samples_leaf,
        )
        for limit in own
    ]
    assert bundle.depth == 0 or not any(limit.min_impurity_decrease for limit in own)
    grown = _core.grow(
        ranks=codes.astype(np.uint32),
        coarse=codes,
        n_values=coding.n_bins.astype(np.int32),
        values=[np.empty(0, np.float32)] * len(codes),
        coarse_first=[np.arange(n + 1, dtype=np.uint32) for n in coding.n_bins.tolist()],
        nominal=coding.nominal,
        has_missing=coding.has_missing,
        close=np.zeros(len(codes), np.bool_),
        edges=coding.edges,
        classes=target.astype(np.int32) if grids is None else None,
        n_classes=coding.n_classes,
        weight=None,
        product=None if grids is None else grids.products(target),
        target=None if grids is None else target,
        exact=[] if grids is None else grids.exact(target),
        decrease_scale=decrease_scale(grids),
        masks=masks,
        multiplicity=None,
        features=None,
        limits=np.array(integers, np.int64),
        min_decrease=np.array([limit.min_impurity_decrease for limit in own]),
        criterion=growth.criterion,
        multiway=growth.splits == "multiway",
        bundling=True,
        two_resolutions=True,
        local_rows=_LOCAL_ROWS,
        n_threads=n_threads(n_jobs),
        progress=None,
    )
    packed = Packed(**grown["trees"])
    return [packed.tree(lane) for lane in range(n_lanes)]


def decrease_scale(grids: Grids | None) -> float:
    """Return what turns a difference of qualities into the target's units."""
    return 1.0 if grids is None else 2.0 ** (-2 * grids.exponent)
