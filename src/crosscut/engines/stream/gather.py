"""Finish bundles that fit in memory: gather their rows and grow their subtrees by the C++ core."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from crosscut import _core
from crosscut.data.target import Target
from crosscut.data.threads import n_threads
from crosscut.engines.memory import core_target, limit_arrays
from crosscut.forest.forest import Packed
from crosscut.tasks.masks import BLOCK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.engines.stream.bundle import Bundle
    from crosscut.engines.stream.coding import Coding
    from crosscut.engines.stream.passes import GatheredRows
    from crosscut.forest.tree import Tree
    from crosscut.tasks.growth import Growth, Limits

_LOCAL_ROWS = 2048


def gathered_bytes(n_columns: int) -> int:
    """Return the bytes per gathered row, including those for growing."""
    return 7 * n_columns + 120


def grow_gathered(
    bundle: Bundle,
    rows: list[GatheredRows],
    coding: Coding,
    *,
    growth: Growth,
    limits: tuple[Limits, ...],
    totals: NDArray[np.float64] | None,
    n_jobs: int | None,
) -> list[Tree]:
    """Grow the subtrees of a bundle's tasks.

    A subtree depends only on the rows of its root and on limits, with one exception:
    ``min_impurity_decrease`` is relative to the weight of all rows of the task. These weights are the
    ``totals``; None at the roots.
    """
    codes = np.ascontiguousarray(np.concatenate([part.codes for part in rows], axis=1))
    tasks = np.concatenate([part.tasks for part in rows])
    target = np.concatenate([part.target for part in rows])
    weight = None
    if rows[0].weight is not None:
        weight = np.concatenate([part.weight for part in rows if part.weight is not None])
    n_lanes = len(bundle.tasks)
    masks = np.zeros((-(-n_lanes // BLOCK), codes.shape[1]), np.uint16)
    for lane, task in enumerate(bundle.tasks):
        bit = (tasks >> np.uint64(task)) & np.uint64(1)
        masks[lane // BLOCK] |= (bit << np.uint64(lane % BLOCK)).astype(np.uint16)
    remaining = [
        limit if limit.max_depth is None else replace(limit, max_depth=limit.max_depth - bundle.depth)
        for limit in (limits[task] for task in bundle.tasks)
    ]
    values = target.astype(np.int32) if coding.n_classes else target
    trees, _ = _core.grow(
        _core.Table(
            ranks=None,
            coarse=codes,
            n_values=coding.n_bins.astype(np.int32),
            values=[np.empty(0, np.float32)] * len(codes),
            coarse_first=[np.arange(n + 1, dtype=np.uint32) for n in coding.n_bins.tolist()],
            nominal=coding.nominal,
            has_missing=coding.has_missing,
            close=np.zeros(len(codes), np.uint32),
            edges=coding.edges,
        ),
        core_target(Target(values, coding.n_classes, weight)),
        _core.Tasks(masks, *limit_arrays(remaining, n_lanes), totals=totals),
        _core.Growth(growth.criterion, growth.splits == "multiway", _LOCAL_ROWS),
        n_threads(n_jobs),
    )
    packed = Packed(**trees)
    return [packed.tree(lane) for lane in range(n_lanes)]
