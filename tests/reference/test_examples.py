from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.reference.examples import Examples, integers
from crosscut.tasks.growth import Growth

TABLE = Table.from_data(np.arange(4, dtype=np.float32)[:, None])


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
def test_integers_are_the_numbers(numbers):
    found, unit = integers(np.array(numbers))
    assert [Fraction(i) * Fraction(2) ** unit for i in found] == [Fraction(v) for v in numbers]


def test_amounts_of_classes_are_weights_and_of_numbers_weight_and_product():
    classes = Examples.of(
        TABLE, Target(np.array([0, 1, 1, 0], np.int32), 2, np.array([1.0, 2, 0, 3])), Growth()
    )
    assert classes.amounts.tolist() == [[1, 1, 0], [1, 0, 2], [1, 0, 0], [1, 3, 0]]
    numbers = Examples.of(TABLE, Target(np.array([1.0, 2, 3, 6]), 0), Growth("variance"))
    assert numbers.amounts.tolist() == [[1, 1, 1], [1, 1, 2], [1, 1, 3], [1, 1, 6]]
    assert numbers.squares.tolist() == [1, 4, 9, 36]
