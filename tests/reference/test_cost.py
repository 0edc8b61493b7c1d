import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut.forest.cost import (
    forest_speedup,
    predicted_speedup,
    speedup_bound,
    time_parallel,
    time_serial,
)
from crosscut.reference.count import Counts
from crosscut.reference.forest import grow_forest
from crosscut.reference.tree import grow_tree

from .problem import cross_validations

times = st.floats(0.01, 100)


@given(a=st.integers(1, 500), t_e=times, t_p=times, n=st.integers(2, 50))
def test_the_worst_case_of_one_node_is_bounded(a, t_e, t_p, n):
    worst = time_serial(a, t_e, t_p, 1, n) / time_parallel(a, t_e, t_p, 1, n)
    assert worst >= 1 - 1e-9
    assert worst <= speedup_bound(a, t_e, t_p, n) * (1 + 1e-9)


@given(a=st.integers(1, 500), t_e=times, t_p=times, n=st.integers(2, 50))
def test_in_the_best_case_cross_validation_is_free(a, t_e, t_p, n):
    assert time_parallel(a, t_e, t_p, 1000, 1) == pytest.approx(time_serial(a, t_e, t_p, 1000, 1))
    assert predicted_speedup(a, t_e, t_p, [1, 1, 1], n) == pytest.approx(n)


@given(f=st.lists(st.floats(1, 11), min_size=1, max_size=8), a=st.integers(1, 500), t_e=times, t_p=times)
def test_the_speed_up_of_a_forest_is_between_1_and_n(f, a, t_e, t_p):
    assert 1 - 1e-9 <= predicted_speedup(a, t_e, t_p, f, 10) <= 10 + 1e-9
    assert forest_speedup([1.0] * len(f), f, 10) <= 10


def test_with_many_cheap_sorts_the_model_is_section_3_2_1():
    t_r, f = [100.0, 90.0, 50.0], [1.0, 3.0, 7.0]
    assert predicted_speedup(1, 1.0, 0.0, f, 10, rows=t_r) == pytest.approx(forest_speedup(t_r, f, 10))


@given(problem=cross_validations(), t_e=times, t_p=times)
@settings(max_examples=20, deadline=None)
def test_the_root_costs_what_the_model_predicts(problem, t_e, t_p):
    """Section 2.3 against the counters: nN(a t_e + t_p) serially, N(a t_e + f t_p) in parallel."""
    examples, tasks = problem.spelled_out()
    N, a, n = problem.table.n_rows, problem.table.n_columns, len(tasks) - 1
    serial, parallel = Counts(), Counts()
    for task in tasks:
        grow_tree(examples, task, serial)
    grow_forest(examples, tasks, parallel)

    def time(level):
        return level.updates * t_e + level.sorted * t_p

    assert time(serial.levels[0]) == pytest.approx(time_serial(a, t_e, t_p, N, n))
    sorts = parallel.levels[0].sorted / N
    assert 1 <= sorts <= min(n, parallel.levels[0].tests)
    assert time(parallel.levels[0]) == pytest.approx(time_parallel(a, t_e, t_p, N, sorts))
