"""Write the measured tables into the pages that quote them.

    python benchmarks/tables.py [FOLDER] [--write]

Reads core.json, bench.json, cliffs.json, threads.json, panel.json, ablation.json, small_calls.json,
accuracy.json, coverage.json and reproduction.json from a folder (default: benchmarks/results) and prints
Markdown tables. With --write it inserts them between the markers `<!-- table NAME -->` and `<!-- end -->` in
README.md and the pages of docs, and writes the plots of the panel, of accuracy and of the cliffs to
docs/images.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "docs/benchmarks.md", "docs/accuracy.md", "docs/statistics.md")


def lines(columns: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [columns, ["---"] * len(columns), *rows])


def when(record: dict) -> str:
    machine = record["machine"]
    versions = ", ".join(
        f"{name} {number}" for name, number in machine["versions"].items() if name != "crosscut"
    )
    return (
        f"{machine['date']}, {machine['name']}, shared (load {machine['load']:.1f} per core at the start);"
        f" {versions}{'; crosscut on one thread' if record.get('n_jobs') == 1 else ''}"
        f"{'; quick run' if record['quick'] else ''}."
    )


def core(record: dict) -> str:
    rows = []
    for row in record["rows"]:
        form = "{:.0%}" if "− 1" in row["row"] or "without encoding" in row["row"] else "{:.3g}"
        rows.append([row["row"], *(form.format(row[name]) for name in ("measured", "cpu"))])
    columns = ["ratio", "wall-clock time", "processor time"]
    return lines(columns, rows) + f"\n\n{when(record)} `python benchmarks/core.py`"


def cliffs(record: dict) -> str:
    """Return the growth of the cost along one axis after another."""
    rows = []
    for row in record["rows"]:
        ends = " to ".join(f"{row['values'][k]:,}" for k in (0, -1))
        slopes = [f"{row[name]:.2f}" for name in ("exponent", "exponent of scikit-learn")]
        ratios = [f"{row['ratio'][k]:.2f}" for k in (0, -1)]
        rows.append([row["axis"], ends, *slopes, *ratios, f"{row['memory']:.1f}"])
    columns = [
        *("axis", "from, to", "exponent", "of scikit-learn"),
        *("ratio at the low end", "at the high end", "memory at the high end"),
    ]
    return lines(columns, rows) + f"\n\n{when(record)} `python benchmarks/cliffs.py`"


def threads(record: dict) -> str:
    """Return the times of whole fits by number of threads."""
    rows, alone = [], {}
    for row in record["rows"]:
        first = alone.setdefault(row["work"], row["fit"])
        parts = [f"{row[part]:.3f}" for part in ("fit", "encode", "grow", "rest")]
        rows.append([row["work"], str(row["threads"]), *parts, f"{first / row['fit']:.1f}"])
    columns = ["seconds on the wall", "threads", "whole `fit`", "encode", "grow", "rest", "1 thread ÷ this"]
    return lines(columns, rows) + f"\n\n{when(record)} `python benchmarks/threads.py`"


def panel(record: dict) -> str:
    """Return every table of the panel, with both limits side by side."""
    tables: dict[str, list[dict]] = {}
    for row in record["rows"]:
        tables.setdefault(row["table"], []).append(row)
    rows = []
    for name, both in tables.items():
        row = both[0]
        size = f"{row['rows']:,} × {row['columns']}"
        marks = [f"{row['nominal']} nominal"] * bool(row["nominal"]) + ["missing"] * row["missing"]
        figures = [f"{result[figure]:.2f}" for result in both for figure in ("T_p", "fit", "S")]
        kind = f"{row['classes']} classes" if row["classes"] else "regression"
        rows.append([f"{name} ({row['package']})", size, ", ".join(marks), kind, *figures])
    columns = ["table", "rows × columns", "columns with", "target"]
    columns += [f"{figure}, {row['limits']}" for row in both for figure in ("T_p", "fit", "S")]
    return lines(columns, rows)


def panel_summary(record: dict) -> str:
    """Return the median and worst of the panel."""
    rows = []
    for result in record["summary"]:
        if result["limits"] != "both":
            figures = ["{:.2f} / {:.2f}".format(*result[name]) for name in ("T_p", "fit", "S")]
            rows.append([f"{result['tables']} × {result['kind']}, {result['limits']}", *figures])
    columns = ["real tables: median / worst", "eleven trees ÷ one scikit-learn fit"]
    columns += ["whole `fit` ÷ the same", "S: one by one ÷ together"]
    return lines(columns, rows) + f"\n\n{when(record)} `python benchmarks/panel.py`"


def ablation(record: dict) -> str:
    """Return the time without each acceleration over the time with all of them."""
    kinds = ("classification", "regression", "large", "special")

    def text(result: list[float] | None) -> str:
        return "{:.2f} / {:.2f}".format(*result) if result else ""

    rows = [
        [f"`{line['acceleration']}`", *(text(line[kind]) for kind in kinds)] for line in record["summary"]
    ]
    counts = [sum(row["kind"] == kind for row in record["rows"]) for kind in kinds]
    columns = ["off: median / worst", *(f"{n} × {kind}" for n, kind in zip(counts, kinds, strict=True))]
    options = f" --most-rows {record['most_rows']}" if record["most_rows"] < 10**9 else ""
    return lines(columns, rows) + f"\n\n{when(record)} `python benchmarks/ablation.py{options}`"


def small_calls(record: dict) -> str:
    """Return the overhead of a fit, classification and regression side by side."""
    tables: dict[str, list[dict]] = {}
    for row in record["rows"]:
        tables.setdefault(row["table"], []).append(row)
    rows = [
        [name, *(f"{row[part]:.2f}" for row in both for part in ("around", "fit"))]
        for name, both in tables.items()
    ]
    kinds = dict.fromkeys(row["kind"] for row in record["rows"])
    columns = ["ms of processor time"]
    columns += [f"{kind}: {part}" for kind in kinds for part in ("around the core", "whole `fit`")]
    return lines(columns, rows) + f"\n\n{when(record)} `python benchmarks/small_calls.py`"


def seconds(result: dict | None, clock: str) -> str:
    if result is None:
        return ""
    if "failed" in result:
        return "failed"
    return f"{result[clock]:.2g}" if result[clock] < 10 else f"{result[clock]:.0f}"


def clock_of(record: dict) -> tuple[str, str]:
    """Return the clock to report: processor time if the machine was busy."""
    busy = record["machine"]["load"] > 1.5
    return ("cpu", "processor seconds, all threads") if busy else ("wall", "seconds")


def bench(record: dict) -> str:
    peers = list(record["peers"])
    clock, unit = clock_of(record)
    rows = [
        [title, *(seconds(record["results"][name].get(peer), clock) for peer in peers)]
        for name, title in record["workloads"].items()
    ]
    return lines([unit, *peers], rows) + f"\n\n{when(record)} `python benchmarks/bench.py`"


def spread(record: dict) -> str:
    """Return slowest over fastest repetition, and peak memory beyond the loaded data."""
    peers = list(record["peers"])

    def text(result: dict | None) -> str:
        if not result or "failed" in result:
            return ""
        ratio = result["slowest"] / result["wall"]
        return f"{ratio:.1f} ({result['repetitions']}); {result['megabytes']:.0f} MB"

    rows = [
        [title, *(text(record["results"][name].get(peer)) for peer in peers)]
        for name, title in record["workloads"].items()
    ]
    return lines(["slowest ÷ fastest (runs); memory", *peers], rows)


def computes(record: dict) -> str:
    return lines(["name", "what is timed"], [[peer, text] for peer, text in record["peers"].items()])


def accuracy(record: dict) -> str:
    """Return the mean figures of each learner, and the first learner's wins and losses against it."""
    figures = ("accuracy", "AUC", "log-loss", "R²")

    def text(result: dict | None, first: bool) -> str:
        if result is None:
            return ""
        against = "" if first else " ({better}–{worse})".format(**result)
        return f"{result['mean']:.3f}{against}"

    rows = [
        [line["learner"], *(text(line.get(figure), k == 0) for figure in figures)]
        for k, line in enumerate(record["summary"])
    ]
    columns = ["mean over tables (first better–worse)", *figures]
    return lines(columns, rows) + f"\n\n{when(record)} `python benchmarks/accuracy.py`"


def coverage(record: dict) -> dict[str, str]:
    """Return the coverage of scores by signal, target and pruning, and a line on everything else."""
    sizes = list(dict.fromkeys(row["rows"] for row in record["scores"]))
    cells: dict[tuple[str, ...], list[str]] = {}
    for row in record["scores"]:
        key = row["signal"], row["target"], row["prune"] or "-"
        shown = "{:.0%}, {:.0%}".format(row["rows: folds' trees"], row["rows: final tree"])
        cells.setdefault(key, []).append(shown)
    columns = ["signal", "target", "prune", *(f"{size} rows" for size in sizes)]
    runs = f"{record['runs']} runs in every cell"
    source = f"{when(record)} `python benchmarks/interval_coverage.py`, {runs}."

    def spread(what: str, name: str, prune: tuple[str | None, ...] = (None, "best", "1se")) -> str:
        values = [row[name] for row in record[what] if row.get("prune") in prune]
        return f"{sum(values) / len(values):.0%} | {min(values):.0%} | {max(values):.0%}"

    gap = [abs(row["new rows"] - row["cv_coverage(X, y)"]) for row in record["sets"]]
    named = (
        ("score of the folds' trees, not pruned", spread("scores", "rows: folds' trees", (None,))),
        ("score of the final tree, not pruned", spread("scores", "rows: final tree", (None,))),
        ("score of the folds' trees, pruned", spread("scores", "rows: folds' trees", ("best", "1se"))),
        ("score of the final tree, pruned", spread("scores", "rows: final tree", ("best", "1se"))),
        ("area under the ROC curve", spread("areas", "covered")),
        ("prediction sets and intervals, new rows", spread("sets", "new rows")),
        ("`cv_coverage(X=X, y=y)`", spread("sets", "cv_coverage(X, y)")),
        ("`cv_coverage()`", spread("sets", "cv_coverage()")),
        ("equal learners called different by `compare`", spread("comparisons", "folds: called different")),
        ("the same by rows", spread("comparisons", "rows: called different")),
    )
    summary = lines(["nominal 90% (10%)", "mean", "least", "most"], [[a, *b.split(" | ")] for a, b in named])
    summary += f"\n\n`cv_coverage(X=X, y=y)` and new rows differ by at most {max(gap):.1%}. {source}"
    return {
        "coverage": lines(columns, [[*key, *shown] for key, shown in cells.items()]) + f"\n\n{source}",
        "coverage summary": summary,
    }


def table_1(record: dict) -> str:
    rows = []
    for row in record["table 1"]:
        printed = row["printed"] or {}
        ours, paper = row["crosscut"], row["paper"]
        rows.append(
            [
                row["data"],
                *(
                    f"{printed[name]:{form}}" if printed else ""
                    for name, form in (("S", ".1f"), ("O_p", ".0%"))
                ),
                *(f"{paper[name]:{form}}" for name, form in (("S", ".1f"), ("O_p", ".0%"))),
                *(f"{ours[name]:{form}}" for name, form in (("S", ".1f"), ("O_p", ".0%"))),
                f"{row['S*']:.1f}",
                "yes" if row["same trees"] else "no",
            ]
        )
    columns = [
        "data",
        *("S, paper (2001)", "O_p, paper (2001)", "S, its algorithm here", "O_p, its algorithm here"),
        *("S, crosscut", "O_p, crosscut", "S*", "same trees"),
    ]
    return lines(columns, rows) + f"\n\n{when(record)} `make reproduce`"


def tables(folder: Path) -> dict[str, str]:
    """Return a table for every record in the folder, by name."""

    def read(name: str) -> dict | None:
        file = folder / f"{name}.json"
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None

    by_name = {}
    if record := read("core"):
        by_name["core"] = core(record)
    if record := read("bench"):
        by_name |= {"bench": bench(record), "spread": spread(record), "computes": computes(record)}
    if record := read("cliffs"):
        by_name["cliffs"] = cliffs(record)
    if record := read("threads"):
        by_name["threads"] = threads(record)
    if record := read("ablation"):
        by_name["ablation"] = ablation(record)
    if record := read("panel"):
        by_name |= {"panel": panel(record), "panel summary": panel_summary(record)}
    if record := read("small_calls"):
        by_name["small calls"] = small_calls(record)
    if record := read("accuracy"):
        by_name["accuracy"] = accuracy(record)
    if record := read("coverage"):
        by_name |= coverage(record)
    if record := read("reproduction"):
        by_name["table 1"] = table_1(record)
    return by_name


def filled(text: str, by_name: dict[str, str]) -> str:
    """Return the page with the tables between its markers replaced."""

    def replace(mark: re.Match[str]) -> str:
        table = by_name.get(mark[1])
        return f"<!-- table {mark[1]} -->\n{table}\n<!-- end -->" if table else mark[0]

    return re.sub(r"<!-- table (.+?) -->.*?<!-- end -->", replace, text, flags=re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "benchmarks" / "results")
    parser.add_argument("--write", action="store_true", help=f"into {' and '.join(PAGES)}")
    options = parser.parse_args()
    by_name = tables(options.folder)
    if not options.write:
        print("\n\n".join(by_name.values()))
        return
    for page in PAGES:
        file = ROOT / page
        file.write_text(filled(file.read_text(encoding="utf-8"), by_name), encoding="utf-8")
    if "panel" in by_name:
        from panel_picture import draw

        record = json.loads((options.folder / "panel.json").read_text(encoding="utf-8"))
        draw(record["rows"], ROOT / "docs/images/panel.svg")
    if "accuracy" in by_name:
        from accuracy_picture import draw as draw_accuracy

        record = json.loads((options.folder / "accuracy.json").read_text(encoding="utf-8"))
        draw_accuracy(record["rows"], ROOT / "docs/images/accuracy.svg")
    if "cliffs" in by_name:
        from cliffs_picture import draw as draw_cliffs

        record = json.loads((options.folder / "cliffs.json").read_text(encoding="utf-8"))
        draw_cliffs(record["rows"], ROOT / "docs/images/cliffs.svg")


if __name__ == "__main__":
    main()
