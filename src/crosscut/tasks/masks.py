"""Bit masks that say which rows train which tasks, 15 tasks to a block."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

BLOCK = 15  # tasks per 16-bit mask; the core uses the last bit itself


def empty_masks(n_tasks: int, n_rows: int) -> NDArray[np.uint16]:
    """Return masks of tasks that no row trains yet."""
    return np.zeros((-(-n_tasks // BLOCK), n_rows), np.uint16)


def masks_without(
    folds: NDArray[np.int64], n_folds: int, left_out: Sequence[Sequence[int]]
) -> NDArray[np.uint16]:
    """Return masks of tasks that train on every row except those of the folds they leave out.

    Which tasks a row trains depends only on its fold, so it is looked up in a table with one entry per fold,
    and a last entry for rows of fold -1, which train every task.
    """
    n_tasks = len(left_out)
    table = np.full((-(-n_tasks // BLOCK), n_folds + 1), (1 << BLOCK) - 1, np.uint16)
    table[-1] = (1 << (n_tasks - 1) % BLOCK + 1) - 1
    tasks = np.repeat(np.arange(n_tasks), [len(out) for out in left_out])
    out = np.array([fold for out in left_out for fold in out], np.int64)
    np.bitwise_xor.at(table, (tasks // BLOCK, out), (1 << tasks % BLOCK).astype(np.uint16))
    return table.take(folds, axis=1, mode="wrap")


def repacked(masks: NDArray[np.uint16], tasks: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Return the masks of tasks chosen from another list, perhaps repeatedly."""
    result = empty_masks(len(tasks), masks.shape[1])
    for task, old in enumerate(tasks.tolist()):
        trained = masks[old // BLOCK] >> np.uint16(old % BLOCK) & np.uint16(1)
        result[task // BLOCK] |= trained << np.uint16(task % BLOCK)
    return result


def row_numbers(given: ArrayLike, n_rows: int, what: str) -> NDArray[np.int64]:
    """Return row numbers from row numbers or a boolean mask, checked."""
    rows = np.asarray(given)
    if rows.dtype == bool:
        if rows.shape != (n_rows,):
            raise ValueError(f"{what} is a mask of shape {rows.shape}, but there are {n_rows} rows")
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
        raise ValueError(f"{what} must be a list of row numbers or a boolean mask")
    rows = np.ascontiguousarray(rows, dtype=np.int64)
    if len(rows) and (rows.min() < 0 or rows.max() >= n_rows):
        raise ValueError(
            f"{what} has rows from {rows.min()} to {rows.max()}, but the rows are 0 to {n_rows - 1}"
        )
    return rows
