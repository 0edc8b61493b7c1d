"""The paper's cost model compared with the work of a run: ``explain_cost()``."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosscut.forest.predict import apply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.forest.forest import Forest


def time_serial(a: float, t_e: float, t_p: float, N: float, n: int) -> float:
    """Time to refine one node of the tree from all examples and of the n folds: n N (a t_e + t_p)."""
    return n * N * (a * t_e + t_p)


def time_parallel(a: float, t_e: float, t_p: float, N: float, f: float) -> float:
    """Time to refine it for all at once: N (a t_e + f t_p), f = 1 (best case) to f = n (worst)."""
    return N * (a * t_e + f * t_p)


def speedup_bound(a: float, t_e: float, t_p: float, n: int) -> float:
    """Worst-case speed-up of one node: min(n, 1 + a t_e / t_p)."""
    return min(n, 1 + a * t_e / t_p)


def forest_speedup(t_r: Sequence[float], f: Sequence[float], n: int) -> float:
    """Speed-up of a whole forest, from the time t_r(i) of one tree's levels (3.2.1).

    T_serial / T_parallel = n (t_r(1) + t_r(2) + ...) / (t_r(1) + f(1) t_r(2) + f(2) t_r(3) + ...).

    Examples
    --------
    >>> forest_speedup([1.0, 1.0], [1.0, 1.0], n=10)  # all trees are equal
    10.0
    >>> forest_speedup([1.0, 1.0], [10.0, 10.0], n=10)  # all trees differ below the root
    1.8181818181818181
    """
    above = [1.0, *f][: len(t_r)]
    return n * sum(t_r) / sum(times * t for times, t in zip(above, t_r, strict=True))


def predicted_speedup(
    a: float, t_e: float, t_p: float, f: Sequence[float], n: int, *, rows: Sequence[float] | None = None
) -> float:
    """Speed-up of a whole forest over growing its n + 1 trees one by one.

    Section 3.2.1 with the node times of section 2.3. The statistics of a level are computed once per
    different test of the level above, f(i-1) times. Its examples are sorted f(i) times: T_parallel = sum over
    levels of N_i (f(i-1) a t_e + f(i) t_p). Of the different tests f(1), f(2), ..., at most n are counted.
    ``rows`` are N_1, N_2, ..., the examples that one tree refines on each level; by default the same on all.

    Examples
    --------
    >>> predicted_speedup(a=20, t_e=1.0, t_p=1.0, f=[1, 1, 1], n=10)  # a stable problem
    10.0
    >>> round(predicted_speedup(a=20, t_e=1.0, t_p=1.0, f=[1, 3, 8], n=10), 2)
    5.62
    """
    f = [min(float(n), tests) for tests in f]
    above = [1.0, *f[:-1]]
    rows = [1.0] * len(f) if rows is None else rows
    serial = sum(time_serial(a, t_e, t_p, N, n) for N in rows)
    parallel = sum(
        N * (statistics * a * t_e + sorts * t_p) for N, statistics, sorts in zip(rows, above, f, strict=True)
    )
    return serial / parallel


@dataclass(frozen=True, eq=False)
class CostReport:
    """Speed-up by growing the trees together, in the symbols of the paper (sections 2.3 and 3.2.1).

    Attributes
    ----------
    n : int
        Folds.
    a : int
        Number of tests: columns whose statistics each row updates.
    t_e, t_p : float
        Seconds to add a row to the statistics of one column, and to sort it into a branch, measured on this
        machine.
    f : float64 array
        f(i) of each level, from 1 (all trees agree) to the number of trees.
    tree_rows, serial_rows, parallel_rows : float64 arrays
        Rows in the split nodes of each level: in the final tree, summed over all trees, and in the bundles in
        which they were grown (NaN if the engine did not count them).
    seconds : float
        Time of growing; NaN if the engine did not measure it.
    predicted_speedup, actual_speedup : float
        Speed-up over growing the trees one by one. The paper's model predicts it for trees that stay together
        only while their tests are the same. The actual one counts the rows this run visited, whose bundles
        can also hold trees with different tests.
    measured_speedup : float or None
        Speed-up in processor time, if the trees were also grown one by one.
    """

    n: int
    a: int
    t_e: float
    t_p: float
    f: NDArray[np.float64]
    tree_rows: NDArray[np.float64]
    serial_rows: NDArray[np.float64]
    parallel_rows: NDArray[np.float64]
    seconds: float
    predicted_speedup: float
    actual_speedup: float
    measured_speedup: float | None = None

    def __repr__(self) -> str:
        lines = [
            f"n = {self.n} folds and the final tree, a = {self.a} columns",
            f"t_e = {self.t_e * 1e9:.2f} ns, t_p = {self.t_p * 1e9:.2f} ns",
            "level   f(i)  rows one by one  rows together  ratio",
        ]
        for i, (f, serial, parallel) in enumerate(
            zip(self.f, self.serial_rows, self.parallel_rows, strict=True), 1
        ):
            ratio = serial / parallel if parallel > 0 else np.nan
            lines.append(f"{i:5d} {f:6.2f} {serial:16.0f} {parallel:14.0f} {ratio:6.2f}")
        bound = speedup_bound(self.a, self.t_e, self.t_p, self.n)
        lines += [
            f"speed-up by the paper's model: {self.predicted_speedup:.2f} (a node's worst case: {bound:.2f})",
            f"speed-up in rows visited:      {self.actual_speedup:.2f}",
        ]
        if self.actual_speedup < 1.1:
            lines.append("(small nodes are searched tree by tree, which is faster than sharing rows)")
        if self.measured_speedup is not None:
            lines.append(f"speed-up in processor time:    {self.measured_speedup:.2f}")
        return "\n".join(lines)


def cost_report(forest: Forest, n_columns: int, measured_speedup: float | None = None) -> CostReport:
    """Compare the paper's model with the measured cost of growing this forest.

    ``measured_speedup`` is the processor time of growing the trees one by one, divided by that of growing
    them together.
    """
    sharing = forest.sharing
    n_levels = len(sharing.f)
    packed = forest.packed
    inner = packed.feature >= 0

    def rows_of(nodes: NDArray[np.bool_]) -> NDArray[np.float64]:
        counts = np.bincount(packed.depth[nodes], packed.n_rows[nodes], minlength=n_levels)
        return counts[:n_levels].astype(np.float64)

    serial, final = rows_of(inner), rows_of(inner & (packed.tree_of == 0))
    parallel = np.full(n_levels, np.nan)
    seconds = float("nan")
    if forest.work is not None and "rows" in forest.work:
        counted = np.asarray(forest.work["rows"], dtype=np.float64)[:n_levels]
        parallel[: len(counted)] = counted
        seconds = float(np.sum(forest.work["seconds"]))
    n, a = max(len(forest) - 1, 1), n_columns
    t_p = _seconds_per_sort(forest, n_columns)
    visited = float(np.nansum(parallel))
    # time not spent sorting is spent on statistics; if the run is too short to measure, t_e = t_p / 2
    t_e = (seconds / visited - t_p) / a if visited and not np.isnan(seconds) else np.nan
    if not t_e > 0:
        t_e = t_p / 2
    return CostReport(
        n=n,
        a=a,
        t_e=t_e,
        t_p=t_p,
        f=sharing.f,
        tree_rows=final,
        serial_rows=serial,
        parallel_rows=parallel,
        seconds=seconds,
        predicted_speedup=predicted_speedup(a, t_e, t_p, list(sharing.f), n, rows=list(final))
        if n_levels
        else float(n),
        actual_speedup=float(serial.sum() / visited) if visited else float("nan"),
        measured_speedup=measured_speedup,
    )


def _seconds_per_sort(forest: Forest, n_columns: int) -> float:
    """Return the time to sort one row one level down, measured on generated rows."""
    tree = forest.packed.only(0)
    x = np.random.default_rng(0).normal(size=(4096, n_columns)).astype(np.float32)
    depth = float(tree.depth[apply(tree, x, n_jobs=1)[0]].mean())
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        apply(tree, x, n_jobs=1)
        best = min(best, time.perf_counter() - start)
    return float(best / (len(x) * max(depth, 1.0)))
