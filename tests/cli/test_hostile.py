"""Files nobody should feed to a tree: one helpful line each, and an exit code that tells the kind."""

import json
import os

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

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


def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "rows.csv")
    assert "a pipe" in refused(cv(tmp_path / "rows.csv"), UNREADABLE)
    os.mkfifo(tmp_path / "a.model")
    assert "a pipe" in refused(call("show", tmp_path / "a.model"), UNREADABLE)


def would_overwrite(result):
    return result.exit_code == 2 and "would be overwritten" in result.stderr


@pytest.mark.parametrize("option", ["--save", "--oof"])
def test_the_data_are_never_overwritten(write, option):
    path = write("x,y\n" + "1,a\n2,b\n" * 10)
    before = path.read_bytes()
    assert would_overwrite(cv(path, option, path))
    assert would_overwrite(cv(path, option, path.parent / "." / path.name))
    assert path.read_bytes() == before


def test_two_results_need_two_files(write, tmp_path):
    path, both = write("x,y\n" + "1,a\n2,b\n" * 10), tmp_path / "both"
    assert would_overwrite(cv(path, "--save", both, "--oof", both))
    assert not both.exists()


def test_predictions_do_not_replace_the_model(write, tmp_path):
    path, model = write("x,y\n" + "1,a\n2,b\n" * 10), tmp_path / "a.model"
    assert cv(path, "--save", model).exit_code == 0
    assert would_overwrite(call("predict", model, path, "--out", model))


def test_terminal_escapes_are_spelled_out(write):
    text = "@relation r\n@attribute x numeric\n@attribute y {'\x1b[31mred','\u202eb'}\n@data\n"
    path = write(text + "1,'\x1b[31mred'\n2,'\u202eb'\n" * 10, "a.arff")
    shown = cv(path)
    assert shown.exit_code == 0
    assert "\\x1b[31mred" in shown.output
    assert "\\u202eb" in shown.output
    assert "\x1b" not in shown.output
    assert "\u202e" not in shown.output


def test_very_long_names_are_cut(write):
    path = write("x,y\n" + f"1,{'q' * 900_000}\n2,b\n" * 4)
    shown = cv(path, "--folds", "2")
    assert shown.exit_code == 0
    assert len(shown.output) < 10_000


def test_formulas_are_marked_as_text(write, tmp_path):
    path = write("x,y\n" + "1,=1+1\n2,-3\n" * 10)
    assert cv(path, "--oof", tmp_path / "oof.csv").exit_code == 0
    text = (tmp_path / "oof.csv").read_text()
    assert "'=1+1" in text
    assert ",=1+1" not in text
    assert ",-3" in text


@pytest.mark.parametrize("row", ["{5 1}", "{-1 a}", "{1}", "{x 1}", "{1 a 2 b}", "{99999999999 1}"])
def test_sparse_rows_that_name_no_attribute(write, row):
    path = write(
        f"@relation r\n@attribute x numeric\n@attribute y {{a,b}}\n@data\n{row}\n{{1 b}}\n", "a.arff"
    )
    assert "line 5" in refused(cv(path), UNREADABLE)


@pytest.mark.parametrize("target", ["y", "inner", "several"])
def test_nested_columns_are_refused_by_name(tmp_path, target):
    path = tmp_path / "a.parquet"
    rows = {"inner": [{"u": 1}, {"u": 2}] * 5, "several": [[1], [2, 3]] * 5, "y": ["a", "b"] * 5}
    parquet.write_table(pa.table(rows), path)
    line = refused(call("cv", path, "--target", target), UNREADABLE)
    assert "'inner' holds values of type struct" in line
