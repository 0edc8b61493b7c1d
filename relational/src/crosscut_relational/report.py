"""One HTML page about a relational tree and its cross-validation, with everything it needs inside."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.export.layout import Box
from crosscut.forest.export.text import counted, number, percent
from crosscut.report.charts import bar_chart
from crosscut.report.drawing import MAX_LEAVES, class_colours, svg_of
from crosscut.report.page import first_lines, write_page
from crosscut.report.summary import about, held_out
from crosscut_relational.language.terms import term_text
from crosscut_relational.queries.words import Words

if TYPE_CHECKING:
    from os import PathLike

    from crosscut.training.fit import Fit

WIDEST = 480  # pixels of a box in the drawn tree; tests are sentences
MAX_LINES = 400  # of the tree; the page says how many more there are


def summarize(fit: Fit) -> dict[str, Any]:
    """Return a summary of a fit as dicts, lists, text and numbers."""
    tree = fit.final
    summary: dict[str, Any] = {
        **about(fit),
        "classes": [term_text(name) for name in tree.classes],
        "examples": tree.n_examples,
        "tree": {
            "leaves": tree.n_leaves,
            "tests": tree.n_nodes,
            "literals": tree.n_literals,
            "depth": tree.depth,
        },
        "text": str(tree),
        "in_words": bool(fit.schema.columns),
        "nodes": tree.to_dict(),
        "prolog": None if tree.signature.attributes else tree.to_prolog(),
        "row": "example",
        "cv": None,
        "levels": [
            {"bundles": level.bundles, "nodes": level.nodes, "tests": level.tests, "f": level.f}
            for level in fit.grown.levels
            if level.bundles
        ],
        "settings": {
            name: value
            for name, value in vars(fit.grown.settings).items()
            if isinstance(value, bool | int | float | str)
        },
    }
    if fit.validation is not None:
        summary |= held_out(fit, "example")
        summary["cv"]["leaves_by_fold"] = [each.n_leaves for each in fit.folds]
        summary["cv"]["first_tests"] = _first_tests(fit)
    return summary


def _first_tests(fit: Fit) -> list[list[Any]]:
    """Return the first tests of all trees and the number of trees with each, most frequent first."""
    words = Words(fit.schema)
    counts = Counter(words.test(tree.root.test, {})[0] or "no test" for tree in fit.forest)
    return [list(item) for item in counts.most_common()]


def _drawn(fit: Fit, nodes: dict[str, Any]) -> str | None:
    """Draw the tree, unless it is too large to read."""
    tree = fit.final
    if tree.n_leaves > MAX_LEAVES:
        return None
    colours = class_colours(np.array(tree.root.statistics)) if tree.classes else []
    means = [node.prediction for node in tree.root.walk()]

    def box(node: dict[str, Any], branch: str) -> Box:
        predicted = node["prediction"]
        if tree.classes:
            counts = list(node["counts"].values())
            code = list(tree.classes).index(predicted)
            total = sum(counts) or 1.0
            drawn = Box(term_text(predicted), rows=counted(round(total), "example"), branch=branch)
            drawn.majority = f"{percent(counts[code] / total)} {drawn.label}"
            drawn.bar = [(colours[c], counts[c] / total) for c in np.argsort(colours, kind="stable")]
            drawn.colour = colours[code]
        else:
            drawn = Box(number(predicted), rows=counted(round(node["examples"]), "example"), branch=branch)
            span = (max(means) - min(means)) or 1.0
            drawn.bar = [(0, (predicted - min(means)) / span)]
        if "test" in node:
            drawn.kind, drawn.label, drawn.colour = "test", node["test"], None
            drawn.children = [box(node[outcome], f"if {outcome}") for outcome in ("yes", "no")]
        return drawn

    label = f"Decision tree with {counted(tree.n_leaves, 'leaf', 'leaves')}"
    return svg_of(box(nodes, ""), label, widest=WIDEST, buttons=False)


def write_report(fit: Fit, path: str | PathLike[str]) -> None:
    """Write the report on a fit to a self-contained HTML file."""
    summary = summarize(fit)
    f = [level["f"] for level in summary["levels"]]
    write_page(
        path,
        "report.html",
        fit,
        summary,
        package="crosscut_relational",
        tree_text=first_lines(summary["text"], MAX_LINES),
        drawing=_drawn(fit, summary["nodes"]),
        level_chart=bar_chart(f, "Different tests per bundle", "level", "f(i)"),
    )
