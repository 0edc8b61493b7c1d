"""The (train, test) pairs of a call, and the training sets that their trees need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from crosscut.model_selection.candidates import NotShared
from crosscut.tasks import Tasks
from crosscut.tasks.folds import folds_of_splits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

Pair = tuple["NDArray[np.int64]", "NDArray[np.int64]"]


@dataclass(frozen=True, eq=False)
class Splits:
    """The (train, test) pairs of a cross-validation, as passed and as row numbers."""

    pairs: Sequence[tuple[Any, Any]]
    train: list[NDArray[np.int64]]
    test: list[NDArray[np.int64]]
    sets: Tasks  # every training set once, and all rows if there is a final tree
    trees: NDArray[np.int64]  # the training set of each split, and of the final tree if there is one
    outer: NDArray[np.int64] | None = None  # after :meth:`nested`: the outer split of each inner one

    @classmethod
    def of(cls, pairs: Sequence[tuple[Any, Any]], n_rows: int, *, final: bool = False) -> Self:
        """Read pairs of row numbers or masks; raise :class:`NotShared` if tasks cannot express them."""
        train, test = read_pairs(pairs, n_rows)
        everything = [np.arange(n_rows)] * final
        try:
            sets = Tasks.from_rows([*train, *everything], n_rows)
        except ValueError as error:  # a row is repeated too often
            raise NotShared(str(error)) from None
        return cls(pairs, train, test, sets, np.arange(len(sets)))

    @classmethod
    def nested(
        cls,
        pairs: Sequence[tuple[Any, Any]],
        n_rows: int,
        inner: Callable[[NDArray[np.int64]], list[Pair]] | None,
    ) -> Self:
        """Return all inner splits, then the outer ones and a final tree.

        ``inner`` splits the rows of an outer training set. Without it the other outer folds are used. Outer
        fold i with inner fold j then trains on the same rows as outer fold j with inner fold i.
        """
        train, test = read_pairs(pairs, n_rows)
        outer = list(zip(train, test, strict=True))
        if inner is not None:
            inner_pairs = [inner(rows) for rows in train]
            splits = cls.of([pair for part in [*inner_pairs, outer] for pair in part], n_rows, final=True)
            return replace(splits, outer=np.repeat(np.arange(len(outer)), list(map(len, inner_pairs))))
        try:
            sets = Tasks.nested(folds_of_splits(outer, n_rows))
        except ValueError as error:
            raise ValueError(
                f"the outer folds cannot be used as inner folds: {error}; pass inner_cv"
            ) from None
        assert sets.pairs is not None
        numbers = range(len(outer))
        chosen = [(i, j) for i in numbers for j in numbers if i != j]
        trees = [sets.pairs[pair] for pair in [*chosen, *zip(numbers, numbers, strict=True)]]
        rows = [sets.train_rows(t) for t in range(len(sets))]
        train, test = [rows[t] for t in trees], [test[j] for _, j in chosen] + test
        every = list(zip(train, test, strict=True))
        return cls(every, train, test, sets, np.array([*trees, 0]), np.array([i for i, _ in chosen]))

    def __len__(self) -> int:
        return len(self.pairs)


def read_pairs(
    pairs: Sequence[tuple[Any, Any]], n_rows: int
) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]:
    """Return training and test rows; raise :class:`NotShared` if a set is empty."""
    train = [_rows(rows, n_rows) for rows, _ in pairs]
    test = [_rows(rows, n_rows) for _, rows in pairs]
    for name, sets in (("training", train), ("test", test)):
        if not all(map(len, sets)):
            raise NotShared(f"a {name} set is empty")
    return train, test


def _rows(index: ArrayLike, n_rows: int) -> NDArray[np.int64]:
    """Convert a mask, or row numbers that may be negative, to row numbers >= 0."""
    rows = np.asarray(index)
    # as unsigned numbers, negative numbers are large
    if rows.dtype == np.int64 and rows.ndim == 1 and len(rows) and rows.view(np.uint64).max() < n_rows:
        return rows
    numbers: NDArray[np.int64] = np.arange(n_rows)[rows if rows.size else rows.astype(np.int64)]
    return numbers
