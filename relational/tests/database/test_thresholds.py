from itertools import pairwise

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from crosscut_relational.database.database import Database
from crosscut_relational.database.thresholds import column_thresholds


def make(values, classes=None):
    facts = {
        "t": [(key, (classes or [0] * len(values))[key]) for key in range(len(values))],
        "v": list(enumerate(values)),
    }
    return Database.from_facts(facts, predict="t(+k,-c)", types=["v(k,num)"])


VALUES = st.lists(st.integers(-20, 20), min_size=2, max_size=30)


@given(VALUES, st.integers(1, 6), st.sampled_from(["equal_freq", "entropy"]))
def test_thresholds_ascend_and_separate(values, n, method):
    found = column_thresholds(make(values, [value % 2 for value in values]), ("v", 2), 1, n, method)
    assert len(found) <= n
    assert found == sorted(set(found))
    for threshold in found:
        assert min(values) < threshold < max(values)
        assert threshold not in values


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 2)), min_size=2, max_size=25))
def test_the_first_entropy_threshold_is_the_best_cut(pairs):
    values, classes = zip(*pairs, strict=True)
    assume(len(set(values)) > 1)

    def entropy(rows):
        counts = np.array([rows.count(each) for each in set(rows)], float)
        return -(counts * np.log2(counts / counts.sum())).sum() if len(counts) else 0.0

    def after(cut):
        return entropy([c for v, c in pairs if v < cut]) + entropy([c for v, c in pairs if v > cut])

    distinct = sorted(set(values))
    cuts = [(a + b) / 2 for a, b in pairwise(distinct)]
    found = column_thresholds(make(list(values), list(classes)), ("v", 2), 1, 1, "entropy")
    best = min(after(cut) for cut in cuts)
    if found:
        assert abs(after(found[0]) - best) < 1e-9
    else:
        assert entropy(list(classes)) - best < 1e-6


def test_equal_frequency_halves_the_values():
    (cut,) = column_thresholds(make([1, 2, 3, 10, 20, 30]), ("v", 2), 1, 1)
    assert 3 < cut < 10


def test_values_that_are_no_numbers_are_left_out():
    assert column_thresholds(make([1, "missing", 3]), ("v", 2), 1, 3) == [2.0]
    assert column_thresholds(make(["a", "b"]), ("v", 2), 1, 3) == []
    assert column_thresholds(make([4, 4]), ("v", 2), 1, 3) == []


def test_short_numbers_are_preferred():
    (cut,) = column_thresholds(make([0.061, 0.062]), ("v", 2), 1, 1)
    assert cut == 0.0615


def test_regression_targets_are_separated_too():
    facts = {"t": [(key, [0.0, 0.1, 5.0, 5.1][key]) for key in range(4)], "v": list(enumerate([1, 2, 3, 4]))}
    database = Database.from_facts(facts, predict="t(+k,-c)", types=["v(k,num)"], regression=True)
    assert column_thresholds(database, ("v", 2), 1, 1, "entropy") == [2.5]
