"""Dense ranks, coarse ranks and bins of columns: arrays that the C++ core fills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut import _core
from crosscut.data.memory import READ_LESS, check_memory
from crosscut.data.threads import n_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_COARSE = 255  # intervals per column; the next number, for missing values, fits in a byte
_READ_AS_IS = {np.dtype(kind) for kind in (np.float32, np.float64, np.int64, np.uint8, np.bool_)}


def readable(matrix: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in a type that the core reads; copy only if necessary."""
    if matrix.dtype in _READ_AS_IS:
        return matrix
    with np.errstate(over="ignore"):  # values too large for float32 become infinite
        return matrix.astype(np.float32)


@dataclass(eq=False)
class Ranks:
    """Arrays for the ranks of all columns; see :class:`crosscut.data.table.Table`.

    Rows of ``values`` and ``coarse_first`` have the maximum length. Unused elements are never touched, so
    they take no memory.
    """

    ranks: NDArray[np.uint32]
    coarse: NDArray[np.uint8]
    values: NDArray[np.float32]
    coarse_first: NDArray[np.uint32]
    n_values: NDArray[np.int32]
    n_coarse: NDArray[np.int32]
    n_missing: NDArray[np.int64]
    close: NDArray[np.bool_]
    max_bins: int | None

    @classmethod
    def empty(cls, n_columns: int, n_rows: int, max_bins: int | None) -> Ranks:
        """Return uninitialised arrays of the right shape."""
        shape = (n_columns, n_rows)
        n_values = n_rows if max_bins is None else 2 * MAX_COARSE  # lowest and highest value of each bin
        check_memory(
            (9 if max_bins is None else 5) * n_columns * n_rows, f"a table of {n_rows:,} rows", READ_LESS
        )
        return cls(
            np.empty(shape, np.uint32),
            np.empty(shape, np.uint8),
            np.empty((n_columns, n_values), np.float32),
            np.empty((n_columns, MAX_COARSE + 1), np.uint32),
            np.empty(n_columns, np.int32),
            np.empty(n_columns, np.int32),
            np.empty(n_columns, np.int64),
            np.empty(n_columns, np.bool_),
            max_bins,
        )

    def fill(
        self, matrix: NDArray[Any], n_categories: list[int], n_jobs: int | None
    ) -> tuple[int, int] | None:
        """Rank the columns of a readable matrix; return (column, row) of an infinite value, if any.

        Values of nominal columns are codes. The number of categories of other columns is -1.
        """
        return _core.rank_columns(
            matrix,
            MAX_COARSE if self.max_bins is None else self.max_bins,
            self.max_bins is not None,
            n_threads(n_jobs),
            np.array(n_categories, np.int32),
            self.ranks,
            self.coarse,
            self.values,
            self.coarse_first,
            self.n_values,
            self.n_coarse,
            self.n_missing,
            self.close,
        )

    def edges_of(self, row: int) -> NDArray[np.float64]:
        """Return the thresholds between bins: midpoints between the neighbouring values of all rows."""
        between = self.values[row, 1 : max(1, 2 * self.n_coarse[row] - 1)].astype(np.float64) / 2
        middle: NDArray[np.float64] = between[::2] + between[1::2]
        return middle
