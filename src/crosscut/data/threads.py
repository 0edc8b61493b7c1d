"""How many threads ``n_jobs`` means."""

from __future__ import annotations

import os

# cells (rows x columns x trees) below which starting threads costs more than it saves
WORTH_THREADS = 1 << 18


def n_threads(n_jobs: int | None, work: int = WORTH_THREADS) -> int:
    """Threads for the core: as many as there are cores for None, all cores but ``-n_jobs - 1`` if negative.

    ``work`` is the number of cells to be looked at; for few of them None means one thread. The environment
    variable ``OMP_NUM_THREADS``, which joblib and Dask set in their workers, is obeyed where n_jobs is None.

    >>> n_threads(2), n_threads(None, 1000)
    (2, 1)
    """
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning; use None, a positive number, or -1 for all cores")
    if n_jobs is None:
        if work < WORTH_THREADS:
            return 1
        allowed = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
        return int(allowed) if allowed.isdecimal() and int(allowed) else _cores()
    return max(1, _cores() + 1 + n_jobs) if n_jobs < 0 else int(n_jobs)


def _cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
