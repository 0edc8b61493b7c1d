"""Dense ranks, coarse ranks and bins of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.columns import infinite_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MAX_COARSE = 255  # intervals of a column, so that the number after the last, for missing values, fits a byte


@dataclass(frozen=True, eq=False)
class Ranks:
    """What ranking columns gives; the fields are those of :class:`crosscut.table.Table`."""

    ranks: NDArray[np.uint32]
    n_values: NDArray[np.int32]
    values: list[NDArray[np.float32]]
    coarse: NDArray[np.uint8]
    coarse_first: list[NDArray[np.uint32]]
    has_missing: NDArray[np.bool_]
    close: NDArray[np.bool_]


def intervals(counts: NDArray[np.int64], limit: int) -> NDArray[np.uint32]:
    """Join neighbouring ranks to at most ``limit`` intervals of about equal row count; a heavy rank stands alone.

    Returns the first rank of each interval, and the number of ranks at the end. Walking up, an interval ends where it is
    nearest to an equal share of the rows that are left, and before a rank that alone is worth a share.
    """
    n = len(counts)
    if n <= limit:
        return np.arange(n + 1, dtype=np.uint32)
    first, held, left, end = [0], 0, int(counts.sum()), limit
    for rank, count in enumerate(counts.tolist()):
        rows = left + held  # that the interval being filled and those after it have to share
        heavy, nearer = count * end >= rows, (2 * held + count) * end > 2 * rows
        if held and end > 1 and (heavy or nearer):
            first.append(rank)
            held, end = 0, end - 1
        held += count
        left -= count
    return np.array([*first, n], np.uint32)


def _coarse(
    ranks: NDArray[np.uint32], counts: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    first = intervals(counts, MAX_COARSE)
    number = np.repeat(np.arange(len(first) - 1, dtype=np.uint8), first[1:] - first[:-1])
    return np.append(number, np.uint8(len(first) - 1))[ranks], first


def rank_codes(codes: NDArray[Any], n_categories: int) -> Ranks:
    """Return the ranks of a nominal column: its codes, with ``n_categories`` in place of -1 (missing)."""
    ranks = np.where(codes < 0, n_categories, codes).astype(np.uint32)
    coarse, first = _coarse(ranks, np.bincount(ranks, minlength=n_categories + 1)[:n_categories])
    return Ranks(
        ranks[None],
        np.array([n_categories], np.int32),
        [np.empty(0, np.float32)],
        coarse[None],
        [first],
        np.array([(codes < 0).any()]),
        np.zeros(1, bool),
    )


def rank_columns(columns: Sequence[NDArray[np.float32]], names: Sequence[str]) -> Ranks:
    """Return the ranks of numeric columns, one by one."""
    if len(columns) != 1:
        raise ValueError("one column at a time")
    column = columns[0]
    infinite = np.flatnonzero(np.isinf(column))
    if len(infinite):
        raise infinite_error(names[0], int(infinite[0]), column[infinite[0]])
    gone = np.isnan(column)
    values, where, counts = np.unique(column[~gone] + np.float32(0), return_inverse=True, return_counts=True)
    ranks = np.full(len(column), len(values), np.uint32)
    ranks[~gone] = where
    coarse, first = _coarse(ranks, counts)
    close = bool((values[:-1] + np.float32(1e-7) >= values[1:]).any())
    return Ranks(
        ranks[None],
        np.array([len(values)], np.int32),
        [values],
        coarse[None],
        [first],
        np.array([gone.any()]),
        np.array([close]),
    )


def to_bins(ranked: Ranks, max_bins: int, nominal: Sequence[bool]) -> tuple[Ranks, list[NDArray[np.float64]]]:
    """Replace ranks of numeric columns by bin numbers; also return the edges.

    An edge is the midpoint between the highest value of a bin and the lowest of the next, over all rows.
    """
    ranks = ranked.ranks.copy()
    coarse = ranked.coarse.copy()
    n_values, values, coarse_first, edges = ranked.n_values.copy(), [], [], []
    for f, own in enumerate(ranked.values):
        if nominal[f]:
            values.append(own)
            coarse_first.append(ranked.coarse_first[f])
            edges.append(np.empty(0))
            continue
        counts = np.bincount(ranks[f], minlength=len(own) + 1)[: len(own)]
        first = intervals(counts, max_bins).astype(np.int64)
        n_bins = len(first) - 1
        bins = np.append(np.repeat(np.arange(n_bins, dtype=np.uint32), np.diff(first)), np.uint32(n_bins))
        ranks[f] = bins[ranks[f]]
        coarse[f] = ranks[f]
        n_values[f] = n_bins
        low, high = own[first[1:-1] - 1].astype(np.float64), own[first[1:-1]].astype(np.float64)
        edges.append(low / 2 + high / 2)
        values.append(own[first[:-1]])
        coarse_first.append(np.arange(n_bins + 1, dtype=np.uint32))
    close = np.zeros_like(ranked.close)
    return Ranks(ranks, n_values, values, coarse, coarse_first, ranked.has_missing, close), edges
