from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.reference.examples import Examples
from crosscut.reference.refine import empty_statistics, qualities, update_statistics
from crosscut.reference.test import column_tests, subsets_of
from crosscut.tasks.growth import Growth

from .problem import frame, problems


def all_tests(X, y, growth=None, rows=None, n_classes=2, **options):
    """All tests of the only column, in order, with their statistics."""
    examples = Examples.of(Table.from_data(X, **options), Target(np.array(y), n_classes), growth or Growth())
    S = empty_statistics(examples, 0)
    update_statistics(S, examples, 0, np.arange(len(y)) if rows is None else np.array(rows))
    branches, make = column_tests(examples, 0, S)
    return [make(i) for i in range(len(branches))], branches


def column(*values):
    return np.array(values, np.float32)[:, None]


def nominal(*values):
    return np.array([[value] for value in values], object)


@given(problem=problems())
@settings(max_examples=50, deadline=None)
def test_statistics_of_a_test_are_those_of_the_examples_it_sorts(problem):
    examples, tasks = problem.spelled_out()
    T = tasks[1].rows
    for t in range(problem.table.n_columns):
        S = empty_statistics(examples, t)
        update_statistics(S, examples, t, T)
        branches, make = column_tests(examples, t, S)
        for i in range(len(branches)):
            test = make(i)
            outcomes = np.array(test.outcomes)[problem.table.ranks[t, T]]
            assert (outcomes >= 0).all()
            sums = [examples.amounts[T[outcomes == o]].sum(axis=0).tolist() for o in test.branches]
            assert branches[i].tolist() == sums
            assert all(n_rows > 0 for n_rows in branches[i, :, 0])
            assert 0 <= test.missing < len(sums)


def test_thresholds_are_midpoints_of_own_values_in_ascending_order():
    found, _ = all_tests(column(1, 2, 4, 8), [0, 1, 0, 1], rows=[0, 2, 3])
    assert [(test.threshold, test.low, test.high) for test in found] == [(2.5, 1, 4), (6, 4, 8)]
    assert [test.outcomes for test in found] == [(0, -1, 1, 1, -1), (0, 0, 0, 1, -1)]
    assert [test.missing for test in found] == [1, 0]  # the branch with more rows


def test_missing_goes_right_then_apart_then_left():
    found, _ = all_tests(column(1, 2, 3, np.nan), [0, 1, 0, 1])
    assert [test.threshold for test in found] == [1.5, 2.5, np.inf, 1.5, 2.5]
    assert [test.missing for test in found] == [1, 1, 1, 0, 0]
    assert [test.outcomes[-1] for test in found] == [1, 1, 1, 0, 0]
    assert found[2].outcomes == (0, 0, 0, 1)
    assert np.isnan(found[2].low)


def test_a_column_that_is_missing_or_constant_has_no_test():
    assert all_tests(column(1, 2, np.nan, np.nan), [0, 1, 0, 1], rows=[2, 3])[0] == []
    assert all_tests(column(1, 1, 2), [0, 1, 0], rows=[0, 1])[0] == []
    assert all_tests(nominal("a", "a", "b"), [0, 1, 0], rows=[0, 1])[0] == []
    assert all_tests(nominal("a", "a", "b"), [0, 1, 0], Growth(splits="multiway"), rows=[0, 1])[0] == []


def test_bins_are_cut_after_own_bins_at_the_edges_of_the_table():
    table = Table.from_data(np.arange(8, dtype=np.float32)[:, None], max_bins=4)
    found, _ = all_tests(column(*range(8)), [0, 1] * 4, rows=[0, 1, 6, 7], max_bins=4)
    assert [test.threshold for test in found] == [table.edges[0][0]]
    assert found[0].outcomes == (0, -1, -1, 1, -1)


def test_multiway_has_one_branch_per_own_category_and_missing_last():
    found, branches = all_tests(nominal("a", "b", "c", None, "c"), [0, 1, 0, 1, 1], Growth(splits="multiway"))
    assert [test.outcomes for test in found] == [(0, 1, 2, 3)]
    assert branches[0, :, 0].tolist() == [1, 1, 2, 1]
    assert found[0].missing == 3
    found, _ = all_tests(
        nominal("a", "b", "c", None, "c"), [0, 1, 0, 1, 1], Growth(splits="multiway"), rows=[1, 2, 4]
    )
    assert (found[0].outcomes, found[0].missing) == ((-1, 1, 2, -1), 1)
    found, _ = all_tests(nominal("a", "b"), [0, 1], Growth(splits="multiway"))
    assert found[0].missing == 0  # the lowest of the largest branches


def test_two_classes_are_split_in_the_order_of_their_fractions():
    found, _ = all_tests(nominal("a", "b", "c", "c"), [1, 0, 0, 1])
    assert [test.outcomes for test in found] == [(1, 0, 1, -1), (1, 0, 0, -1)]
    assert [test.missing for test in found] == [1, 0]


def test_three_classes_try_every_subset_with_the_lowest_category():
    found, _ = all_tests(nominal("a", "b", "c", None), [0, 1, 2, 1], n_classes=3)
    left = [[i for i, o in enumerate(test.outcomes) if o == 0] for test in found]
    assert left == [[0], [0, 1], [0, 2], [0, 1, 2], [0, 3], [0, 1, 3], [0, 2, 3]]


def test_many_categories_of_three_classes_are_sorted_by_the_share_of_each_class():
    names = [f"v{i}" for i in range(9)]
    found, _ = all_tests(nominal(*names), [0, 1, 2] * 3, n_classes=3)
    assert len(found) == 3 * 8
    assert [i for i, o in enumerate(found[0].outcomes) if o == 0] == [
        1
    ]  # the lowest share of class 0, lowest code


@pytest.mark.parametrize("criterion", ["gini", "entropy", "variance"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_the_best_of_all_subsets_is_a_prefix_in_the_order_of_means(criterion, seed):
    """Breiman et al. (1984): for two classes, and for numbers, the sorted subsets are enough."""
    rng = np.random.default_rng(seed)
    table = Table.from_data(frame(rng, 30, ["nominal"], missing=True))
    y = rng.normal(size=30) if criterion == "variance" else rng.integers(0, 2, 30)
    examples = Examples.of(table, Target(y, 0 if criterion == "variance" else 2), Growth(criterion))
    S = empty_statistics(examples, 0)
    update_statistics(S, examples, 0, np.arange(30))
    own = np.flatnonzero(S[:, 0])

    def best(subsets):
        sides = [np.stack([S[left].sum(axis=0), S.sum(axis=0) - S[left].sum(axis=0)]) for left in subsets]
        return max(float(q) for q in qualities(examples, np.array(sides)[..., 1:]))

    if len(own) > 1:
        every = [np.array(left) for k in range(1, len(own)) for left in combinations(own.tolist(), k)]
        assert best(subsets_of(own, S, examples.n_classes)) == pytest.approx(best(every), rel=1e-9)
