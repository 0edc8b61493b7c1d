"""What the page needs to answer for a row that its reader makes up: all trees, and what calibrates them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.data.text.days import cut_text
from crosscut.forest.export.labels import branch_label
from crosscut.forest.tree import decisions, probabilities
from crosscut.report.answer import LEVEL
from crosscut.statistics.conformal import own_strangeness, rank_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.tree import Tree
    from crosscut.training.fit import Fit

MAX_NUMBERS = 150_000  # in the page
MAX_COLUMNS = 60  # to fill in


def trial(fit: Fit, x: NDArray[np.float32] | None) -> dict[str, Any] | None:
    """Return the trees and what calibrates them as plain data; None if that is too much for a page.

    Sets of classes are those of ``predict_set``, intervals those of ``predict_interval(method="minmax")``.
    """
    trees, schema = fit.forest.trees, fit.schema
    used = np.unique(np.concatenate([tree.feature[tree.feature >= 0] for tree in trees])).tolist()
    numbers = sum(len(tree) * (4 + fit.n_classes) + len(tree.branches) for tree in trees)
    if numbers > MAX_NUMBERS or not 0 < len(used) <= MAX_COLUMNS:
        return None
    return {
        "columns": [_column(fit, f, None if x is None else x[:, f]) for f in used],
        "classes": None if fit.classes is None else [str(c) for c in fit.classes],
        "trees": [_tree(fit, tree) for tree in trees],
        "asked": [
            [
                f"{schema.names[int(tree.feature[node])]} {branch_label(tree, node, branch, schema)}"
                for branch in range(int(tree.first_child[node + 1] - tree.first_child[node]))
            ]
            for tree in trees[:1]
            for node in range(len(tree))
        ],
        "level": LEVEL,
        **_calibrated(fit),
    }


def _column(fit: Fit, f: int, x: NDArray[np.float32] | None) -> dict[str, Any]:
    kind = fit.schema.kinds[f]
    column: dict[str, Any] = {"f": f, "name": fit.schema.names[f], "kind": kind, "typical": None}
    if kind == "nominal":
        column["categories"] = [str(category) for category in fit.schema.categories[f]]
    known = None if x is None else x[~np.isnan(x)]
    if known is not None and len(known):
        if kind in {"nominal", "boolean"}:
            values, counts = np.unique(known, return_counts=True)
            column["typical"] = int(values[counts.argmax()])
        else:
            middle = float(np.partition(known, len(known) // 2)[len(known) // 2])
            day = cut_text(middle, whole=True)
            column["typical"] = f"{day}T00:00" if kind == "date" else float(f"{middle:.4g}")
    return column


def _tree(fit: Fit, tree: Tree) -> dict[str, Any]:
    value = tree.value if fit.classes is None else probabilities(tree.value)
    cut = [None if math.isnan(t) else "inf" if math.isinf(t) else t for t in tree.threshold.tolist()]
    return {
        "feature": tree.feature.tolist(),
        "cut": cut,
        "missing": tree.missing.tolist(),
        "first": tree.first_child.tolist(),
        "children": tree.children.tolist(),
        "at": tree.first_branch.tolist(),
        "branches": tree.branches.tolist(),
        "value": value.tolist(),
        "said": decisions(tree.value, tree.loss).tolist(),
    }


def _calibrated(fit: Fit) -> dict[str, Any]:
    """Return what decides sets and intervals; nothing if rows are held out more than once."""
    cv = fit.validated("report()")
    if cv.times_held_out.max(initial=0) > 1:
        return {}
    rank, own = rank_of(LEVEL, len(cv.rows)), own_strangeness(cv)
    if cv.classes is None:
        return {"reach": float(np.sort(own)[rank - 1])} if rank <= len(own) else {}
    folds = []
    for begin, end in zip(cv.row_start[1:-1], cv.row_start[2:], strict=True):
        strange, count = np.unique(own[begin:end], return_counts=True)
        folds.append([strange.tolist(), np.cumsum(count).tolist()])
    return {"rank": rank, "strange": folds}
