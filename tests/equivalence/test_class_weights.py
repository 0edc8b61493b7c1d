"""Trees of tasks with class weights are those of rows with these weights, bit for bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.reference import tree as reference
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth

from .cases import random_case

seeds = st.integers(0, 2**32 - 1)


def class_weights(rng, codes, tasks, n_classes):
    """Return weights for each task: balanced, equal for some classes, whole numbers, or anything."""
    kind = rng.choice(["balanced", "balanced", "some equal", "whole", "any"])
    if kind == "balanced":
        counts = tasks.class_counts(codes, n_classes)
        return counts.sum(axis=1, keepdims=True) / (n_classes * np.maximum(counts, 1))
    shape = len(tasks), n_classes
    if kind == "some equal":
        return rng.choice([0.1, 0.7], shape)
    return rng.integers(1, 4, shape).astype(float) if kind == "whole" else 2.0 ** rng.uniform(-9, 9, shape)


def weighted_case(seed):
    case = random_case(seed)
    codes, n_classes = case.target.values, case.target.n_classes
    if not n_classes or case.tasks.multiplicity is not None:
        return None
    weights = class_weights(np.random.default_rng(seed), codes, case.tasks, n_classes)
    growth = Growth(criterion="gini", splits=case.growth.splits)
    return case.table, Target(codes, n_classes), weights, case.tasks, growth, case.made_of


def assert_weights_of_rows(seed, threads, local_rows, one_by_one):
    case = weighted_case(seed)
    if case is None:
        return
    table, target, weights, tasks, growth, made_of = case
    with_weights = replace(tasks, class_weights=weights)
    forest = grow(table, target, with_weights, growth, n_jobs=threads, local_rows=local_rows)
    for task, tree in enumerate(forest.trees):
        of_rows = replace(target, weights=weights[task][target.values])
        expected = one_by_one(table, of_rows, tasks.take([task]), growth).trees[0]
        assert tree.difference(expected) is None, (task, made_of)


@settings(max_examples=80, deadline=None)
@given(seed=seeds, threads=st.sampled_from([1, 2]), local_rows=st.sampled_from([1, 7, 30, 4096]))
def test_equals_reference(seed, threads, local_rows):
    assert_weights_of_rows(seed, threads, local_rows, reference.grow)


@settings(max_examples=80, deadline=None)
@given(seed=seeds, threads=st.sampled_from([1, 2]), local_rows=st.sampled_from([1, 7, 30, 4096]))
def test_equals_weights_of_rows(seed, threads, local_rows):
    assert_weights_of_rows(seed, threads, local_rows, grow)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None)
@given(seed=seeds, threads=st.sampled_from([1, 2]), local_rows=st.sampled_from([1, 7, 30, 4096]))
def test_equals_reference_thousands(seed, threads, local_rows):
    assert_weights_of_rows(seed, threads, local_rows, reference.grow)


def test_rows_are_counted():
    """Columns with few values are sets of bits, and small nodes sets of rows, as without weights."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), rng.integers(0, 4, 300)])
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(np.int32)
    tasks = replace(Tasks.from_cv(5, n_rows=300), class_weights=np.tile([0.3, 0.8], (6, 1)))
    work = grow(Table.from_data(X), Target(y, 2), tasks, Growth(), n_jobs=1).work
    assert work["few_nodes"].sum() > 0
    assert work["coded_columns"].sum() > 0
