"""Print a fitted tree and its cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table
from rich.tree import Tree as Branches

from crosscut.cli.terminal import plain
from crosscut.data.visible import short
from crosscut.forest.export.text import branch_label, counted, duration, number, outcome_label, percent
from crosscut.forest.tree import shares
from crosscut.statistics.sentences import (
    BEST_OF_SEVERAL,
    LIKE_BEST,
    RECALL,
    confusion_caption,
    correct_rows,
    error_line,
    other_file_line,
    residual_caption,
)
from crosscut.training.fit import fit_of

if TYPE_CHECKING:
    from rich.console import Console
    from sklearn.base import BaseEstimator

    from crosscut.forest.tree import Tree
    from crosscut.training.fit import Fit

MAX_LINES = 60  # of the printed tree
INDENT = 4  # columns per level of the printed tree
MAX_ROWS = 12  # of the printed pruning table


def print_result(console: Console, model: BaseEstimator, summary: dict[str, Any]) -> None:
    """Print notes, settings, the tree, its cross-validation and the cost."""
    print_notes(console, summary["notes"])
    _print_tried(console, summary["tried"], summary["cv"]["scoring"])
    print_tree(console, fit_of(model), target=summary["target"])
    if summary["tree"]["leaves"] == 1 and summary["settings"]["prune"] == "1se":
        console.print("[dim]Pruned to a single leaf; --prune best chooses the size with the lowest error[/]")
    print_evidence(console, summary)
    _print_test(console, summary["test"], summary["cv"])
    _print_cost(console, summary)


def _table(title: str | None, *headings: str) -> Table:
    """Return a table without rows; columns with a heading are numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right" if heading else "left")
    return table


def _print_tried(console: Console, tried: list[dict[str, Any]], scoring: str) -> None:
    """Print the settings that were tried, if there are several, and which one was chosen."""
    if len(tried) == 1:
        return
    names = [name for name in tried[0] if name not in {"score", "standard_error", "leaves", "chosen"}]
    flags = (f"--{name.replace('_', '-')}" for name in names)
    table = _table("Settings", "", *flags, scoring, "± std. error", "leaves")
    for each in tried:
        values = ["none" if each[name] is None else str(each[name]) for name in names]
        table.add_row(
            "►" if each["chosen"] else "",
            *values,
            number(each["score"]),
            number(each["standard_error"], 2),
            str(each["leaves"]),
            style="bold" if each["chosen"] else None,
        )
    console.print(table)
    console.print(f"[dim]{BEST_OF_SEVERAL}[/]\n")


def _print_test(console: Console, test: dict[str, Any] | None, cv: dict[str, Any]) -> None:
    if test is not None:
        console.print(f"\n[bold]{plain(test['file'])}[/]: {other_file_line(test, cv['measure'])}")


def print_notes(console: Console, notes: list[str]) -> None:
    """Print what was inferred from the file."""
    for note in notes:
        console.print(f"[dim]{plain(note)}[/]")
    console.print()


def print_evidence(console: Console, summary: dict[str, Any]) -> None:
    """Print the cross-validated error, the pruning table, the errors and the stability over folds."""
    cv = summary["cv"]
    console.print(
        f"\n[bold]{error_line(cv)}[/] "
        f"(all rows of {cv['folds']} folds ± standard error; {cv['scoring']} {_shown(cv['score'])})"
    )
    console.print(plain(f"{summary['answer']['sentence']} {summary['answer']['comparison']}"))
    for sign, sentence in summary["answer"]["trust"]:
        if sign == "careful":
            console.print(f"[bold]![/] {plain(sentence)}")
    _print_pruning(console, summary["pruning"])
    if summary["kind"] == "classification":
        _print_confusion(console, summary)
    else:
        _print_residuals(console, summary["residuals"])
    _print_stability(console, summary["stability"], summary["cost"]["trees"])


def _shown(value: float | None) -> str:
    return "unknown" if value is None else number(value)


def print_tree(console: Console, fit: Fit, *, target: str, max_lines: int = MAX_LINES) -> None:
    """Print the final tree down to the depth that fits into ``max_lines`` lines."""
    tree, schema, classes = fit.final, fit.schema, fit.classes
    depth = min(_depth_that_fits(tree, max_lines), max(3, (console.width - 40) // INDENT))
    console.print(
        f"[bold]{plain(short(target))}[/]: {counted(tree.n_leaves, 'leaf', 'leaves')}, "
        f"depth {tree.max_depth}, {counted(tree.n_rows[0], 'row')}"
        + (f" [dim](shown to depth {depth})[/]" if depth < tree.max_depth else "")
    )
    fraction = None if classes is None else shares(tree)

    def outcome_text(node: int) -> str:
        percentage = "" if fraction is None else f", {percent(fraction[node])}"
        outcome = plain(outcome_label(tree, node, classes))
        return f"[bold cyan]{outcome}[/] [dim]({counted(tree.n_rows[node], 'row')}{percentage})[/]"

    if tree.feature[0] < 0:
        console.print(outcome_text(0))
        return
    top = Branches(plain(short(schema.names[int(tree.feature[0])])), hide_root=True, guide_style="dim")
    below = {0: top}
    for node in range(len(tree)):
        if tree.feature[node] < 0 or node not in below:
            continue
        column = plain(short(schema.names[int(tree.feature[node])]))
        for branch, child in enumerate(tree.children_of(node)):
            condition = f"{column} {plain(branch_label(tree, node, branch, schema))}"
            if tree.feature[child] < 0:
                below[node].add(f"{condition}: {outcome_text(child)}")
            elif tree.depth[child] >= depth:
                below[node].add(f"{condition}: … {outcome_text(child)}")
            else:
                below[child] = below[node].add(condition)
    console.print(top)


def _depth_that_fits(tree: Tree, max_lines: int) -> int:
    nodes = np.cumsum(np.bincount(tree.depth)[1:]) if len(tree) > 1 else np.zeros(1)
    return max(1, int(np.count_nonzero(nodes <= max_lines)))


def _print_pruning(console: Console, pruning: dict[str, Any]) -> None:
    shown = _rows_to_show(pruning)
    headings = ("", "leaves", "alpha", "shrinkage", "train", "cross-validated", "± std. error", "")
    table = _table(f"Pruning ({pruning['measure']})", *headings)
    last = -1
    for k in shown:
        if k > last + 1:
            table.add_row("", "…", style="dim")
        last = k
        marks = [name for name in ("best", "1se") if pruning[name] == k]
        likeness = "≈ " if pruning["like_best"][k] else ""
        chosen = pruning["rule"] is not None and k == pruning["chosen"]
        table.add_row(
            "►" if chosen else "",
            f"{pruning['n_leaves'][k]:,}",
            number(pruning["alpha"][k]),
            number(pruning["shrinkage"][k]),
            _shown(pruning["train_error"][k]),
            number(pruning["cv_error"][k]),
            number(pruning["standard_error"][k]),
            likeness + "chosen: " * chosen + ", ".join(marks),
            style="bold" if chosen else None,
        )
    console.print()
    console.print(table)
    if sum(pruning["like_best"]) > 1:
        console.print(f"[dim]≈ {LIKE_BEST}[/]")


def _rows_to_show(pruning: dict[str, Any]) -> list[int]:
    n_rows = len(pruning["alpha"])
    marked = {0, n_rows - 1, pruning["chosen"], pruning["best"], pruning["1se"]}
    if n_rows > MAX_ROWS:
        near = sorted(range(n_rows), key=lambda k: min(abs(k - pruning["chosen"]), abs(k - pruning["best"])))
        return sorted({*marked, *near[: MAX_ROWS - len(marked)]})
    return list(range(n_rows))


def _print_confusion(console: Console, summary: dict[str, Any]) -> None:
    confusion, classes = summary["confusion"], summary["classes"]
    console.print()
    if confusion["matrix"] is None or len(classes) > 12:
        console.print(correct_rows(confusion["right"], confusion["rows"]))
        return
    console.print(f"[bold]{confusion_caption()}[/]")
    table = _table(None, "", *(plain(short(name)) for name in classes), RECALL)
    table.pad_edge = True
    for k, (name, row) in enumerate(zip(classes, confusion["matrix"], strict=True)):
        cells = [f"[bold]{n:,}[/]" if j == k else f"{n:,}" for j, n in enumerate(row)]
        table.add_row(plain(short(name)), *cells, percent(confusion["recall"][k]))
    console.print(table)


def _print_residuals(console: Console, residuals: dict[str, float]) -> None:
    table = _table(residual_caption(), *(name.replace("_", " ") for name in residuals))
    table.add_row(*map(number, residuals.values()))
    console.print()
    console.print(table)


def _print_stability(console: Console, stability: dict[str, Any], n_trees: int) -> None:
    console.print("\n[bold]Stability[/]")
    for sentence in stability["words"]:
        console.print(plain(sentence))
    if not stability["levels"]:
        return
    table = _table(None, "level", "f(i)", "forks", "")
    for i in range(min(stability["levels"], 10)):
        f = stability["f"][i]
        table.add_row(
            str(i + 1), f"{f:.2f}", str(stability["forks"][i]), "█" * max(1, round(20 * f / n_trees))
        )
    console.print(table)
    if stability["levels"] > 10:
        console.print(f"[dim]… {stability['levels'] - 10} more levels[/]")


def _print_cost(console: Console, summary: dict[str, Any]) -> None:
    cost, seconds = summary["cost"], summary["seconds"]
    line = f"\nRead in {duration(seconds['read'])}, fitted in {duration(seconds['fit'])}."
    console.print(f"{line} {cost['words'] or ''}".rstrip(), soft_wrap=True)
