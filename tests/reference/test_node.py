import numpy as np
import pytest
from hypothesis import given, settings

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.reference.examples import Examples
from crosscut.reference.node import flatten, info
from crosscut.reference.task import Task
from crosscut.reference.tree import grow_tree
from crosscut.tasks.growth import Growth, Limits

from .problem import problems


def told(y, criterion="gini", n_classes=2, weights=None, multiplicity=None):
    table = Table.from_data(np.arange(len(y), dtype=np.float32)[:, None])
    examples = Examples.of(table, Target(np.array(y), n_classes, weights), Growth(criterion))
    times = np.ones(len(y), np.int64) if multiplicity is None else np.array(multiplicity)
    task = Task(times, np.array([True]), Limits())
    return info(examples, task, task.rows)


def test_info_of_classes():
    node = told([0, 0, 0, 1], weights=np.array([0.5, 0.5, 1.0, 2.0]))
    assert (node.n_rows, node.weight, node.value, node.impurity, node.pure) == (
        4,
        4.0,
        (2.0, 2.0),
        0.5,
        False,
    )
    assert told([0, 0, 1, 1], "entropy").impurity == told([0, 0, 1, 1], "gain_ratio").impurity == 1.0
    assert told([1, 1], "entropy").pure
    assert told([1, 1], "entropy").impurity == 0.0


def test_info_of_numbers():
    node = told([1.0, 2.0, 6.0], "variance", 0)
    assert (node.value, node.weight) == ((3.0,), 3.0)
    assert node.impurity == pytest.approx(14 / 3)
    assert told([0.1, 0.1, 0.1], "variance", 0).impurity == 0.0


def test_info_counts_an_example_as_often_as_the_task_has_it():
    node = told([0, 1, 1], multiplicity=[3, 1, 0])
    assert (node.n_rows, node.weight, node.value) == (2, 4.0, (3.0, 1.0))


@given(problem=problems())
@settings(max_examples=30, deadline=None)
def test_a_flat_tree_is_in_preorder_and_adds_up(problem):
    examples, tasks = problem.spelled_out()
    root = grow_tree(examples, tasks[0])
    tree = flatten(root, examples)
    assert sorted([0, *tree.children.tolist()]) == list(range(len(tree)))
    for i in range(len(tree)):
        children = tree.children[tree.first_child[i] : tree.first_child[i + 1]]
        assert (tree.feature[i] < 0) == (len(children) == 0)
        branches = tree.branches[tree.first_branch[i] : tree.first_branch[i + 1]]
        if len(children):
            assert children[0] == i + 1
            assert tree.n_rows[children].sum() == tree.n_rows[i]
            assert tree.weight[children].sum() == pytest.approx(tree.weight[i])
            assert (tree.depth[children] == tree.depth[i] + 1).all()
            nominal = problem.table.kinds[tree.feature[i]] == "nominal"
            category, branch = branches.T
            assert nominal == bool(len(category))
            assert nominal == np.isnan(tree.threshold[i])
            if nominal:
                assert (np.diff(category) > 0).all()
                assert category[0] >= 0
                assert category[-1] <= problem.table.n_values[tree.feature[i]]
                assert set(branch.tolist()) == set(range(len(children)))
