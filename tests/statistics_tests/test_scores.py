import itertools
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import accuracy_score, r2_score

from crosscut.statistics.scores import accuracy, r_squared, scores_by_part

FEW = st.sampled_from([-1.0, 0.0, 0.5, 3.0])


@given(st.data(), st.integers(2, 20))
def test_scores_are_those_of_scikit_learn(data, n):
    y, said = (data.draw(arrays(float, n, elements=FEW)) for _ in "ab")
    assert r_squared(y, said) == r2_score(y, said)
    assert accuracy(y, said) == accuracy_score(y.astype(str), said.astype(str))


@given(st.data(), st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_parts_are_scored_as_if_alone(data, sizes):
    start = np.concatenate([[0], np.cumsum(sizes)])
    y, said = (data.draw(arrays(float, int(start[-1]), elements=FEW)) for _ in "ab")
    for classifies, score in ((True, accuracy), (False, r_squared)):
        found = scores_by_part(y, said, start, classifies=classifies)
        parts = [slice(begin, end) for begin, end in itertools.pairwise(start)]
        np.testing.assert_array_equal(found, [score(y[part], said[part]) for part in parts])


def test_without_rows_there_is_no_score():
    nothing = np.empty(0)
    assert math.isnan(accuracy(nothing, nothing))
    assert math.isnan(r_squared(np.ones(1), np.ones(1)))


def test_constant_targets_are_predicted_or_not():
    assert r_squared(np.ones(3), np.ones(3)) == 1.0
    assert r_squared(np.ones(3), np.zeros(3)) == 0.0
