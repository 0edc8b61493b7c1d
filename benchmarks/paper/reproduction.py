"""Run all experiments of the paper and write a page about them; used by `benchmarks/reproduce.py`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from machine import Machine
from paper import figures, propositional, relational
from paper.page import Page
from paper.timing import PAPER

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from paper.timing import Timing

_TABLE = ["data", "procedure", "T_a", "T_s", "T_p", "S", "O_s", "O_p"]


@dataclass(frozen=True)
class Effort:
    """The extent of the measurements."""

    seconds: float  # of repetitions for each time
    folds: tuple[int, ...]  # numbers of folds
    deepest: int  # level down to which levels are timed
    n_rows: int  # of tables
    left_out: int  # rows of the table for leave-one-out


QUICK = Effort(0.1, (2, 5, 10), 8, 3_000, 100)  # the trees of CB differ from level 6 on
FULL = Effort(0.8, (2, 3, 5, 10, 20, 50), 12, 20_000, 500)


def reproduce(
    folder: Path, *, quick: bool = False, data: Path | None = None, report: Callable[[str], object] = print
) -> Path:
    """Run the paper's experiments and write a page about them.

    Parameters
    ----------
    folder : path
        Where ``reproduction.html``, ``reproduction.md``, the figures and ``reproduction.json`` are written.
    quick : bool
        Fewer repetitions, folds and rows: a minute instead of several.
    data : path, optional
        A folder with ACE applications (``app.kb``, ``app.s``), to be measured, too.
    report : callable
        Called with the name of each experiment when it begins.

    Returns
    -------
    path
        The HTML page.
    """
    effort = QUICK if quick else FULL
    machine = Machine.here()
    page = Page("Efficient cross-validation: the paper's experiments repeated")
    page.paragraph(f"Measured on {machine}. Processor time, one thread, fastest of several repetitions.")
    record: dict[str, Any] = {"machine": machine.as_dict(), "quick": quick}
    record["table 1"] = _table_1(page, effort, data, report)
    record["folds"] = _folds(page, effort, report)
    record["levels"] = _levels(page, effort, report)
    record["tables"] = _propositional(page, effort, report)
    file = page.write(folder, "reproduction")
    text = json.dumps(record, indent=1, ensure_ascii=False)
    (folder / "reproduction.json").write_text(text + "\n", encoding="utf-8")
    return file


def _table_1(page: Page, effort: Effort, data: Path | None, report: Callable[[str], object]) -> list[Any]:
    page.heading("Table 1: the cost of ten-fold cross-validation")
    page.paragraph(
        "Seconds. T_a: the final tree. T_s: the final tree and ten folds, one by one. T_p: all together."
        " S = T_s ÷ T_p. O_s and O_p are the overheads over T_a. **paper, 2001** gives the paper's figures,"
        " from its own machine and data. **the paper's algorithm** is the same procedure on this machine:"
        " trees with identical tests stay together, and T_a and T_s evaluate every test again at every"
        " node. **crosscut** caches the truth of every query on every example for all nodes and trees; it"
        " is compared with its own trees grown one by one, each with its own cache. S* divides the time of"
        " the paper's serial procedure by that of crosscut. Encoding and indexing the facts is done once"
        " and not counted. SB, CB and Mach have the paper's concepts and sizes; Muta and ASM are generated"
        " to resemble data that cannot be distributed. All trees of Mach agree, so S depends on what a"
        " tree of 15 examples costs besides its tests: one tree took 28 ms in the paper, and takes less"
        " than one here."
    )
    rows, counts, records, unread = [], [], [], []
    names: list[str] = []
    overheads: dict[str, list[float]] = {"serial": [], "paper": [], "crosscut": []}
    problems = relational.problems()
    problems += relational.problems_in(data) if data is not None else []
    for problem in problems:
        report(f"Table 1: {problem.name}")
        try:
            measured = relational.measure(problem, seconds=effort.seconds)
        except (ValueError, OSError) as error:
            unread.append(f"{problem.name}: {error}")
            continue
        printed = PAPER.get(problem.row or "")
        if printed:
            rows.append([problem.name, "paper, 2001", *_printed(printed), ""])
        rows.append(["" if printed else problem.name, "the paper's algorithm", *_figures(measured.paper), ""])
        rows.append(["", "crosscut", *_figures(measured.crosscut), f"{measured.S:.1f}"])
        same = "yes" if measured.same_trees else "**no**"
        each = measured.evaluations
        counts.append(
            [
                problem.name,
                str(measured.n_tests),
                *(f"{each[name]:,}" for name in ("serial", "paper", "crosscut")),
                f"{each['serial'] / each['paper']:.1f}",
                f"{each['serial'] / each['crosscut']:.1f}",
                same,
            ]
        )
        names.append(problem.name.split(" ")[0].split("/")[-1])
        overheads["serial"].append(measured.paper.O_s)
        overheads["paper"].append(measured.paper.O_p)
        overheads["crosscut"].append(measured.crosscut.O_p)
        records.append(
            {
                "data": problem.name,
                "row": problem.row,
                "printed": printed,
                "paper": measured.paper.as_dict(),
                "crosscut": measured.crosscut.as_dict(),
                "S*": measured.S,
                "evaluations": each,
                "same trees": measured.same_trees,
            }
        )
    page.table([*_TABLE, "S*"], rows)
    for line in unread:
        page.paragraph(f"Left out: {line}")
    page.figure("overhead", figures.overhead_per_data_set(names, overheads), "Overhead per data set")
    page.paragraph(
        "The number of (query, example) pairs evaluated, and whether all procedures gave the same trees:"
    )
    page.table(
        [
            "data",
            "tests at the root",
            "serial",
            "paper",
            "crosscut",
            "serial ÷ paper",
            "serial ÷ crosscut",
            "same trees",
        ],
        counts,
    )
    return records


def _folds(page: Page, effort: Effort, report: Callable[[str], object]) -> list[Any]:
    page.heading("Overhead and the number of folds")
    records: list[dict[str, Any]] = []
    for problem in relational.problems():
        if problem.row not in {"CB", "ASM", "Muta"}:
            continue
        report(f"folds: {problem.name}")
        numbers = list(effort.folds)
        measured = relational.overhead_by_folds(problem, numbers, seconds=effort.seconds / 4)
        page.figure(
            f"folds-{problem.row}",
            figures.overhead_by_folds(problem.name, numbers, measured),
            f"Overhead, {problem.name}",
        )
        records.append({"data": problem.name, "folds": numbers, "overhead": measured})
    rows = [
        [each["data"], figures.LABELS[name], *(f"{value:.0%}" for value in values)]
        for each in records
        for name, values in each["overhead"].items()
    ]
    page.table(["data", "procedure", *(f"n = {n}" for n in effort.folds)], rows)
    return records


def _levels(page: Page, effort: Effort, report: Callable[[str], object]) -> list[Any]:
    page.heading("Time per level, and the paper's cost model")
    page.paragraph(
        "The time of a level is the time for growing down to it minus the time for growing down to the level"
        " above. f(i - 1) is how often the paper's algorithm does the work of level i: once while all trees"
        " agree, 11 times if all of them differ. The model predicts the speed-up of the paper's"
        " algorithm from the levels of one tree: n (t_r(1) + t_r(2) + …) ÷ (t_r(1) + f(1) t_r(2) + …)."
    )
    records, rows = [], []
    for problem in relational.problems():
        if problem.row not in {"CB", "ASM", "Muta"}:
            continue
        report(f"levels: {problem.name}")
        measured = relational.levels(problem, deepest=effort.deepest, seconds=effort.seconds / 4)
        page.figure(
            f"levels-{problem.row}", figures.time_per_level(measured), f"Time per level, {problem.name}"
        )
        rows.append([problem.name, f"{measured.predicted:.2f}", f"{measured.measured:.2f}"])
        records.append(
            {
                "data": problem.name,
                "seconds": measured.seconds,
                "f": measured.f,
                "predicted": measured.predicted,
                "measured": measured.measured,
            }
        )
    page.table(["data", "predicted S", "measured S"], rows)
    return records


def _propositional(page: Page, effort: Effort, report: Callable[[str], object]) -> list[Any]:
    page.heading("The same experiment on tables")
    page.paragraph(
        f"{effort.n_rows:,} rows, growing only (encoding is the same for all). In the paper's algorithm,"
        " trees whose thresholds differ share nothing from there on; in overlap bundles they do. Predicted"
        " is the paper's model with counted rows: rows visited one by one ÷ rows visited together. S is"
        " lower, because the model leaves out what every tree costs at a node: choosing its test and"
        " storing the node."
        f" Leave-one-out (n = N) is on a table of {effort.left_out} rows."
    )
    measured = [
        propositional.measure(concept, n, seconds=effort.seconds / 4)
        for concept in _announced(propositional.concepts(effort.n_rows), report)
        for n in effort.folds
    ]
    left_out = [
        propositional.measure(concept, effort.left_out, seconds=effort.seconds / 4)
        for concept in _announced(propositional.concepts(effort.left_out), report)
    ]
    page.figure("tables", figures.speedup_by_folds(measured), "Speed-up on tables by number of folds")
    rows, records = [], []
    for each in [*(one for one in measured if one.n_folds == 10), *left_out]:
        folds = "N" if each in left_out else str(each.n_folds)
        for name, timing in (("paper", each.paper), ("crosscut", each.crosscut)):
            first = [f"{each.concept.name}, n = {folds}"] if name == "paper" else [""]
            same = "yes" if each.same_trees else "**no**"
            rows.append(
                [*first, figures.LABELS[name], *_figures(timing), f"{each.predicted[name]:.1f}", same]
            )
    records = [
        {
            "concept": each.concept.name,
            "folds": each.n_folds,
            "rows": each.concept.table.n_rows,
            "paper": each.paper.as_dict(),
            "crosscut": each.crosscut.as_dict(),
            "predicted": each.predicted,
            "same trees": each.same_trees,
        }
        for each in [*measured, *left_out]
    ]
    page.table([*_TABLE, "predicted S", "same trees"], rows)
    return records


def _announced(
    concepts: list[propositional.Concept], report: Callable[[str], object]
) -> list[propositional.Concept]:
    for concept in concepts:
        report(f"tables: {concept.name}, {concept.table.n_rows} rows")
    return concepts


def _figures(timing: Timing) -> list[str]:
    seconds = [f"{each:.3g}" for each in (timing.T_a, timing.T_s, timing.T_p)]
    return [*seconds, f"{timing.S:.1f}", f"{timing.O_s:.0%}", f"{timing.O_p:.0%}"]


def _printed(row: dict[str, float]) -> list[str]:
    seconds = [f"{row[name]:g}" for name in ("T_a", "T_s", "T_p")]
    return [*seconds, f"{row['S']:.1f}", f"{row['O_s']:.0%}", f"{row['O_p']:.0%}"]
