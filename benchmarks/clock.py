"""Times of several jobs that take turns, so that other load on the machine affects all of them equally."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass
class Times:
    """Seconds of every repetition of a job: wall-clock time, and processor time of all threads."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def add(self, job: Callable[[], object]) -> None:
        """Run the job once more."""
        wall, cpu = time.perf_counter(), time.process_time()
        job()
        self.wall.append(time.perf_counter() - wall)
        self.cpu.append(time.process_time() - cpu)

    @property
    def spread(self) -> float:
        """Ratio of the slowest to the fastest repetition."""
        return max(self.wall) / min(self.wall)

    def as_dict(self) -> dict[str, float | int]:
        """Return the fastest and slowest repetition, for JSON."""
        return {
            "wall": min(self.wall),
            "cpu": min(self.cpu),
            "slowest": max(self.wall),
            "repetitions": len(self.wall),
        }


def take_turns(
    jobs: Mapping[str, Callable[[], object]], *, seconds: float, min_runs: int, max_runs: int
) -> dict[str, Times]:
    """Repeat the jobs in turns, each at least ``min_runs`` times and for at least these processor seconds."""
    times = {name: Times() for name in jobs}
    waiting = set(jobs)
    gc.collect()
    gc.disable()  # as in timeit, so that a job does not collect another job's garbage
    try:
        while waiting:
            for name in jobs:
                if name in waiting:
                    done = times[name]
                    done.add(jobs[name])
                    if len(done.wall) >= max_runs or (
                        len(done.wall) >= min_runs and sum(done.cpu) >= seconds
                    ):
                        waiting.discard(name)
    finally:
        gc.enable()
    return times
