import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.reference.count import Counts
from crosscut.reference.forest import different_tests, grow_forest, grow_forest_level_wise, look_up
from crosscut.reference.node import flatten
from crosscut.reference.refine import refine_folds, refine_overlapping
from crosscut.reference.test import Test
from crosscut.reference.tree import grow_tree
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth

from .problem import Problem, cross_validations, problems

WAYS = {
    "Figure 2": lambda *given: grow_forest(*given, refinement=refine_folds),
    "Figure 2, the paper's forks": lambda *given: grow_forest(*given, same_constants=True),
    "overlapping sets": lambda *given: grow_forest(*given, refinement=refine_overlapping),
    "level-wise": lambda *given: grow_forest_level_wise(*given, batch=7),
    "level-wise, the paper's forks": lambda *given: grow_forest_level_wise(*given, same_constants=True),
}


@pytest.mark.parametrize("way", WAYS)
@given(problem=problems())
@settings(max_examples=40, deadline=None)
def test_parallel_trees_are_the_serial_trees(way, problem):
    examples, tasks = problem.spelled_out()
    forest = WAYS[way](examples, tasks)
    for i, task in enumerate(tasks):
        alone = flatten(grow_tree(examples, task), examples)
        assert flatten(forest.tree(i), examples).equals(alone)


def counted(problem, way=grow_forest, **options):
    """Counts of the serial and of a parallel algorithm, and the forest."""
    examples, tasks = problem.spelled_out()
    serial, parallel = Counts(), Counts()
    for task in tasks:
        grow_tree(examples, task, serial)
    forest = way(examples, tasks, parallel, **options)
    return serial, parallel, forest


@given(problem=cross_validations())
@settings(max_examples=20, deadline=None)
def test_statistics_are_updated_once_per_example_and_test(problem):
    """N updates per test instead of N(n-1), or nN with the actual tree (2.2.2), at the root."""
    examples, tasks = problem.spelled_out()
    N, a, n = problem.table.n_rows, problem.table.n_columns, len(tasks) - 1
    serial, parallel, _ = counted(problem)
    assert parallel.levels[0].updates == N * a
    assert serial.levels[0].updates == n * N * a
    actual = Counts()
    grow_tree(examples, tasks[0], actual)
    assert serial.levels[0].updates - actual.levels[0].updates == N * (n - 1) * a


@given(problem=cross_validations())
@settings(max_examples=20, deadline=None)
def test_overlapping_sets_test_each_example_once(problem):
    """Section 2.2.1: each example is tested once, but statistics are updated m(e) times."""
    serial, parallel, _ = counted(problem, refinement=refine_overlapping)
    N, a, n = problem.table.n_rows, problem.table.n_columns, problem.tasks.n_tasks - 1
    assert parallel.levels[0].tested == N * a
    assert parallel.levels[0].updates == serial.levels[0].updates == n * N * a
    assert parallel.total("updates") == serial.total("updates")


@pytest.mark.parametrize("same_constants", [False, True])
@given(problem=cross_validations())
@settings(max_examples=20, deadline=None)
def test_work_is_between_one_and_n_times_less(same_constants, problem):
    """An example is in at most n training sets at a node of the forest: n - 1 folds and the whole."""
    serial, parallel, _ = counted(problem, same_constants=same_constants)
    n = problem.tasks.n_tasks - 1
    for alone, together in zip(serial.levels, parallel.levels, strict=True):
        assert together.updates <= alone.updates <= n * together.updates
        assert together.sorted <= alone.sorted <= n * together.sorted
        assert together.tests <= together.tree_tests == alone.tests
    assert all(f == 0 or 1 <= f <= n + 1 for f in parallel.f(n + 1))


@given(problem=cross_validations())
@settings(max_examples=20, deadline=None)
def test_a_forest_is_at_most_n_plus_1_trees(problem):
    _, _, forest = counted(problem)
    trees = [flatten(forest.tree(i), problem.examples()) for i in range(problem.tasks.n_tasks)]
    assert max(map(len, trees)) <= len(list(forest)) <= sum(map(len, trees))


@given(problem=cross_validations())
@settings(max_examples=20, deadline=None)
def test_constants_of_their_own_never_part_more_tasks(problem):
    """Sharing a node although midpoints differ (section 5's open problem) only removes forks."""
    _, paper, _ = counted(problem, same_constants=True)
    _, ours, _ = counted(problem)
    assert ours.levels[0].tests <= paper.levels[0].tests
    assert ours.levels[0].sorted <= paper.levels[0].sorted


@given(problem=cross_validations())
@settings(max_examples=20, deadline=None)
def test_level_wise_growth_passes_over_the_data_once_per_level(problem):
    _, depth_first, forest = counted(problem)
    _, level_wise, same = counted(problem, grow_forest_level_wise)
    assert level_wise.passes == 1 + max(node.depth for node in forest)
    assert [node.tasks for node in same] == [node.tasks for node in forest]
    assert level_wise.levels[0].updates == depth_first.levels[0].updates


@given(problem=cross_validations())
@settings(max_examples=20, deadline=None)
def test_an_example_is_looked_up_in_the_nodes_of_the_tasks_it_trains(problem):
    """Section 3.2.2: at most n nodes, each once, and none of a task that leaves the example out."""
    examples, tasks = problem.spelled_out()
    forest = grow_forest(examples, tasks)
    found = np.zeros((len(tasks), len(examples.y)), int)
    nodes = np.zeros(len(examples.y), int)
    for node, rows in look_up(examples, tasks, forest, np.arange(len(examples.y))):
        trains = np.array([tasks[i].multiplicity[rows] for i in node.tasks])
        assert trains.any(axis=0).all()
        found[np.ix_(node.tasks, rows)] += trains
        nodes[rows] += 1
        assert all(
            len(rows[row]) == node.infos[i].n_rows for i, row in zip(node.tasks, trains > 0, strict=True)
        )
    assert found.max() == 1
    assert 1 <= nodes.max() <= len(tasks) - 1


def stable_problem(n_folds):
    """Two nominal columns give the class, every fold has every combination: no trees differ."""
    combination = np.tile(np.arange(4), 2 * n_folds)
    frame = pd.DataFrame({"a": np.array(list("xxyy"))[combination], "b": np.array(list("uvuv"))[combination]})
    y = np.array([0, 1, 2, 2], np.int32)[combination]
    folds = np.arange(len(y)) // 8
    return Problem(Table.from_data(frame), Target(y, 3), Tasks.from_folds(folds), Growth("gini", "multiway"))


def test_a_stable_problem_costs_one_tree():
    """Best case of 2.3: the same test for all folds, and the work of the actual tree alone."""
    problem = stable_problem(5)
    serial, parallel, forest = counted(problem)
    examples, tasks = problem.spelled_out()
    actual = Counts()
    grow_tree(examples, tasks[0], actual)
    assert parallel.f(6) == [1.0, 1.0]
    for name in ("updates", "sorted", "tests"):
        assert parallel.total(name) == actual.total(name)
    assert serial.total("updates") == 5 * parallel.total("updates")
    assert serial.total("sorted") == 5 * parallel.total("sorted")
    assert len(list(forest)) == len(flatten(forest.tree(0), examples))


def test_tasks_that_differ_in_their_midpoint_only_stay_together():
    X = np.array([0, 1, 2, 3, 10, 11, 12, 13], np.float32)[:, None]
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32)
    problem = Problem(Table.from_data(X), Target(y, 2), Tasks.from_folds([0, 1] * 4), Growth())
    _, ours, forest = counted(problem)
    _, paper, _ = counted(problem, same_constants=True)
    assert [forest.tree(i).test.threshold for i in range(3)] == [6.5, 7.0, 6.0]
    assert (ours.levels[0].tests, paper.levels[0].tests) == (1, 3)
    assert (ours.levels[0].sorted, paper.levels[0].sorted) == (8, 16)


def test_tests_differ_if_they_sort_an_example_differently():
    tests = {
        0: Test(0, (0, 0, -1, 1, -1), 0, 1.5),
        1: Test(0, (0, 0, 0, 1, -1), 0, 2.5),  # like 0 as far as 0 has examples
        2: Test(0, (0, -1, 1, 1, -1), 0, 0.5),  # like 0, but not like 0 and 1 together
        3: Test(1, (0, 0, -1, 1, -1), 0, 1.5),  # another column
        4: Test(0, (0, 0, 0, 1, 1), 1, 2.5),  # has missing examples, which 0 and 1 have not
    }
    assert [list(fork.tests) for fork in different_tests(tests)] == [[0, 1, 4], [2], [3]]
    assert [list(fork.tests) for fork in different_tests(tests, same_constants=True)] == [
        [0],
        [1, 4],
        [2],
        [3],
    ]
