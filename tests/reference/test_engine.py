import numpy as np
import pytest

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.reference.tree import grow
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth

from .problem import one_task


def test_every_task_is_grown_whatever_its_block():
    """More tasks than a block of masks holds: each equals a run on its training rows alone."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)).astype(np.float32)
    y = rng.integers(0, 2, 40).astype(np.int32)
    tasks = Tasks.from_folds(np.arange(40) % 20)
    forest = grow(Table.from_data(X), Target(y, 2), tasks, Growth())
    assert len(forest) == 21
    for i in (0, 14, 15, 20):
        rows = tasks.train_rows(i)
        alone = one_task(len(rows))
        assert forest.trees[i].equals(
            grow(Table.from_data(X[rows]), Target(y[rows], 2), alone, Growth()).trees[0]
        )


def test_a_task_without_weight_is_refused():
    y = np.array([0, 1, 0, 1], np.int32)
    table, tasks = Table.from_data(np.arange(4, dtype=np.float32)[:, None]), Tasks.from_folds([0, 0, 1, 1])
    with pytest.raises(ValueError, match="task 1 has no training row of positive weight"):
        grow(table, Target(y, 2, np.array([1.0, 1.0, 0.0, 0.0])), tasks, Growth())
