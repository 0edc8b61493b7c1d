"""One peer on one workload, in a process of its own, so that its peak memory is its own.

The process loads the data, says "ready", then runs the job once for every line it is sent and answers with
the seconds it took. Run by bench.py.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


class Child:
    """A process that runs one peer's job on one workload whenever it is asked to."""

    def __init__(self, peer: str, workload: str) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []
        self._folder = tempfile.TemporaryDirectory()
        command = [sys.executable, __file__, peer, workload]
        if peer == "rpart":
            command = _rpart(workload, Path(self._folder.name))
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._answer("ready")
        self._loaded = self._memory("VmRSS")

    def run(self) -> float:
        """Run the job once more and return its seconds on the wall."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        took = json.loads(self._answer("{"))
        self.wall.append(took["wall"])
        self.cpu.append(took["cpu"])
        return float(took["wall"])

    @property
    def megabytes(self) -> float:
        """Most memory used beyond what the loaded data and libraries take."""
        return max(self._memory("VmHWM") - self._loaded, 0.0)

    def close(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(timeout=60)
        self._folder.cleanup()

    def _answer(self, begins: str) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:  # libraries print, too
            if line.startswith(begins):
                return line
        assert self._process.stderr is not None
        raise RuntimeError(self._process.stderr.read().strip().split("\n")[-1])

    def _memory(self, what: str) -> float:
        try:
            status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="utf-8")
        except OSError:  # not Linux
            return float("nan")
        return next(int(line.split()[1]) / 1024 for line in status.split("\n") if line.startswith(what))


def _rpart(workload: str, folder: Path) -> list[str]:
    from workloads import WORKLOADS

    work = WORKLOADS[workload]
    X, y = work.data
    np.asfortranarray(X).ravel("F").tofile(folder / "columns")
    np.asarray(y, np.float64).tofile(folder / "target")
    given = [*X.shape, work.target.n_classes, work.limits.max_depth or 0, work.limits.min_samples_leaf]
    files = [str(folder / name) for name in ("columns", "target")]
    return ["Rscript", str(HERE / "rpart.R"), *files, *map(str, given)]


def main() -> None:
    from peers import PEERS
    from workloads import WORKLOADS

    peer, workload = sys.argv[1:]
    work = WORKLOADS[workload]
    assert work.data is not None  # made before "ready"
    prepare = PEERS[peer].job
    assert prepare is not None
    job = prepare(work)
    print("ready", flush=True)
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        job()
        took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        print(json.dumps(took), flush=True)


if __name__ == "__main__":
    main()
