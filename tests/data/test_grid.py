from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut.data.grid import NO_BITS, Bits, ExactGrid, Grids, Totals, on_grid

NUMBERS = st.floats(-1e30, 1e30) | st.integers(-50, 50).map(float)
WEIGHTS = st.floats(0, 1e6) | st.integers(0, 5).map(float)


@settings(deadline=None)
@given(st.lists(st.tuples(NUMBERS, WEIGHTS), min_size=1, max_size=40), st.booleans(), st.booleans())
def test_batches_get_the_grids_of_all_rows(rows, numbers, weighted):
    y, w = np.array(rows).T
    totals = Totals()
    for part in np.array_split(np.arange(len(y)), 3):
        other = Totals()
        other.add(y[part] if numbers else None, w[part] if weighted else None, len(part))
        totals = totals.merge(other)
    grids = Grids.of(Totals.from_notes(totals.to_notes()), numbers=numbers, weighted=weighted)
    if not numbers and not weighted:
        assert grids is None
        return
    weight = Bits.of_weights(w if weighted else None)
    assert grids.trained == ExactGrid.of(len(y), weight, Bits.of(y) if numbers else None)


@settings(deadline=None)
@given(st.lists(st.tuples(NUMBERS, WEIGHTS), min_size=1, max_size=40), st.booleans())
def test_digits_add_up_to_exact_sums(rows, weighted):
    y, w = np.array(rows).T
    weight = w if weighted else None
    grid = ExactGrid.of(len(y), Bits.of_weights(weight), Bits.of(y))
    sums = grid.digits(y, weight, len(y)).sum(axis=0).tolist()
    numbers = [Fraction(v) for v in y]
    weights = [Fraction(v) for v in w] if weighted else [Fraction(1)] * len(y)
    expected = [
        sum(a * b for a, b in zip(weights, numbers, strict=True)),
        sum(weights),
        sum(a * b * b for a, b in zip(weights, numbers, strict=True)),
    ]
    assert [grid.value(q, sums[grid.starts[q] : grid.starts[q + 1]]) for q in range(3)] == expected


@given(
    st.lists(NUMBERS | st.floats(-1e-300, 1e-300), min_size=1, max_size=40), st.sampled_from([0.0, 0.1, 3.0])
)
def test_sums_on_the_grid_are_exact(values, centre):
    integers, is_exact = on_grid(np.array(values), centre=centre)
    assert float(np.sum(integers)) == sum(int(v) for v in integers)
    assert np.abs(integers).sum() < 2**53
    true = [Fraction(value) - Fraction(centre) for value in values]
    pairs = [(Fraction(own), one) for own, one in zip(integers, true, strict=True) if own or one]
    scale = pairs[0][0] / pairs[0][1] if pairs and pairs[0][1] else Fraction(1)
    is_power = scale.numerator.bit_count() == scale.denominator.bit_count() == 1
    assert is_exact == (is_power and all(one * scale == own for own, one in pairs))


def test_sums_that_no_double_holds_are_refused():
    with pytest.raises(ValueError, match=r"largest of which is 1e\+308, add up .* divide them"):
        on_grid(np.array([1e308, -1e308]))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=8))
def test_bits_are_those_of_the_numbers(numbers):
    bits = Bits.of(np.array(numbers, np.float64))
    if any(numbers):
        parts = [abs(Fraction(number)) for number in numbers if number]
        assert all((part / Fraction(2) ** bits.low).denominator == 1 for part in parts)
        assert any((part / Fraction(2) ** (bits.low + 1)).denominator == 2 for part in parts)
        assert Fraction(2) ** (bits.high - 1) <= max(parts) < Fraction(2) ** bits.high
    else:
        assert bits == NO_BITS
