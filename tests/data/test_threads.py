import multiprocessing

import numpy as np
import pytest

from crosscut import TreeClassifier
from crosscut.data.threads import n_threads


def test_no_jobs_is_an_error():
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        n_threads(0)


def test_few_cells_are_not_worth_threads():
    assert n_threads(None, 100) == 1
    assert n_threads(3, 100) == 3


def _fit(queue=None):
    X = np.random.default_rng(0).normal(size=(3000, 10))
    forest = TreeClassifier(cv=5, n_jobs=2).fit(X, X[:, 0] + X[:, 1] > 0).forest_
    if queue is not None:
        queue.put(forest.packed.threshold)
    return forest.packed.threshold


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_a_forked_process_can_fit_after_its_parent_did():
    expected = _fit()
    fork = multiprocessing.get_context("fork")
    queue = fork.SimpleQueue()
    child = fork.Process(target=_fit, args=(queue,))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    np.testing.assert_array_equal(queue.get(), expected)
