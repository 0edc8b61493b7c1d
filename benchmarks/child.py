"""Run one peer in a separate process, to measure its peak memory. Used by bench.py.

The process reads commands: on "load NAME" it loads the data of a workload and prints "ready"; on "go" it runs
the job once and prints the seconds as JSON.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


class Child:
    """A process that runs one peer's job on a workload on request."""

    def __init__(self, peer: str) -> None:
        self.peer = peer
        self.wall: list[float] = []
        self.cpu: list[float] = []
        self._folder = tempfile.TemporaryDirectory()
        self._process: subprocess.Popen[str] | None = None
        self._loaded = 0.0

    def load(self, workload: str) -> None:
        """Start a new process for a workload, so that memory of earlier workloads does not count."""
        self.wall, self.cpu = [], []
        self.close()
        if self.peer == "rpart":
            self._start(_rpart(workload, Path(self._folder.name)))
        else:
            self._start([sys.executable, __file__, self.peer])
            self._send(f"load {workload}")
        self._receive("ready")
        # resets the peak memory that the kernel records
        with contextlib.suppress(OSError):
            Path(f"/proc/{self._running.pid}/clear_refs").write_text("5", encoding="utf-8")
        self._loaded = self._memory("VmRSS")

    def run(self) -> None:
        """Run the job once more."""
        self._send("go")
        took = json.loads(self._receive("{"))
        self.wall.append(took["wall"])
        self.cpu.append(took["cpu"])

    @property
    def megabytes(self) -> float:
        """Peak memory beyond the memory of the loaded data and libraries."""
        return max(self._memory("VmHWM") - self._loaded, 0.0)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            assert self._process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
            self._process.wait(timeout=60)
            self._process = None

    def _start(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    @property
    def _running(self) -> subprocess.Popen[str]:
        assert self._process is not None
        return self._process

    def _send(self, line: str) -> None:
        assert self._running.stdin is not None
        self._running.stdin.write(f"{line}\n")
        self._running.stdin.flush()

    def _receive(self, prefix: str) -> str:
        assert self._running.stdout is not None
        assert self._running.stderr is not None
        for line in self._running.stdout:  # libraries print, too
            if line.startswith(prefix):
                return line
        message = self._running.stderr.read().strip().split("\n")[-1]
        self.close()
        raise RuntimeError(message)

    def _memory(self, what: str) -> float:
        try:
            status = Path(f"/proc/{self._running.pid}/status").read_text(encoding="utf-8")
        except OSError:  # not Linux
            return float("nan")
        return next(int(line.split()[1]) / 1024 for line in status.split("\n") if line.startswith(what))


def _rpart(workload: str, folder: Path) -> list[str]:
    from workloads import WORKLOADS

    work = WORKLOADS[workload]
    X, y = work.data
    np.asfortranarray(X).ravel("F").tofile(folder / "columns")
    np.asarray(y, np.float64).tofile(folder / "target")
    arguments = [*X.shape, work.target.n_classes, work.limits.max_depth or 0, work.limits.min_samples_leaf]
    files = [str(folder / name) for name in ("columns", "target")]
    return ["Rscript", str(HERE / "rpart.R"), *files, *map(str, arguments)]


def main() -> None:
    from peers import PEERS
    from workloads import WORKLOADS

    prepare = PEERS[sys.argv[1]].job
    assert prepare is not None
    for line in sys.stdin:
        command, *names = line.split()
        if command == "load":
            work = WORKLOADS[names[0]]
            assert work.data is not None  # generates the data before the job is timed
            job = prepare(work)
            gc.collect()
            # glibc keeps free pages, which would count as used
            with contextlib.suppress(OSError, AttributeError):
                ctypes.CDLL(None).malloc_trim(0)
            print("ready", flush=True)
            continue
        wall, cpu = time.perf_counter(), time.process_time()
        job()
        took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        print(json.dumps(took), flush=True)


if __name__ == "__main__":
    main()
