"""Bundles of level-wise growth: nodes of different tasks whose rows are processed together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

CODES = 256
DONE, INNER, COUNTED, GATHERED = range(4)  # role of a bundle in a pass


@dataclass
class Split:
    """The tests that tasks of a bundle chose in one column.

    A row with code ``v`` that trains the tasks ``m`` (as bits) goes to ``children[j]`` with the tasks
    ``m & tables[j][v]``, so each task applies its own threshold or categories.
    """

    feature: int
    children: list[int]
    tables: list[NDArray[np.uint64]]


@dataclass
class Bundle:
    """Nodes of several tasks, one per task."""

    depth: int
    tasks: tuple[int, ...]
    nodes: tuple[int, ...]  # node numbers in the tasks' trees
    mixed: bool  # whether a row may train fewer than all but one of the tasks
    n_rows: int  # an upper bound
    splits: list[Split] = field(default_factory=list)

    @property
    def lanes(self) -> int:
        """The tasks as bits."""
        return sum(1 << task for task in self.tasks)

    @property
    def n_cells(self) -> int:
        """Number of statistics per bin and channel while rows are added."""
        return len(self.tasks) + 1

    @property
    def n_range_cells(self) -> int:
        """Number of ranges of targets."""
        return 2 * len(self.tasks) + 1


@dataclass(frozen=True)
class Unit:
    """A bundle and the columns whose statistics are filled in a pass; none if it is derived."""

    bundle: int
    first_column: int
    end_column: int


def flat_bundles(
    bundles: list[Bundle],
    units: list[Unit],
    gathered: list[int],
    first_bin: NDArray[np.int64],
    n_channels: int,
    *,
    ranged: bool,
) -> tuple[dict[str, Any], NDArray[np.int64], NDArray[np.int64]]:
    """Convert bundles to the core's arrays.

    Only bundles on the paths to the units and gathered bundles of the pass are converted. Derived bundles are
    needed only for the ranges of targets.

    Returns
    -------
    arrays
        For ``_core.pass_batch``.
    offsets
        Offset of each unit's statistics, then the total size.
    range_offsets
        Offset of the target ranges of each unit, then the total size.
    """
    wanted = {unit.bundle for unit in units if ranged or unit.end_column} | set(gathered)
    live = _on_paths(bundles, wanted)
    number = {b: i for i, b in enumerate(live)}
    n = len(live)
    place = np.full(n, INNER, np.uint8)
    place[[number[b] for b in gathered]] = GATHERED
    first_column, end_column = np.zeros(n, np.int32), np.zeros(n, np.int32)
    offset, range_offset = np.zeros(n, np.int64), np.zeros(n, np.int64)
    sizes, range_sizes = [0], [0]
    for unit in units:
        bundle = bundles[unit.bundle]
        if unit.bundle in wanted:
            i = number[unit.bundle]
            place[i] = COUNTED
            first_column[i], end_column[i] = unit.first_column, unit.end_column
            offset[i], range_offset[i] = sizes[-1], range_sizes[-1]
        bins = int(first_bin[unit.end_column] - first_bin[unit.first_column])
        sizes.append(sizes[-1] + bins * n_channels * bundle.n_cells)
        range_sizes.append(range_sizes[-1] + 2 * bundle.n_range_cells)
    splits = [(i, split) for i, b in enumerate(live) if place[i] == INNER for split in bundles[b].splits]
    children = [
        [(number[child], table) for child, table in zip(s.children, s.tables, strict=True) if child in number]
        for _, s in splits
    ]
    per_bundle = np.bincount([i for i, _ in splits], minlength=n) if splits else np.zeros(n, np.int64)
    tables = [table for pairs in children for _, table in pairs]
    arrays = {
        "place": place,
        "split_start": np.cumsum([0, *per_bundle], dtype=np.int64),
        "feature": np.array([split.feature for _, split in splits], np.int32),
        "child_start": np.cumsum([0, *map(len, children)], dtype=np.int64),
        "child": np.array([child for pairs in children for child, _ in pairs], np.int32),
        "table": np.array(tables, np.uint64).reshape(-1, CODES),
        "lanes": np.array([bundles[b].lanes for b in live], np.uint64),
        "first_column": first_column,
        "end_column": end_column,
        "offset": offset,
        "range_offset": range_offset,
        "bundle": np.array(live, np.int64),
    }
    return arrays, np.array(sizes, np.int64), np.array(range_sizes, np.int64)


def _on_paths(bundles: list[Bundle], wanted: set[int]) -> list[int]:
    """Return the bundles on the paths from the root to the wanted ones, parents before children."""
    live: set[int] = set()
    for b in range(len(bundles) - 1, -1, -1):
        if b in wanted or any(child in live for split in bundles[b].splits for child in split.children):
            live.add(b)
    return sorted(live)


class Derived(NamedTuple):
    """Two bundles whose statistics give those of a third.

    A task's rows in a node are its rows in the two children of its test, so S(child) = S(parent) - S(its
    sibling), task by task and exactly. Statistics of parents are held while they fit in memory with those of
    the children.
    """

    parent: int
    sibling: int  # it is counted


def derivable(
    bundles: list[Bundle], parents: Mapping[int, object], counted: set[int], multiway: NDArray[Any]
) -> dict[int, Derived]:
    """Return the bundles that need not be counted; ``multiway`` tells which columns have such tests.

    Each task of a derived bundle goes on in its sibling. Of two bundles of the same tasks, the larger one is
    derived.
    """
    derived = {}
    for parent in parents:
        for split in bundles[parent].splits:
            if multiway[split.feature] or len(split.children) != 2 or not counted.issuperset(split.children):
                continue
            sizes = {b: (len(bundles[b].tasks), -bundles[b].n_rows) for b in split.children}
            other, sibling = sorted(split.children, key=lambda b: sizes[b])
            if set(bundles[other].tasks) <= set(bundles[sibling].tasks):
                derived[other] = Derived(parent, sibling)
    return derived


def derive(
    bundles: list[Bundle],
    b: int,
    of: Derived,
    parents: Mapping[int, NDArray[Any]],
    counted: Mapping[int, NDArray[Any]],
) -> NDArray[Any]:
    """Return the statistics of a bundle: those of its parent less those of its sibling."""
    tasks = bundles[b].tasks

    def of_tasks(statistics: NDArray[Any], lanes: tuple[int, ...]) -> NDArray[Any]:
        by_lane = statistics.reshape(-1, len(lanes))
        return by_lane if lanes == tasks else by_lane[:, [lanes.index(task) for task in tasks]]

    whole = of_tasks(parents[of.parent], bundles[of.parent].tasks)
    part = of_tasks(counted[of.sibling], bundles[of.sibling].tasks)
    return np.ravel(whole - part)
