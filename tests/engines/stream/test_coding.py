import numpy as np
import pyarrow as pa
import pytest
from stream_tables import table_of

from crosscut.data.table import Table
from crosscut.engines.stream.coding import Coding
from crosscut.engines.stream.survey import Roles

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


def test_row_bytes():
    coding = survey_of(
        pa.table({"x": [1.0], "g": [1.0], "y": [1.5]}), roles=Roles("y", classifies=False, group="g")
    ).coding(9)
    assert coding.row_bytes == 1 + 8 + 8
    weighted = Roles("y", classifies=False, weight="g")
    coding = survey_of(pa.table({"x": [1.0], "g": [1.0], "y": [1.5]}), roles=weighted).coding(9)
    assert coding.row_bytes == 1 + 8 + 8
