"""The mean and the variance of every node are those of its rows, rounded once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth

# Whole numbers, short decimals, all bits, and magnitudes whose products are too large or small for doubles.
NUMBERS = (
    st.integers(-50, 50).map(float)
    | st.integers(-9999, 9999).map(lambda v: v / 100)
    | st.floats(-1e3, 1e3, allow_subnormal=False)
    | st.floats(1e150, 2e150)
    | st.floats(1e-170, 2e-170)
)


def moments(rows):
    numbers = [Fraction(float(v)) for v in rows]
    mean = sum(numbers) / len(numbers)
    return float(mean), float(sum((v - mean) ** 2 for v in numbers) / len(numbers))


@settings(max_examples=150, deadline=None)
@given(st.lists(NUMBERS, min_size=2, max_size=70))
@example([1e16, 1.0])  # their difference is no double
@example([1e16, 1.0, 3.0, 0.1])
@example([0.1, 0.30000000000000004])
@example([2.0**511, 2.0**-511])
@example([0.1 * i for i in range(300)])
def test_means_and_variances_are_rounded_once(targets):
    y = np.array(targets)
    x = np.arange(len(y), dtype=np.float64)
    tasks = Tasks.from_cv(2, n_rows=len(y))
    forest = grow(Table.from_data(x[:, None]), Target(y, 0), tasks, Growth("variance"))
    tree = forest.trees[0]  # of all rows
    own = {0: np.arange(len(y))}
    for node, rows in ((i, own[i]) for i in range(len(tree))):
        assert (tree.value[node, 0], tree.impurity[node]) == moments(y[rows])
        if tree.feature[node] >= 0:
            left, right = tree.children[tree.first_child[node] : tree.first_child[node + 1]]
            below = x[rows] <= tree.threshold[node]
            own[left], own[right] = rows[below], rows[~below]
