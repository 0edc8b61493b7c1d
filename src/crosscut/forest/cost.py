"""The paper's cost model compared with the work of a run: ``explain_cost()``."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosscut.forest.predict import apply
from crosscut.reference.cost import predicted_speedup, speedup_bound

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.forest import Forest


@dataclass(frozen=True, eq=False)
class CostReport:
    """What growing the trees together saved, in the symbols of the paper (sections 2.3 and 3.2.1).

    Attributes
    ----------
    n : int
        Folds.
    a : int
        Number of tests: columns whose statistics each row updates.
    t_e, t_p : float
        Seconds to add a row to the statistics of one column, and to sort it into a branch; measured on this
        machine.
    f : float64 array
        f(i) of each level, from 1 (all trees agree) to the number of trees.
    tree_rows, serial_rows, parallel_rows : float64 arrays
        Rows in the nodes that are split on each level: in the final tree, in all trees one by one, and in the
        bundles in which they were grown (NaN if the engine did not count them).
    seconds : float
        Time of growing; NaN if the engine did not measure it.
    predicted_speedup, actual_speedup : float
        Speed-up over growing the trees one by one: predicted by the paper's model, in which only trees with
        the same test stay together, and measured by the rows this run visited, whose bundles also hold trees
        with different tests.
    measured_speedup : float or None
        The same in processor time, if both ways were run.
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

    def __str__(self) -> str:
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
            lines.append("(nodes of few rows are searched tree by tree, which is faster than sharing rows)")
        if self.measured_speedup is not None:
            lines.append(f"speed-up in processor time:    {self.measured_speedup:.2f}")
        return "\n".join(lines)


def cost_report(forest: Forest, n_columns: int, measured_speedup: float | None = None) -> CostReport:
    """Compare the paper's model with the measured cost of growing this forest.

    Parameters
    ----------
    forest : Forest
        The final tree and those of the folds.
    n_columns : int
        Columns of the table.
    measured_speedup : float, optional
        Processor time of growing the trees one by one, divided by that of growing them together.
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
    # the time not spent sorting goes into statistics; if a run is too short to tell, half of it is assumed
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
    """Return the time in which the core sorts one row one level down, measured on generated rows."""
    tree = forest.packed.only(0)
    x = np.random.default_rng(0).normal(size=(4096, n_columns)).astype(np.float32)
    depth = float(tree.depth[apply(tree, x, n_jobs=1)[0]].mean())
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        apply(tree, x, n_jobs=1)
        best = min(best, time.perf_counter() - start)
    return float(best / (len(x) * max(depth, 1.0)))
