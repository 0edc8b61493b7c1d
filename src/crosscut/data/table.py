"""The table trees are grown on: every column as dense ranks and as 8-bit coarse ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.data.columns import Column, Kind, chosen, columns_of, infinite_error, plain_matrix
from crosscut.data.ranks import MAX_COARSE, Ranks
from crosscut.data.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Table:
    """Columns as ranks, which is all that growing a tree needs.

    Attributes
    ----------
    schema : Schema
        Names, kinds and categories of the columns; encodes new data for prediction.
    ranks : uint32 array (columns, rows)
        Dense rank of a value in its column, the code of a category, or the number of a bin (``max_bins``).
        Missing values have the rank ``n_values``.
    n_values : int32 array (columns,)
        Number of distinct values, categories or bins.
    values : list of float32 arrays
        The distinct values in ascending order; with ``max_bins`` the lowest value of each bin; empty if
        nominal.
    coarse : uint8 array (columns, rows)
        Interval of neighbouring ranks, at most 255 per column; missing values have the number ``n_coarse``.
    coarse_first : list of uint32 arrays
        First rank of each interval, and ``n_values`` at the end.
    has_missing : bool array (columns,)
    close : bool array (columns,)
        Whether some neighbouring values are too close to be told apart (scikit-learn's gap of 1e-7).
    edges : list of float64 arrays, or None
        With ``max_bins``: the threshold after each bin but the last.
    notes : tuple of str
        What the reader of a result should know about how columns were read.

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
    has_missing: NDArray[np.bool_]
    close: NDArray[np.bool_]
    edges: list[NDArray[np.float64]] | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def from_data(
        cls,
        X: Any,
        *,
        max_bins: int | None = None,
        names: Sequence[str] | None = None,
        n_jobs: int | None = None,
    ) -> Table:
        """Build a table from a NumPy array or a pandas, polars or Arrow frame.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Text and categorical columns are nominal: in the order the categorical type gives, else sorted.
            Dates are numbers of days since 1970-01-01. NaN, None and null are missing; infinite values are
            refused.
        max_bins : int, optional
            Put numeric columns in at most this many (2 to 255) bins of about equal row count.
        names : sequence of str, optional
            Names of the columns of an array; of a frame, the columns to use, in this order.
        n_jobs : int, optional
            Number of threads; all cores if None.
        """
        if max_bins is not None and not (
            isinstance(max_bins, (int, np.integer)) and 2 <= max_bins <= MAX_COARSE
        ):
            raise ValueError(
                f"max_bins must be an integer from 2 to {MAX_COARSE} or None, but {max_bins!r} was given"
            )
        plain = plain_matrix(X)
        if plain is not None:
            schema = Schema.of_matrix(plain, names)
            ranked = Ranks.empty(plain.shape[1], plain.shape[0], max_bins)
            infinite = ranked.fill_numbers(plain, np.arange(plain.shape[1], dtype=np.int32), n_jobs)
            if infinite:
                f, row = infinite
                raise infinite_error(schema.names[f], row, plain[row, f])
            return cls._from_ranks(schema, ranked, ())
        columns = chosen(columns_of(X), names)
        schema = Schema.of(columns)
        return cls._from_ranks(
            schema, _rank(columns, max_bins, n_jobs), tuple(c.note for c in columns if c.note)
        )

    @classmethod
    def from_file(
        cls, path: str | PathLike[str], *, max_bins: int | None = None, names: Sequence[str] | None = None
    ) -> Table:
        """Build a table from a file; :func:`crosscut.read_file` says which kinds are read."""
        from crosscut.data.files import read_file

        return cls.from_data(read_file(path), max_bins=max_bins, names=names)

    @classmethod
    def _from_ranks(cls, schema: Schema, ranked: Ranks, notes: tuple[str, ...]) -> Table:
        n_values, n_coarse = ranked.n_values.tolist(), ranked.n_coarse.tolist()
        sizes = [0 if kind == "nominal" else n for kind, n in zip(schema.kinds, n_values, strict=True)]
        values = [row[:n] for row, n in zip(ranked.values, sizes, strict=True)]
        first = [row[: n + 1] for row, n in zip(ranked.coarse_first, n_coarse, strict=True)]
        edges = None
        if ranked.max_bins is not None:
            numeric = [kind != "nominal" for kind in schema.kinds]
            edges = [ranked.edges_of(f) if numeric[f] else np.empty(0) for f in range(len(schema))]
            ranked.n_values[numeric] = ranked.n_coarse[numeric]
            values = [own[begin[:-1]] if own.size else own for own, begin in zip(values, first, strict=True)]
            first = [
                np.arange(n + 1, dtype=np.uint32) if number else begin
                for n, number, begin in zip(n_coarse, numeric, first, strict=True)
            ]
            ranked.close[:] = False
        return cls(
            schema,
            ranked.ranks,
            ranked.n_values,
            values,
            ranked.coarse,
            first,
            ranked.has_missing,
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

    @cached_property
    def n_coarse(self) -> NDArray[np.int32]:
        """Number of coarse intervals of each column."""
        return np.array([len(first) - 1 for first in self.coarse_first], np.int32)

    def take(self, rows: NDArray[np.int64]) -> Table:
        """Return some rows, perhaps repeatedly, with the ranks they have in this table."""
        return replace(self, ranks=self.ranks.take(rows, axis=1), coarse=self.coarse.take(rows, axis=1))

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:6]) + ", ..." * (self.n_columns > 6)
        return f"Table({self.n_rows} rows, {self.n_columns} columns: {shown})"


def _rank(columns: list[Column], max_bins: int | None, n_jobs: int | None) -> Ranks:
    ranked = Ranks.empty(len(columns), len(columns[0].values), max_bins)
    numeric = np.array([f for f, column in enumerate(columns) if column.kind != "nominal"], np.int32)
    numbers = np.empty((len(numeric), ranked.ranks.shape[1]), np.float32)
    with np.errstate(over="ignore"):  # what is too large for float32 becomes infinite
        for line, f in zip(numbers, numeric.tolist(), strict=True):
            line[:] = columns[f].values
    if len(numeric):
        infinite = ranked.fill_numbers(numbers.T, numeric, n_jobs)
        if infinite:
            column, row = columns[numeric[infinite[0]]], infinite[1]
            raise infinite_error(column.name, row, column.values[row])
    for f, column in enumerate(columns):
        if column.kind == "nominal":
            ranked.fill_codes(f, column.values, len(column.categories))
    return ranked
