"""What fits ask for before they start, and what they take.

`cd tests; PYTHONPATH=../benchmarks python -m fuzz.memory [NAME ...]`
"""

import multiprocessing
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

import crosscut
import crosscut_relational
from crosscut.data import file_kind
from crosscut.data import table as tables
from crosscut.data.text import dialect, text_file
from crosscut.engines import memory
from crosscut.engines.stream import level_wise
from crosscut.rules import examples
from crosscut_relational.database.database import Database
from crosscut_relational.queries import queries
from paper.data import bongard

ASKING = (dialect, file_kind, tables, text_file, level_wise, memory, queries, examples)


def table(n_rows, n_columns, *, values=1000, hard=False):
    """Return random numbers; labels that no test foretells make the largest trees."""
    draw = np.random.default_rng(0)
    X = np.floor(draw.normal(size=(n_rows, n_columns)) * values).astype(np.float32)
    return X, draw.integers(0, 2, n_rows) if hard else (X[:, 0] > X[:, 1]).astype(int)


def fit(model, n_rows, n_columns, **data):
    X, y = table(n_rows, n_columns, **data)
    return lambda: model.fit(X, y * 1.5 if isinstance(model, crosscut.TreeRegressor) else y)


def relational(database, bias=None):
    return lambda: crosscut_relational.RelationalTreeClassifier(bias, cv=10).fit(database)


def shop(n):
    return relational(Database.from_tables(crosscut_relational.datasets.shop(n), target="customer.churned"))


def file(folder, ending, n_rows, *, stream=False):
    path = Path(folder, "a" + ending)
    X, y = table(n_rows, 10)
    given = pa.table([*X.T, [f"class {c}" for c in y]], [*"abcdefghij", "y"])
    (parquet.write_table if ending == ".parquet" else csv.write_csv)(given, path)
    return (
        (lambda: crosscut.TreeClassifier(cv=10).fit(crosscut.Stream(path), "y"))
        if stream
        else (lambda: crosscut.read_file(path))
    )


CASES = {  # number of rows, and what fits or reads so many
    "tree, 10 columns": (300_000, lambda n, _: fit(crosscut.TreeClassifier(cv=10), n, 10)),
    "tree, 2 columns": (1_000_000, lambda n, _: fit(crosscut.TreeClassifier(cv=10), n, 2)),
    "tree, 300 columns": (30_000, lambda n, _: fit(crosscut.TreeClassifier(cv=10), n, 300)),
    "tree, few values": (300_000, lambda n, _: fit(crosscut.TreeClassifier(cv=10), n, 10, values=2)),
    "tree, 50 folds": (100_000, lambda n, _: fit(crosscut.TreeClassifier(cv=50), n, 10)),
    "tree, random labels": (300_000, lambda n, _: fit(crosscut.TreeClassifier(cv=10), n, 10, hard=True)),
    "regression tree": (300_000, lambda n, _: fit(crosscut.TreeRegressor(cv=10), n, 10)),
    "60 bagged trees": (100_000, lambda n, _: fit(crosscut.BaggedTrees(n_trees=60), n, 10)),
    "CN2": (50_000, lambda n, _: fit(crosscut.RuleClassifier(cv=2), n, 30)),
    "RIPPER": (50_000, lambda n, _: fit(crosscut.RuleClassifier(cv=2, strategy="ripper"), n, 30)),
    "linked tables": (40_000, lambda n, _: shop(n)),
    "Bongard": (10_000, lambda n, _: relational(*bongard("complex", n))),
    "CSV file": (1_000_000, lambda n, folder: file(folder, ".csv", n)),
    "Parquet file": (1_000_000, lambda n, folder: file(folder, ".parquet", n)),
    "stream": (300_000, lambda n, folder: file(folder, ".parquet", n, stream=True)),
}


def _status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


def measure(name):
    """Run a case and tell what it asked for, and by how much its memory grew at most."""
    asked = []
    for module in ASKING:
        module.check_memory = lambda needed, *_: asked.append(needed)
    with tempfile.TemporaryDirectory() as folder:
        n_rows, case = CASES[name]
        case(100, folder)()  # to import what it needs
        act = case(n_rows, folder)
        asked.clear()
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
        before = _status("VmRSS")
        act()
        taken = _status("VmHWM") - before
    needed = sum(asked)
    print(
        f"| {name} | {n_rows:,} | {needed / 1e6:,.0f} MB | {taken / 1e6:,.0f} MB | {needed / taken:.2f} |",
        flush=True,
    )


def main():
    for name in sys.argv[1:] or CASES:
        process = multiprocessing.get_context("spawn").Process(target=measure, args=(name,))
        process.start()
        process.join()


if __name__ == "__main__":
    main()
