import numpy as np
from hypothesis import given, settings

from crosscut.reference.count import Level
from crosscut.reference.refine import FoldStatistics, empty_statistics, update_statistics
from crosscut.reference.task import Folds

from .problem import cross_validations, problems


@given(problem=problems())
@settings(max_examples=20, deadline=None)
def test_statistics_of_training_sets_follow_from_those_of_folds(problem):
    """S(T_i) = S(D) - S(D_i), without another look at the examples (2.2.2)."""
    examples, tasks = problem.spelled_out()
    D = np.arange(problem.table.n_rows)
    S = FoldStatistics(examples, tasks, range(len(tasks)))
    S.update(D, Level())
    for i, task in enumerate(tasks):
        for t in np.flatnonzero(task.columns).tolist():
            directly = empty_statistics(examples, t)
            update_statistics(directly, examples, t, task.rows, task.multiplicity[task.rows])
            np.testing.assert_array_equal(S.of_training_set(i, t), directly)


@given(problem=cross_validations())
@settings(max_examples=20, deadline=None)
def test_statistics_are_additive(problem):
    """S(D) is the sum of S(D_i), and of any other partition; S(T_0) = S(D) (2.2.2, 2.2.3)."""
    examples, tasks = problem.spelled_out()
    N = problem.table.n_rows
    S = FoldStatistics(examples, tasks, range(len(tasks)))
    S.update(np.arange(0, N, 2), Level())
    S.update(np.arange(1, N, 2), Level())
    for t in range(problem.table.n_columns):
        whole = empty_statistics(examples, t)
        update_statistics(whole, examples, t, np.arange(N))
        np.testing.assert_array_equal(sum(S.S[t].values()), whole)
        np.testing.assert_array_equal(S.of_training_set(0, t), whole)


@given(problem=cross_validations())
@settings(max_examples=20, deadline=None)
def test_folds_are_those_of_the_cross_validation(problem):
    _, tasks = problem.spelled_out()
    folds = Folds.of(tasks)
    n = len(tasks) - 1
    assert folds.times.shape == (n + 1, n)
    assert folds.times[0].tolist() == [1] * n
    for i in range(1, n + 1):
        left_out = np.flatnonzero(folds.times[i] == 0)
        assert len(left_out) == 1
        held_out = np.flatnonzero(folds.number == left_out[0])
        np.testing.assert_array_equal(held_out, problem.tasks.test_rows(i))
