"""Trees from a file larger than the memory limit: time and memory, compared with XGBoost.

    python benchmarks/stream.py --rows 20_000_000

Writes the rows as Parquet (once), and then measures in separate processes: reading the file once with
pyarrow, crosscut's 10 folds and final tree in one fit, and XGBoost's external-memory training of one tree per
fold (n + 1 trainings). Prints a table.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

COLUMNS = 20
FOLDS = 10
DEPTH = 8
GROUP = 1_000_000  # rows of a row group


def generate(path: Path, n_rows: int) -> None:
    """Write a tree-like concept with 5% noise: 20 float columns and a class."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    partial = path.with_suffix(".partial")
    names = [f"x{f}" for f in range(COLUMNS)]
    schema = pa.schema([*((name, pa.float32()) for name in names), ("y", pa.int8())])
    with parquet.ParquetWriter(partial, schema, compression="snappy") as writer:
        for begin in range(0, n_rows, GROUP):
            n = min(GROUP, n_rows - begin)
            X = rng.standard_normal((COLUMNS, n), dtype=np.float32)
            high = np.where(X[1] > -0.2, X[2] > 0.1, X[3] > 0.4)
            low = np.where(X[4] > 0, X[5] > -0.5, X[6] > 0.2)
            concept = np.where(X[0] > 0.3, high, low)
            concept ^= (X[7] > 1.0) & (X[8] > 0.5)
            y = concept ^ (rng.random(n) < 0.05)
            writer.write_table(pa.table([*X, y.astype(np.int8)], schema=schema))
    partial.rename(path)


def read_once(path: Path) -> dict[str, float]:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        n = sum(batch.num_rows for batch in file.iter_batches(batch_size=1 << 18))
    return {"rows": n}


def crosscut(path: Path, memory_limit: str) -> dict[str, float]:
    from crosscut import Stream, TreeClassifier

    passes: dict[str, float] = {}

    def record(progress):
        passes[progress.name] = round(progress.seconds, 2)

    stream = Stream(path, memory_limit=memory_limit, progress=record)
    model = TreeClassifier(max_depth=DEPTH, cv=FOLDS).fit(stream, "y")
    return {
        "passes": len(passes),
        "score": model.cv_score_,
        "seconds_per_pass": passes,
        "bundles": model.forest_.work["bundles"].tolist(),
    }


def xgboost(path: Path, folds: int) -> dict[str, float]:
    """Train one tree per fold and the final tree with XGBoost's external memory, a batch per row group."""
    import tempfile

    import xgboost as xgb
    from pyarrow import parquet

    class Rows(xgb.DataIter):
        def __init__(self, fold: int, folder: str) -> None:
            self.fold, self.at = fold, 0
            self.file = parquet.ParquetFile(path)
            super().__init__(cache_prefix=f"{folder}/cache")

        def next(self, input_data):
            if self.at == self.file.num_row_groups:
                return False
            table = self.file.read_row_group(self.at)
            X = np.column_stack([table[f].to_numpy() for f in range(COLUMNS)])
            y = table["y"].to_numpy()
            rows = np.arange(self.at * GROUP, self.at * GROUP + len(y))
            keep = (rows * 2654435761 >> 16) % FOLDS != self.fold
            input_data(data=X[keep], label=y[keep])
            self.at += 1
            return True

        def reset(self):
            self.at = 0

    settings = {
        "tree_method": "hist",
        "max_depth": DEPTH,
        "max_bin": 255,
        "objective": "binary:logistic",
        "eta": 1.0,
        "min_child_weight": 0,
        "reg_lambda": 0,
    }
    for fold in range(-1, folds):
        with tempfile.TemporaryDirectory() as folder:
            make = getattr(xgb, "ExtMemQuantileDMatrix", None)
            rows = Rows(fold, folder)
            data = make(rows, max_bin=255) if make else xgb.DMatrix(rows)
            xgb.train(settings, data, num_boost_round=1)
            del data
    return {"trainings": folds + 1, "version": xgb.__version__}


def measured(arguments: list[str]) -> dict[str, float]:
    """Run one part in a separate process; return its time, processor time and peak resident size."""
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def run_part(options: argparse.Namespace) -> None:
    path = options.file
    begin, cpu = time.perf_counter(), time.process_time()
    if options.part == "read":
        result = read_once(path)
    elif options.part == "crosscut":
        result = crosscut(path, options.memory_limit)
    else:
        result = xgboost(path, options.folds)
    result |= {
        "seconds": time.perf_counter() - begin,
        "processor": time.process_time() - cpu,
        "resident_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(result))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--memory-limit", default="512MB")
    parser.add_argument("--file", type=Path)
    parser.add_argument("--folder", type=Path, default=Path("/tmp"))
    parser.add_argument(
        "--folds",
        type=int,
        default=FOLDS,
        help="folds that XGBoost trains; with fewer than all, its time is scaled",
    )
    parser.add_argument("--part", choices=["read", "crosscut", "xgboost"])
    options = parser.parse_args()
    if options.part:
        run_part(options)
        return
    path = options.file or options.folder / f"crosscut-stream-{options.rows}.parquet"
    if not path.exists():
        generate(path, options.rows)
    common = ["--file", str(path), "--memory-limit", options.memory_limit, "--folds", str(options.folds)]
    read = measured([*common, "--part", "read"])
    ours = measured([*common, "--part", "crosscut"])
    size = path.stat().st_size / 1e9
    print(f"{options.rows:,} rows x {COLUMNS} columns, {size:.2f} GB of Parquet")
    print(f"{FOLDS} folds and the final tree, depth {DEPTH}")
    print(line("reading the file once (pyarrow)", read))
    print(line(f"crosscut, memory_limit {options.memory_limit}", ours))
    ratio = ours["seconds"] / read["seconds"]
    print(f"  {ratio:.1f} x reading once; {ours['passes']} passes; CV accuracy {ours['score']:.4f}")
    print(f"  seconds per pass {ours['seconds_per_pass']}")
    print(f"  bundles per level {ours['bundles']}")
    try:
        peer = measured([*common, "--part", "xgboost"])
    except subprocess.CalledProcessError:
        print("XGBoost could not be measured")
        return
    scale = (FOLDS + 1) / peer["trainings"]
    peer |= {name: peer[name] * scale for name in ("seconds", "processor")}
    note = "all measured" if scale == 1 else f"{peer['trainings']} measured, scaled to {FOLDS + 1}"
    print(line(f"XGBoost {peer['version']} ext. memory", peer) + f", {FOLDS + 1} trainings: {note}")
    faster, less = (peer[name] / ours[name] for name in ("seconds", "processor"))
    print(f"  crosscut is {faster:.1f} x faster ({less:.1f} x in processor time)")


def line(what: str, result: dict[str, float]) -> str:
    amounts = f"{result['seconds']:9.1f} s {result['processor']:9.1f} s processor"
    return f"{what:36} {amounts} {result['resident_mb']:7.0f} MB resident"


if __name__ == "__main__":
    main()
