"""One predicate's facts as integer-coded columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut_relational.language.terms import indicator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from numpy.typing import NDArray

    from crosscut_relational.language.modes import TypeNames


CHUNK = 1 << 21  # maximum number of rows per step of long computations


@dataclass(frozen=True, eq=False)
class Relation:
    """Facts of one predicate, without duplicates, in the order in which they were first stated.

    ``columns`` (arity, facts) holds constants by id. ``types`` has the name of each argument's type, a
    `TypeVariable`, or None. ``keyed`` says that the first argument is an example's key: a literal whose first
    argument is the key then reads only the facts of its example. This does not change the results.
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
        """Return the distinct constants of one column, in the order of their first fact."""
        values, first = np.unique(self.columns[column], return_index=True)
        return values[np.argsort(first)]


def in_chunks(n: int) -> Iterator[slice]:
    """Yield slices of at most `CHUNK` rows, so that long computations can be interrupted."""
    return (slice(start, start + CHUNK) for start in range(0, n, CHUNK))


def searched(
    ordered: NDArray[Any], values: NDArray[Any], side: Literal["left", "right"]
) -> NDArray[np.int64]:
    """Return the positions of values among ordered values."""
    positions = np.empty(len(values), np.int64)
    for chunk in in_chunks(len(values)):
        positions[chunk] = np.searchsorted(ordered, values[chunk], side)
    return positions


def equal_pairs(
    left: NDArray[Any], right: NDArray[Any], most: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of all pairs of equal values, by ascending place on the left; at most `most`."""
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    first = searched(ordered, left, "left")
    counts = searched(ordered, left, "right") - first
    total = int(counts.sum())
    if most is not None and total > most:
        raise ValueError(f"joining it makes {total} bindings, more than {most}")
    within = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(np.arange(len(left)), counts), order[np.repeat(first, counts) + within]


def distinct_facts(columns: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the facts without repetitions, first occurrences in their order."""
    if columns.shape[0] == 0:
        return np.ascontiguousarray(columns[:, :1])
    if columns.shape[1] < 2:
        return np.ascontiguousarray(columns)
    (numbers,) = fact_numbers([columns])
    n_parts = len(numbers) // CHUNK + 1  # equal facts are in the same part
    part = numbers % n_parts if n_parts > 1 else np.zeros(len(numbers), np.int64)
    kept = np.zeros(len(numbers), bool)
    for each in range(n_parts):
        rows = np.flatnonzero(part == each)
        _, first = np.unique(numbers[rows], return_index=True)
        kept[rows[first]] = True
    return np.ascontiguousarray(columns[:, kept])


def fact_numbers(tables: Sequence[NDArray[np.int32]]) -> list[NDArray[np.int64]]:
    """Return one integer per fact, equal for equal facts; comparable across the given tables."""
    sizes = [table.shape[1] for table in tables]
    joined = np.concatenate(tables, axis=1)
    numbers = np.zeros(joined.shape[1], np.int64)
    for column in joined:
        width = int(column.max(initial=0)) + 1
        if numbers.max(initial=0) >= (1 << 62) // width:
            numbers = np.unique(numbers, return_inverse=True)[1]
        numbers = numbers * width + column
    return np.split(numbers, np.cumsum(sizes)[:-1])
