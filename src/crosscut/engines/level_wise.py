"""Level-wise growth (section 3.2.2 of the paper): one pass over the rows per level, for all tasks at once.

The driver never sees a row. It reads like the paper: while the frontier is not empty, one pass fills the
statistics of its bundles; every task of a bundle picks its best test; tasks go on together where they test
the same column, each with its own constants, and fork where they do not.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from crosscut import _core
from crosscut.engines.bundle import CODES, Bundle, Split, Unit, flat_bundles
from crosscut.engines.gather import decrease_scale, gathered_bytes, grow_gathered
from crosscut.engines.growing_tree import GrowingTree
from crosscut.engines.passes import LevelPass, LevelSums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from crosscut.engines.coding import Coding, Grids
    from crosscut.engines.folds import FoldRule
    from crosscut.engines.passes import Pass
    from crosscut.growth import Growth, Limits

_NARROW_ROWS = 2**31 - 1  # counts of more rows need 64 bits
_FEW_LEVELS = 8  # a pass for each of so few levels takes less time than to grow a large bundle in memory


class Rows(Protocol):
    """Where coded rows come from: a stream of batches, or the partitions of a cluster."""

    def run(self, one_pass: Pass[Any]) -> Any:
        """Return the sums of a pass over all rows."""


@dataclass(frozen=True)
class Plan:
    """What to grow."""

    coding: Coding
    grids: Grids | None
    folds: FoldRule
    growth: Growth
    limits: tuple[Limits, ...]  # one per task
    memory_limit: int
    gather: bool = True
    n_jobs: int | None = None

    @property
    def n_channels(self) -> int:
        """Statistics per bin and task: class counts, or the number of rows and the sum of products."""
        return self.coding.n_classes or 2

    @property
    def wide(self) -> bool:
        """Whether statistics need 64 bits."""
        return self.grids is not None or self.coding.n_rows > _NARROW_ROWS


@dataclass
class State:
    """The forest so far; all there is to a run between two levels."""

    trees: list[GrowingTree]
    bundles: list[Bundle]
    frontier: list[int]
    levels: list[dict[str, float]] = field(default_factory=list)

    @classmethod
    def start(cls, plan: Plan) -> State:
        """Return one bundle of all roots."""
        n_tasks = plan.folds.n_folds + 1
        trees = [GrowingTree() for _ in range(n_tasks)]
        for tree in trees:
            tree.add_node(0, 0, np.zeros(plan.n_channels))
        root = Bundle(0, tuple(range(n_tasks)), (0,) * n_tasks, mixed=False, n_rows=plan.coding.n_rows)
        return cls(trees, [root], [0])


def grow_level_wise(
    plan: Plan, rows: Rows, state: State | None = None, save: Callable[[State], None] | None = None
) -> State:
    """Grow all tasks, one level after the other.

    Parameters
    ----------
    plan : Plan
        What to grow.
    rows : Rows
        Where passes are run.
    state : State, optional
        Where an earlier run stopped.
    save : callable, optional
        Called with the state after every level.
    """
    state = state or State.start(plan)
    while state.frontier:
        begin = time.perf_counter()
        choices: dict[int, list[Any]] = {}
        level = {"bundles": len(state.frontier), "rows": 0, "tests": 0, "passes": 0}
        level["rows"] = sum(state.bundles[b].n_rows for b in state.frontier)
        for units, gathered in _passes(plan, state):
            level["passes"] += 1
            name = f"level {len(state.levels)}" + (f", part {level['passes']}" if level["passes"] > 1 else "")
            sums, offsets, ranges = _run(plan, state, rows, name=name, units=units, gathered=gathered)
            for b in gathered:
                _finish(plan, state, b, sums.gathered.pop(b, []))
            for unit, (first, end), at in zip(units, pairwise(offsets), ranges, strict=False):
                found = _choose(plan, state.bundles[unit.bundle], unit, sums.statistics[first:end])
                if unit.first_column == 0:
                    _mark_pure(state.bundles[unit.bundle], found, sums.ranges, int(at))
                choices[unit.bundle] = _better(choices.get(unit.bundle), found)
        frontier = state.frontier
        state.frontier = []
        for b in frontier:
            if b in choices:
                level["tests"] += _branch_off(plan, state, b, choices.pop(b))
        state.levels.append(level | {"seconds": time.perf_counter() - begin})
        if save is not None:
            save(state)
    return state


def _run(
    plan: Plan, state: State, rows: Rows, *, name: str, units: list[Unit], gathered: list[int]
) -> tuple[LevelSums, list[int], NDArray[np.int64]]:
    """One pass over all rows."""
    coding = plan.coding
    arrays, offsets, ranges = flat_bundles(state.bundles, units, gathered, coding.first_bin, plan.n_channels)
    one_pass = LevelPass(
        name=name,
        arrays=arrays,
        first_bin=coding.first_bin,
        n_channels=plan.n_channels,
        n_statistics=int(offsets[-1]),
        n_ranges=int(ranges[-1]),
        wide=plan.wide,
        task_masks=plan.folds.task_masks(),
        grids=plan.grids,
        n_jobs=plan.n_jobs,
    )
    sums: LevelSums = rows.run(one_pass)
    return sums, offsets.tolist(), ranges


def _passes(plan: Plan, state: State) -> Iterable[tuple[list[Unit], list[int]]]:
    """Share the frontier out over passes whose statistics and gathered rows fit in memory.

    A bundle is gathered if its rows take less memory than its statistics; and if there is room for it in the
    first pass, where many levels may follow.
    """
    n_columns, first_bin = len(plan.coding.n_bins), plan.coding.first_bin
    half = max(1, plan.memory_limit // 2)
    per_row = gathered_bytes(n_columns)
    may_gather = plan.gather and not any(limit.min_impurity_decrease for limit in plan.limits)
    passes: list[tuple[list[Unit], list[int]]] = [([], [])]
    room, rows_room = half, half
    counted = []
    for b in sorted(state.frontier, key=lambda b: state.bundles[b].n_rows):
        bundle = state.bundles[b]
        per_bin = plan.n_channels * bundle.n_cells * (8 if plan.wide else 4)
        need = bundle.n_rows * per_row
        small = need <= half and need <= int(first_bin[-1]) * per_bin
        fits = need <= rows_room and (bundle.depth == 0 or _levels_left(plan, bundle) > _FEW_LEVELS)
        if (may_gather or (plan.gather and bundle.depth == 0)) and (small or fits):
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


def _choose(plan: Plan, bundle: Bundle, unit: Unit, statistics: NDArray[Any]) -> list[Any]:
    """Each task's best test in some columns: a list [node, quality, improvement, test…, pure] per task."""
    found = _core.choose_tests(
        statistics,
        plan.coding.first_bin,
        unit.first_column,
        unit.end_column,
        plan.coding.nominal,
        plan.n_channels,
        bundle.mixed,
        plan.growth.criterion,
        plan.coding.n_classes,
        plan.grids is None,
        False,
        plan.growth.splits == "multiway",
        np.array([plan.limits[task].min_samples_leaf for task in bundle.tasks], np.int64),
    )
    return [[*choice, False] for choice in found]


def _mark_pure(bundle: Bundle, found: list[Any], ranges: NDArray[np.float64] | None, at: int) -> None:
    """Regression: tasks whose rows all have the same target need no test."""
    if ranges is None:
        return
    n = len(bundle.tasks)
    cells = ranges[at : at + 2 * bundle.n_cells].reshape(-1, 2)
    for lane, choice in enumerate(found):
        own = [cell for cell in range(n + 1) if cell != lane] + ([n + 1 + lane] if bundle.mixed else [])
        choice[-1] = bool(cells[own, 0].min() >= cells[own, 1].max())


def _better(before: list[Any] | None, found: list[Any]) -> list[Any]:
    """Keep the better test of each task; of equals the one in the column that comes first."""
    if before is None:
        return found
    for mine, other in zip(before, found, strict=True):
        if other[1] > mine[1]:
            mine[1:-1] = other[1:-1]
    return before


def _finish(plan: Plan, state: State, b: int, rows: list[Any]) -> None:
    """Let the core grow what is left of a small bundle."""
    bundle = state.bundles[b]
    grown = grow_gathered(
        bundle, rows, plan.coding, plan.grids, growth=plan.growth, limits=plan.limits, n_jobs=plan.n_jobs
    )
    for task, node, tree in zip(bundle.tasks, bundle.nodes, grown, strict=True):
        state.trees[task].subtrees[node] = tree


def _branch_off(plan: Plan, state: State, b: int, choices: list[Any]) -> int:
    """Give each task of a bundle its test, and the bundle its children; return the number of columns."""
    bundle = state.bundles[b]
    by_column: dict[int, list[tuple[int, list[int], NDArray[np.int32]]]] = {}
    for task, node, choice in zip(bundle.tasks, bundle.nodes, choices, strict=True):
        (n_rows, stats), _, improvement, feature, _, _, branch_of, _, pure = choice
        tree, limits = state.trees[task], plan.limits[task]
        if bundle.depth == 0:
            tree.n_rows[0], tree.stats[0] = n_rows, stats
            if not tree.wants_test(0, limits, plan.coding.n_classes):
                continue
        if pure or feature < 0 or not _enough_decrease(plan, tree, improvement, limits):
            continue
        children = _take_test(plan, tree, node, choice)
        by_column.setdefault(feature, []).append((task, children, branch_of))
    for feature, tests in by_column.items():
        bundle.splits.append(_join(plan, state, bundle, feature, tests))
    return len(by_column)


def _enough_decrease(plan: Plan, tree: GrowingTree, improvement: float, limits: Limits) -> bool:
    least = limits.min_impurity_decrease
    if not least > 0:
        return True
    total = float(tree.n_rows[0])  # rows count once
    return improvement / total * decrease_scale(plan.grids) + 2.220446049250313e-16 >= least


def _take_test(plan: Plan, tree: GrowingTree, node: int, choice: list[Any]) -> list[int]:
    """Make a node an inner one; return its children."""
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


def _join(
    plan: Plan,
    state: State,
    bundle: Bundle,
    feature: int,
    tests: list[tuple[int, list[int], NDArray[np.int32]]],
) -> Split:
    """Bundle the children of tasks that test the same column: branch by branch, or category by category."""
    split = Split(feature, [], [])
    multiway = bool(plan.coding.nominal[feature]) and plan.growth.splits == "multiway"
    width = len(tests[0][2])
    for key in range(width if multiway else 2):
        table = np.zeros(CODES, np.uint64)
        lanes: list[tuple[int, int]] = []
        maps = []
        for task, children, branch_of in tests:
            branch = int(branch_of[key]) if multiway else key
            if branch < 0 or not state.trees[task].wants_test(
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
    """Whether two tasks send some code of both of them different ways."""
    all_maps = np.array(maps)
    most = all_maps.max(axis=0)
    least = np.where(all_maps < 0, most, all_maps).min(axis=0)
    return bool(np.any(most != least))
