"""Overhead of `fit` outside of the core on a small table of 768 rows and 8 columns.

    python benchmarks/small_calls.py [--quick] [--only NAME] [--nominal COLUMNS] [--json FILE]

This is the processor time of a new model's `fit` on one thread, without `_core.grow`: checking, reading and
encoding the table, making folds and tasks, and predicting held-out rows. The kinds of tables take turns and
the fastest repetition counts. All tables hold the same patients with a few missing cells: as numbers, or with
half of the columns in bands as categories or text. Tables with text also have text as classes.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # waiting threads would count as processor time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from clock import take_turns
from crosscut import TreeClassifier, TreeRegressor, _core
from machine import Machine

MUST = 0.5  # ms
ROWS, COLUMNS = 768, 8


class Around:
    """Fits new models and records the processor time of each fit, in total and outside of the core."""

    def __init__(self, kind: type[TreeClassifier | TreeRegressor], X: object, y: object) -> None:
        self.kind, self.X, self.y = kind, X, y
        self.fit: list[float] = []
        self.around: list[float] = []

    def __call__(self) -> None:
        grow, within, model = _core.grow, 0.0, self.kind(n_jobs=1)

        def timed(*arguments):
            nonlocal within
            begin = time.process_time()
            grown = grow(*arguments)
            within += time.process_time() - begin
            return grown

        _core.grow = timed
        try:
            begin = time.process_time()
            model.fit(self.X, self.y)
            self.fit.append(time.process_time() - begin)
            self.around.append(self.fit[-1] - within)
        finally:
            _core.grow = grow


def patients() -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return numeric columns, of which some are whole numbers, a class per row, and a numeric target."""
    draw = np.random.default_rng(0)
    age = 21 + draw.gamma(1.5, 8, ROWS).astype(int)
    mass = draw.normal(32, 7, ROWS).clip(18).round(1)
    glucose = draw.normal(100 + 0.4 * age, 28, ROWS).clip(50).astype(int)
    frame = pd.DataFrame(
        {
            "visits": draw.poisson(0.1 * age),
            "glucose": glucose,
            "pressure": draw.normal(70, 12, ROWS).astype(int),
            "skin": np.where(draw.random(ROWS) < 0.3, 0, draw.normal(mass, 8).astype(int)),
            "insulin": np.where(draw.random(ROWS) < 0.05, np.nan, draw.gamma(2, 70, ROWS).round()),
            "mass": np.where(draw.random(ROWS) < 0.02, np.nan, mass),
            "pedigree": draw.gamma(2, 0.24, ROWS).round(3),
            "age": age,
        }
    )
    risk = 0.04 * (glucose - 120) + 0.08 * (mass - 32) + draw.logistic(0, 1, ROWS)
    return frame, (risk > 0.7).astype(np.int64), (100 + 20 * risk).round(1)


def in_bands(numbers: pd.DataFrame, nominal: int) -> pd.DataFrame:
    """Return the table with ``nominal`` columns as text: 3 to 17 bands, None for missing numbers."""
    table = numbers.copy()
    for f, (name, column) in enumerate(numbers.items()):
        if f * nominal % COLUMNS < nominal:
            band = pd.qcut(column, 3 + 2 * f, duplicates="drop")
            table[name] = band.astype(str).where(band.notna(), None).astype("str")
    return table


def tables(nominal: int) -> dict[str, tuple[object, object, object]]:
    """Return tables by name, each with classes and numeric targets of the same library."""
    numbers, codes, costs = patients()
    mixed = in_bands(numbers, nominal)
    text = [name for name in mixed if not pd.api.types.is_numeric_dtype(mixed[name])]
    diagnosis = np.where(codes == 1, "ill", "well")
    of_pandas = (pd.Series(diagnosis, name="diagnosis"), pd.Series(costs, name="cost"))
    of_polars = (pl.Series("diagnosis", diagnosis), pl.Series("cost", costs))
    of_arrow = (pa.chunked_array([diagnosis]), pa.chunked_array([costs]))
    polars_numbers, polars_mixed = (
        pl.DataFrame({name: pl.Series(frame[name].to_list(), nan_to_null=True) for name in frame})
        for frame in (numbers, mixed.astype(object).where(mixed.notna(), None))
    )
    return {
        "NumPy, numbers": (numbers.to_numpy(np.float64), codes, costs),
        "pandas, numbers": (numbers, pd.Series(codes), of_pandas[1]),
        "pandas, categories": (mixed.astype(dict.fromkeys(text, "category")), *of_pandas),
        "pandas, text": (mixed, *of_pandas),
        "polars, numbers": (polars_numbers, pl.Series(codes), of_polars[1]),
        "polars, categories": (polars_mixed.with_columns(pl.col(text).cast(pl.Categorical)), *of_polars),
        "polars, text": (polars_mixed, *of_polars),
        "Arrow, numbers": (polars_numbers.to_arrow(), pa.chunked_array([codes]), of_arrow[1]),
        "Arrow, text": (polars_mixed.to_arrow(), *of_arrow),
    }


def measure(kinds: dict[str, tuple[object, object, object]], *, quick: bool) -> list[dict[str, object]]:
    jobs = {}
    for name, (X, classes, costs) in kinds.items():
        jobs[name, "classification"] = Around(TreeClassifier, X, classes)
        jobs[name, "regression"] = Around(TreeRegressor, X, costs)
    take_turns(jobs, seconds=0.1 if quick else 5.0, min_runs=5, max_runs=1000)
    return [
        {"table": name, "kind": kind, "around": 1e3 * min(job.around), "fit": 1e3 * min(job.fit)}
        for (name, kind), job in jobs.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few repetitions")
    parser.add_argument("--only", metavar="NAME", default="", help="tables whose name contains this")
    parser.add_argument(
        "--nominal", type=int, default=4, help="columns that are categories or text; default: %(default)s"
    )
    parser.add_argument(
        "--json", metavar="FILE", default="build/small_calls.json", help="default: %(default)s"
    )
    options = parser.parse_args()
    every = tables(options.nominal)
    chosen = {name: data for name, data in every.items() if options.only in name}
    if not chosen:
        parser.error(f"--only {options.only}: there are {'; '.join(every)}")
    machine = Machine.here(("crosscut", "numpy", "pandas", "polars", "pyarrow", "scikit-learn"))
    print(machine, "\n")
    rows = measure(chosen, quick=options.quick)
    for row in rows:
        missed = f"  missed: must be {MUST} ms" if row["around"] > MUST else ""
        print(
            f"around {row['around']:.3f} ms, fit {row['fit']:6.3f} ms  {row['table']}, {row['kind']}{missed}"
        )
    file = Path(options.json)
    file.parent.mkdir(parents=True, exist_ok=True)
    result = {"machine": machine.as_dict(), "quick": options.quick, "n_jobs": 1, "nominal": options.nominal}
    file.write_text(
        json.dumps(result | {"must": MUST, "rows": rows}, indent=1, ensure_ascii=False) + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
