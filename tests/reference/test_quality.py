"""Qualities against impurities computed with exact fractions."""

from fractions import Fraction
from math import log2

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crosscut import TreeClassifier
from crosscut.reference.quality import (
    compute_quality,
    entropy,
    exact_gini,
    exact_quality,
    exact_variance,
    gain_ratio,
    gini,
)
from crosscut.tasks.growth import CLASS_CRITERIA, CRITERIA

counts = st.integers(0, 50)
tests = st.lists(st.lists(counts, min_size=3, max_size=3), min_size=2, max_size=4)


def array(branches):
    return np.array(branches, float)


@given(tests)
def test_gini_is_weight_less_weighted_impurity(branches):
    expected = Fraction(0)
    for classes in branches:
        if sum(classes):
            p = [Fraction(c, sum(classes)) for c in classes]
            expected += sum(classes) * (1 - sum(q * (1 - q) for q in p))
    assert gini(array(branches)) == pytest.approx(float(expected))
    present = [classes for classes in branches if sum(classes)]
    assert exact_gini(np.array(present, object), (0, 0)) == expected


@given(tests)
def test_entropy_is_minus_weighted_impurity(branches):
    expected = 0.0
    for classes in branches:
        expected += sum(c * log2(c / sum(classes)) for c in classes if c)
    assert entropy(array(branches)) == pytest.approx(expected, abs=1e-9)


@given(tests)
def test_gain_ratio_is_gain_over_split_information(branches):
    branches = [classes for classes in branches if sum(classes)]
    assume(len(branches) > 1)
    N = sum(map(sum, branches))

    def information(weights):
        return -sum(w / sum(weights) * log2(w / sum(weights)) for w in weights if w)

    gain = information([sum(c) for c in zip(*branches, strict=True)]) - sum(
        sum(classes) / N * information(classes) for classes in branches
    )
    assume(abs(gain - 1e-9) > 1e-12)
    if gain > 1e-9:
        expected = gain / information([sum(classes) for classes in branches])
        assert gain_ratio(array(branches)) == pytest.approx(expected, abs=1e-6)
    else:
        assert gain_ratio(array(branches)) == -np.inf


def test_gain_ratio_refuses_tests_without_gain():
    assert gain_ratio(array([[2, 2], [4, 4]])) == -np.inf
    assert gain_ratio(array([[4, 0], [0, 4]])) == 1.0
    assert gain_ratio(array([[4, 4], [0, 0]])) == -np.inf


@given(st.lists(st.lists(st.integers(-20, 20), min_size=1, max_size=9), min_size=2, max_size=4))
def test_variance_is_sum_of_squares_less_squared_errors(branches):
    S = np.array([[len(ys), sum(ys)] for ys in branches], object)
    expected = Fraction(0)
    for ys in branches:
        mean = Fraction(sum(ys), len(ys))
        expected += sum(y * y for y in ys) - sum((y - mean) ** 2 for y in ys)
    assert exact_variance(S, (0, 0)) == expected
    assert exact_variance(S, (-1, 2)) == expected * 8


@pytest.mark.parametrize("criterion", compute_quality)
def test_many_tests_have_the_qualities_of_single_tests(criterion):
    S = np.random.default_rng(0).integers(0, 9, (20, 2, 2)).astype(float)
    together = compute_quality[criterion](S)
    assert together.tolist() == [float(compute_quality[criterion](one)) for one in S]


def test_branches_without_weight_are_left_out():
    assert gini(array([[0, 0], [3, 1]])) == 2.5


@pytest.mark.parametrize("name", CRITERIA)
def test_every_criterion_of_the_core_has_a_second_opinion(name):
    assert name in {*compute_quality, *exact_quality}
    assert (name in exact_quality) == CRITERIA[name].squares


@pytest.mark.parametrize("name", CLASS_CRITERIA)
def test_every_criterion_has_a_name_in_scikit_learn(name):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    TreeClassifier(criterion=name, cv=None, max_depth=2).fit(X, y).to_sklearn().fit(X, y)
