"""The table trees are grown on: every column as dense ranks and as 8-bit coarse ranks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.columns import Column, columns_of
from crosscut.ranks import Ranks, rank_codes, rank_columns, to_bins
from crosscut.schema import Kind, Schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Table:
    """Columns as ranks, which is all that growing a tree needs.

    Attributes
    ----------
    schema : Schema
        Names, kinds and categories of the columns; encodes new data for prediction.
    ranks : uint32 array (columns, rows)
        Dense rank of a value in its column, the code of a category, or the number of a bin (``max_bins``). Missing
        values have the rank ``n_values``.
    n_values : int32 array (columns,)
        Number of distinct values, categories or bins.
    values : list of float32 arrays
        The distinct values in ascending order; with ``max_bins`` the lowest value of each bin; empty if nominal.
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
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def from_data(cls, X: Any, *, max_bins: int | None = None, names: Sequence[str] | None = None) -> Table:
        """Build a table from a NumPy array or a pandas, polars or Arrow frame.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Text and categorical columns are nominal: in the order the categorical type gives, else sorted. Dates are
            numeric, in days since 1970-01-01. NaN, None and null are missing; infinite values are refused.
        max_bins : int, optional
            Put numeric columns in at most this many (2 to 255) bins of about equal row count.
        names : sequence of str, optional
            Names of the columns of an array; of a frame, the columns to use, in this order.
        """
        columns = _named(columns_of(X), names)
        schema = Schema(
            tuple(column.name for column in columns),
            tuple(column.kind for column in columns),
            tuple(column.categories for column in columns),
            named=columns[0].named,
        )
        ranked = _rank(columns)
        notes = tuple(column.note for column in columns if column.note)
        table = cls(
            schema,
            ranked.ranks,
            ranked.n_values,
            ranked.values,
            ranked.coarse,
            ranked.coarse_first,
            ranked.has_missing,
            ranked.close,
            notes=notes,
        )
        return table if max_bins is None else table.binned(max_bins)

    def binned(self, max_bins: int) -> Table:
        """Return the table with every numeric column put in at most ``max_bins`` bins of about equal row count."""
        if (
            isinstance(max_bins, bool)
            or not isinstance(max_bins, (int, np.integer))
            or not 2 <= max_bins <= 255
        ):
            raise ValueError(f"max_bins must be an integer from 2 to 255 or None, but {max_bins!r} was given")
        ranked, edges = to_bins(
            Ranks(
                self.ranks,
                self.n_values,
                self.values,
                self.coarse,
                self.coarse_first,
                self.has_missing,
                self.close,
            ),
            int(max_bins),
            [kind == "nominal" for kind in self.kinds],
        )
        return replace(self, **vars(ranked), edges=edges)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.schema.names

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Kind of each column: numeric, boolean or nominal."""
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

    def __repr__(self) -> str:
        return f"Table({self.n_rows} rows, {self.n_columns} columns: {', '.join(self.names[:6])}{', ...' * (self.n_columns > 6)})"


def _named(columns: list[Column], names: Sequence[str] | None) -> list[Column]:
    if names is None:
        return columns
    names = [str(name) for name in names]
    if not columns[0].named:
        if len(names) != len(columns):
            raise ValueError(f"names has {len(names)} entries, but X has {len(columns)} columns")
        columns = [replace(column, name=name) for column, name in zip(columns, names, strict=True)]
    if len(set(names)) != len(names):
        raise ValueError(f"names must differ from each other, but {names} was given")
    found = {column.name: column for column in columns}
    unknown = [name for name in names if name not in found]
    if unknown:
        raise ValueError(f"names asks for the column(s) {unknown}, but X has {list(found)}")
    return [found[name] for name in names]


def _rank(columns: list[Column]) -> Ranks:
    names = [column.name for column in columns]
    parts = [
        rank_codes(column.values, len(column.categories))
        if column.kind == "nominal"
        else rank_columns([column.values], names[f : f + 1])
        for f, column in enumerate(columns)
    ]
    return Ranks(
        np.concatenate([part.ranks for part in parts]),
        np.concatenate([part.n_values for part in parts]),
        [values for part in parts for values in part.values],
        np.concatenate([part.coarse for part in parts]),
        [first for part in parts for first in part.coarse_first],
        np.concatenate([part.has_missing for part in parts]),
        np.concatenate([part.close for part in parts]),
    )
