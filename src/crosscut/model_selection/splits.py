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

    from numpy.typing import NDArray

Pair = tuple["NDArray[np.int64]", "NDArray[np.int64]"]


@dataclass(frozen=True, eq=False)
class Splits:
    """The (train, test) pairs of a cross-validation, as given and as row numbers."""

    given: Sequence[tuple[Any, Any]]
    train: list[NDArray[np.int64]]
    test: list[NDArray[np.int64]]
    sets: Tasks  # every training set once, and with it all rows if a final tree is asked for
    trees: NDArray[np.int64]  # which of them trains the tree of each split; the last may be a final tree's
    outer: NDArray[np.int64] | None = None  # after :meth:`nested`: the outer split of each inner one

    @classmethod
    def of(cls, given: Sequence[tuple[Any, Any]], n_rows: int, *, final: bool = False) -> Self:
        """Read pairs of row numbers or masks; raise :class:`NotShared` for what no task can express."""
        train, test = read_pairs(given, n_rows)
        everything = [np.arange(n_rows)] * final
        try:
            sets = Tasks.from_rows([*train, *everything], n_rows)
        except ValueError as error:  # a row is repeated too often
            raise NotShared(str(error)) from None
        return cls(given, train, test, sets, np.arange(len(sets)))

    @classmethod
    def nested(
        cls,
        given: Sequence[tuple[Any, Any]],
        n_rows: int,
        inner: Callable[[NDArray[np.int64]], list[Pair]] | None,
    ) -> Self:
        """Return all inner splits, then the outer ones and a final tree.

        ``inner`` splits the rows of an outer training set. Without it the other outer folds serve: outer fold
        i with inner fold j then trains on the same rows as outer fold j with inner fold i.
        """
        train, test = read_pairs(given, n_rows)
        outer = list(zip(train, test, strict=True))
        if inner is not None:
            pairs = [inner(rows) for rows in train]
            made = cls.of([pair for some in [*pairs, outer] for pair in some], n_rows, final=True)
            return replace(made, outer=np.repeat(np.arange(len(outer)), [len(some) for some in pairs]))
        try:
            sets = Tasks.nested(folds_of_splits(outer, n_rows))
        except ValueError as error:
            raise ValueError(f"the outer folds cannot serve inside: {error}; give inner_cv") from None
        assert sets.pairs is not None
        numbers = range(len(outer))
        chosen = [(i, j) for i in numbers for j in numbers if i != j]
        trees = [sets.pairs[pair] for pair in [*chosen, *zip(numbers, numbers, strict=True)]]
        rows = [sets.train_rows(t) for t in range(len(sets))]
        train, test = [rows[t] for t in trees], [test[j] for _, j in chosen] + test
        every = list(zip(train, test, strict=True))
        return cls(every, train, test, sets, np.array([*trees, 0]), np.array([i for i, _ in chosen]))

    def __len__(self) -> int:
        return len(self.given)


def read_pairs(
    given: Sequence[tuple[Any, Any]], n_rows: int
) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]:
    """Return training and test rows; raise :class:`NotShared` where one is empty."""
    train = [_rows(rows, n_rows) for rows, _ in given]
    test = [_rows(rows, n_rows) for _, rows in given]
    for name, sets in (("training", train), ("test", test)):
        if not all(map(len, sets)):
            raise NotShared(f"a {name} set is empty")
    return train, test


def _rows(given: Any, n_rows: int) -> NDArray[np.int64]:
    """Return row numbers from 0 of row numbers, which may count from the end, or of a mask."""
    rows = np.asarray(given)
    # unsigned, a negative number is a large one
    if rows.dtype == np.int64 and rows.ndim == 1 and len(rows) and rows.view(np.uint64).max() < n_rows:
        return rows
    numbers: NDArray[np.int64] = np.arange(n_rows)[rows if rows.size else rows.astype(np.int64)]
    return numbers
