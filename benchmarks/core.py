"""Speed of the core as ratios of times within one run, compared with their targets.

    python benchmarks/core.py [--quick] [--only NAME] [--n-jobs N] [--json FILE]

T_p is encoding, ten folds and the final tree; T_a is encoding and the final tree. The jobs of a group take
turns, and the fastest repetition counts. Ratios are of wall-clock times and of processor times of all
threads. On a busy machine use --n-jobs 1 and the ratio of processor times.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from clock import Times, take_turns
from crosscut import TreeClassifier
from machine import Machine
from peers import lightgbm_cv, sklearn_fit
from workloads import WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Callable

    Jobs = dict[str, Callable[[], object]]


@dataclass(frozen=True)
class Row:
    """The ratio of two jobs' times, with the limit it must reach and its goal."""

    work: str
    must: float
    goal: float
    job: str
    over: str
    overhead: bool = False  # ratio minus one, in percent
    required: bool = True  # otherwise for comparison only

    def measured(self, times: dict[str, Times], clock: str) -> float:
        ratio = min(getattr(times[self.job], clock)) / min(getattr(times[self.over], clock))
        return ratio - 1 if self.overhead else ratio

    def text(self, figure: float) -> str:
        return f"{figure:.0%}" if self.overhead else f"{figure:.3g}"

    def verdict(self, figure: float) -> str:
        if not self.required:
            return "for comparison"
        return "goal" if figure <= self.goal else "must" if figure <= self.must else "missed"


def jobs_of(name: str, *, quick: bool, n_jobs: int | None) -> Jobs:
    """Return the jobs of a group, by the names that its rows use."""
    work = WORKLOADS[{"scale": "tree-like-8", "higgs": "higgs-100k" if quick else "higgs-1m"}.get(name, name)]
    jobs: Jobs = {"T_p": partial(work.all_trees, n_jobs)}
    if name in {"higgs", "tree-like-8"}:
        jobs["lightgbm"] = lightgbm_cv(work)
    if name == "scale":
        jobs["T_p 1M"] = partial(WORKLOADS["tree-like-1m"].all_trees, n_jobs)
    if name not in {"scale", "higgs", "nominal"}:  # scikit-learn has no nominal columns
        jobs["sklearn"] = sklearn_fit(work)
    if name == "breast-cancer":
        jobs["T_p"] = lambda: TreeClassifier(n_jobs=n_jobs).fit(*work.data)
    if name in {"tree-like-8", "weak-8", "nominal"}:
        jobs["T_a"] = partial(work.one_tree, n_jobs)
        jobs["grow 11"] = work.growing(work.tasks(), n_jobs)
        jobs["grow 1"] = work.growing(work.final_task(), n_jobs)
    if name == "tree-like-8":
        jobs["T_a, 1 thread"] = partial(work.one_tree, 1)
    return jobs


def _overhead(work: str, must: float, goal: float) -> list[Row]:
    return [
        Row(f"{work}: T_p ÷ T_a − 1", must, goal, "T_p", "T_a", overhead=True),
        Row(
            f"{work}: the same without encoding",
            must,
            goal,
            "grow 11",
            "grow 1",
            overhead=True,
            required=False,
        ),
    ]


def _over_sklearn(work: str, must: float, goal: float) -> Row:
    return Row(f"{work}: T_p ÷ one scikit-learn fit", must, goal, "T_p", "sklearn")


GROUPS: dict[str, list[Row]] = {
    "tree-like-8": [
        _over_sklearn("100k × 20 tree-like, depth 8", 0.05, 0.03),
        Row(
            "100k × 20 tree-like, depth 8, exact: T_p ÷ LightGBM cv (10 folds, 1 round, 255 leaves)",
            *(0.35, 0.08),
            *("T_p", "lightgbm"),
        ),
        *_overhead("100k × 20 tree-like, depth 8", 1.0, 0.6),
        Row(
            "100k × 20 tree-like, depth 8, 1 thread: T_a ÷ one scikit-learn fit",
            *(0.07, 0.02),
            *("T_a, 1 thread", "sklearn"),
        ),
    ],
    "tree-like-20": [_over_sklearn("100k × 20 tree-like, leaves ≥ 20", 0.30, 0.12)],
    "weak-8": [
        _over_sklearn("100k × 20 weak, depth 8", 0.20, 0.06),
        *_overhead("100k × 20 weak, depth 8", 2.5, 1.4),
    ],
    "weak-20": [_over_sklearn("100k × 20 weak, leaves ≥ 20", 0.15, 0.1)],
    "ten-classes": [_over_sklearn("100k × 30, 10 classes, leaves ≥ 20", 0.18, 0.1)],
    "regression": [_over_sklearn("100k × 20 regression, leaves ≥ 20", 0.2, 0.1)],
    "breast-cancer": [_over_sklearn("breast_cancer, full depth, TreeClassifier().fit", 0.8, 0.3)],
    "noisy-768": [_over_sklearn("noisy 768 × 8, full depth", 1.0, 0.4)],
    "noisy-5k": [_over_sklearn("noisy 5k × 5, full depth", 1.0, 0.4)],
    "noisy-11k": [_over_sklearn("noisy 11k × 6, 2% positives, full depth", 1.0, 0.4)],
    "mixed-32k": [_over_sklearn("mixed 32k × 14, full depth", 1.2, 0.4)],
    "higgs": [
        Row(
            "1M × 28 HIGGS-like (100k with --quick), max_bins=255, depth 8: T_p ÷ LightGBM cv",
            *(0.30, 0.06),
            *("T_p", "lightgbm"),
        )
    ],
    "nominal": _overhead("200k × 15 nominal, multiway, depth 5", 0.3, 0.1),
    "scale": [Row("100k → 1M rows, tree-like, depth 8: T_p ÷ T_p", 13.0, 10.0, "T_p 1M", "T_p")],
}


def measure(
    group: str, *, quick: bool, n_jobs: int | None
) -> tuple[list[dict[str, object]], dict[str, Times]]:
    """Run the jobs of a group and return its rows."""
    min_runs, max_runs, seconds = (1, 15, 0.5) if quick else (3, 25, 8.0)
    jobs = jobs_of(group, quick=quick, n_jobs=n_jobs)
    times = take_turns(jobs, seconds=seconds, min_runs=min_runs, max_runs=max_runs)
    rows: list[dict[str, object]] = []
    for row in GROUPS[group]:
        wall, cpu = row.measured(times, "wall"), row.measured(times, "cpu")
        result = {"row": row.work, "must": row.must, "goal": row.goal, "measured": wall, "cpu": cpu}
        rows.append(result | {"verdict": row.verdict(wall), "group": group})
        texts = [row.text(figure) for figure in (row.must, row.goal, wall, cpu)]
        print(f"| {row.work} | {' | '.join(texts)} | {row.verdict(wall)} |", flush=True)
    return rows, times


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few repetitions, no tables of 1M rows")
    parser.add_argument(
        "--only", metavar="NAME", help=f"groups whose name contains this: {', '.join(GROUPS)}"
    )
    parser.add_argument("--n-jobs", type=int, help="threads of crosscut; all cores unless given")
    parser.add_argument("--json", metavar="FILE", default="build/core.json", help="default: %(default)s")
    options = parser.parse_args()
    chosen = [group for group in GROUPS if not options.only or options.only in group]
    if options.quick and not options.only:
        chosen.remove("scale")
    if not chosen:
        parser.error(f"--only {options.only}: there are {', '.join(GROUPS)}")
    machine = Machine.here(("crosscut", "numpy", "scikit-learn", "lightgbm"))
    print(machine, "\n")
    print("| work | must | goal | measured | processor time | verdict |\n" + "| --- " * 6 + "|")
    rows, seconds = [], {}
    for group in chosen:
        group_rows, times = measure(group, quick=options.quick, n_jobs=options.n_jobs)
        rows += group_rows
        seconds[group] = {name: each.as_dict() for name, each in times.items()}
    print("\nseconds (fastest wall, processor time; slowest ÷ fastest; repetitions)")
    for group, jobs in seconds.items():
        for name, job in jobs.items():
            print(
                f"{group:14} {name:14} {job['wall']:9.4f} {job['cpu']:9.4f} "
                f"{job['slowest'] / job['wall']:6.2f} {job['repetitions']:3d}"
            )
    file = Path(options.json)
    file.parent.mkdir(parents=True, exist_ok=True)
    result = {"machine": machine.as_dict(), "quick": options.quick, "n_jobs": options.n_jobs}
    result |= {"rows": rows, "seconds": seconds}
    file.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
