"""The paper's experiment on relational data: all trees grown together, compared with one by one.

    python benchmarks/relational.py [--repeats 7] [--data FOLDER] [--json FILE] [NAME ...]
    python benchmarks/relational.py --linked 1000 5000 20000 50000 100000 [--one-by-one]

For each data set it measures the time to grow, prune and predict out of fold the final tree and the trees of
ten folds: together (T_p), one by one with a cache each (T_s), and one by one without caches (T_u, the paper's
serial procedure). T_a is the final tree alone. "paper's own S" is T_u over the time of the paper's parallel
procedure. Reading, checking and indexing the database are not included; "S fits" compares one fit with eleven
fits that each include everything except reading. Times are CPU seconds on one thread, the least of
interleaved repetitions of some 20 ms, each after a warm-up. Published data sets are read from FOLDER,
$CROSSCUT_DATA or ../shared/data, and left out if they are absent.

With --linked: tables of this number of customers with ten purchases each and 10% noise (`datasets.shop`). One
fit runs in a separate process. It prints the CPU seconds to read and check the tables and to grow, the
process's peak memory and, with --one-by-one, the time of the same trees one by one.
"""

import argparse
import gc
import json
import multiprocessing
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np

from crosscut.tasks.folds import folds_of
from crosscut_relational import Bias, Database, datasets
from crosscut_relational.queries.growth import SHARINGS, Grower
from crosscut_relational.queries.queries import Facts
from crosscut_relational.queries.resolve import resolve
from crosscut_relational.training_set import RelationalSet
from paper.data import asm, bongard, machines, molecules

HERE = Path(__file__).resolve().parent


def published(folder, prefix, folds=None):
    database = Database.from_ace(folder / prefix, folds=None if folds is None else folder / folds)
    return database, Bias.from_ace((folder / prefix).with_suffix(".s"))


# name -> (function that makes it, published file it needs, minimum S: with caches, without)
SETS = {
    "bongard simple": (lambda _: bongard("simple"), None, (8, 9)),
    "bongard complex": (lambda _: bongard("complex"), None, (6, 8)),
    "machines": (lambda _: machines(), None, (2.5, 3)),
    "asm (unstable)": (lambda _: asm(), None, (4, 8)),
    "asm linked": (lambda _: asm(linked=True), None, None),
    "molecules": (lambda _: molecules(), None, None),
    "bongard 392": (lambda f: published(f, "bongard/keys/bongard"), "bongard/keys/bongard.kb", None),
    "mutagenesis 230": (
        lambda f: published(f, "mutagenesis_ace230/muta"),
        "mutagenesis_ace230/muta.kb",
        (5, 8),
    ),
    "mutagenesis 188": (
        lambda f: published(f, "mutagenesis_188d/t-0-0-0/muta-d", "mutagenesis_188d/folds"),
        "mutagenesis_188d/t-0-0-0/muta-d.kb",
        None,
    ),
    "carcinogenesis": (
        lambda f: published(f, "carcinogenesis_ace/t-0-0-0/canc-d", "carcinogenesis_ace/folds"),
        "carcinogenesis_ace/t-0-0-0/canc-d.kb",
        (4, 8),
    ),
    "uwcse (5 folds)": (
        lambda f: published(f, "uwcse_ace/t-0-0-0/uwcse", "uwcse_ace/folds"),
        "uwcse_ace/t-0-0-0/uwcse.kb",
        None,
    ),
}


# these come with folds; mutagenesis 230 marks every molecule as a fold and gets ten folds instead
MARKED_FOLDS = {"mutagenesis 188", "carcinogenesis", "uwcse (5 folds)"}


def fit(database, bias, folds, sharing="parallel", tasks=None):
    language = resolve(bias, database)
    grower = Grower(Facts.of(database, language), language, folds)
    return grower.grow(sharing, tasks)


def measure(database, bias, cv, repeats):
    language = resolve(bias, database)
    codes = np.asarray(database.target)
    if cv == "marks":
        folds = database.folds
    else:  # as in `make reproduce`
        folds = folds_of(cv, len(codes), codes if cv <= np.bincount(codes).min() else None)
    grower = Grower(Facts.of(database, language), language, folds)
    tasks = range(-1, int(folds.max()) + 1)
    procedures = {
        "parallel": grower.grow,
        "alone": lambda: grower.grow(tasks=[-1]),
        "paper": lambda: grower.grow("paper"),
        "serial": lambda: grower.grow("serial"),
        "uncached": lambda: grower.grow("uncached"),
        "fit": lambda: fit(database, bias, folds),
        "fits": lambda: [fit(database, bias, folds, tasks=[task]) for task in tasks],
    }
    times, results = dict.fromkeys(procedures, float("inf")), {}
    # each measurement takes some 20 ms, so that other load affects all procedures equally
    runs = {}
    for name, procedure in procedures.items():
        start = time.process_time()
        procedure()
        runs[name] = max(1, round(0.02 / max(time.process_time() - start, 1e-6)))
    gc.disable()
    for _ in range(repeats):
        for name, procedure in procedures.items():
            procedure()  # warm-up: the processor's caches hold data of the last procedure
            start = time.process_time()
            for _ in range(runs[name]):
                results[name] = procedure()
            times[name] = min(times[name], (time.process_time() - start) / runs[name])
        gc.collect()
    gc.enable()
    together = results["parallel"]
    for other in (results["paper"], results["serial"], results["uncached"], results["fit"]):
        assert other.trees == together.trees, "the trees differ"
        assert np.array_equal(other.held_out, together.held_out)
    assert tuple(each.trees[0] for each in results["fits"]) == together.trees
    return {
        "examples": database.n_examples,
        "T_a": times["alone"],
        "T_p": times["parallel"],
        "T_s": times["serial"],
        "T_u": times["uncached"],
        "T_paper": times["paper"],
        "S": times["serial"] / times["parallel"],
        "S_paper": times["uncached"] / times["parallel"],
        "S_fits": times["fits"] / times["fit"],
        "evaluations": {name: results[name].n_evaluations for name in ("alone", *SHARINGS)},
        "accuracy": float((together.held_out == database.target).mean()),
    }


def measure_linked(n, one_by_one):
    start = time.process_time()
    database = Database.from_tables(datasets.shop(n, purchases=10, noise=0.1), target="customer.churned")
    data = RelationalSet.read(database, None, 10)
    times = [time.process_time() - start]
    for sharing in ("parallel", "serial") if one_by_one else ("parallel",):
        grower = Grower(data.facts, data.language, data.folds)
        start = time.process_time()
        grower.grow(sharing)
        times.append(time.process_time() - start)
        if sharing == "parallel":
            times.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
            # read again, because relations are indexed when they are first searched
            data = RelationalSet.read(database, None, 10)
    return times


def show_linked(sizes, one_by_one):
    print("| examples | read s | T_p s | peak MB | T_s s | S |\n" + "| --- " * 6 + "|")
    for n in sizes:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            read, together, memory, *alone = pool.apply(measure_linked, (n, one_by_one))
        last = f"{alone[0]:.2f} | {alone[0] / together:.2f}" if alone else " | "
        print(f"| {n} | {read:.2f} | {together:.2f} | {memory:.0f} | {last} |", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"data sets: {', '.join(SETS)}")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--json", type=Path, default=None, help="also write the figures here")
    parser.add_argument("--linked", type=int, nargs="+", help="numbers of examples with linked rows")
    parser.add_argument("--one-by-one", action="store_true", help="with --linked: also each tree alone")
    options = parser.parse_args()
    if options.linked:
        show_linked(options.linked, options.one_by_one)
        return
    folder = options.data or Path(os.environ.get("CROSSCUT_DATA", HERE.parent.parent / "shared" / "data"))
    unknown = set(options.names) - set(SETS)
    if unknown:
        parser.error(f"unknown data set {', '.join(sorted(unknown))}")
    columns = [
        "data",
        "examples",
        "T_a ms",
        "T_p ms",
        "T_s ms",
        "T_u ms",
        "S",
        "S paper's",
        "asked",
        "S fits",
        "paper's own S",
        "overhead",
    ]
    print("|", " | ".join([*columns, "evaluations ratio"]), "|")
    print("|", " | ".join(["---"] * (len(columns) + 1)), "|")
    figures = {}
    for name in options.names or SETS:
        make, needed, asked = SETS[name]
        if needed is not None and not (folder / needed).is_file():
            print(f"| {name} | not in {folder.name} |", file=sys.stderr)
            continue
        database, bias = make(folder)
        result = measure(database, bias, "marks" if name in MARKED_FOLDS else 10, options.repeats)
        figures[name] = result
        ms = " | ".join(f"{1000 * result[key]:.2f}" for key in ("T_a", "T_p", "T_s", "T_u"))
        counts = result["evaluations"]
        ratios = (
            f"{counts['serial'] / counts['parallel']:.1f} / {counts['uncached'] / counts['parallel']:.1f}"
        )
        goal = "" if asked is None else f"{asked[0]} / {asked[1]}"
        overhead = f"{100 * (result['T_p'] / result['T_a'] - 1):.0f}%"
        print(
            f"| {name} | {result['examples']} | {ms} | {result['S']:.2f} | {result['S_paper']:.2f} | {goal} "
            f"| {result['S_fits']:.2f} | {result['T_u'] / result['T_paper']:.2f} | {overhead} | {ratios} |",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
