"""Show pruning tables and forests as HTML in notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from crosscut.forest.export.text import number
from crosscut.forest.pruning_table import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosscut.forest.forest import Forest
    from crosscut.forest.pruning_table import PruningTable

STYLE = "font-family:system-ui,sans-serif;font-size:14px;line-height:1.45;margin:.5em 0"


def pruning_table_html(table: PruningTable) -> str:
    """Return the pruning table as HTML, with the rows that the rules choose in bold."""
    best, smallest, like_best = table.choose("best"), table.choose("1se"), table.like_best
    rows = []
    for k in range(len(table)):
        if 3 <= k < len(table) - 20 and k not in {best, smallest}:
            continue
        marks = ["best"] * (k == best) + ["1se"] * (k == smallest)
        like = ["≈ best"] * bool(like_best[k] and k != best)
        cells = [number(float(getattr(table, name)[k])) for name in COLUMNS[:5]]
        rows.append(([*cells, ", ".join(marks + like)], bool(marks)))
    error = "cost" if table.by == "loss" else "error"
    headings = ["alpha", "leaves", f"training {error}", f"CV {error}", "standard error", ""]
    return _table(headings, rows)


def forest_html(forest: Forest) -> str:
    """Return the common parts of a forest's trees by level, as HTML."""
    sharing = forest.sharing
    rows = [
        ([str(i), str(tests), str(nodes), str(forks), f"{f:.2f}"], False)
        for i, (tests, nodes, forks, f) in enumerate(
            zip(sharing.n_tree_nodes, sharing.n_nodes, sharing.n_forks, sharing.f, strict=True), 1
        )
    ]
    headings = ["level", "tests of all trees", "nodes of the forest", "forks", "f(i)"]
    return f'<div style="{STYLE}">{escape(repr(forest))}</div>' + _table(headings, rows)


def _table(headings: Sequence[str], rows: Sequence[tuple[Sequence[str], bool]]) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(
        f"<tr{' style=font-weight:bold' if bold else ''}>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for cells, bold in rows
    )
    return f'<table style="{STYLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
