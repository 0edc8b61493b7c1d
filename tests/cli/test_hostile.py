"""Files nobody should feed to a tree: one helpful line each, and an exit code that tells the kind."""

import json

import numpy as np
import pytest

from crosscut.cli.failure import UNREADABLE, UNSUITABLE

from .calls import call, refused


@pytest.fixture
def write(tmp_path):
    def written(text, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written


def cv(path, *options):
    return call("cv", path, "--target", "y", *options)


def test_missing_file(tmp_path):
    assert "no file" in refused(cv(tmp_path / "absent.csv"), UNREADABLE)


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_empty_file(write, text):
    assert "data.csv" in refused(cv(write(text)), UNREADABLE)


@pytest.mark.parametrize(
    "name", ["data.csv", "data.parquet", "data.arrow", "data.arff", "data.duckdb", "data.db"]
)
def test_binary_file(write, name):
    noise = np.random.default_rng(0).integers(0, 256, 5000, dtype=np.uint8).tobytes()
    result = cv(write(noise, name))
    line = refused(result, result.exit_code)
    assert name in line
    assert line.isprintable()
    assert "\ufffd" not in line
    assert result.exit_code in {UNREADABLE, UNSUITABLE}


def test_one_column(write):
    assert "only column" in refused(cv(write("y\n1\n2\n")), UNSUITABLE)


def test_target_absent(write):
    line = refused(call("cv", write("colour,y\nred,1\n"), "--target", "color"), UNSUITABLE)
    assert "did you mean 'colour'" in line


def test_constant_target(write):
    assert "nothing to predict" in refused(cv(write("x,y\n1,a\n2,a\n3,a\n")), UNSUITABLE)


def test_one_row(write):
    assert "one row" in refused(cv(write("x,y\n1,a\n")), UNSUITABLE)


def test_no_rows(write):
    assert "no rows" in refused(cv(write("x,y\n")), UNSUITABLE)


def test_a_hundred_thousand_categories(write):
    path = write("id,y\n" + "".join(f"k{i},{i % 2}\n" for i in range(100_000)))
    line = refused(cv(path), UNSUITABLE)
    assert "100,000" in line
    assert "--keep id" in line
    line = refused(cv(path, "--keep", "id"), UNSUITABLE)
    assert "100,000" in line
    assert "--drop id" in line


def test_a_hundred_thousand_classes(write):
    path = write("x,y\n" + "".join(f"{i % 7},k{i}\n" for i in range(100_000)))
    assert "too many to be classes" in refused(cv(path), UNSUITABLE)


def test_mixed_types(write):
    path = write("x,y\n" + "".join(f"{'unknown' if i == 50 else i * 1.5},{i % 2}\n" for i in range(100)))
    line = refused(cv(path), UNSUITABLE)
    assert "'unknown'" in line
    assert "--nominal x" in line
    assert cv(path, "--nominal", "x").exit_code == 0


def test_not_utf8(write):
    path = write(b"town,y\n" + "Köln,1\nBern,2\n".encode("latin1") * 20)
    assert "read as: Windows-1252" in cv(path).stdout
    assert "UTF-8" in refused(cv(path, "--encoding", "utf-8"), UNREADABLE)


def test_times_of_day(write):
    path = write("x,t,y\n" + "1,10:00:00,a\n2,11:00:00,b\n" * 10)
    assert "column 't' holds time32[s]" in refused(cv(path), UNSUITABLE)
    assert cv(path, "--drop", "t").exit_code == 0


def test_names_that_are_not_utf8(write):
    path = write("Größe,y\n".encode("latin1") + b"1,a\n2,b\n" * 20)
    assert "Größe" in cv(path).stdout


def test_nothing_in_a_file_moves_the_cursor(write):
    line = refused(cv(write("x,y\n1,a\n\x1b[2J\x1b[31m,3,4\n")), UNREADABLE)
    assert "\x1b" not in line


def test_missing_target_values(write):
    assert "missing" in refused(cv(write("x,y\n1,a\n2,\n3,b\n")), UNSUITABLE)


def test_ragged_lines(write):
    assert "data.csv" in refused(cv(write("x,y\n1,a\n2\n3,b,c\n")), UNREADABLE)


def test_semicolons(write):
    rows = "x,y\n" + "1,a\n2,b\n" * 10
    results = [cv(write(rows.replace(",", mark)), "--json") for mark in ",;"]
    assert [result.exit_code for result in results] == [0, 0]
    expected, found = (json.loads(result.stdout) for result in results)
    assert [found[name] for name in ("data", "cv")] == [expected[name] for name in ("data", "cv")]


def test_options_that_contradict_each_other(write):
    path = write("x,z,y\n" + "1,1,a\n2,2,b\n" * 10)
    assert "cannot be combined" in refused(cv(path, "--in-order", "--repeats", "2"), UNSUITABLE)
    assert "cannot be combined" in refused(cv(path, "--groups", "x", "--repeats", "2"), UNSUITABLE)


@pytest.mark.parametrize("option", [("--jobs", "0"), ("--seed", "-1"), ("--folds", "1"), ("--max-bins", "1")])
def test_options_out_of_range(write, option):
    result = cv(write("x,y\n" + "1,a\n2,b\n" * 10), *option)
    assert result.exit_code == 2
    assert option[0] in result.stderr


def test_repeated_column(write):
    assert "more than once" in refused(cv(write("x,x,y\n1,2,a\n2,3,b\n")), UNREADABLE)


def test_unknown_kind_of_file(write):
    assert ".xlsx" in refused(cv(write("x", "data.xlsx")), UNREADABLE)


def test_a_folder(tmp_path):
    (tmp_path / "data.csv").mkdir()
    assert "is a folder" in refused(cv(tmp_path / "data.csv"), UNREADABLE)


def test_infinite_values(write):
    path = write("x,y\n" + "inf,a\n1,b\n" * 10)
    assert "infinity" in refused(cv(path), UNSUITABLE)
