"""Level-wise growth (section 3.2.2 of the paper): one pass over the rows per level, for all tasks at once.

The driver never sees a row. While the frontier is not empty, one pass fills the statistics of its bundles,
and every task of a bundle chooses its best test. Tasks that test the same column stay in a bundle, each with
its own threshold or categories; the others fork.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from crosscut import _core
from crosscut.data.memory import check_memory
from crosscut.engines.stream.branching import plan_passes, split_bundle
from crosscut.engines.stream.bundle import Bundle, Unit, derive, flat_bundles
from crosscut.engines.stream.gather import gathered_bytes, grow_gathered
from crosscut.engines.stream.growing_tree import GrowingTree
from crosscut.engines.stream.passes import LevelPass, LevelSums

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from crosscut.data.grid import Grids
    from crosscut.engines.stream.coding import Coding
    from crosscut.engines.stream.passes import Pass, Sums
    from crosscut.tasks.fold_rule import FoldRule
    from crosscut.tasks.growth import Growth, Limits

_NARROW_ROWS = 2**31 - 1  # counts of more rows need 64 bits


class Rows(Protocol):
    """A source of coded rows: a stream of batches or the partitions of a cluster."""

    def run(self, one_pass: Pass[Sums]) -> Sums:
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
        """Statistics per bin and task: class counts, or the number of rows and exact sums."""
        if self.grids is None:
            return self.coding.n_classes
        return 1 + (self.coding.n_classes or 1) * self.grids.n_deciding

    @property
    def wide(self) -> bool:
        """Whether statistics need 64 bits."""
        return self.grids is not None or self.coding.n_rows > _NARROW_ROWS


@dataclass
class State:
    """The forest so far: the state of a run between two levels, complete without ``held``."""

    trees: list[GrowingTree]
    bundles: list[Bundle]
    frontier: list[int]
    work: list[dict[str, float]] = field(default_factory=list)  # per level
    # statistics of parents of the frontier; without them, more bundles are counted
    held: dict[int, NDArray[Any]] = field(default_factory=dict)

    @classmethod
    def start(cls, plan: Plan) -> State:
        """Return one bundle of all roots."""
        n_tasks = plan.folds.n_folds + 1
        trees = [GrowingTree() for _ in range(n_tasks)]
        for tree in trees:
            tree.add_node(0, 0, np.zeros(plan.coding.n_classes or 1))
        root = Bundle(0, tuple(range(n_tasks)), (0,) * n_tasks, mixed=False, n_rows=plan.coding.n_rows)
        return cls(trees, [root], [0])


def grow_level_wise(
    plan: Plan, rows: Rows, state: State | None = None, save: Callable[[State], None] | None = None
) -> State:
    """Grow the trees of all tasks level by level.

    ``state`` continues an earlier run; ``save`` is called with the state after every level.
    """
    n_rows, n_columns = plan.coding.n_rows, len(plan.coding.n_bins)
    all_gathered = n_rows * len(plan.limits) * gathered_bytes(n_columns)
    what = f"statistics and rows of a stream of {n_rows:,} rows"
    check_memory(min(plan.memory_limit, all_gathered), what, "set a smaller memory_limit of Stream")
    state = state or State.start(plan)
    while state.frontier:
        begin = time.perf_counter()
        choices: dict[int, list[Any]] = {}
        n_rows = sum(state.bundles[b].n_rows for b in state.frontier)
        level = {"bundles": len(state.frontier), "rows": n_rows, "passes": 0}
        passes, derived = plan_passes(plan, state)
        if not derived:
            state.held = {}
        held: dict[int, NDArray[Any]] = {}  # unless the level takes several passes
        for units, gathered in passes:
            level["passes"] += 1
            name = f"level {len(state.work)}" + (f", part {level['passes']}" if level["passes"] > 1 else "")
            sums, offsets, ranges = _run(plan, state, rows, name=name, units=units, gathered=gathered)
            for b in gathered:
                _finish(plan, state, b, sums.gathered.pop(b, []))
            for unit, (first, end), at in zip(units, pairwise(offsets), ranges, strict=False):
                b, bundle = unit.bundle, state.bundles[unit.bundle]
                columns = (unit.first_column, unit.end_column)
                if b in derived:
                    statistics = derive(state.bundles, b, derived[b], state.held, held)
                    columns = (0, n_columns)
                else:
                    statistics = _by_lane(bundle, sums.statistics[first:end])
                if len(passes) == 1:
                    held[b] = statistics
                tests = _choose(plan, bundle, columns, statistics)
                if unit.first_column == 0:
                    _mark_pure(bundle, tests, sums.ranges, int(at))
                choices[b] = _better(choices.get(b), tests)
        state.held = held
        frontier = state.frontier
        state.frontier = []
        for b in frontier:
            if b in choices:
                split_bundle(plan, state, b, choices.pop(b))
        state.work.append(level | {"seconds": time.perf_counter() - begin})
        if save is not None:
            save(state)
    state.held = {}
    return state


def _run(
    plan: Plan, state: State, rows: Rows, *, name: str, units: list[Unit], gathered: list[int]
) -> tuple[LevelSums, list[int], NDArray[np.int64]]:
    """Run one pass over all rows."""
    coding = plan.coding
    ranged = plan.grids is not None and plan.grids.numbers
    arrays, offsets, ranges = flat_bundles(
        state.bundles, units, gathered, coding.first_bin, plan.n_channels, ranged=ranged
    )
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
    return rows.run(one_pass), offsets.tolist(), ranges


def _by_lane(bundle: Bundle, cells: NDArray[Any]) -> NDArray[Any]:
    """Turn the cells of a bundle into the statistics of each of its tasks, in the same memory."""
    _core.cells_to_lanes(cells, len(bundle.tasks))
    return cells[: len(cells) // bundle.n_cells * len(bundle.tasks)]


def _choose(plan: Plan, bundle: Bundle, columns: tuple[int, int], statistics: NDArray[Any]) -> list[Any]:
    """Return the best test of each task in some columns: [node, quality, improvement, test…, pure]."""
    tests = _core.choose_tests(
        statistics,
        plan.coding.first_bin,
        *columns,
        plan.coding.nominal,
        plan.n_channels,
        plan.growth.criterion,
        plan.coding.n_classes,
        [] if plan.grids is None else plan.grids.deciding,
        plan.growth.splits == "multiway",
        np.array([plan.limits[task].min_samples_leaf for task in bundle.tasks], np.int64),
    )
    return [[*choice, False] for choice in tests]


def _mark_pure(bundle: Bundle, tests: list[Any], ranges: NDArray[np.float64] | None, at: int) -> None:
    """Mark tasks of a regression whose rows all have the same target."""
    if ranges is None:
        return
    n = len(bundle.tasks)
    cells = ranges[at : at + 2 * bundle.n_range_cells].reshape(-1, 2)
    for lane, choice in enumerate(tests):
        trained = [cell for cell in range(n + 1) if cell != lane] + [n + 1 + lane]
        choice[-1] = bool(cells[trained, 0].min() >= cells[trained, 1].max())


def _better(before: list[Any] | None, tests: list[Any]) -> list[Any]:
    """Return the better test of each task; ties go to the first column."""
    if before is None:
        return tests
    for best, other in zip(before, tests, strict=True):
        if _quality(other[1]) > _quality(best[1]):
            best[1:-1] = other[1:-1]
    return before


def _quality(parts: tuple[float, bytes, bytes]) -> float | Fraction:
    """Return the quality of a test: a double, or a fraction from the bytes of two integers."""
    quality, numerator, denominator = parts
    if not denominator:
        return quality
    return Fraction(*(int.from_bytes(b, "little") for b in (numerator, denominator)))


def _finish(plan: Plan, state: State, b: int, rows: list[Any]) -> None:
    """Grow the subtrees of a small bundle by the core."""
    bundle = state.bundles[b]
    totals = None
    if bundle.depth:
        totals = np.array([state.trees[task].weight for task in bundle.tasks])
    grown = grow_gathered(
        bundle,
        rows,
        plan.coding,
        growth=plan.growth,
        limits=plan.limits,
        totals=totals,
        n_jobs=plan.n_jobs,
    )
    for task, node, tree in zip(bundle.tasks, bundle.nodes, grown, strict=True):
        state.trees[task].subtrees[node] = tree
