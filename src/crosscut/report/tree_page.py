"""The report on a fitted tree, with details of each node."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.export.layout import TreeBoxes
from crosscut.forest.export.notebook import model_html
from crosscut.forest.export.text import branch_label, export_text, number, outcome_label, percent
from crosscut.forest.forest import Forest
from crosscut.forest.predict import apply
from crosscut.forest.tree import proportions
from crosscut.report.charts import bar_chart, size_chart
from crosscut.report.columns import column_chart, value_text
from crosscut.report.drawing import WIDE, class_colours, opened_nodes, svg_of
from crosscut.report.evidence import most_wrong
from crosscut.report.interactive import tree_of_page
from crosscut.report.page import first_lines, page_part, script_data, write_page
from crosscut.report.stability import aligned, stability
from crosscut.report.summary import confusion_facts, errors, residual_facts, summarize
from crosscut.report.trial import sizes_of, trial
from crosscut.statistics.sentences import error_line, pruning_data
from crosscut.training.fit import fit_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

    from numpy.typing import NDArray

    from crosscut.forest.tree import Tree
    from crosscut.report.trial import Size, Sizes
    from crosscut.training.fit import Fit, Fitted
    from crosscut.typing import CrossValidation, TableLike

MAX_LINES = 700  # of the tree as text
PAPER = (690.0, 940.0)  # width and height of a page in pixels; larger trees are printed as text
PAPER_LEVELS, PAPER_BOX = 2, 200  # levels of splits, which are drawn above that text, and width of a box
MAX_NOTEBOOK_LINES = 40  # of the tree as text in a notebook
MAX_CHARTS = 24  # columns whose values are drawn
MAX_VALUES = 6  # of a row that is listed


def write_report(
    model: Fitted | Fit,
    path: str | PathLike[str],
    *,
    X: TableLike = None,
    target: str | None = None,
    summary: dict[str, Any] | None = None,
    row_numbers: NDArray[np.int64] | None = None,
) -> None:
    """Write the report on a model fitted with cross-validation to an HTML file.

    Parameters
    ----------
    model : TreeClassifier, TreeRegressor or their Fit
        Fitted with cross-validation.
    path : path
        The file to write; it needs no other file and no network.
    X : array or frame (rows, columns), optional
        The training rows. With them the page shows charts of each column and the target, the values of the
        rows with the largest errors, and trees that are larger than the chosen one.
    target : str, optional
        Name of the target; by default the fit's.
    summary : dict, optional
        The result of `summarize` for the same fit, if it was made already.
    row_numbers : int64 array (rows,), optional
        Numbers of the rows; by default they count from 1.
    """
    fit = fit_of(model)
    cv = fit.validated("report()")
    if summary is None:
        summary = summarize(fit, target=target)
    x = None if X is None else fit.schema.matrix(X)
    if x is not None and len(x) != len(cv.y):
        raise ValueError(f"X must hold the {len(cv.y)} training rows, but it has {len(x)} rows")
    colours = [] if fit.classes is None else class_colours(np.bincount(cv.y, minlength=fit.n_classes))
    sizes = sizes_of(fit, x)
    columns = sorted(
        summary["data"]["columns"], key=lambda column: (-column["importance"], -column["highest"])
    )
    numbers = np.arange(1, len(cv.y) + 1) if row_numbers is None else row_numbers
    shown, page_tree = tree_of_page(fit, sizes, colours)
    chosen = sizes.sizes[sizes.chosen]
    facts = node_facts(fit, chosen.forest, shown, chosen.inner, x)
    page_tree["nodes"] = [
        node | facts[number] for number, node in zip(shown, page_tree["nodes"], strict=True)
    ]
    trial_data = trial(fit, x)
    write_page(
        path,
        "tree.html",
        fit,
        summary,
        script=page_part("page.js"),
        script_data=script_data({"tree": page_tree, "trial": trial_data}),
        trial=trial_data,
        sizes=_outcomes(fit, sizes),
        chosen_size=sizes.chosen,
        drawing=_drawing(fit, chosen, colours),
        columns=columns,
        wrong=_wrong(fit, columns, numbers, x),
        column_charts=_column_charts(fit, columns, colours, x),
        size_chart=size_chart(summary["pruning"]),
        level_chart=bar_chart(summary["stability"]["f"], "Different tests per level", "level", "f(i)"),
        tree_text=first_lines(export_text(fit.final, fit.schema, fit.classes, decimals=4), MAX_LINES),
    )


def _drawing(fit: Fit, size: Size, colours: list[int]) -> dict[str, Any]:
    """Draw the chosen tree for browsers without scripts, and its first levels for paper if it is large."""
    tree = size.forest[0]
    inner = size.inner[: len(tree)]
    opened = opened_nodes(tree, inner)

    def drawn(nodes: list[int], widest: int = WIDE) -> tuple[str, bool, bool]:
        root = TreeBoxes(tree, fit.schema, fit.classes, colours).root(nodes, inner)
        svg = svg_of(root, f"Decision tree with {fit.final.n_leaves} leaves", widest=widest, buttons=False)
        width, height = map(float, re.findall(r"[\d.]+", svg[: svg.index(">")])[2:4])
        fits = width <= PAPER[0] and height <= PAPER[1]
        return svg, all(box.kind != "more" for box in root.walk()), fits

    svg, whole, fits = drawn(opened)
    on_paper, first_levels = whole and fits, ""
    if not on_paper:
        top = [node for node in opened if tree.depth[node] < PAPER_LEVELS]
        first_levels, _, fits = drawn(top, PAPER_BOX)
        first_levels *= fits
    return {"svg": svg, "whole": whole, "on_paper": on_paper, "first_levels": first_levels}


def _outcomes(fit: Fit, sizes: Sizes) -> list[dict[str, Any]]:
    """Return leaves and errors of the tree in every size."""
    cv: CrossValidation = fit.validated("report()")
    table, actual, outcomes = fit.pruning_table, cv.y[cv.rows], []
    for size in sizes.sizes:
        outcome: dict[str, Any] = {"leaves": int(table.n_leaves[size.row])}
        if fit.classes is None:
            outcome["residuals"] = residual_facts(actual - size.predicted)
        else:
            pairs = actual * np.int64(fit.n_classes) + size.predicted
            matrix = np.bincount(pairs, minlength=fit.n_classes**2).reshape(fit.n_classes, -1)
            outcome["confusion"] = confusion_facts(matrix)
        outcomes.append(outcome)
    return outcomes


def _wrong(
    fit: Fit, columns: list[dict[str, Any]], numbers: NDArray[np.int64], x: NDArray[np.float32] | None
) -> list[dict[str, Any]]:
    """List the rows with the largest errors, with their values of the most important columns."""
    names = list(fit.schema.names)
    shown = [names.index(column["name"]) for column in columns[:MAX_VALUES] if column["used"]]
    rows = most_wrong(fit.validated("report()"))
    for row in rows:
        at = row["row"]
        row["number"] = int(numbers[at])
        if x is not None:
            row["cells"] = [(names[f], value_text(fit, f, float(x[at, f]))) for f in shown]
    return rows


def _column_charts(
    fit: Fit, columns: list[dict[str, Any]], colours: list[int], x: NDArray[np.float32] | None
) -> list[dict[str, Any]]:
    if x is None:
        return []
    names = list(fit.schema.names)
    return [
        column
        | {"svg": column_chart(fit, names.index(column["name"]), x[:, names.index(column["name"])], colours)}
        for column in columns[:MAX_CHARTS]
    ]


def notebook_html(fit: Fit, text: str) -> str:
    """Return a model's text, its cross-validated error and, for trees, its pruning as a fragment of HTML."""
    facts, chart = [], ""
    if isinstance(fit.forest, Forest):
        tree = fit.final
        facts = [f"{tree.n_leaves} leaves, depth {tree.max_depth}, {tree.n_rows[0]:,} rows"]
    if fit.validation is not None:
        cv = errors(fit)
        facts.append(f"{error_line(cv)} ({cv['folds']} folds)")
        if isinstance(fit.forest, Forest):
            facts += stability(fit)["words"][:1]
            if len(fit.pruning_table) > 2:
                chart = size_chart(pruning_data(fit.pruning_table, fit.settings["prune"]))
    return model_html(facts, first_lines(text, MAX_NOTEBOOK_LINES), chart)


MAX_FOLDS = 30  # listed per node
MAX_CLASSES = 8  # listed per node


def node_facts(
    fit: Fit, forest: Forest, shown: Iterable[int], inner: NDArray[np.bool_], x: NDArray[np.float32] | None
) -> dict[int, dict[str, Any]]:
    """Describe nodes of the final tree of ``forest``, the largest size that the page shows.

    ``inner`` marks the tests of the chosen size; ``final_node`` is the number of a node in its final tree.
    """
    tree = forest[0]
    packed, number_of = forest.packed.cut(inner)
    trees = Forest(packed).trees
    others = aligned(trees)
    held = None if x is None else _held_out(fit, forest, x)
    share = None if fit.classes is None else proportions(tree)
    facts: dict[int, dict[str, Any]] = {}
    for node in sorted(set(shown)):
        node_data: dict[str, Any] = {"rows": int(tree.n_rows[node])}
        if share is None:
            node_data["mean"] = number(float(tree.value[node, 0]))
        else:
            order = np.argsort(-share[node], kind="stable")[:MAX_CLASSES]
            node_data["shares"] = [
                [str(fit.known_classes[c]), round(float(share[node, c]), 4)]
                for c in order
                if share[node, c] > 0
            ]
        if held is not None:
            node_data["held"] = held(node)
        final_node = int(number_of[node])
        if final_node >= 0:
            node_data["final_node"] = final_node
            node_data["folds"] = [
                [task, int(trees[task].n_rows[at]), _action(fit, trees[task], at)]
                for task, at in sorted(others[final_node].items())[:MAX_FOLDS]
            ]
        facts[node] = node_data
    return facts


def _action(fit: Fit, tree: Tree, node: int) -> str:
    """Return the first branch of a node's split, or a leaf's prediction."""
    if tree.feature[node] < 0:
        return f"predicts {outcome_label(tree, node, fit.classes)}"
    return f"{fit.schema.names[int(tree.feature[node])]} {branch_label(tree, node, 0, fit.schema)}"


def _held_out(fit: Fit, forest: Forest, x: NDArray[np.float32]) -> Callable[[int], str]:
    """Return a function that describes the error on a node's rows when they are held out."""
    cv, packed = fit.validated("report()"), forest.packed.only(0)
    leaf = apply(packed, x)[0]
    loss = np.abs(cv.y[cv.rows] - cv.decided) if cv.classes is None else cv.losses
    sums = [
        np.bincount(leaf[cv.rows], each, minlength=len(packed.feature)) for each in (np.ones(len(loss)), loss)
    ]
    for node in range(len(packed.feature) - 1, 0, -1):  # preorder: a parent has a lower number
        for each in sums:
            each[packed.parent[node]] += each[node]

    def held(node: int) -> str:
        n, total = (float(each[node]) for each in sums)
        if not n:
            return ""
        if cv.classes is None:
            return f"mean absolute error {number(total / n, 3)} when held out"
        return f"{percent(1 - total / n)} predicted correctly when held out"

    return held
