import numpy as np
import pytest
from forests import classification, grow_all, regression

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.forest.forest import Forest
from crosscut.reference.count import Counts
from crosscut.reference.examples import Examples
from crosscut.reference.forest import grow_forest
from crosscut.reference.task import tasks_of
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits


def test_equal_trees_share_everything():
    _, _, (forest, _, _) = regression(0)
    sharing = Forest([forest[0]] * 3).sharing
    assert np.all(sharing.f == 1)
    assert not sharing.n_forks.any()
    assert sharing.n_tree_nodes.sum() == 3 * np.count_nonzero(forest[0].feature >= 0)
    np.testing.assert_array_equal(sharing.n_tree_nodes, 3 * sharing.n_nodes)


def test_every_node_of_every_tree_is_in_the_forest_once():
    _, _, _, (forest, _, _) = classification(0)
    found = [
        (task, node)
        for shared in forest.sharing.root
        for task, node in zip(shared.tasks, shared.nodes, strict=True)
    ]
    assert sorted(found) == [(t, i) for t, tree in enumerate(forest) for i in range(len(tree))]


def test_cuts_between_overlapping_values_are_one_test():
    """Folds that miss a row beside the cut move their midpoint; the test is the same."""
    X = np.arange(8.0).reshape(-1, 1)
    y = (X[:, 0] > 3).astype(np.int32)
    forest, _, _ = grow_all(X, y, 2, Limits(), folds=4)
    assert len({tree.threshold[0] for tree in forest}) > 1
    assert forest.sharing.root.groups == (tuple(range(5)),)
    np.testing.assert_array_equal(forest.sharing.f, [1.0])


def test_tasks_that_choose_different_columns_fork():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(40, 6)).astype(float)
    y = rng.integers(0, 2, size=40).astype(np.int32)
    forest, _, _ = grow_all(X, y, 2, Limits(max_depth=3), folds=5)
    root = forest.sharing.root
    by_test = {}
    for task, tree in enumerate(forest):
        by_test.setdefault((tree.feature[0], tree.threshold[0]), []).append(task)
    assert root.is_fork
    assert sorted(root.groups) == sorted(tuple(group) for group in by_test.values())
    assert forest.sharing.f[0] == len(by_test)
    assert "forks" in str(forest.sharing)


@pytest.mark.parametrize("splits", ["binary", "multiway"])
@pytest.mark.parametrize("values", ["categories", "integers", "numbers"])
def test_f_is_that_of_the_papers_algorithm(splits, values):
    """The trees alone tell what the reference counts while it grows them together."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = (
            rng.normal(size=(70, 4))
            if values == "numbers"
            else rng.integers(0, 5, size=(70, 4)).astype(float)
        )
        if values == "categories":
            X = np.array(list("abcde"), dtype=object)[X.astype(int)]
        target, growth = Target(rng.integers(0, 2, size=70).astype(np.int32), 2), Growth("gini", splits)
        table, tasks, counts = Table.from_data(X), Tasks.from_cv(4, n_rows=70), Counts()
        examples = Examples.of(table, target, growth)
        grow_forest(examples, tasks_of(tasks, examples), counts)
        sharing = grow(table, target, tasks, growth).sharing
        np.testing.assert_allclose(sharing.f, counts.f(5)[: len(sharing.f)])
