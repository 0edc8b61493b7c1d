"""Check that there is enough memory before the work begins."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

READ_LESS = "fit a Stream of files, which is read in batches"
NOTABLE = 1 << 28  # bytes; below, querying the system would take longer than the fit

_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def available() -> int:
    """Return the bytes this process can still allocate; ``sys.maxsize`` if the system does not report it."""
    bounds = [sys.maxsize]
    with suppress(OSError, ValueError, KeyError):
        known = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        bounds.append(1024 * int(known["MemAvailable"].split()[0]))
    for place in _LIMITS:
        with suppress(OSError, ValueError):  # no such file, or "max"
            bounds.append(int(Path(place).read_text()))
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            bounds.append(max(0, limit - used))
    return min(bounds)


def check_memory(needed: int, what: str, instead: str) -> None:
    """Raise MemoryError if more memory is needed than available.

    >>> check_memory(2**60, "a table", "read fewer rows")
    Traceback (most recent call last):
    MemoryError: for a table: about 1,152,921,504.6 GB are needed, but ... GB are free; read fewer rows
    """
    if needed > NOTABLE and needed > (free := available()):
        amounts = f"about {needed / 1e9:,.1f} GB are needed, but {free / 1e9:,.1f} GB are free"
        raise MemoryError(f"for {what}: {amounts}; {instead}")
