"""ARFF files: types, quotes, missing values, sparse rows, and errors that name the line."""

import datetime as dt

import pytest

from crosscut.data.files import read_file
from crosscut.data.table import Table

DENSE = r"""% a comment
@RELATION weather
@attribute 'outside temperature' REAL
@attribute outlook {sunny, overcast, 'light rain', 'it\'s'}
@attribute day date "yyyy-MM-dd"
@attribute remark string
@Attribute n integer

@DATA
21.5, 'light rain', 2020-01-02, "a, b", 3
% another
?, sunny, ?, ?, 4
-1e3,'it\'s',"2020-02-01",plain,?
"""


def test_dense(tmp_path):
    path = tmp_path / "weather.arff"
    path.write_text(DENSE)
    frame = read_file(path)
    assert frame.to_pydict() == {
        "outside temperature": [21.5, None, -1000.0],
        "outlook": ["light rain", "sunny", "it's"],
        "day": [dt.datetime(2020, 1, 2), None, dt.datetime(2020, 2, 1)],  # noqa: DTZ001
        "remark": ["a, b", None, "plain"],
        "n": [3, 4, None],
    }
    table = Table.from_data(frame)
    assert table.categories[1] == ("sunny", "overcast", "light rain", "it's")
    assert table.ranks[1].tolist() == [2, 0, 3]


def test_sparse(tmp_path):
    path = tmp_path / "sparse.arff"
    header = "@relation r\n@attribute a numeric\n@attribute b{x,y}\n@attribute c numeric\n@data\n"
    path.write_text(header + "{0 5, 1 y}\n{}\n{2 ?}\n")
    assert read_file(path).to_pydict() == {"a": [5, 0, 0], "b": ["y", "x", "x"], "c": [0, 0, None]}


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("@relation r\n@attribute a numeric\n@data\n1,2\n", "line 4 .*: 2 values for 1 attributes"),
        ("@relation r\n@attribute a numeric\n@data\nx\n", "line 4 .*could not convert"),
        ("@relation r\n@attribute a {x,y}\n@data\nz\n", r"line 4 .*'z' is not one of \['x', 'y'\]"),
        ("@relation r\n@attribute a relational\n@data\n", "line 2 .*attribute 'a' has the type 'relational'"),
        ("@relation r\n@attribute a\n@data\n", "line 2 .*needs a name and a type"),
        ("a,b\n", "line 1 .*expected @relation"),
        ("@relation r\n", "has no @data line"),
    ],
)
def test_errors_name_the_line(text, match, tmp_path):
    path = tmp_path / "wrong.arff"
    path.write_text(text)
    with pytest.raises(ValueError, match=match):
        read_file(path)


def test_comments_after_attributes(tmp_path):
    path = tmp_path / "rows.arff"
    head = (
        "@attribute a numeric % in {cm}\n@attribute b {x, '5 % y'} % two\n@attribute c date 'yyyy' % year\n"
    )
    path.write_text(f"@relation r\n{head}@data\n1.5,'5 % y',2020\n")
    assert read_file(path).to_pydict() == {"a": [1.5], "b": ["5 % y"], "c": [dt.datetime(2020, 1, 1)]}  # noqa: DTZ001
