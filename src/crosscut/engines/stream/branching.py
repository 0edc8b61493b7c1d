"""Split a bundle into child bundles: tasks that test the same column stay together."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.engines.stream.bundle import CODES, Bundle, Split, Unit, derivable
from crosscut.engines.stream.gather import gathered_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.engines.stream.bundle import Derived
    from crosscut.engines.stream.growing_tree import GrowingTree
    from crosscut.engines.stream.level_wise import Plan, State
    from crosscut.tasks.growth import Limits


def split_bundle(plan: Plan, state: State, b: int, choices: list[Any]) -> None:
    """Set the test of each task of a bundle, and create the child bundles."""
    bundle = state.bundles[b]
    by_column: dict[int, list[tuple[int, list[int], NDArray[np.int32]]]] = {}
    for task, node, choice in zip(bundle.tasks, bundle.nodes, choices, strict=True):
        (n_rows, stats, weight), _, improvement, feature, _, _, branch_of, _, pure = choice
        tree, limits = state.trees[task], plan.limits[task]
        if bundle.depth == 0:
            tree.n_rows[0], tree.stats[0], tree.weight = n_rows, stats, weight
            if not tree.may_split(0, limits, plan.coding.n_classes):
                continue
        if pure or feature < 0 or not _enough_decrease(tree, improvement, limits):
            continue
        children = _take_test(plan, tree, node, choice)
        by_column.setdefault(feature, []).append((task, children, branch_of))
    for feature, tests in by_column.items():
        bundle.splits.append(_child_bundles(plan, state, bundle, feature, tests))


def _enough_decrease(tree: GrowingTree, improvement: float, limits: Limits) -> bool:
    least = limits.min_impurity_decrease
    if not least > 0:
        return True
    return improvement / tree.weight + 2.220446049250313e-16 >= least


def _take_test(plan: Plan, tree: GrowingTree, node: int, choice: list[Any]) -> list[int]:
    """Set the test of a node; return its children."""
    _, _, _, feature, missing, cut, branch_of, branches, _ = choice
    tree.feature[node], tree.missing[node] = feature, missing
    if plan.coding.nominal[feature]:
        tree.branches[node] = branch_of
    else:
        edges = plan.coding.edges[feature]
        tree.threshold[node] = float(edges[cut]) if cut < plan.coding.n_bins[feature] else float("inf")
    children = [tree.add_node(tree.depth[node] + 1, n, stats) for n, stats in branches]
    tree.children[node] = children
    return children


def _child_bundles(
    plan: Plan,
    state: State,
    bundle: Bundle,
    feature: int,
    tests: list[tuple[int, list[int], NDArray[np.int32]]],
) -> Split:
    """Bundle the children of tasks that test the same column, by branch or by category."""
    split = Split(feature, [], [])
    multiway = bool(plan.coding.nominal[feature]) and plan.growth.splits == "multiway"
    width = len(tests[0][2])
    for key in range(width if multiway else 2):
        table = np.zeros(CODES, np.uint64)
        lanes: list[tuple[int, int]] = []
        maps = []
        for task, children, branch_of in tests:
            branch = int(branch_of[key]) if multiway else key
            if branch < 0 or not state.trees[task].may_split(
                children[branch], plan.limits[task], plan.coding.n_classes
            ):
                continue
            lanes.append((task, children[branch]))
            taken = np.arange(width) == key if multiway else branch_of == key
            table[:width][taken] |= np.uint64(1 << task)
            maps.append(branch_of)
        if not lanes:
            continue
        mixed = bundle.mixed or (not multiway and _conflict(maps))
        split.children.append(len(state.bundles))
        split.tables.append(table)
        sizes = [state.trees[task].n_rows[node] for task, node in lanes]
        union = sum(sizes) if mixed or len(sizes) == 1 else sum(sizes) // (len(sizes) - 1)
        state.frontier.append(len(state.bundles))
        state.bundles.append(
            Bundle(
                bundle.depth + 1,
                tuple(task for task, _ in lanes),
                tuple(node for _, node in lanes),
                mixed,
                min(union, bundle.n_rows),
            )
        )
    return split


def _conflict(maps: list[NDArray[np.int32]]) -> bool:
    """Whether two tasks send a common code to different branches."""
    all_maps = np.array(maps)
    most = all_maps.max(axis=0)
    least = np.where(all_maps < 0, most, all_maps).min(axis=0)
    return bool(np.any(most != least))


_FEW_LEVELS = 8  # up to here, a pass per level is faster than growing a large bundle in memory


def plan_passes(plan: Plan, state: State) -> tuple[list[tuple[list[Unit], list[int]]], dict[int, Derived]]:
    """Distribute the frontier over passes whose statistics and gathered rows fit in memory.

    A bundle is gathered if its rows take less memory than its statistics. If many levels may follow, it is
    also gathered if it fits in a pass that is needed anyway. Some bundles are derived if all statistics fit
    in memory together.
    """
    gathered, counted = _to_gather(plan, state, 1)
    multiway = plan.coding.nominal & (plan.growth.splits == "multiway")
    derived = derivable(state.bundles, state.held, {b for b, _ in counted}, multiway)
    n_bytes = sum(array.nbytes for array in state.held.values())
    n_bytes += sum(per_bin for _, per_bin in counted) * int(plan.coding.first_bin[-1])
    if derived and len(gathered) <= 1 and n_bytes <= plan.memory_limit // 2:
        n_columns = len(plan.coding.n_bins)
        units = [Unit(b, 0, n_columns) for b, _ in counted if b not in derived]
        units += [Unit(b, 0, 0) for b in derived]
        return [(units, gathered[0] if gathered else [])], derived
    n_passes = max(len(gathered), len(_to_count(plan, counted)))
    if n_passes > 1:
        gathered, counted = _to_gather(plan, state, n_passes)
    return list(zip_longest(_to_count(plan, counted), gathered, fillvalue=[])), {}  # type: ignore[arg-type]


def _to_gather(plan: Plan, state: State, n_passes: int) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """Return the bundles to gather in each pass, small ones first, and the others with bytes per bin."""
    half, per_row = max(1, plan.memory_limit // 2), gathered_bytes(len(plan.coding.n_bins))
    passes: list[list[int]] = [[]]
    counted, bytes_left = [], half
    for b in sorted(state.frontier, key=lambda b: state.bundles[b].n_rows):
        bundle = state.bundles[b]
        per_bin = plan.n_channels * bundle.n_cells * (8 if plan.wide else 4)
        need = bundle.n_rows * per_row
        small = need <= min(half, int(plan.coding.first_bin[-1]) * per_bin)
        fits = need <= (half if len(passes) < n_passes else bytes_left)
        pays = bundle.depth == 0 or _levels_left(plan, bundle) > _FEW_LEVELS
        if not (plan.gather and (small or (fits and pays))):
            counted.append((b, per_bin))
            continue
        if need > bytes_left:
            passes.append([])
            bytes_left = half
        passes[-1].append(b)
        bytes_left -= need
    return passes if passes[0] else [], counted


def _to_count(plan: Plan, counted: list[tuple[int, int]]) -> list[list[Unit]]:
    """Return the bundles, or some columns of large bundles, to count in each pass."""
    first_bin, n_columns = plan.coding.first_bin, len(plan.coding.n_bins)
    half = max(1, plan.memory_limit // 2)
    passes: list[list[Unit]] = []
    bytes_left = 0
    for b, per_bin in counted:
        first = 0
        while first < n_columns:
            most = max(int(first_bin[first + 1]), int(first_bin[first]) + bytes_left // per_bin)
            end = int(np.searchsorted(first_bin, most, side="right")) - 1
            size = int(first_bin[end] - first_bin[first]) * per_bin
            whole = int(first_bin[-1] - first_bin[first]) * per_bin
            # split the columns of a bundle only if it does not fit into one pass
            if not passes or (
                bytes_left < half and (size > bytes_left or (end < n_columns and whole <= half))
            ):
                passes.append([])
                bytes_left = half
                continue
            passes[-1].append(Unit(b, first, end))
            bytes_left -= size
            first = end
    return passes


def _levels_left(plan: Plan, bundle: Bundle) -> float:
    """Return the maximum number of levels that may grow below a bundle."""
    depths = [plan.limits[task].max_depth for task in bundle.tasks]
    return max(float("inf") if depth is None else depth - bundle.depth for depth in depths)
