import numpy as np
import pytest

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.reference.count import Counts
from crosscut.reference.examples import Examples
from crosscut.reference.task import Task
from crosscut.reference.tree import grow, grow_tree
from crosscut.tasks.growth import Growth, Limits

from .problem import one_task

X = np.array([[0, 5], [1, 4], [2, 3], [3, 2], [4, 1], [5, 0]], np.float32)
Y = np.array([0, 0, 0, 1, 1, 0], np.int32)


def tree(criterion="gini", X=X, y=Y, n_classes=2, weights=None, **limits):
    tasks = one_task(len(y), Limits(**limits))
    return grow(Table.from_data(X), Target(y, n_classes, weights), tasks, Growth(criterion)).trees[0]


def test_of_equal_tests_the_lowest_column_wins():
    grown = tree()
    assert grown.feature.tolist() == [0, -1, 0, -1, -1]
    assert grown.threshold[[0, 2]].tolist() == [2.5, 4.5]


@pytest.mark.parametrize(
    ("limits", "n_nodes"),
    [
        ({"max_depth": 0}, 1),
        ({"max_depth": 1}, 3),
        ({"min_samples_split": 4}, 3),
        ({"min_samples_split": 7}, 1),
        ({"min_samples_leaf": 2}, 3),
        ({"min_samples_leaf": 4}, 1),
        ({"min_impurity_decrease": 0.22}, 5),  # both tests bring 2/9
        ({"min_impurity_decrease": 0.23}, 1),
    ],
    ids=str,
)
def test_stops(limits, n_nodes):
    assert len(tree(**limits)) == n_nodes


def test_a_test_without_gain_is_taken_except_under_gain_ratio():
    checkers = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
    y = np.array([0, 1, 1, 0], np.int32)
    assert len(tree("gini", checkers, y)) == 7
    assert len(tree("entropy", checkers, y)) == 7
    assert len(tree("gain_ratio", checkers, y)) == 1


def test_a_decrease_of_variance_is_in_units_of_the_target():
    y = np.array([0.0, 0.0, 0.0, 0.3, 0.3, 0.3])
    assert (
        len(tree("variance", y=y, n_classes=0, min_impurity_decrease=0.0224)) == 3
    )  # the variance is 0.0225
    assert len(tree("variance", y=y, n_classes=0, min_impurity_decrease=0.0226)) == 1


def test_weights_are_like_repeated_rows():
    rng = np.random.default_rng(0)
    few = rng.normal(size=(30, 3)).astype(np.float32)
    y = rng.integers(0, 3, 30).astype(np.int32)
    times = rng.integers(1, 4, 30)
    weighted = tree("entropy", few, y, 3, weights=times.astype(float))
    repeated = tree("entropy", np.repeat(few, times, axis=0), np.repeat(y, times), 3)
    for name in ("feature", "threshold", "children", "weight", "value"):
        np.testing.assert_array_equal(getattr(weighted, name), getattr(repeated, name))


def test_counters_of_one_tree():
    examples = Examples.of(Table.from_data(X), Target(Y, 2), Growth())
    counts = Counts()
    grow_tree(examples, Task(np.ones(6, np.int64), np.array([True, True]), Limits()), counts)
    assert [(level.nodes, level.updates, level.sorted, level.tests) for level in counts.levels] == [
        (1, 12, 6, 1),
        (1, 6, 3, 1),
    ]
