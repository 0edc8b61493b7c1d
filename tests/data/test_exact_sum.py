import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut.data.exact_sum import ExactSum

numbers = st.lists(st.floats(-1e300, 1e300), max_size=50)


@settings(deadline=None)
@given(numbers, st.integers(0, 50))
def test_sum_is_that_of_fsum_however_it_is_parted(values, cut):
    v = np.array(values, np.float64)
    total = ExactSum.of(v[cut:]) + ExactSum.of(v[:cut])
    assert float(total) == math.fsum(values)
    assert total == ExactSum.of(v)


def test_sum_that_is_too_large():
    assert float(ExactSum.of(np.full(10, 1.7e308))) == math.inf
    assert float(ExactSum.of(np.full(10, -1.7e308))) == -math.inf


def test_smallest_numbers_count():
    tiny = 5e-324
    assert float(ExactSum.of(np.array([1.0, tiny])) + ExactSum.of(np.array([-1.0]))) == tiny
