"""Measure how soon each long loop answers Ctrl-C: `cd tests; python -m fuzz.interrupts --tries 20`.

A loop runs in a process of its own, again and again; each time the process is interrupted at a random moment
and has to go on. Seconds are those of processor time from the signal to the KeyboardInterrupt, so that other
work on the machine does not count.
"""

import argparse
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import closing
from functools import partial
from pathlib import Path
from select import select

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from crosscut import (
    BaggedTrees,
    GridSearchCV,
    RuleClassifier,
    Stream,
    TreeClassifier,
    TreeRegressor,
    nested_cross_validate,
    permutation_test_score,
    read_file,
    split_target,
)
from crosscut.report import write_report
from crosscut_relational import Bias, Database, RelationalRuleClassifier, RelationalTreeClassifier, datasets

LIMIT = 1.0  # seconds
TESTS = Path(__file__).parents[1]
MODES = ["atom(+M,-A,#)", "bond(+M,+A,-B)"]


def rows_of(n, row):
    return "".join(row(i) for i in range(n))


def reading(name, text, encoding="utf-8"):
    """Return what writes a file and gives the loop that reads it."""

    def made(folder):
        (folder / name).write_text(text(), encoding=encoding)
        return lambda: read_file(folder / name)

    return made


def csv_text():
    line = ",".join(f"{i * 0.37:.3f}" for i in range(20)) + ",a text,2024-03-01,x\n"
    return ",".join("abcdefghijklmnopqrstuvw") + "\n" + line * 400_000


def loose_csv_text():
    return "a;b;c;d\n" + rows_of(400_000, lambda i: f' "{i}" ;{i % 28 + 1}.3.2024;{i},5 €;n{i}\n')


def arff_text():
    names = rows_of(20, lambda i: f"@attribute a{i} numeric\n")
    return f"@relation r\n{names}@attribute b {{'x y',z}}\n@data\n" + ("1.5," * 20 + "'x y'\n") * 100_000


def sparse_arff_text():
    names = rows_of(20_000, lambda i: f"@attribute a{i} numeric\n")
    return f"@relation r\n{names}@data\n" + rows_of(500, lambda i: f"{{{i} 1.5, {i + 9} 2}}\n")


def parquet(folder):
    path, n = folder / "a.parquet", 2_000_000
    random = np.random.default_rng(0)
    columns = {f"a{i}": random.normal(size=n) for i in range(8)}
    text = pa.array([f"n{i % 999}" for i in range(n)])
    pq.write_table(pa.table({**columns, "t": text, "y": np.arange(n) % 2}), path)
    return lambda: TreeClassifier(max_depth=1).fit(*split_target(read_file(path), "y"))


def prolog(folder):
    facts = rows_of(150_000, lambda i: f"class(m{i},{'ab'[i % 2]}). atom(m{i},'C {i}',{i / 7}).\n")
    return lambda: Database.from_prolog(facts, predict="class(+mol,-class)")


def closure(folder):
    def facts(i):
        return f"class({i},{'ab'[i % 2]}). edge({i},{(i * 7 + 1) % 3000}). edge({i},{i // 2}).\n"

    text = rows_of(3000, facts) + "path(X,Y) :- edge(X,Y).\npath(X,Z) :- path(X,Y), path(Y,Z).\n"
    return lambda: Database.from_prolog(text, predict="class(+x,-class)")


def join(folder):
    facts = rows_of(6000, lambda i: f"class({i},{'ab'[i % 2]}). e({i},{i % 2}).\n")
    text = facts + "far(X,Y) :- e(X,Z), e(Y,Z). many(X) :- e(X,Z), e(Y,Z), Y > X.\n"
    return lambda: Database.from_prolog(text, predict="class(+x,-class)")


def sqlite(folder):
    with closing(sqlite3.connect(folder / "shop.db")) as connection:
        for name, rows in datasets.shop(20_000).items():
            connection.execute(f"CREATE TABLE {name} ({', '.join(rows.column_names)})")
            insert = f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows.column_names))})"
            connection.executemany(insert, [list(row.values()) for row in rows.to_pylist()])
        connection.commit()
    return lambda: Database.from_sqlite(folder / "shop.db", target="customer.churned")


def folder_of_tables(folder):
    for name, rows in datasets.shop(60_000).items():
        pq.write_table(rows, folder / f"{name}.parquet")
    return lambda: Bias.from_schema(Database.from_folder(folder, target="customer.churned"))


def on_molecules(n, model):
    """Return what makes a loop that learns from a generated database."""

    def made(folder):
        random = np.random.default_rng(0)

        def atom(i):
            return f"atom({i % n},{i},{'cohn'[random.integers(4)]}). bond({i % n},{i},{(i + n) % (8 * n)}).\n"

        text = rows_of(n, lambda i: f"class({i},{'ab'[random.integers(2)]}).\n") + rows_of(8 * n, atom)
        return partial(model.fit, Database.from_prolog(text, predict="class(+m,-class)"))

    return made


def linked_tables(folder):
    tables, model = datasets.shop(5000), RelationalTreeClassifier()
    return lambda: model.fit(Database.from_tables(tables, target="customer.churned"))


def table(n, columns=12):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, columns)).round(3)
    return X, (X[:, 0] * X[:, 1] + random.normal(size=n) > 0).astype(int)


def on_table(n, learn):
    """Return what makes a loop that learns from a table."""
    return lambda folder: partial(learn, *table(n))


def stream(folder):
    X, y = table(200_000)
    path = folder / "a.parquet"
    pq.write_table(pa.table({**{f"a{i}": X[:, i] for i in range(12)}, "y": y}), path)
    return lambda: TreeClassifier(max_depth=6).fit(Stream(path, memory_limit="2MB"), "y")


def report(folder):
    X, y = table(50_000)
    model = TreeClassifier(prune="1se").fit(X, y)
    return lambda: write_report(model, folder / "a.html", X=X)


GRID = {"max_depth": [2, 8, None], "min_samples_leaf": [1, 10]}
LOOPS = {
    "CSV": reading("a.csv", csv_text),
    "CSV, loose": reading("a.csv", loose_csv_text, "cp1252"),
    "ARFF": reading("a.arff", arff_text),
    "sparse ARFF": reading("a.arff", sparse_arff_text),
    "Parquet and ranking": parquet,
    "Prolog, reading": prolog,
    "Prolog, evaluation": closure,
    "Prolog, large join": join,
    "SQLite": sqlite,
    "folder of tables": folder_of_tables,
    "candidate generation": on_molecules(
        60, RelationalTreeClassifier(Bias.of(MODES).with_settings(exhaustive_lookahead=4))
    ),
    "relational tree": on_molecules(5000, RelationalTreeClassifier(Bias.of(MODES))),
    "relational rules": on_molecules(1000, RelationalRuleClassifier(Bias.of(MODES))),
    "linked tables": linked_tables,
    "tree": on_table(200_000, TreeClassifier(prune="1se").fit),
    "regression tree": on_table(50_000, TreeRegressor(prune="1se").fit),
    "CN2": on_table(5_000, RuleClassifier(max_length=3).fit),
    "RIPPER": on_table(20_000, RuleClassifier(strategy="ripper").fit),
    "grid search": on_table(20_000, GridSearchCV(TreeClassifier(), GRID, cv=10).fit),
    "nested": on_table(10_000, partial(nested_cross_validate, TreeClassifier(), GRID)),
    "permutations": on_table(5_000, partial(permutation_test_score, TreeClassifier(), n_permutations=200)),
    "bagging": on_table(20_000, BaggedTrees(n_trees=200).fit),
    "stream": stream,
    "report": report,
}


def work(name):
    """Run a loop again and again, and tell how it went."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        loop = LOOPS[name](Path(folder))
        while sys.stdin.readline():
            said = "end"
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                print(time.process_time(), flush=True)
                loop()
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            except KeyboardInterrupt:
                said = "stopped"
            print(said, time.process_time(), flush=True)


def processor_time(process):
    """Return the seconds of processor time that a process has used."""
    return time.clock_gettime((~process << 3) | 2)  # its clock, as clock_getcpuclockid(3) gives it


def measure(name, tries, random):
    """Return the seconds that each interrupt took; loops that end before theirs do not count."""
    command = [sys.executable, "-m", "fuzz.interrupts", "--work", name]
    seconds, ended, longest = [], 0, 2.0
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=TESTS
    ) as process:
        while len(seconds) < tries and ended < 3 * tries:
            process.stdin.write("go\n")
            process.stdin.flush()
            begin, until = float(process.stdout.readline()), random.uniform(0.0, longest)
            while (
                processor_time(process.pid) - begin < until and not select([process.stdout], [], [], 0.01)[0]
            ):
                pass
            sent = processor_time(process.pid)
            process.send_signal(signal.SIGINT)
            said, at = process.stdout.readline().split()
            if said == "stopped":
                seconds.append(float(at) - sent)
            else:
                ended += 1
                longest = min(longest, float(at) - begin)
        process.stdin.close()
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("loops", nargs="*", metavar="loop", default=list(LOOPS))
    parser.add_argument("--tries", type=int, default=20)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.work)
        return
    slow = 0
    print("| loop | tries | median | longest |\n| --- | ---: | ---: | ---: |")
    for name in given.loops:
        seconds = measure(name, given.tries, np.random.default_rng(0))
        print(f"| {name} | {len(seconds)} | {np.median(seconds):.2f} | {max(seconds):.2f} |", flush=True)
        slow += max(seconds) > LIMIT
    sys.exit(slow > 0)


if __name__ == "__main__":
    main()
