import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut.engines.grids import Grids, Totals
from crosscut.engines.memory import _exact, _grid

NUMBERS = st.floats(-1e30, 1e30) | st.integers(-50, 50).map(float)
WEIGHTS = st.floats(0, 1e6) | st.integers(0, 5).map(float)


@settings(deadline=None)
@given(st.lists(st.tuples(NUMBERS, WEIGHTS), min_size=1, max_size=40), st.booleans(), st.booleans())
def test_grids_are_those_of_the_in_memory_engine(rows, numbers, weighted):
    y, w = np.array(rows).T
    one = w if weighted else np.ones_like(y)
    centre = float(np.float32(math.fsum(y) / len(y)))
    totals = Totals()
    for part in np.array_split(np.arange(len(y)), 3):
        other = Totals()
        other.add(y[part], w[part] if weighted else None, centre if numbers else None)
        totals = totals.merge(other)
    grids = Grids.of(Totals.from_notes(totals.to_notes()), numbers=numbers, weighted=weighted, centre=centre)
    if not numbers and not weighted:
        assert grids is None
        return
    if weighted:
        on_grid, exponent = _grid(w, 1)
        assert grids.weight_exponent == exponent
        np.testing.assert_array_equal(grids.weights(w), on_grid)
    if numbers:
        product, exponent = _grid((y - centre) * one, 1)
        assert grids.exponent == exponent
        np.testing.assert_array_equal(grids.products(y, w if weighted else None), product)
    quantities = (one, one * y, one * y * y) if numbers else (one,)
    found = grids.exact(y, w if weighted else None)
    for parts, shift, v in zip(found, grids.trained.shifts, quantities, strict=True):
        expected = _exact(v, 1)
        assert (shift, grids.trained.bits) == expected[1:]
        np.testing.assert_array_equal(parts, expected[0])
