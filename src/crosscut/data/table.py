"""The table that trees are grown on: every column as dense ranks and as 8-bit coarse ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from crosscut.data.columns import Column, Kind, chosen, infinite_error, plain_matrix
from crosscut.data.frames import columns_of
from crosscut.data.ranks import MAX_COARSE, Ranks, readable
from crosscut.data.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from crosscut.typing import TableLike


@dataclass(frozen=True, eq=False)
class Table:
    """Columns as ranks; growing a tree needs no other values.

    Attributes
    ----------
    schema : Schema
        Names, kinds and categories of the columns; encodes new data for prediction.
    ranks : uint32 array (columns, rows)
        Dense rank of a value in its column, code of a category, or number of a bin (``max_bins``).
        Missing values have the rank ``n_values``.
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
    close : bool array (columns,)
        Whether some neighbouring values are too close to split between (within scikit-learn's gap of 1e-7).
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
    ranks: NDArray[np.uint32]
    n_values: NDArray[np.int32]
    values: list[NDArray[np.float32]]
    coarse: NDArray[np.uint8]
    coarse_first: list[NDArray[np.uint32]]
    n_missing: NDArray[np.int64]
    close: NDArray[np.bool_]
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
        """Build a table; also return the rows as a matrix for prediction, which is X itself if possible.

        Parameters
        ----------
        X, max_bins, names, n_jobs
            As for :meth:`from_data`.
        """
        if max_bins is not None and not (
            isinstance(max_bins, (int, np.integer)) and 2 <= max_bins <= MAX_COARSE
        ):
            raise ValueError(f"max_bins must be an integer from 2 to {MAX_COARSE} or None, not {max_bins!r}")
        plain = plain_matrix(X)
        if plain is not None:
            schema, matrix, columns = Schema.of_matrix(plain, names), readable(plain), []
        else:
            columns = chosen(columns_of(X), names)
            schema, matrix = Schema.of(columns), _matrix_of(columns)
        ranked = Ranks.empty(matrix.shape[1], matrix.shape[0], max_bins)
        kinds = zip(schema.kinds, schema.categories, strict=True)
        infinite = ranked.fill(
            matrix, [len(labels) if kind == "nominal" else -1 for kind, labels in kinds], n_jobs
        )
        if infinite:
            f, row = infinite
            raise infinite_error(
                schema.names[f], row, columns[f].values[row] if plain is None else plain[row, f]
            )
        return cls._from_ranks(schema, ranked, tuple(c.note for c in columns if c.note)), matrix

    @classmethod
    def from_file(
        cls, path: str | PathLike[str], *, max_bins: int | None = None, names: Sequence[str] | None = None
    ) -> Table:
        """Build a table from a file; see :func:`crosscut.read_file` for the formats."""
        from crosscut.data.files import read_file

        return cls.from_data(read_file(path), max_bins=max_bins, names=names)

    @classmethod
    def _from_ranks(cls, schema: Schema, ranked: Ranks, notes: tuple[str, ...]) -> Self:
        n_values, n_coarse = ranked.n_values.tolist(), ranked.n_coarse.tolist()
        sizes = [0 if kind == "nominal" else n for kind, n in zip(schema.kinds, n_values, strict=True)]
        values = [ranked.values[f, :n] for f, n in enumerate(sizes)]
        first = [ranked.coarse_first[f, : n + 1] for f, n in enumerate(n_coarse)]
        edges = None
        if ranked.max_bins is not None:
            numeric = [kind != "nominal" for kind in schema.kinds]
            edges = [ranked.edges_of(f) if numeric[f] else np.empty(0) for f in range(len(schema))]
            values = [row[: 2 * n : 2].copy() for row, n in zip(ranked.values, sizes, strict=True)]
        return cls(
            schema,
            ranked.ranks,
            ranked.n_values,
            values,
            ranked.coarse,
            first,
            ranked.n_missing,
            ranked.close,
            edges,
            notes,
        )

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
        return replace(self, ranks=self.ranks.take(rows, axis=1), coarse=self.coarse.take(rows, axis=1))

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:6]) + ", ..." * (self.n_columns > 6)
        return f"Table({self.n_rows} rows, {self.n_columns} columns: {shown})"


def _matrix_of(columns: list[Column]) -> NDArray[np.float32]:
    """Return the columns as numbers, nominal ones as codes; missing values are NaN."""
    lines = np.empty((len(columns), len(columns[0].values)), np.float32)
    with np.errstate(over="ignore"):  # values too large for float32 become infinite
        for line, column in zip(lines, columns, strict=True):
            line[:] = column.values
            if column.kind == "nominal":
                line[line < 0] = np.nan
    return lines.T
