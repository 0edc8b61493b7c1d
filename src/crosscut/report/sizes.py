"""The tree in other sizes: which tests are left in each, and what it makes of held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.predict import apply_rows
from crosscut.forest.tree import decisions
from crosscut.report.drawing import MAX_LEAVES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.forest import Forest
    from crosscut.training.fit import Fit

MAX_SIZES = 14


@dataclass(frozen=True)
class Size:
    """One size of the tree: what row of the pruning table it is, and which nodes of all trees have a test."""

    row: int
    inner: NDArray[np.bool_]
    predicted: NDArray[Any]  # class codes, or numbers, of the held-out rows


@dataclass(frozen=True)
class Sizes:
    """The sizes that a reader can choose from, largest first, and a forest whose trees hold all of them."""

    forest: Forest
    sizes: list[Size]
    chosen: int  # the fit's own


def sizes_of(fit: Fit, x: NDArray[np.float32] | None) -> Sizes:
    """Return the sizes of a fit's tree; those larger than the fit's own take the training rows."""
    cv: Any = fit.validated("report()")
    table, pruned = fit.pruning_table, fit.chosen_by is not None
    whole = x is not None and pruned and fit.settings["ccp_alpha"] == 0
    forest = fit.grown if whole else fit.forest
    packed = forest.packed
    if whole:
        leaf = apply_rows(packed, x, cv.rows, cv.row_start, fit.settings["n_jobs"])  # type: ignore[arg-type]
        node = np.repeat(packed.node_start[:-1], np.diff(cv.row_start)) + leaf
    else:
        node = cv.node
    own = table.choose("1se" if fit.settings["prune"] == "1se" else "best") if pruned else 0
    rows = _rows_offered(table.n_leaves, own, {table.choose("best"), table.choose("1se")})
    if pruned and not whole:
        rows = [row for row in rows if row >= own]
    says = packed.value[:, 0] if fit.classes is None else decisions(packed.value, packed.loss)
    found = []
    for row in rows:
        inner = table.tests_kept(packed, row)
        found.append(Size(row, inner, says[packed.ends(inner)[node]]))
    return Sizes(forest, found, rows.index(own))


def _rows_offered(n_leaves: NDArray[np.int64], own: int, wanted: set[int]) -> list[int]:
    """Return the rows of a pruning table that are offered: trees that can be read, not too many of them."""
    small = np.flatnonzero(n_leaves <= MAX_LEAVES)
    must = {own, len(n_leaves) - 1, *(row for row in wanted if n_leaves[row] <= MAX_LEAVES)}
    near = sorted(small.tolist(), key=lambda row: (abs(row - own), row))
    return sorted({*must, *near[: max(MAX_SIZES - len(must), 0)]})
