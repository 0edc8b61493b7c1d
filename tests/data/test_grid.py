import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut.data.grid import Grids, RowStatistics, Totals, centre_of, on_grid
from crosscut.data.target import Target
from crosscut.reference.examples import centre, grid

NUMBERS = st.floats(-1e30, 1e30) | st.integers(-50, 50).map(float)
WEIGHTS = st.floats(0, 1e6) | st.integers(0, 5).map(float)


@settings(deadline=None)
@given(st.lists(st.tuples(NUMBERS, WEIGHTS), min_size=1, max_size=40), st.booleans(), st.booleans())
def test_batches_get_the_grids_of_rows_in_memory(rows, numbers, weighted):
    y, w = np.array(rows).T
    weight = w if weighted else None
    trained = y[w > 0] if weighted else y
    middle = centre_of(math.fsum(trained), len(trained))
    totals = Totals()
    for part in np.array_split(np.arange(len(y)), 3):
        other = Totals()
        other.add(y[part], w[part] if weighted else None, middle if numbers else None)
        totals = totals.merge(other)
    grids = Grids.of(Totals.from_notes(totals.to_notes()), numbers=numbers, weighted=weighted, centre=middle)
    values = y if numbers else np.zeros(len(y), np.int32)
    expected = RowStatistics.of(Target(values, 0 if numbers else 1, weight), most=1)
    if not numbers and not weighted:
        assert grids is None
        assert expected.weight is expected.product is None
        return
    if weighted:
        np.testing.assert_array_equal(grids.weights(w), expected.weight)
    if numbers:
        np.testing.assert_array_equal(grids.products(y, weight), expected.product)
        assert grids.decrease_scale == expected.decrease_scale
    found = grids.exact(y, weight)
    for own, shift, (parts, expected_shift, bits) in zip(
        found, grids.trained.shifts, expected.exact, strict=True
    ):
        assert (shift, grids.trained.bits) == (expected_shift, bits)
        np.testing.assert_array_equal(own, parts)


@given(st.lists(NUMBERS, min_size=1, max_size=40), st.integers(1, 5))
def test_the_reference_has_the_same_grid(values, most):
    v = np.array(values)
    integers, exponent = on_grid(v, most=most)
    expected, expected_exponent = grid(v, most)
    np.testing.assert_array_equal(integers, expected)
    assert exponent == expected_exponent
    assert centre_of(math.fsum(v), len(v)) == centre(v)


@given(st.lists(NUMBERS, min_size=1, max_size=40), st.booleans())
def test_sums_on_the_grid_are_exact(values, keep_whole):
    integers, _ = on_grid(np.array(values), keep_whole=keep_whole)
    assert float(np.sum(integers)) == sum(int(v) for v in integers)
    assert np.abs(integers).sum() < 2**53
