"""Bit masks of the tasks that each row trains, 15 tasks per block."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

BLOCK = 15  # tasks per 16-bit mask; the core needs the last bit


def empty_masks(n_tasks: int, n_rows: int) -> NDArray[np.uint16]:
    """Return masks without any training rows."""
    return np.zeros((-(-n_tasks // BLOCK), n_rows), np.uint16)


def repacked(masks: NDArray[np.uint16], tasks: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Return the masks of the given tasks, which may repeat."""
    result = empty_masks(len(tasks), masks.shape[1])
    for task, old in enumerate(tasks.tolist()):
        trained = masks[old // BLOCK] >> np.uint16(old % BLOCK) & np.uint16(1)
        result[task // BLOCK] |= trained << np.uint16(task % BLOCK)
    return result


def row_numbers(selection: ArrayLike, n_rows: int, what: str) -> NDArray[np.int64]:
    """Return checked row numbers from row numbers or a boolean mask."""
    rows = np.asarray(selection)
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
