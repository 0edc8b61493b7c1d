"""The paper's cost model: of refining one node (2.3) and of growing a whole forest (3.2.1).

The symbols are the paper's: ``a`` tests, ``t_e`` the time to test an example and update statistics, ``t_p``
the time to sort an example into a child node, ``N`` examples, ``n`` folds, ``f`` different tests.
Terms that do not grow with N are left out, as in the paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def time_actual(a: float, t_e: float, t_p: float, N: float) -> float:
    """Refine one node of the tree from all examples: N (a t_e + t_p)."""
    return N * (a * t_e + t_p)


def time_folds(a: float, t_e: float, t_p: float, N: float, n: int) -> float:
    """Refine that node for the n folds one after the other: (n - 1) N (a t_e + t_p)."""
    return (n - 1) * N * (a * t_e + t_p)


def time_serial(a: float, t_e: float, t_p: float, N: float, n: int) -> float:
    """Refine that node for the tree from all examples and the n folds: n N (a t_e + t_p)."""
    return time_actual(a, t_e, t_p, N) + time_folds(a, t_e, t_p, N, n)


def time_parallel(a: float, t_e: float, t_p: float, N: float, f: float) -> float:
    """Refine that node for all at once: N (a t_e + f t_p), from f = 1 (best case) to f = n (worst)."""
    return N * (a * t_e + f * t_p)


def speedup_bound(a: float, t_e: float, t_p: float, n: int) -> float:
    """Bound of the speed-up of one node in the worst case: min(n, 1 + a t_e / t_p)."""
    return min(n, 1 + a * t_e / t_p)


def forest_speedup(t_r: Sequence[float], f: Sequence[float], n: int) -> float:
    """Speed-up of a whole forest, from the time t_r(i) of one tree's levels (3.2.1).

    T_serial / T_parallel = n (t_r(1) + t_r(2) + ...) / (t_r(1) + f(1) t_r(2) + f(2) t_r(3) + ...).

    Examples
    --------
    >>> forest_speedup([1.0, 1.0], [1.0, 1.0], n=10)  # all trees alike
    10.0
    >>> forest_speedup([1.0, 1.0], [10.0, 10.0], n=10)  # no two alike below the root
    1.8181818181818181
    """
    above = [1.0, *f][: len(t_r)]
    return n * sum(t_r) / sum(times * t for times, t in zip(above, t_r, strict=True))


def predicted_speedup(
    a: float, t_e: float, t_p: float, f: Sequence[float], n: int, *, rows: Sequence[float] | None = None
) -> float:
    """Speed-up of a whole forest over growing its n + 1 trees one by one.

    Section 3.2.1 with the node times of section 2.3: a level's statistics are computed as often as the level
    above has different tests, f(i-1), and its examples are sorted f(i) times:
    T_parallel = sum over levels of N_i (f(i-1) a t_e + f(i) t_p).

    Parameters
    ----------
    a, t_e, t_p
        Number of tests, time per statistic update, time per example sorted.
    f
        f(1), f(2), ...: different tests on each level. An example is sorted n times at most.
    n
        Number of folds; a tree from all examples is grown as well.
    rows
        N_1, N_2, ...: examples that one tree refines on each level; by default the same on all.

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
