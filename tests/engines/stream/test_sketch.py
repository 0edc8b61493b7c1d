import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut.data.table import Table
from crosscut.engines.stream import sketch
from crosscut.engines.stream.sketch import DistinctValues, RowSample, edges_of, edges_of_sample


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 255), st.integers(1, 400))
def test_edges_are_those_of_a_table(seed, max_bins, n_distinct):
    rng = np.random.default_rng(seed)
    x = rng.choice(rng.normal(size=n_distinct).astype(np.float32), 500)
    x[rng.random(500) < 0.1] = np.nan
    expected = Table.from_data(x.reshape(-1, 1), max_bins=max_bins).edges[0]
    np.testing.assert_array_equal(edges_of_sample(x, max_bins), expected)
    counted = DistinctValues()
    for part in np.array_split(x, 3):
        counted.add(part)
    np.testing.assert_array_equal(edges_of(counted.values, counted.counts, max_bins), expected)


@pytest.mark.parametrize("parts", [1, 7, 100])
def test_sample_does_not_depend_on_batches(monkeypatch, parts):
    monkeypatch.setattr(sketch, "SAMPLE_ROWS", 200)
    monkeypatch.setattr(sketch, "_LEAST_ROWS", 200)
    rows = np.random.default_rng(0).normal(size=(5000, 2)).astype(np.float32)
    whole = RowSample.empty(2)
    whole.add(0, list(rows.T))
    assert len(whole.keys) == 200
    bounds = np.linspace(0, 5000, parts + 1).astype(int)
    order = np.random.default_rng(1).permutation(parts)
    merged = RowSample.empty(2)
    for i in order:
        own = RowSample.empty(2)
        own.add(int(bounds[i]), list(rows[bounds[i] : bounds[i + 1]].T))
        merged.merge(own)
    np.testing.assert_array_equal(merged.rows, whole.rows)
    one_by_one = RowSample.empty(2)
    for i in order:
        one_by_one.add(int(bounds[i]), list(rows[bounds[i] : bounds[i + 1]].T))
    np.testing.assert_array_equal(one_by_one.rows, whole.rows)


def test_a_sample_gives_good_quantiles():
    x = np.random.default_rng(0).exponential(size=400_000).astype(np.float32)
    sample = RowSample.empty(1)
    for begin in range(0, len(x), 70_000):
        sample.add(begin, [x[begin : begin + 70_000]])
    edges = edges_of_sample(sample.rows[:, 0], 255)
    shares = np.diff(np.concatenate([[0], np.searchsorted(np.sort(x), edges), [len(x)]])) / len(x)
    assert len(shares) == 255
    assert shares.max() < 1.5 / 255
    assert shares.min() > 0.5 / 255


def test_many_values_are_many_in_any_order():
    x = np.arange(3000, dtype=np.float32)
    for order in (x, x[::-1]):
        found = DistinctValues()
        for part in np.array_split(order, 30):
            found.add(part)
        assert found.many
    few = DistinctValues()
    few.add(np.tile(np.arange(5, dtype=np.float32), 2000))
    np.testing.assert_array_equal(few.counts, [2000] * 5)


def test_counts_beyond_32_bits():
    values = np.arange(300, dtype=np.float32)
    assert len(edges_of(values, np.full(300, 2**30), 255)) == 254
