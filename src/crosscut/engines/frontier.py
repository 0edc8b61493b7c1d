"""The frontier of level-wise growth, shared out over passes so that each of them fits in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosscut.engines.bundle import Bundle, Unit
from crosscut.engines.gather import gathered_bytes

if TYPE_CHECKING:
    from crosscut.engines.level_wise import Plan, State

_FEW_LEVELS = 8  # a pass for each of so few levels takes less time than to grow a large bundle in memory


def share_out(plan: Plan, state: State) -> list[tuple[list[Unit], list[int]]]:
    """Share the frontier out over passes whose statistics and gathered rows fit in memory.

    A bundle is gathered if its rows take less memory than its statistics; and if there is room for it in the
    first pass, where many levels may follow.
    """
    n_columns, first_bin = len(plan.coding.n_bins), plan.coding.first_bin
    half = max(1, plan.memory_limit // 2)
    per_row = gathered_bytes(n_columns)
    passes: list[tuple[list[Unit], list[int]]] = [([], [])]
    room, rows_room = half, half
    counted = []
    for b in sorted(state.frontier, key=lambda b: state.bundles[b].n_rows):
        bundle = state.bundles[b]
        per_bin = plan.n_channels * bundle.n_cells * (8 if plan.wide else 4)
        need = bundle.n_rows * per_row
        small = need <= half and need <= int(first_bin[-1]) * per_bin
        fits = need <= rows_room and (bundle.depth == 0 or _levels_left(plan, bundle) > _FEW_LEVELS)
        if plan.gather and (small or fits):
            if need > rows_room:
                passes.append(([], []))
                rows_room = half
            passes[-1][1].append(b)
            rows_room -= need
        else:
            counted.append((b, per_bin))
    at = 0
    for b, per_bin in counted:
        first = 0
        while first < n_columns:
            most = max(int(first_bin[first + 1]), int(first_bin[first]) + room // per_bin)
            end = int(np.searchsorted(first_bin, most, side="right")) - 1
            size = int(first_bin[end] - first_bin[first]) * per_bin
            whole = int(first_bin[-1] - first_bin[first]) * per_bin
            # a bundle is parted only if it does not fit into a pass of its own
            if room < half and (size > room or (end < n_columns and whole <= half)):
                at, room = at + 1, half
                if at == len(passes):
                    passes.append(([], []))
                continue
            passes[at][0].append(Unit(b, first, end))
            room -= size
            first = end
            if first < n_columns:
                at, room = at + 1, half
                if at == len(passes):
                    passes.append(([], []))
    return [one for one in passes if one[0] or one[1]]


def _levels_left(plan: Plan, bundle: Bundle) -> float:
    """Most levels that may still grow below a bundle."""
    depths = [plan.limits[task].max_depth for task in bundle.tasks]
    return max(float("inf") if depth is None else depth - bundle.depth for depth in depths)
