"""Gain of a whole `fit` from more threads: wall-clock seconds with 1, 2, 4, ... threads, by part.

    python benchmarks/threads.py [--only NAME] [--threads 1,16] [--json FILE]

Encoding and growing are measured inside the fit; the rest is everything else. The last columns are the parts
of the rest for folds and tasks, and for out-of-fold predictions. Needs an idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import generated
from crosscut import TreeClassifier, _core
from crosscut.training import train
from machine import Machine
from workloads import DEPTH_8, LEAVES_20, WORKLOADS, Workload, tree_like

WORK = {
    "100k × 20, ten classes, leaves ≥ 20": Workload(
        lambda: generated.many_classes(100_000, 20, 10), LEAVES_20
    ),
    "1M × 20 tree-like, leaves ≥ 20": Workload(lambda: tree_like(1_000_000), LEAVES_20),
    "1M × 28 HIGGS-like, max_bins=255, depth 8": WORKLOADS["higgs-1m"],
    "5M × 28 HIGGS-like, max_bins=255, depth 8": Workload(
        lambda: generated.higgs_like(5_000_000), DEPTH_8, max_bins=255
    ),
}
PARTS = {
    "encode": (_core, "rank_columns"),
    "grow": (_core, "grow"),
    "tasks": (train, "tasks_of"),
    "out of fold": (train, "apply_held_out"),
}
SHOWN = ("fit", "encode", "grow", "rest", "tasks", "out of fold")


class Stopwatch:
    """Adds up the seconds that a function of a module takes."""

    def __init__(self, module: object, name: str) -> None:
        self.run, self.seconds = getattr(module, name), 0.0
        setattr(module, name, self)

    def __call__(self, *arguments, **options):
        begin = time.perf_counter()
        try:
            return self.run(*arguments, **options)
        finally:
            self.seconds += time.perf_counter() - begin


def fastest(work: Workload, n_jobs: int, watches: dict[str, Stopwatch], runs: int = 3) -> dict[str, float]:
    limits = {"max_depth": work.limits.max_depth, "min_samples_leaf": work.limits.min_samples_leaf}
    model = TreeClassifier(**limits, max_bins=work.max_bins, n_jobs=n_jobs)
    results = []
    for _ in range(runs):
        for watch in watches.values():
            watch.seconds = 0.0
        begin = time.perf_counter()
        model.fit(*work.data)
        parts = {"fit": time.perf_counter() - begin} | {name: w.seconds for name, w in watches.items()}
        results.append(parts | {"rest": parts["fit"] - parts["encode"] - parts["grow"]})
    return min(results, key=lambda result: result["fit"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    powers = [2**k for k in range(cores.bit_length()) if 2**k <= cores]
    parser.add_argument("--only", metavar="NAME", default="", help="part of a name")
    parser.add_argument("--threads", default=",".join(map(str, powers)), help="default: %(default)s")
    parser.add_argument("--json", metavar="FILE", default="build/threads.json", help="default: %(default)s")
    options = parser.parse_args()
    machine = Machine.here()
    print(
        machine,
        f"\n\n| work | threads | {' | '.join(SHOWN)} | 1 thread ÷ this |\n"
        + "| --- " * (len(SHOWN) + 3)
        + "|",
    )
    watches = {name: Stopwatch(*place) for name, place in PARTS.items()}
    rows = []
    for name, work in WORK.items():
        if options.only in name:
            for threads in map(int, options.threads.split(",")):
                result = fastest(work, threads, watches)
                rows.append({"work": name, "threads": threads} | result)
                first = next(row["fit"] for row in rows if row["work"] == name)
                seconds = " | ".join(f"{result[part]:.4f}" for part in SHOWN)
                print(f"| {name} | {threads} | {seconds} | {first / result['fit']:.1f} |", flush=True)
    file = Path(options.json)
    file.parent.mkdir(parents=True, exist_ok=True)
    record = {"machine": machine.as_dict(), "quick": False, "rows": rows}
    text = json.dumps(record, indent=1, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
