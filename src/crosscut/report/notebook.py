"""What a notebook shows of a fitted estimator, a pruning table and a forest."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from crosscut.forest.labels import number
from crosscut.forest.text import export_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosscut.forest.forest import Forest
    from crosscut.forest.pruning_table import PruningTable

MOST_LINES = 40
_STYLE = "font-family:system-ui,sans-serif;font-size:14px;line-height:1.45;margin:.5em 0"


def notebook_html(model: Any) -> str:
    """Return the tree, its cross-validated error and where the folds part, as a fragment of HTML."""
    tree = model.tree_
    lines = export_text(tree, model._schema, model._classes()).splitlines()  # noqa: SLF001, one package
    text = "\n".join(lines[:MOST_LINES])
    if len(lines) > MOST_LINES:
        text += f"\n… {len(lines) - MOST_LINES} more lines"
    said = [f"{tree.n_leaves} leaves, depth {tree.max_depth}, {tree.n_rows[0]:,} rows"]
    if model._cv is not None:  # noqa: SLF001
        from crosscut.report.stability import stability
        from crosscut.report.summary import errors

        cv = errors(model)
        said.append(
            f"{cv['measure']} {number(cv['error'])} ± {number(cv['standard_error'], 2)} ({cv['folds']} folds)"
        )
        said += stability(model)["words"][:1]
    return (
        f'<div style="{_STYLE}"><b>{" · ".join(escape(part) for part in said)}</b>'
        f'<pre style="max-height:24em;overflow:auto;margin:.4em 0">{escape(text)}</pre></div>'
    )


def pruning_table_html(table: PruningTable) -> str:
    """Return the pruning table as HTML, the rows that the rules choose in bold."""
    best, smallest = table.choose("best"), table.choose("1se")
    rows = []
    for k in range(len(table)):
        if 3 <= k < len(table) - 20 and k not in {best, smallest}:
            continue
        marks = ["best"] * (k == best) + ["1se"] * (k == smallest)
        cells = [number(float(getattr(table, name)[k])) for name in table.__dataclass_fields__]
        rows.append(([*cells, ", ".join(marks)], bool(marks)))
    headings = ["alpha", "leaves", "training error", "CV error", "standard error", ""]
    return _table(headings, rows)


def forest_html(forest: Forest) -> str:
    """Return what the trees of a forest share, level by level, as HTML."""
    sharing = forest.sharing
    rows = [
        ([str(i), str(tests), str(nodes), str(forks), f"{f:.2f}"], False)
        for i, (tests, nodes, forks, f) in enumerate(
            zip(sharing.n_tree_nodes, sharing.n_nodes, sharing.n_forks, sharing.f, strict=True), 1
        )
    ]
    headings = ["level", "tests of all trees", "nodes of the forest", "forks", "f(i)"]
    return f'<div style="{_STYLE}">{escape(repr(forest))}</div>' + _table(headings, rows)


def _table(headings: Sequence[str], rows: Sequence[tuple[Sequence[str], bool]]) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(
        f"<tr{' style=font-weight:bold' if bold else ''}>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for cells, bold in rows
    )
    return f'<table style="{_STYLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
