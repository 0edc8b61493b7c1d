"""What a notebook shows of a fitted estimator."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from crosscut.forest.export.labels import number
from crosscut.forest.export.notebook import STYLE
from crosscut.forest.export.text import export_text
from crosscut.report.page import first_lines
from crosscut.report.stability import stability
from crosscut.report.summary import errors

if TYPE_CHECKING:
    from crosscut.training.fit import Fit

MAX_LINES = 40


def notebook_html(fit: Fit) -> str:
    """Return the tree, its cross-validated error and where the folds part, as a fragment of HTML."""
    tree = fit.final
    text = first_lines(export_text(tree, fit.schema, fit.classes), MAX_LINES)
    said = [f"{tree.n_leaves} leaves, depth {tree.max_depth}, {tree.n_rows[0]:,} rows"]
    if fit.validation is not None:
        cv = errors(fit)
        said.append(
            f"{cv['measure']} {number(cv['error'])} ± {number(cv['standard_error'], 2)} ({cv['folds']} folds)"
        )
        said += stability(fit)["words"][:1]
    return (
        f'<div style="{STYLE}"><b>{" · ".join(escape(part) for part in said)}</b>'
        f'<pre style="max-height:24em;overflow:auto;margin:.4em 0">{escape(text)}</pre></div>'
    )
