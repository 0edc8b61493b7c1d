import numpy as np
import pyarrow as pa
import pytest
from stream_tables import table_of

from crosscut.engines.stream.survey import Roles, Survey


def survey_of(*tables, roles=None):
    survey, row = Survey(roles or Roles("y", classifies=True)), 0
    for number, table in enumerate(tables):
        survey.add(table, row, number, f"part {number}")
        row += table.num_rows
    return survey


def test_parts_merge_in_any_order():
    table = table_of(0, 900, n_classes=4)
    whole = survey_of(table).coding(50)
    parts = []
    for begin in (600, 0, 300):
        part = Survey(Roles("y", classifies=True))
        part.add(table.slice(begin, 300), begin, begin // 300, "a part")
        parts.append(part)
    merged = parts[0].merge(parts[1]).merge(parts[2])
    coding = merged.coding(50)
    assert coding.to_notes() == whole.to_notes()
    assert coding.classes.tolist() == ["maybe", "never", "no", "yes"]
    starts = merged.class_counts(coding, [0, 1, 2])
    codes = np.searchsorted(coding.classes, np.array(table["y"].to_pylist()))
    np.testing.assert_array_equal(starts[2], np.bincount(codes[:600], minlength=4))


def test_classes_keep_their_type():
    for labels in ([3, 1, 3], [True, False, True], ["b", "a", "b"]):
        coding = survey_of(pa.table({"x": [1.0, 2.0, 3.0], "y": labels})).coding(255)
        assert coding.classes.tolist() == sorted(set(labels))
        assert type(coding.classes.tolist()[0]) is type(labels[0])


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({"x": [1.0, 2.0], "y": [1, None]}, "'y' is missing in row 3"),
        ({"x": [1.0, np.inf], "y": [0, 1]}, "'x' of X holds inf in row 3"),
        ({"x": ["a", "b"], "y": [0, 1]}, "column 'x' is nominal in part 1, but numeric before"),
        ({"z": [1.0, 2.0], "y": [0, 1]}, r"part 1 lacks the column\(s\) \['x'\]"),
        ({"x": [1.0, 2.0], "y": [0.5, 1.0]}, "not integers"),
        ({"x": [1.0, 2.0]}, "there is no column 'y' in part 1"),
    ],
)
def test_problems_are_named(table, problem):
    first = pa.table({"x": [1.0, 2.0], "y": [0, 1]})
    with pytest.raises(ValueError, match=problem):
        survey_of(first, pa.table(table))


def test_too_many_categories():
    table = pa.table({"x": [str(i) for i in range(300)], "y": [0, 1] * 150})
    with pytest.raises(ValueError, match="column 'x' has more than 255 categories"):
        survey_of(table)


def test_text_is_no_number():
    with pytest.raises(ValueError, match="regression needs numbers"):
        survey_of(pa.table({"x": [1.0], "y": ["a"]}), roles=Roles("y", classifies=False))
    with pytest.raises(ValueError, match="no column to test besides the target"):
        survey_of(pa.table({"y": [1.0]}))
