"""Tests that can be put in a node, and their statistics.

A test maps the rank of an example's value in one column to an outcome. The statistics of a column's values
give the statistics of all its tests: the left branch of a threshold or a subset is the sum over its values.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from crosscut.reference.examples import Examples

    Integers = NDArray[Any]
    # Statistics [test, branch, amount] of a column's tests, in the order in which ties are decided,
    # and a function that creates the i-th test. The first amount is the number of rows.
    Candidates = tuple[Integers, Callable[[int], "Test"]]

NAN = float("nan")
GAP = np.float32(1e-7)  # scikit-learn's gap: no threshold between closer values
EXHAUSTIVE = 8  # with more categories (and more than two classes), only some subsets are tried


@dataclass(frozen=True)
class Test:
    """A test with the constants of one task."""

    __test__: ClassVar[bool] = False  # pytest: not a test case

    column: int
    outcomes: tuple[int, ...]  # of each rank, with missing last; -1 if the task has no example of the rank
    missing: int  # branch for missing values and unseen categories
    threshold: float = NAN  # numeric tests: values up to this go left
    low: float = NAN  # the task's values next to the threshold
    high: float = NAN

    @property
    def branches(self) -> list[int]:
        """The outcomes that have a branch, in the order of the branches."""
        return sorted(set(self.outcomes) - {-1})


def column_tests(examples: Examples, column: int, S: Integers) -> Candidates:
    """Return all tests of a column from the statistics ``S[rank]`` of its values (last: missing)."""
    if not examples.is_nominal(column):
        return thresholds(examples, column, S)
    if examples.growth.splits == "multiway":
        return multiway(column, S)
    return subsets(examples, column, S)


def thresholds(examples: Examples, column: int, S: Integers) -> Candidates:
    """Return cuts between neighbouring values of the task, with missing values right, alone, and left."""
    present = np.flatnonzero(S[:-1, 0])
    missing = S[-1]
    below = np.cumsum(S[present], axis=0)
    edges = examples.table.edges
    if edges is None:
        values = examples.table.values[column][present]
        cuts = np.flatnonzero(values[:-1] + GAP < values[1:])
    else:
        cuts = np.arange(len(present) - 1)
    left = below[cuts]
    right = S[:-1].sum(axis=0) - left
    places = [(i, -1) for i in cuts.tolist()]
    branches = [np.stack([left, right], axis=1)]
    if missing[0] and len(present):
        places = [(i, 1) for i in cuts.tolist()] + [(-1, 1)] + [(i, 0) for i in cuts.tolist()]
        branches = [
            np.stack([left, right + missing], axis=1),
            np.stack([below[-1], missing])[None],
            np.stack([left + missing, right], axis=1),
        ]
    statistics = np.concatenate(branches)

    def make(i: int) -> Test:
        cut, side = places[i]
        outcomes = np.full(len(S), -1)
        outcomes[-1] = side
        if cut < 0:
            outcomes[:-1] = 0
            return Test(column, tuple(outcomes.tolist()), 1, threshold=np.inf)
        outcomes[: present[cut] + 1] = 0
        outcomes[present[cut + 1] : -1] = 1
        if side < 0:
            side = majority(statistics[i])
        if edges is not None:
            return Test(column, tuple(outcomes.tolist()), side, float(edges[column][present[cut]]))
        low, high = float(values[cut]), float(values[cut + 1])
        return Test(column, tuple(outcomes.tolist()), side, low / 2 + high / 2, low, high)

    return statistics, make


def multiway(column: int, S: Integers) -> Candidates:
    """Return one test with a branch per category of the task's examples; missing is a category."""
    present = np.flatnonzero(S[:, 0])

    def make(_: int) -> Test:
        outcomes = np.where(S[:, 0] > 0, np.arange(len(S)), -1)
        side = len(present) - 1 if S[-1, 0] else int(np.argmax(S[present, 0]))
        return Test(column, tuple(outcomes.tolist()), side)

    return (S[present][None] if len(present) > 1 else np.empty((0, 2, S.shape[1]), S.dtype)), make


def subsets(examples: Examples, column: int, S: Integers) -> Candidates:
    """Return splits of the categories into two subsets; missing is a category."""
    present = np.flatnonzero(S[:, 0])
    left_sets = list(subsets_of(present, S, examples.n_classes))
    left = np.array([S[chosen].sum(axis=0) for chosen in left_sets]).reshape(-1, S.shape[1])
    statistics = np.stack([left, S.sum(axis=0) - left], axis=1)

    def make(i: int) -> Test:
        outcomes = np.full(len(S), -1)
        outcomes[present] = 1
        outcomes[left_sets[i]] = 0
        side = int(outcomes[-1]) if S[-1, 0] else majority(statistics[i])
        return Test(column, tuple(outcomes.tolist()), side)

    return statistics, make


def subsets_of(present: Integers, S: Integers, n_classes: int) -> Iterator[Integers]:
    """Yield the categories that go left in every subset that is tried.

    For two classes or regression, the best subset is a prefix in the order of means (Breiman et al. 1984).
    """
    amounts = S[present, 1:]
    if n_classes > 2 and len(present) <= EXHAUSTIVE:
        for mask in range(1, 2 ** len(present) - 1, 2):
            yield present[(mask >> np.arange(len(present))) & 1 == 1]
        return
    if n_classes == 0:
        orders = [means(amounts[:, 1], amounts[:, 0])]
    else:
        classes = [1] if n_classes == 2 else range(n_classes)
        orders = [means(amounts[:, c], amounts.sum(axis=1)) for c in classes]
    for order in orders:
        by_mean = present[np.argsort(order, kind="stable")]
        yield from (by_mean[:k] for k in range(1, len(present)))


def means(sums: Integers, weights: Integers) -> NDArray[np.float64]:
    """Return quotients of integers, each rounded once."""
    return np.array([float(Fraction(int(a), int(b))) for a, b in zip(sums, weights, strict=True)])


def majority(branches: Integers) -> int:
    """Return the branch for unseen missing values: the one with more rows, right if equal."""
    return 0 if branches[0, 0] > branches[1, 0] else 1
