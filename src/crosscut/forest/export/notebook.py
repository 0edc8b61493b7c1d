"""Show models, pruning tables, forests and comparisons as HTML in notebooks."""

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


# of a chart of the report; colours that both light and dark notebooks can show
_CHART = """<style>
.crosscut-chart { max-width: 34em; } .crosscut-chart text { fill: currentColor; font-size: 12px; }
.crosscut-chart .axis, .crosscut-chart .grid { stroke: #8888; } .crosscut-chart .band { fill: #3b82c433; }
.crosscut-chart .line { fill: none; stroke: #3b82c4; stroke-width: 2; }
.crosscut-chart .dot { fill: #3b82c4; }
.crosscut-chart .train { fill: none; stroke: #888; stroke-dasharray: 2 3; }
.crosscut-chart .chosen { fill: none; stroke: #d1682b; stroke-width: 2.5; }
</style>"""


def model_html(facts: Sequence[str], text: str = "", chart: str = "") -> str:
    """Return facts in bold, a text in a fixed font, and a chart of the report, which is safe HTML."""
    pre = "max-height:24em;overflow:auto;margin:.4em 0;font-family:ui-monospace,monospace;line-height:1.3"
    chart = f'{_CHART}<div class="crosscut-chart">{chart}</div>' if chart else ""
    heading = " · ".join(escape(part) for part in facts)
    text = f'<pre style="{pre}">{escape(text)}</pre>' if text else ""
    return f'<div style="{STYLE}"><b>{heading}</b>{text}{chart}</div>'


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
    return table_html(headings, rows)


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
    return f'<div style="{STYLE}">{escape(repr(forest))}</div>' + table_html(headings, rows)


def table_html(headings: Sequence[str], rows: Sequence[tuple[Sequence[str], bool]]) -> str:
    """Return a table; each row comes with whether it is bold."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(
        f"<tr{' style=font-weight:bold' if bold else ''}>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for cells, bold in rows
    )
    return f'<table style="{STYLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
