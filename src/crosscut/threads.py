"""How many threads ``n_jobs`` means."""

from __future__ import annotations

import os


def n_threads(n_jobs: int | None) -> int:
    """Threads for the core: 0 (as many as OpenMP offers) for None, all cores but ``-n_jobs - 1`` if negative.

    >>> n_threads(2)
    2
    """
    if n_jobs is None:
        return 0
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning; use None, a positive number, or -1 for all cores")
    if n_jobs < 0:
        return max(1, (os.cpu_count() or 1) + 1 + n_jobs)
    return int(n_jobs)
