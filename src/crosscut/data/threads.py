"""Number of threads for ``n_jobs``."""

from __future__ import annotations

import os

# cells (rows x columns x trees) below which starting threads costs more than it saves
WORTH_THREADS = 1 << 18


def n_threads(n_jobs: int | None, work: int = WORTH_THREADS) -> int:
    """Return the number of threads: for None one per core, if negative ``n_cores + 1 + n_jobs``.

    ``work`` is the number of cells to process; if it is small, None means one thread. If n_jobs is None, the
    environment variable ``OMP_NUM_THREADS`` applies, which joblib and Dask set in their workers.

    >>> n_threads(2), n_threads(None, 1000)
    (2, 1)
    """
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; use None, a positive number, or -1 for all cores")
    if n_jobs is None:
        if work < WORTH_THREADS:
            return 1
        allowed = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
        return int(allowed) if allowed.isdecimal() and int(allowed) else _cores()
    return max(1, _cores() + 1 + n_jobs) if n_jobs < 0 else int(n_jobs)


def _cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
