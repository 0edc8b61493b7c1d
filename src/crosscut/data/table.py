"""The table that trees are grown on: every column as dense ranks and as 8-bit coarse ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from crosscut import _core
from crosscut.data.columns import Column, Kind, infinite_error, plain_matrix, selected_columns
from crosscut.data.frames import columns_of
from crosscut.data.memory import READ_LESS, check_memory
from crosscut.data.schema import Schema
from crosscut.data.threads import n_threads

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from crosscut.typing import TableLike

MAX_COARSE = 255  # intervals per column; the next number, for missing values, fits in a byte
_READ_AS_IS = {np.dtype(kind) for kind in (np.float32, np.float64, np.int64, np.uint8, np.bool_)}


@dataclass(frozen=True, eq=False)
class Table:
    """Columns as ranks; growing a tree needs no other values.

    Attributes
    ----------
    schema : Schema
        Names, kinds and categories of the columns; encodes new data for prediction.
    ranks : uint32 or uint8 array (columns, rows)
        Dense rank of a value in its column, code of a category, or number of a bin (``max_bins``).
        Missing values have the rank ``n_values``. With bins, and at most 255 categories per nominal column,
        these are the coarse ranks: ``ranks is coarse``.
    n_values : int32 array (columns,)
        Number of distinct values, categories or bins.
    values : list of float32 arrays
        Distinct values in ascending order; with ``max_bins`` the lowest value of each bin; empty if nominal.
    coarse : uint8 array (columns, rows)
        Interval of neighbouring ranks, at most 255 per column; missing values have the number ``n_coarse``.
    coarse_first : list of uint32 arrays
        First rank of each interval, then ``n_values``.
    n_missing : int64 array (columns,)
        Number of missing values.
    close : uint32 array (columns,)
        Values whose ranks differ by more than this are not too close to split between (within scikit-learn's
        gap of 1e-7).
    edges : list of float64 arrays, or None
        With ``max_bins``: the threshold after each bin except the last.
    notes : tuple of str
        Remarks on how columns were read, to be shown with results.

    Examples
    --------
    >>> table = Table.from_data([[2.5, "b"], [0.5, "a"], [2.5, None]])
    >>> table.kinds, table.categories
    (('numeric', 'nominal'), ((), ('a', 'b')))
    >>> table.ranks
    array([[1, 0, 1],
           [1, 0, 2]], dtype=uint32)
    """

    schema: Schema
    ranks: NDArray[np.uint32] | NDArray[np.uint8]
    n_values: NDArray[np.int32]
    values: list[NDArray[np.float32]]
    coarse: NDArray[np.uint8]
    coarse_first: list[NDArray[np.uint32]]
    n_missing: NDArray[np.int64]
    close: NDArray[np.uint32]
    edges: list[NDArray[np.float64]] | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def from_data(
        cls,
        X: TableLike,
        *,
        max_bins: int | None = None,
        names: Sequence[str] | None = None,
        n_jobs: int | None = None,
    ) -> Table:
        """Build a table from a NumPy array or a pandas, polars or Arrow frame.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Text and categorical columns are nominal, in the order of the categorical type or sorted. Dates
            become days since 1970-01-01. NaN, None and null are missing; infinite values are an error.
        max_bins : int, optional
            Put numeric columns in at most ``max_bins`` (2 to 255) bins of about equal row count.
        names : sequence of str, optional
            Names of the columns of an array; of a frame, the columns to use, in this order.
        n_jobs : int, optional
            Number of threads; all cores if None.
        """
        return cls.with_matrix(X, max_bins=max_bins, names=names, n_jobs=n_jobs)[0]

    @classmethod
    def with_matrix(
        cls,
        X: TableLike,
        *,
        max_bins: int | None = None,
        names: Sequence[str] | None = None,
        n_jobs: int | None = None,
    ) -> tuple[Self, NDArray[Any]]:
        """Build a table as :meth:`from_data` does; also return the rows as a matrix for prediction."""
        if max_bins is not None and not (
            isinstance(max_bins, (int, np.integer)) and 2 <= max_bins <= MAX_COARSE  # type: ignore[redundant-expr]
        ):
            raise ValueError(f"max_bins must be an integer from 2 to {MAX_COARSE} or None, not {max_bins!r}")
        plain = plain_matrix(X)
        if plain is not None:
            schema, matrix, columns = Schema.of_matrix(plain, names), _readable(plain), []
        else:
            columns = selected_columns(columns_of(X), names)
            schema, matrix = Schema.of(columns), _matrix_of(columns)
        binned, shape = max_bins is not None, matrix.shape[::-1]
        n_columns, n_rows = shape
        one_byte = binned and all(len(categories) <= MAX_COARSE for categories in schema.categories)
        threads = n_threads(n_jobs)
        # one byte, and the keys of some columns at a time; or also ranks, and distinct values
        some = min(n_columns, max(16, 2 * threads))
        size = n_columns + 4 * some if one_byte else (5 if binned else 9) * n_columns
        check_memory(size * n_rows, f"a table of {n_rows:,} rows", READ_LESS)
        # rows have the maximum length; elements that are never touched take no memory
        ranks, coarse = None if one_byte else np.empty(shape, np.uint32), np.empty(shape, np.uint8)
        values = np.empty((n_columns, 2 * MAX_COARSE if binned else n_rows), np.float32)  # two per bin
        coarse_first = np.empty((n_columns, MAX_COARSE + 1), np.uint32)
        n_values, n_coarse = np.empty(n_columns, np.int32), np.empty(n_columns, np.int32)
        n_missing, close = np.empty(n_columns, np.int64), np.empty(n_columns, np.uint32)
        nominal = [kind == "nominal" for kind in schema.kinds]
        infinite = _core.rank_columns(
            matrix,
            MAX_COARSE if max_bins is None else max_bins,
            binned,
            threads,
            np.array(
                [len(c) if n else -1 for n, c in zip(nominal, schema.categories, strict=True)], np.int32
            ),
            ranks,
            coarse,
            values,
            coarse_first,
            n_values,
            n_coarse,
            n_missing,
            close,
        )
        if infinite:
            f, row = infinite
            value = columns[f].values[row] if plain is None else plain[row, f]
            raise infinite_error(schema.names[f], row, value)
        sizes = np.where(nominal, 0, n_values).tolist()
        edges = None
        if binned:  # midpoints between the highest value of a bin and the lowest of the next
            edges = [_midpoints(row[1 : max(1, 2 * n - 1)]) for row, n in zip(values, sizes, strict=True)]
        table = cls(
            schema,
            coarse if ranks is None else ranks,
            n_values,
            [row[: 2 * n : 2].copy() if binned else row[:n] for row, n in zip(values, sizes, strict=True)],
            coarse,
            [first[: n + 1] for first, n in zip(coarse_first, n_coarse.tolist(), strict=True)],
            n_missing,
            close,
            edges,
            tuple(column.note for column in columns if column.note),
        )
        return table, matrix

    @classmethod
    def from_file(
        cls, path: str | PathLike[str], *, max_bins: int | None = None, names: Sequence[str] | None = None
    ) -> Table:
        """Build a table from a file; see :func:`crosscut.read_file` for the formats."""
        from crosscut.data.files import read_file

        return cls.from_data(read_file(path), max_bins=max_bins, names=names)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.schema.names

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Kind of each column: numeric, boolean, date or nominal."""
        return self.schema.kinds

    @property
    def categories(self) -> tuple[tuple[Any, ...], ...]:
        """Categories of each column in the order of their codes; empty if it is not nominal."""
        return self.schema.categories

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.ranks.shape[1])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.ranks.shape[0])

    @property
    def has_missing(self) -> NDArray[np.bool_]:
        """Whether each column has missing values."""
        return self.n_missing > 0

    @cached_property
    def n_coarse(self) -> NDArray[np.int32]:
        """Number of coarse intervals of each column."""
        return np.array([len(first) - 1 for first in self.coarse_first], np.int32)

    def take(self, rows: NDArray[np.int64]) -> Table:
        """Return the given rows, which may repeat, with their ranks in this table."""
        coarse = self.coarse.take(rows, axis=1)
        ranks = coarse if self.ranks is self.coarse else self.ranks.take(rows, axis=1)
        return replace(self, ranks=ranks, coarse=coarse)

    def with_seen_categories(self, rows: NDArray[np.bool_]) -> Table:
        """Drop categories that none of these rows has; the other rows that have them become missing.

        The result is for rules: the coarse ranks keep their codes.
        """
        ranks, n_values, categories = self.ranks, self.n_values.copy(), list(self.categories)
        for f, labels in enumerate(self.categories):
            seen = np.bincount(self.ranks[f, rows], minlength=len(labels) + 1)[: len(labels)] > 0
            if seen.all():
                continue
            ranks = ranks.copy() if ranks is self.ranks else ranks
            n_values[f] = seen.sum()
            ranks[f] = np.append(np.where(seen, np.cumsum(seen) - 1, n_values[f]), n_values[f])[self.ranks[f]]
            categories[f] = tuple(label for label, one in zip(labels, seen.tolist(), strict=True) if one)
        schema = replace(self.schema, categories=tuple(categories))
        return replace(self, schema=schema, ranks=ranks, n_values=n_values)

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:6]) + ", ..." * (self.n_columns > 6)
        return f"Table({self.n_rows} rows, {self.n_columns} columns: {shown})"


def _readable(matrix: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in a type that the core reads; copy only if necessary."""
    if matrix.dtype in _READ_AS_IS:
        return matrix
    with np.errstate(over="ignore"):  # values too large for float32 become infinite
        return matrix.astype(np.float32)


def _midpoints(ends: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the midpoint of each pair of neighbouring values."""
    halves = ends.astype(np.float64) / 2
    return np.asarray(halves[::2] + halves[1::2])


def _matrix_of(columns: list[Column]) -> NDArray[np.float32]:
    """Return the columns as numbers, nominal ones as codes; missing values are NaN."""
    lines = np.empty((len(columns), len(columns[0].values)), np.float32)
    with np.errstate(over="ignore"):  # values too large for float32 become infinite
        for line, column in zip(lines, columns, strict=True):
            line[:] = column.values
            if column.kind == "nominal":
                line[line < 0] = np.nan
    return lines.T
