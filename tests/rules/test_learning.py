"""Rule sets learnt side by side are those learnt alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import generated
from crosscut import _core
from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.rules.cn2 import Quality
from crosscut.rules.examples import TableRows, bits_of
from crosscut.rules.learning import Learning

from .problems import problems


def one_by_one(learning, examples, tasks):
    return tuple(rules for task in tasks for rules in learning.rule_sets(examples, [task]))


MEASURES = st.sampled_from(["laplace", "m_estimate", "wracc", "entropy"])


@given(problems(), MEASURES, st.integers(1, 5), st.sampled_from([None, 1, 2]), st.sampled_from([None, 0.05]))
@settings(max_examples=150, deadline=None)
def test_decision_lists_learnt_together_are_those_learnt_alone(
    problem, measure, width, longest, significance
):
    examples, tasks = problem
    learning = Learning("cn2", True, Quality(measure), width, longest, min_rows=2.0, level=significance)
    together = learning.rule_sets(examples, tasks)
    assert together == one_by_one(learning, examples, tasks)


@given(problems(), st.sampled_from(["laplace", "m_estimate", "wracc"]), st.integers(1, 5))
@settings(max_examples=100, deadline=None)
def test_unordered_rules_learnt_together_are_those_learnt_alone(problem, measure, width):
    examples, tasks = problem
    learning = Learning("cn2", False, Quality(measure), width)
    together = learning.rule_sets(examples, tasks)
    assert together == one_by_one(learning, examples, tasks)


@given(problems(), st.integers(0, 3), st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_ripper_together_is_ripper_alone(problem, passes, seed):
    examples, tasks = problem
    learning = Learning("ripper", passes=passes, seed=seed)
    together = learning.rule_sets(examples, tasks)
    assert together == one_by_one(learning, examples, tasks)


@pytest.mark.parametrize("strategy", ["cn2", "ripper"])
@pytest.mark.parametrize("make", [generated.tree_like, generated.weak, generated.many_classes])
def test_larger_tables_agree_at_every_instruction_set(strategy, make):
    X, y = make(1500, 8)
    examples = TableRows(Table.from_data(X), Target(y.astype(np.int32), int(y.max()) + 1))
    tasks = [examples.weighted] + [bits_of(np.arange(1500) % 10 != fold) for fold in range(10)]
    learning = Learning(strategy, width=3, min_rows=20.0, max_length=4)
    together = learning.rule_sets(examples, tasks)
    assert together == one_by_one(learning, examples, tasks)
    level = _core.simd_level()
    try:
        _core.set_simd_level("baseline")
    except ValueError as missing:
        pytest.skip(str(missing))  # a quick build
    try:
        assert together == learning.rule_sets(examples, tasks)
    finally:
        _core.set_simd_level(level)


def test_tasks_that_agree_share_their_passes():
    draw = np.random.default_rng(0)
    X = draw.integers(0, 3, (2000, 6)).astype(str).astype(object)
    codes = ((X[:, 0] == "0") & (X[:, 1] == "1") | (X[:, 2] == "2")).astype(np.int32)
    examples = TableRows(Table.from_data(X), Target(codes, 2))
    tasks = [examples.weighted] + [bits_of(np.arange(2000) % 10 != fold) for fold in range(10)]
    Learning("cn2", width=2).rule_sets(examples, tasks)
    assert examples.work["visits"] * 5 < examples.work["visits_alone"]


def test_rules_of_a_fold_are_those_of_its_rows_alone():
    """Not only of the same table with fewer rows: thresholds come from the fold's own values."""
    X, y = generated.tree_like(300, 6)
    codes = y.astype(np.int32)
    train = np.arange(300) % 5 != 0
    learning = Learning("cn2", min_rows=3.0)
    whole = TableRows(Table.from_data(X), Target(codes, 2))
    part = TableRows(Table.from_data(X[train]), Target(codes[train], 2))
    together = learning.rule_sets(whole, [whole.weighted, bits_of(train)])
    assert together[1] == learning.rule_sets(part, [part.weighted])[0]
