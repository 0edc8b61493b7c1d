"""One HTML page about a relational tree and its cross-validation, with everything it needs inside."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from crosscut.relational.language.terms import term_text
from crosscut.relational.queries.words import Words
from crosscut.report.charts import level_chart
from crosscut.report.page import first_lines, write_page
from crosscut.report.summary import about, held_out

if TYPE_CHECKING:
    from os import PathLike

    from crosscut.training.fit import Fit

MAX_LINES = 400  # of the tree; beyond that the page says how many are left out


def summarize(fit: Fit) -> dict[str, Any]:
    """Return what a reader wants to know about a fit, as dicts, lists, text and numbers.

    Examples
    --------
    >>> from crosscut import RelationalTreeClassifier, datasets
    >>> database, bias = datasets.bongard("simple", n=100)
    >>> summary = summarize(RelationalTreeClassifier(bias, cv=5).fit(database).fit_)
    >>> summary["target"], summary["tree"]["leaves"], summary["cv"]["folds"]
    ('bongard', 4, 5)
    """
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
        "prolog": tree.to_prolog(),
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
    """Return the first tests of all trees and how many trees have each, the most frequent first."""
    words = Words(fit.schema)
    counts = Counter(words.test(tree.root.test, {})[0] or "no test" for tree in fit.forest)
    return [list(item) for item in counts.most_common()]


def write_report(fit: Fit, path: str | PathLike[str]) -> None:
    """Write the report on a fit to an HTML file that needs no other file and no network."""
    summary = summarize(fit)
    f = [level["f"] for level in summary["levels"]]
    write_page(
        path,
        "report.html",
        fit,
        summary,
        package="crosscut.relational",
        tree_text=first_lines(summary["text"], MAX_LINES),
        level_chart=level_chart(f, "Different tests per bundle", "f(i)"),
    )
