"""The frontier of level-wise growth, shared out over passes so that each of them fits in memory."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from crosscut.engines.stream.bundle import Unit
from crosscut.engines.stream.gather import gathered_bytes

if TYPE_CHECKING:
    from crosscut.engines.stream.bundle import Bundle
    from crosscut.engines.stream.level_wise import Plan, State

_FEW_LEVELS = 8  # a pass for each of so few levels takes less time than to grow a large bundle in memory


def share_out(plan: Plan, state: State) -> list[tuple[list[Unit], list[int]]]:
    """Share the frontier out over passes whose statistics and gathered rows fit in memory.

    A bundle is gathered if its rows take less memory than its statistics; and, where many levels may follow,
    if there is room for it in a pass that is needed anyway.
    """
    gathered, counted = _to_gather(plan, state, 1)
    n_passes = max(len(gathered), len(_to_count(plan, counted)))
    if n_passes > 1:
        gathered, counted = _to_gather(plan, state, n_passes)
    return list(zip_longest(_to_count(plan, counted), gathered, fillvalue=[]))  # type: ignore[arg-type]


def _to_gather(plan: Plan, state: State, n_passes: int) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """Bundles to gather in each pass, small ones first; and the others, with the bytes of one bin."""
    half, per_row = max(1, plan.memory_limit // 2), gathered_bytes(len(plan.coding.n_bins))
    passes: list[list[int]] = [[]]
    counted, room = [], half
    for b in sorted(state.frontier, key=lambda b: state.bundles[b].n_rows):
        bundle = state.bundles[b]
        per_bin = plan.n_channels * bundle.n_cells * (8 if plan.wide else 4)
        need = bundle.n_rows * per_row
        small = need <= min(half, int(plan.coding.first_bin[-1]) * per_bin)
        fits = need <= (half if len(passes) < n_passes else room)
        pays = bundle.depth == 0 or _levels_left(plan, bundle) > _FEW_LEVELS
        if not (plan.gather and (small or (fits and pays))):
            counted.append((b, per_bin))
            continue
        if need > room:
            passes.append([])
            room = half
        passes[-1].append(b)
        room -= need
    return passes if passes[0] else [], counted


def _to_count(plan: Plan, counted: list[tuple[int, int]]) -> list[list[Unit]]:
    """Bundles, or some columns of large ones, to count in each pass."""
    first_bin, n_columns = plan.coding.first_bin, len(plan.coding.n_bins)
    half = max(1, plan.memory_limit // 2)
    passes: list[list[Unit]] = []
    room = 0
    for b, per_bin in counted:
        first = 0
        while first < n_columns:
            most = max(int(first_bin[first + 1]), int(first_bin[first]) + room // per_bin)
            end = int(np.searchsorted(first_bin, most, side="right")) - 1
            size = int(first_bin[end] - first_bin[first]) * per_bin
            whole = int(first_bin[-1] - first_bin[first]) * per_bin
            # a bundle is parted only if it does not fit into a pass of its own
            if not passes or (room < half and (size > room or (end < n_columns and whole <= half))):
                passes.append([])
                room = half
                continue
            passes[-1].append(Unit(b, first, end))
            room -= size
            first = end
    return passes


def _levels_left(plan: Plan, bundle: Bundle) -> float:
    """Most levels that may still grow below a bundle."""
    depths = [plan.limits[task].max_depth for task in bundle.tasks]
    return max(float("inf") if depth is None else depth - bundle.depth for depth in depths)
