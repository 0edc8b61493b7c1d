import gzip

import pytest

from crosscut.data.text.detection import detect, separator_of
from crosscut.data.text.dialect import MISSING_WORDS, Dialect, TextOptions


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1;2\n", ";"),
        ("a;b\n1,5;2,5\n", ";"),  # decimal commas
        ("a\tb\n1,2\t3\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ('"x; y; z",b\n"1;2",3\n', ","),  # what is in quotes does not count
        ("size, in m;b\n1;2\n", ";"),  # the second line decides
        ("a;b", ";"),  # no second line
        ("a,b\n1\n", ","),  # no agreement: the first line
        ("a\n1\n", "usual"),
        ("", "usual"),
    ],
)
@pytest.mark.parametrize("usual", [",", "\t"])
def test_separator(head, expected, usual):
    assert separator_of(head, usual) == (usual if expected == "usual" else expected)


def test_of_a_compressed_file(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a;b\n1;2\n"))
    found = detect(tmp_path / "a.csv.gz", ",", TextOptions())
    assert found == Dialect(";", '"', MISSING_WORDS, names=("a", "b"), decimal="")
