"""Compare crosscut with its peers in one run: time (fastest and slowest repetition) and peak memory.

    python benchmarks/bench.py [--quick] [--only WORKLOAD] [--json FILE]

Each peer runs in a separate process that holds the data. The processes take turns. Peers that are not
installed are left out with a message.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from child import Child
from machine import Machine
from peers import PEERS

SMALL = ("iris", "breast-cancer", "digits", "diabetes", "noisy-768", "noisy-5k", "noisy-11k", "mixed-32k")
LARGE = ("tree-like-8", "tree-like-20", "weak-8", "weak-20", "ten-classes", "regression")
TITLES = {
    "iris": "iris, 150 × 4, 3 classes, full depth",
    "breast-cancer": "breast_cancer, 569 × 30, full depth",
    "digits": "digits, 1797 × 64, 10 classes, full depth",
    "diabetes": "diabetes, 442 × 10, regression, full depth",
    "noisy-768": "noisy 768 × 8, full depth",
    "noisy-5k": "noisy 5k × 5, full depth",
    "noisy-11k": "noisy 11k × 6, 2% positives, full depth",
    "mixed-32k": "mixed 32k × 14, full depth",
    "tree-like-8": "100k × 20 tree-like, depth 8",
    "tree-like-20": "100k × 20 tree-like, leaves ≥ 20",
    "weak-8": "100k × 20 weak, depth 8",
    "weak-20": "100k × 20 weak, leaves ≥ 20",
    "ten-classes": "100k × 30, 10 classes, leaves ≥ 20",
    "regression": "100k × 20 regression, leaves ≥ 20",
    "higgs-1m": "1M × 28 HIGGS-like, depth 8 (crosscut: max_bins=255)",
    "higgs-10m": "10M × 28 HIGGS-like, depth 8 (crosscut: max_bins=255)",
}
NEEDS = {"LightGBM cv": "lightgbm", "XGBoost cv": "xgboost", "YDF CART": "ydf"}
_BINNED = ("crosscut", "crosscut fit", "LightGBM cv", "XGBoost cv")
FAST_ENOUGH = {"higgs-1m": (*_BINNED, "scikit-learn, one fit"), "higgs-10m": _BINNED}


def installed_peers() -> list[str]:
    """Return the names of the installed peers; print how to install the others."""
    installed = []
    for peer in PEERS:
        module = NEEDS.get(peer)
        if module and find_spec(module) is None:
            print(f"{peer} is left out: pip install --group bench-{module}")
        elif peer == "rpart" and not _has_rpart():
            print(
                "rpart is left out: Rscript with rpart is not installed (Debian: r-base-core, r-cran-rpart)"
            )
        else:
            installed.append(peer)
    return installed


def _has_rpart() -> bool:
    if shutil.which("Rscript") is None:
        return False
    return (
        subprocess.run(["Rscript", "-e", "library(rpart)"], capture_output=True, check=False).returncode == 0
    )


def measure(workload: str, children: list[Child], *, quick: bool) -> dict[str, dict[str, object]]:
    """Run the peers in turns on a workload."""
    least, most, seconds = (1, 5, 0.5) if quick else (3, 20, 4.0)
    results: dict[str, dict[str, object]] = {}
    waiting = []
    for child in children:
        try:
            child.load(workload)
            waiting.append(child)
        except RuntimeError as error:
            results[child.peer] = {"failed": str(error)}
    while waiting:
        for child in list(waiting):
            try:
                child.run()
            except RuntimeError as error:
                results[child.peer] = {"failed": str(error)}
                waiting.remove(child)
                continue
            done = len(child.wall)
            enough = least if max(child.wall) < 10 else 1  # long runs vary little
            if done >= most or (done >= enough and sum(child.wall) >= seconds):
                waiting.remove(child)
    for child in children:
        if child.peer not in results:
            results[child.peer] = {
                "wall": min(child.wall),
                "slowest": max(child.wall),
                "cpu": min(child.cpu),
                "repetitions": len(child.wall),
                "megabytes": round(child.megabytes, 1),
            }
    return {child.peer: results[child.peer] for child in children}


def show(workload: str, results: dict[str, dict[str, object]]) -> None:
    print(f"\n{TITLES[workload]}")
    for peer, result in results.items():
        if "failed" in result:
            print(f"  {peer:22} failed: {result['failed']}")
        else:
            print(
                f"  {peer:22} {result['wall']:9.4f} s  (× {result['slowest'] / result['wall']:5.2f})"
                f"  processor {result['cpu']:9.4f} s  {result['megabytes']:8.1f} MB",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few repetitions; small tables and a large one")
    parser.add_argument("--only", metavar="WORKLOAD", help=f"one of {', '.join(TITLES)}")
    parser.add_argument("--json", metavar="FILE", default="build/bench.json", help="default: %(default)s")
    options = parser.parse_args()
    chosen = [options.only] if options.only else [*SMALL, *LARGE, *FAST_ENOUGH]
    if options.quick and not options.only:
        chosen = [*SMALL, "tree-like-8"]
    if not set(chosen) <= set(TITLES):
        parser.error(f"--only {options.only}: there are {', '.join(TITLES)}")
    machine = Machine.here(("crosscut", "numpy", "scikit-learn", "lightgbm", "xgboost", "xgboost-cpu", "ydf"))
    print(machine)
    peers = installed_peers()
    result = {
        "machine": machine.as_dict(),
        "quick": options.quick,
        "peers": {peer: PEERS[peer].computes for peer in peers},
        "workloads": {},
        "results": {},
    }
    file = Path(options.json)
    file.parent.mkdir(parents=True, exist_ok=True)
    children = [Child(peer) for peer in peers]
    for workload in chosen:
        able = [child for child in children if child.peer in FAST_ENOUGH.get(workload, peers)]
        result["results"][workload] = measure(workload, able, quick=options.quick)
        result["workloads"][workload] = TITLES[workload]
        show(workload, result["results"][workload])
        # written after every workload, so that a run that is stopped keeps its results
        file.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for child in children:
        child.close()


if __name__ == "__main__":
    main()
