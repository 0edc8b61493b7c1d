"""Folds of streams: the fold of a row depends only on its number, class or group."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.columns import Column

MAX_FOLDS = 63  # a row's tasks are the bits of one 64-bit mask


def mix(numbers: NDArray[Any], seed: int = 0) -> NDArray[np.uint64]:
    """Hash numbers to 64 bits by splitmix64, a bijection.

    >>> mix(np.arange(2))
    array([16294208416658607535, 10451216379200822465], dtype=uint64)
    """
    with np.errstate(over="ignore"):
        z = numbers.astype(np.uint64) + np.uint64((0x9E3779B97F4A7C15 * (seed + 1)) % 2**64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@dataclass(frozen=True)
class FoldRule:
    """Rule that assigns rows to folds.

    Each ``n_folds`` consecutive rows go to different folds, starting at a fold given by a hash. So sizes
    differ by at most one. If stratified, this is done within each class. With groups, the fold is a hash of
    the group's value, so a group is never split. In order, folds are consecutive rows, as in scikit-learn's
    ``KFold``.

    Examples
    --------
    >>> FoldRule(3).of_places(np.arange(9))
    array([1, 2, 0, 2, 0, 1, 1, 2, 0], dtype=uint8)
    """

    n_folds: int  # 2 to 63, or 0 if no row is held out
    stratified: bool = False
    grouped: bool = False
    seed: int = 0
    in_order: bool = False
    n_rows: int = 0  # of all data, known after the survey; used only for folds in order

    def __post_init__(self) -> None:
        if self.n_folds != 0 and not 2 <= self.n_folds <= MAX_FOLDS:
            raise ValueError(
                f"cv must be None or a number of folds from 2 to {MAX_FOLDS} for data that is "
                f"not in memory, not {self.n_folds!r}"
            )

    def of_places(self, places: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the fold of rows from their row numbers, or their numbers within the class."""
        if not self.n_folds:
            return np.zeros(len(places), np.uint8)
        if self.in_order:
            size, larger = divmod(self.n_rows, self.n_folds)
            ends = np.cumsum([size + (fold < larger) for fold in range(self.n_folds)])
            return np.searchsorted(ends, places, side="right").astype(np.uint8)
        n = np.uint64(self.n_folds)
        places = places.astype(np.uint64)
        start = mix(places // n, self.seed) % n
        return np.asarray((start + places % n) % n, np.uint8)

    def of_keys(self, keys: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """Return the fold of rows whose groups have these keys (:func:`group_keys`)."""
        return np.asarray(mix(keys, self.seed) % np.uint64(max(self.n_folds, 1)), np.uint8)

    def of_classes(self, classes: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the fold of the rows after ``counts`` rows of each class, and advance ``counts``."""
        order = np.argsort(classes, kind="stable")
        sizes = np.bincount(classes, minlength=len(counts))
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        places = np.empty(len(classes), np.int64)
        places[order] = np.arange(len(classes)) + np.repeat(counts - first, sizes)
        counts += sizes
        return self.of_places(places)

    def task_masks(self) -> NDArray[np.uint64]:
        """Return the bits of the tasks that rows of each fold train: task 0 and all other folds."""
        everything = (1 << (self.n_folds + 1)) - 1
        return np.array(
            [everything & ~(2 << fold) for fold in range(self.n_folds)] or [everything], np.uint64
        )


def group_keys(column: Column) -> NDArray[np.uint64]:
    """Return a 64-bit number of each row's group that depends only on the group's value."""
    if column.kind != "nominal":
        values = np.ascontiguousarray(column.values, dtype=np.float64) + 0.0  # no negative zero
        return values.view(np.uint64)
    digests = [hashlib.blake2b(str(c).encode(), digest_size=8).digest() for c in column.categories]
    of_category = np.array([int.from_bytes(digest, "little") for digest in digests] + [0], np.uint64)
    return of_category[column.values.astype(np.int64)]
