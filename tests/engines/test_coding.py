import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut.engines.coding import Coding, Grids, Totals
from crosscut.engines.memory import _exact, _grid
from crosscut.engines.survey import Roles
from crosscut.table import Table

from .data import table_of
from .test_survey import survey_of


def test_codes_are_the_ranks_of_a_table():
    table = table_of(0, 1000)
    coding = survey_of(table).coding(30)
    expected = Table.from_data(table.drop_columns(["y"]), max_bins=30)
    np.testing.assert_array_equal(coding.batch(table, 0, "rows").codes, expected.ranks)
    np.testing.assert_array_equal(coding.n_bins, expected.n_values)
    again = Coding.from_notes(coding.roles, coding.to_notes())
    np.testing.assert_array_equal(again.batch(table, 0, "rows").codes, expected.ranks)


def test_a_column_without_values():
    table = pa.table({"x": pa.array([None, None], pa.float64()), "z": [1.0, 2.0], "y": [0, 1]})
    coding = survey_of(table).coding(30)
    assert coding.n_bins.tolist() == [0, 2]
    assert coding.batch(table, 0, "rows").codes.tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({"x": [np.inf], "k": ["a"], "y": ["no"]}, "'x' of X holds inf in row 7"),
        ({"x": [1.0], "k": ["z"], "y": ["no"]}, r"column 'k' of rows has new values \['z'\]"),
        ({"x": [1.0], "k": ["a"], "y": ["new"]}, "has a new class"),
    ],
)
def test_data_that_has_changed(table, problem):
    coding = survey_of(pa.table({"x": [1.0, 2.0], "k": ["a", "b"], "y": ["no", "yes"]})).coding(255)
    with pytest.raises(ValueError, match=problem):
        coding.batch(pa.table(table), 7, "rows")


@settings(deadline=None)
@given(
    st.lists(st.floats(-1e30, 1e30), min_size=1, max_size=40)
    | st.lists(st.integers(-50, 50).map(float), min_size=1)
)
def test_grids_are_those_of_the_in_memory_engine(values):
    y = np.array(values)
    centre = float(np.float32(math.fsum(values) / len(values)))
    totals = Totals()
    for part in np.array_split(y, 3):
        other = Totals()
        other.add(part, centre)
        totals = totals.merge(other)
    grids = Grids.of(Totals.from_notes(totals.to_notes()), centre)
    product, exponent = _grid(y - centre, 1)
    assert grids.exponent == exponent
    np.testing.assert_array_equal(grids.products(y), product)
    for (parts, shift, bits), v in zip(grids.exact(y), (np.ones_like(y), y, y * y), strict=True):
        expected = _exact(v, 1)
        assert (shift, bits) == expected[1:]
        np.testing.assert_array_equal(parts, expected[0])


def test_row_bytes():
    coding = survey_of(
        pa.table({"x": [1.0], "g": [1.0], "y": [1.5]}), roles=Roles("y", classifies=False, group="g")
    ).coding(9)
    assert coding.row_bytes == 1 + 8 + 8
