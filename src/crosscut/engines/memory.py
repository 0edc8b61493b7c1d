"""In-memory engine: grow a forest from a coded table and tasks by the C++ core."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut import _core
from crosscut.data.grid import ClassGrid, RowStatistics
from crosscut.data.memory import check_memory
from crosscut.data.threads import n_threads
from crosscut.engines.progress import watcher
from crosscut.forest.forest import Forest, Packed
from crosscut.forest.shared import SharedTrees
from crosscut.tasks.growth import CRITERIA

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from crosscut.data.table import Table
    from crosscut.data.target import Target
    from crosscut.tasks import Tasks
    from crosscut.tasks.growth import Growth, Limits

_NO_LIMIT = 2**62
_MOST_RATIO = 2**20  # of class weights; grids round those in the core, which may differ by 2**24
LOCAL_ROWS = 4096  # bundles up to this size are finished in a local copy


def grow(
    table: Table,
    target: Target,
    tasks: Tasks,
    growth: Growth,
    *,
    n_jobs: int | None = None,
    progress: Callable[[float], object] | None = None,
    bundling: bool = True,
    two_resolutions: bool = True,
    local_rows: int = LOCAL_ROWS,
) -> Forest:
    """Grow the trees of all tasks, sharing work between the tasks.

    Large bundles are counted once for all their tasks. Bundles of at most ``local_rows`` rows are encoded and
    sorted once and then refined task by task. Tasks with the same rows at a node share its subtree. The limit
    is lower if fewer than six levels are left.

    Parameters
    ----------
    table, target : Table, Target
        The rows.
    tasks, growth : Tasks, Growth
        The trees to grow, and how.
    n_jobs : int, optional
        Number of threads; all cores if None. The trees do not depend on it.
    progress : callable, optional
        Called about ten times a second with the finished fraction of the work, from 0 to 1; by default the
        function of :func:`crosscut.engines.progress.watching`.
    bundling, two_resolutions : bool
        Whether tasks with different tests stay in a bundle (the paper's tasks need the same test), and
        whether interval bounds are used. They are switches for comparisons; the trees do not depend on them.
    local_rows : int
        Maximum size of bundles that are copied and finished task by task, at most 4096 (which means 65536 if
        all columns have few values). The trees do not depend on it.

    Returns
    -------
    Forest
        One tree per task, with ``work``: bundles, visited rows, seconds and other counts per level, which
        ``cpp/grow/problem.hpp`` explains. Tasks of a small bundle are counted one by one.

    Notes
    -----
    Memory: The table takes 5 bytes per row and column, or one with bins. Growing takes 2 to 3 more for
    copies of codes, one more without bins if opened intervals have many rows, and about 50 bytes per row and
    block of 15 tasks for each level of large bundles. Each thread takes at most 128 MiB of histograms, about
    50 bytes per row of its bundle, and a seventh of a byte per row and column for the codes of small bundles.

    Examples
    --------
    >>> import numpy as np
    >>> from crosscut.data.target import Target
    >>> from crosscut.tasks.growth import Growth
    >>> from crosscut.data.table import Table
    >>> from crosscut.tasks import Tasks
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> target = Target((X[:, 0] > 4).astype(np.int32), 2)
    >>> forest = grow(Table.from_data(X), target, Tasks.from_cv(4, n_rows=8), Growth())
    >>> [float(tree.threshold[0]) for tree in forest.trees]
    [4.5, 4.5, 4.5, 4.5, 4.5]
    """
    if tasks.copies:
        rows, tasks = tasks.copied()
        table, target = table.take(rows), target.take(rows)
    masks = tasks.masks
    if target.weights is not None and not np.all(target.weights > 0):
        masks = np.where(target.weights > 0, masks, np.uint16(0))
    progress = progress or watcher()
    digits = (
        60 * table.n_rows if target.weights is not None or not target.n_classes else 0
    )  # bytes of exact sums
    what = f"{tasks.n_tasks} trees on {table.n_rows:,} rows"
    check_memory(50 * masks.size + digits, what, "grow fewer at a time")
    threads = n_threads(n_jobs, table.ranks.size * tasks.n_tasks)
    begin = time.process_time()
    by_class: dict[str, Any] = {}
    if tasks.class_weights is None:
        most = 1 if tasks.multiplicity is None else max(1, int(tasks.multiplicity.max()))
        statistics = core_target(target, most)
    else:
        statistics, by_class = _with_class_weights(target, tasks.class_weights)
    limits = limit_arrays(tasks.limits, tasks.n_tasks)
    trees, work = _core.grow(
        _table(table, threads),
        statistics,
        _core.Tasks(masks, *limits, tasks.multiplicity, tasks.features, **by_class),
        _core.Growth(growth.criterion, growth.splits == "multiway", local_rows, bundling, two_resolutions),
        threads,
        None if progress is None else _by_fraction(progress, masks),
    )
    if progress is not None:
        progress(1.0)
    shared = [trees.pop(name) for name in ("root", "size") if name in trees]
    packed = Packed(**trees)
    return Forest(
        SharedTrees(packed, *shared) if shared else packed, partial(_work, work, time.process_time() - begin)
    )


def _work(levels: dict[str, list[Any]], total: float) -> dict[str, NDArray[Any]]:
    """Return the work by level; time outside of large bundles, which the core measures, goes by rows."""
    work = {name: np.array(counts) for name, counts in levels.items()}
    timed = work["seconds"].sum()
    scale = min(1.0, total / max(timed, 1e-12))
    by_row = (total - scale * timed) / max(work["rows"].sum(), 1)
    return work | {"seconds": scale * work["seconds"] + by_row * work["rows"]}


def _by_fraction(report: Callable[[float], object], masks: NDArray[np.uint16]) -> Callable[[float], object]:
    """Return a function that converts finished training rows of all tasks to a fraction and reports it."""
    total = max(1, int(np.bitwise_count(masks).sum(dtype=np.int64)))
    return lambda rows: report(rows / total)


def limit_arrays(limits: Sequence[Limits], n_tasks: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return limits, which may be one for all tasks, as arrays with one row per task."""
    if limits.count(limits[0]) == len(limits):
        limits = limits[:1]
    rows = [
        (
            _NO_LIMIT if limit.max_depth is None else limit.max_depth,
            limit.min_samples_split,
            limit.min_samples_leaf,
        )
        for limit in limits
    ]
    decrease = [limit.min_impurity_decrease for limit in limits]
    times = n_tasks // len(rows)
    return np.array(rows * times, np.int64), np.array(decrease * times, np.float64)


def _table(table: Table, threads: int) -> _core.Table:
    return _core.Table(
        ranks=None if table.ranks is table.coarse else table.ranks,
        coarse=table.coarse,
        n_values=table.n_values,
        values=table.values,
        coarse_first=table.coarse_first,
        nominal=np.array([kind == "nominal" for kind in table.kinds]),
        has_missing=table.has_missing,
        close=table.close,
        edges=table.edges,
        n_threads=threads,
    )


def core_target(target: Target, most: int = 1) -> _core.Target:
    """Return integer statistics of rows that a task counts at most ``most`` times (docs/semantics.md)."""
    rows = RowStatistics.of(target, most)
    classes, numbers = (rows.values, None) if target.n_classes else (None, rows.values)
    return _core.Target(
        target.n_classes,
        classes,
        rows.weight,
        rows.product,
        numbers,
        rows.digits,
        list(rows.grid.grids),
        rows.weight_rounded,
        rows.product_rounded,
    )


def class_weights_fit(tasks: Tasks, weights: NDArray[np.float64], growth: Growth) -> bool:
    """Whether the core can grow tasks with these class weights, (tasks, classes), while it counts rows."""
    least, most = weights.min(axis=1), weights.max(axis=1)
    return (
        CRITERIA[growth.criterion].squares
        and (tasks.multiplicity is None or tasks.copies)
        and bool(((least > 0) & (most <= _MOST_RATIO * least)).all())
    )


def _with_class_weights(target: Target, weights: NDArray[np.float64]) -> tuple[_core.Target, dict[str, Any]]:
    """Return counted rows, and the class weights of each task."""
    codes = np.ascontiguousarray(target.values, dtype=np.int32)
    grid = ClassGrid.of(weights, np.bincount(codes, minlength=target.n_classes))
    grids, rounded = list(grid.grid.grids), bool(grid.rounded.any())
    counted = _core.Target(target.n_classes, codes, None, None, None, None, grids, rounded, False)
    return counted, {"class_weights": grid.weight, "class_digits": grid.digits, "rounded": grid.rounded}
