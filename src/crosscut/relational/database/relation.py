"""One predicate's facts as integer-coded columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosscut.relational.language.terms import indicator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.relational.language.modes import TypeNames


@dataclass(frozen=True, eq=False)
class Relation:
    """Facts of one predicate, without duplicates, in the order in which they were first stated.

    Attributes
    ----------
    name : str
        The predicate's name; predicates of different arity are different relations.
    columns : int32 array of shape (arity, n_facts), C-contiguous
        Constants by id; a column is contiguous in memory.
    types : tuple
        Per argument: the name of its type, a `TypeVariable`, or None where none was declared.
    keyed : bool
        Whether the first argument is an example's key, so that a literal whose first argument is the key only
        meets the facts of its example. Queries mean the same without it: facts are one set for all examples.
    """

    name: str
    columns: NDArray[np.int32]
    types: TypeNames
    keyed: bool = False

    @property
    def arity(self) -> int:
        """Number of arguments."""
        return len(self.columns)

    @property
    def n_facts(self) -> int:
        """Number of different facts."""
        return int(self.columns.shape[1])

    def __repr__(self) -> str:
        name = indicator(self.name, self.arity)
        return f"<Relation {name}: {self.n_facts} facts{', keyed' if self.keyed else ''}>"

    def distinct(self, column: int) -> NDArray[np.int32]:
        """Constants of one column, in the order of their first fact."""
        values, first = np.unique(self.columns[column], return_index=True)
        return values[np.argsort(first)]


def distinct_facts(columns: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the facts without repetitions, first occurrences in their order."""
    if columns.shape[0] == 0:
        return np.ascontiguousarray(columns[:, :1])
    if columns.shape[1] < 2:
        return np.ascontiguousarray(columns)
    _, first = np.unique(fact_numbers([columns])[0], return_index=True)
    return np.ascontiguousarray(columns[:, np.sort(first)])


def fact_numbers(tables: Sequence[NDArray[np.int32]]) -> list[NDArray[np.int64]]:
    """One integer per fact, equal for equal facts, comparable across the given tables of one arity."""
    sizes = [table.shape[1] for table in tables]
    joined = np.concatenate(tables, axis=1)
    numbers = np.zeros(joined.shape[1], np.int64)
    for column in joined:
        width = int(column.max(initial=0)) + 1
        if numbers.max(initial=0) >= (1 << 62) // width:
            numbers = np.unique(numbers, return_inverse=True)[1]
        numbers = numbers * width + column
    return np.split(numbers, np.cumsum(sizes)[:-1])
