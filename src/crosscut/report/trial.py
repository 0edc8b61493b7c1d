"""Data for the page's form "Try a row": all trees, and the calibration of prediction sets and intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.data.columns import cut_text
from crosscut.forest.export.text import branch_label
from crosscut.forest.predict import apply_rows
from crosscut.forest.shrinkage import shrunk
from crosscut.forest.tree import decisions, probabilities
from crosscut.statistics.conformal import nonconformity_scores, rank_of
from crosscut.statistics.sentences import LEVEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.forest import Forest
    from crosscut.training.fit import Fit
    from crosscut.typing import CrossValidation

MAX_SIZES = 14
MAX_LEAVES = 200  # of a size, unless it is the chosen one


@dataclass(frozen=True)
class Size:
    """One size of the tree: its row in the pruning table, and the nodes of all trees that are split."""

    row: int
    forest: Forest  # all nodes, with the shrinkage of this size
    inner: NDArray[np.bool_]
    predicted: NDArray[Any]  # class codes, or numbers, of the held-out rows
    decided: NDArray[Any]  # class codes, or numbers, of all nodes


@dataclass(frozen=True)
class Sizes:
    """The sizes that a reader can choose from, largest first."""

    sizes: list[Size]
    chosen: int  # index of the fit's size
    node: NDArray[np.int64]  # the node of the forest that each held-out row reaches


def sizes_of(fit: Fit, x: NDArray[np.float32] | None) -> Sizes:
    """Return the sizes of a fit's tree; sizes above the chosen one need the training rows."""
    cv: CrossValidation = fit.validated("report()")
    table, pruned = fit.pruning_table, fit.chosen_by is not None
    whole = x is not None and pruned and fit.settings["ccp_alpha"] == 0
    forest = fit.grown if whole else fit.forest
    packed = forest.packed
    if whole:
        leaf = apply_rows(packed, x, cv.rows, cv.row_start, fit.settings["n_jobs"])  # type: ignore[arg-type]
        node = np.repeat(packed.node_start[:-1], np.diff(cv.row_start)) + leaf
    else:
        node = cv.node
    chosen = table.choose("1se" if fit.settings["prune"] == "1se" else "best") if pruned else 0
    rows = _rows_offered(table.n_leaves, chosen, {table.choose("best"), table.choose("1se")})
    if pruned and not whole:
        rows = [row for row in rows if row >= chosen]
    sizes = []
    by_strength: dict[float, Forest] = {}
    for row in rows:
        strength = float(table.shrinkage[row]) if whole else 0.0  # other trees are shrunk already
        if strength not in by_strength:
            by_strength[strength] = shrunk(forest, strength, classifies=fit.classes is not None)
        of_size, inner = by_strength[strength], table.tests_kept(packed, row)
        value = of_size.packed.value
        predictions = value[:, 0] if fit.classes is None else decisions(value, packed.loss)
        sizes.append(Size(row, of_size, inner, predictions[packed.ends(inner)[node]], predictions))
    return Sizes(sizes, rows.index(chosen), np.asarray(node, np.int64))


def _rows_offered(n_leaves: NDArray[np.int64], chosen: int, wanted: set[int]) -> list[int]:
    """Return the rows of a pruning table to offer: about ``MAX_SIZES`` readable trees near the chosen one."""
    small = np.flatnonzero(n_leaves <= MAX_LEAVES)
    must = {chosen, len(n_leaves) - 1, *(row for row in wanted if n_leaves[row] <= MAX_LEAVES)}
    near = sorted(small.tolist(), key=lambda row: (abs(row - chosen), row))
    return sorted({*must, *near[: max(MAX_SIZES - len(must), 0)]})


MAX_NUMBERS = 150_000  # in the page
MAX_COLUMNS = 60  # of the form


def trial(fit: Fit, x: NDArray[np.float32] | None) -> dict[str, Any] | None:
    """Return the trees and their calibration as plain data; None if that is too much for a page.

    The page computes the sets of ``predict_set`` and the intervals of ``predict_interval(method="minmax")``.
    """
    trees, tree, schema = fit.forest.trees, fit.final, fit.schema
    used = np.unique(np.concatenate([each.feature[each.feature >= 0] for each in trees])).tolist()
    numbers = sum(len(each) * (4 + fit.n_classes) + each.branches.size for each in trees)
    if numbers > MAX_NUMBERS or not 0 < len(used) <= MAX_COLUMNS:
        return None
    return {
        "columns": [_column(fit, f, None if x is None else x[:, f]) for f in used],
        "classes": None if fit.classes is None else [str(c) for c in fit.classes],
        "trees": [_tree(fit, t) for t in range(len(trees))],
        "conditions": [
            [
                f"{schema.names[int(tree.feature[node])]} {branch_label(tree, node, branch, schema)}"
                for branch in range(len(tree.children_of(node)))
            ]
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


def _tree(fit: Fit, t: int) -> dict[str, Any]:
    tree = fit.forest[t]
    value = tree.value if fit.classes is None else probabilities(tree.value)
    cut = [None if math.isnan(t) else "inf" if math.isinf(t) else t for t in tree.threshold.tolist()]
    return {
        "feature": tree.feature.tolist(),
        "cut": cut,
        "missing": tree.missing.tolist(),
        "first": tree.first_child.tolist(),
        "children": tree.children.tolist(),
        "at": tree.first_branch.tolist(),
        "categories": tree.branches[:, 0].tolist(),
        "branches": tree.branches[:, 1].tolist(),
        "value": value.tolist(),
        "decision": decisions(tree.value, tree.loss).tolist(),
        # what prediction sets use
        "smooth": None if fit.smooth is fit else probabilities(fit.smooth.forest[t].value).tolist(),
    }


def _calibrated(fit: Fit) -> dict[str, Any]:
    """Return the nonconformity scores of held-out rows; nothing if rows are held out more than once."""
    cv = fit.smooth.validated("report()")
    if cv.times_held_out.max(initial=0) > 1:
        return {}
    rank, scores = rank_of(LEVEL, len(cv.rows)), nonconformity_scores(cv)
    if cv.classes is None:
        return {"reach": float(np.sort(scores)[rank - 1])} if rank <= len(scores) else {}
    folds = []
    for begin, end in zip(cv.row_start[1:-1], cv.row_start[2:], strict=True):
        distinct, count = np.unique(scores[begin:end], return_counts=True)
        folds.append([distinct.tolist(), np.cumsum(count).tolist()])
    return {"rank": rank, "scores": folds}
