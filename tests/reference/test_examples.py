import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.reference.examples import Examples, centre, grid
from crosscut.tasks.growth import Growth

TABLE = Table.from_data(np.arange(4, dtype=np.float32)[:, None])


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=50), st.integers(1, 9))
def test_grid_sums_are_exact_and_close(numbers, multiplicity):
    v = np.array(numbers)
    integers, k = grid(v, multiplicity)
    assert multiplicity * sum(abs(i) for i in integers.tolist()) <= 2**53
    # each number is rounded to the nearest multiple of 2**-k
    assert all(
        abs(math.ldexp(i, -k) - u) <= math.ldexp(0.5, -k)
        for i, u in zip(integers.tolist(), numbers, strict=True)
    )


def test_grid_rounds_half_to_even_and_uses_the_bits():
    _, k = grid(np.array([0.75, 0.25]))
    assert k == 51  # the sum 1 is 0.5 * 2**1
    assert grid(np.array([3.0, 4.0]))[1] == 0
    assert grid(np.array([0.0]))[1] == 0
    assert grid(np.array([2.0**52, 1.0]))[1] == -1  # 2**52 + 1 is 0.5... * 2**53
    assert grid(np.array([2.0**52, 1.0]))[0].tolist() == [2**51, 0]  # 0.5 goes to the even 0


def test_amounts_of_classes_are_weights_and_of_numbers_weight_and_product():
    classes = Examples.of(
        TABLE, Target(np.array([0, 1, 1, 0], np.int32), 2, np.array([1.0, 2, 0, 3])), Growth()
    )
    assert classes.amounts.tolist() == [[1, 1, 0], [1, 0, 2], [1, 0, 0], [1, 3, 0]]
    numbers = Examples.of(TABLE, Target(np.array([1.0, 2, 3, 6]), 0), Growth("variance"))
    assert numbers.amounts.tolist() == [[1, 1, -2], [1, 1, -1], [1, 1, 0], [1, 1, 3]]
    assert numbers.scale == 0


def test_improvements_are_scaled_back_to_the_units_of_the_target():
    tenths = Examples.of(TABLE, Target(np.array([0.1, 0.2, 0.3, 0.7]), 0), Growth("variance"))
    _, k = grid(np.array([0.1, 0.2, 0.3, 0.7]) - centre(np.array([0.1, 0.2, 0.3, 0.7])))
    assert tenths.scale == -2 * k


def test_the_centre_is_a_float32_and_finite():
    assert centre(np.array([0.1, 0.2])) == float(np.float32(0.15000000000000002))
    assert centre(np.array([1e300, 1e300])) == pytest.approx(0.0)
