"""How many threads ``n_jobs`` means."""

from __future__ import annotations

import os

# cells (rows x columns x trees) below which starting threads costs more than it saves
WORTH_THREADS = 1 << 18

# A forked child inherits OpenMP's state but none of its threads, and would wait for them for ever.
_forked = False


def _note_fork() -> None:
    global _forked  # noqa: PLW0603, a process has one state
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def n_threads(n_jobs: int | None, work: int = WORTH_THREADS) -> int:
    """Threads for the core: 0 (as many as OpenMP offers) for None, all cores but ``-n_jobs - 1`` if negative.

    ``work`` is the number of cells to be looked at; for few of them None means one thread. A forked process
    has one thread, whatever is asked for; the result is the same.

    >>> n_threads(2), n_threads(None, 1000)
    (2, 1)
    """
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning; use None, a positive number, or -1 for all cores")
    if _forked:
        return 1
    if n_jobs is None:
        return 0 if work >= WORTH_THREADS else 1
    if n_jobs < 0:
        return max(1, (os.cpu_count() or 1) + 1 + n_jobs)
    return int(n_jobs)
