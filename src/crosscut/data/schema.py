"""Columns a model was fitted on, and the encoding of new data for prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from crosscut.data.columns import Column, Kind, checked_names, infinite_error, plain_matrix
from crosscut.data.frames import columns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.typing import TableLike


@dataclass(frozen=True)
class Schema:
    """Names, kinds and categories of the columns of a table.

    Parameters
    ----------
    names : tuple of str
        One per column.
    kinds : tuple of {"numeric", "boolean", "date", "nominal"}
        Boolean columns are numbers 0 and 1, dates are days since 1970-01-01.
    categories : tuple of tuple
        The categories of a nominal column in the order of their codes; empty for the other kinds.
    named : bool
        Whether names come from the data. If so, columns of a new frame are matched by name, else by position.

    Examples
    --------
    >>> schema = Schema(("age", "sex"), ("numeric", "nominal"), ((), ("f", "m")))
    >>> import polars as pl
    >>> schema.matrix(pl.DataFrame({"sex": ["m", None, "x"], "age": [30, 40, None]}))
    array([[30.,  1.],
           [40., nan],
           [nan, nan]], dtype=float32)
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    categories: tuple[tuple[Any, ...], ...]
    named: bool = True

    @classmethod
    def of(cls, columns: list[Column]) -> Self:
        """Return the schema of typed columns."""
        names, kinds, _, categories, *_ = zip(*columns, strict=True)
        return cls(names, kinds, categories, columns[0].named)

    @classmethod
    def of_matrix(cls, matrix: NDArray[Any], names: Sequence[str] | None = None) -> Self:
        """Return the schema of a two-dimensional array of numbers."""
        width = matrix.shape[1]
        known = tuple(f"x{f}" for f in range(width)) if names is None else checked_names(names)
        if len(known) != width:
            raise ValueError(f"names has {len(known)} entries, but X has {width} columns")
        kind: Kind = "boolean" if matrix.dtype.kind == "b" else "numeric"
        return cls(known, (kind,) * width, ((),) * width, named=names is not None)

    def __len__(self) -> int:
        return len(self.names)

    def matrix(self, X: TableLike) -> NDArray[np.float32]:
        """Encode new data for prediction: float32 (rows, columns), C-contiguous.

        Numbers stay numbers and categories become codes. Missing values and unknown categories become NaN.
        Columns of a frame are matched by name, in any order; unknown columns are ignored. A float32 matrix
        that needs no change is returned without a copy.
        """
        plain = plain_matrix(X)
        if plain is not None and "nominal" not in self.kinds:
            self._check_width(plain.shape[1])
            with np.errstate(over="ignore"):  # values too large for float32 become infinite
                matrix = np.ascontiguousarray(plain, dtype=np.float32)
            self._check_finite(matrix)
            return matrix
        columns = self._arranged(columns_of(X))
        matrix = np.empty((len(columns[0].values), len(self)), np.float32)
        with np.errstate(over="ignore"):
            for f, column in enumerate(columns):
                matrix[:, f] = self._encode(f, column)
        self._check_finite(matrix)
        return matrix

    def _check_finite(self, matrix: NDArray[np.float32]) -> None:
        # one sum is cheaper than a mask of every cell; NaN only causes the slower check
        if np.isfinite(matrix.sum(dtype=np.float64)):
            return
        infinite = np.isinf(matrix)
        if infinite.any():
            row, f = np.argwhere(infinite)[0].tolist()
            raise infinite_error(self.names[f], row, matrix[row, f])

    def _check_width(self, width: int) -> None:
        if width != len(self):
            raise ValueError(
                f"X has {width} features, but the fitted table is expecting {len(self)} features as input"
            )

    def _arranged(self, columns: list[Column]) -> list[Column]:
        """Return the columns of new data in the order of the schema."""
        if not (self.named and columns[0].named):
            self._check_width(len(columns))
            return columns
        known = {column.name: column for column in columns}
        absent = [name for name in self.names if name not in known]
        if absent:
            raise ValueError(f"X lacks the column(s) {absent}; it has {list(known)}")
        return [known[name] for name in self.names]

    def _encode(self, f: int, column: Column) -> NDArray[Any]:
        if self.kinds[f] != "nominal":
            if column.kind == "nominal":
                raise ValueError(
                    f"column {self.names[f]!r} of X holds text or categories, but it was {self.kinds[f]} "
                    "in the fitted table"
                )
            return column.values
        code = {category: float(c) for c, category in enumerate(self.categories[f])}
        if column.kind == "nominal":
            # one entry per category of the new data, then NaN, which code -1 (missing) selects
            codes = np.array(
                [code.get(category, np.nan) for category in column.categories] + [np.nan], np.float32
            )
            return codes[column.values.astype(np.int64)]
        distinct, where = np.unique(column.values, return_inverse=True)
        return np.array([code.get(v, np.nan) for v in distinct.tolist()], np.float32)[where]
