"""Level-wise growth (section 3.2.2 of the paper): one pass over the rows per level, for all tasks at once.

The driver never sees a row. It reads like the paper: while the frontier is not empty, one pass fills the
statistics of its bundles; every task of a bundle picks its best test; tasks go on together where they test
the same column, each with its own constants, and fork where they do not.
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
from crosscut.engines.stream.branching import branch_off, share_out
from crosscut.engines.stream.bundle import Bundle, Unit, flat_bundles
from crosscut.engines.stream.gather import gathered_bytes, grow_gathered
from crosscut.engines.stream.growing_tree import GrowingTree
from crosscut.engines.stream.passes import LevelPass, LevelSums

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from crosscut.data.grid import Grids
    from crosscut.engines.stream.coding import Coding
    from crosscut.engines.stream.passes import Pass
    from crosscut.tasks.fold_rule import FoldRule
    from crosscut.tasks.growth import Growth, Limits

_NARROW_ROWS = 2**31 - 1  # counts of more rows need 64 bits


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
        """Statistics per bin and task: class counts; else the number of rows, and sums of amounts."""
        if self.grids is None:
            return self.coding.n_classes
        return 1 + (self.coding.n_classes or 1) * self.grids.n_deciding

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
    work: list[dict[str, float]] = field(default_factory=list)  # per level

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
    n_rows, n_columns = plan.coding.n_rows, len(plan.coding.n_bins)
    all_gathered = n_rows * len(plan.limits) * gathered_bytes(n_columns)
    what = f"statistics and rows of a stream of {n_rows:,} rows"
    check_memory(min(plan.memory_limit, all_gathered), what, "give Stream a smaller memory_limit")
    state = state or State.start(plan)
    while state.frontier:
        begin = time.perf_counter()
        choices: dict[int, list[Any]] = {}
        n_rows = sum(state.bundles[b].n_rows for b in state.frontier)
        level = {"bundles": len(state.frontier), "rows": n_rows, "passes": 0}
        for units, gathered in share_out(plan, state):
            level["passes"] += 1
            name = f"level {len(state.work)}" + (f", part {level['passes']}" if level["passes"] > 1 else "")
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
                branch_off(plan, state, b, choices.pop(b))
        state.work.append(level | {"seconds": time.perf_counter() - begin})
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
        [] if plan.grids is None else plan.grids.deciding,
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
        if _quality(other[1]) > _quality(mine[1]):
            mine[1:-1] = other[1:-1]
    return before


def _quality(found: tuple[float, bytes, bytes]) -> float | Fraction:
    """Quality of a test: a double, or a fraction given by the bytes of two integers."""
    quality, above, below = found
    return Fraction(*(int.from_bytes(b, "little") for b in (above, below))) if below else quality


def _finish(plan: Plan, state: State, b: int, rows: list[Any]) -> None:
    """Let the core grow what is left of a small bundle."""
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
