"""JSON files, workbooks, text with other endings, and standard input: the same table as from CSV."""

import datetime as dt
import gzip
import json

import openpyxl
import pyarrow as pa
import pytest
from click.testing import CliRunner

from crosscut import Stream, TreeClassifier, read_file
from crosscut.cli.program import program
from crosscut.data.files import reading_of
from crosscut.data.source import Source

ROWS = [
    {"age": 30, "size": 1.5, "plan": "red", "paid": True, "since": "31.12.2024", "note": None},
    {"age": None, "size": 2, "plan": 'a, "b"', "paid": False, "since": "1.2.2023", "note": None},
    {"age": 25, "size": 1e3, "plan": "NA", "paid": None, "since": "", "note": None},
]
DATES = [dt.date(2024, 12, 31), dt.date(2023, 2, 1), None]


def check(table):
    assert table["age"].to_pylist() == [30, None, 25]
    assert table["age"].type == pa.int64()
    assert table["size"].to_pylist() == [1.5, 2.0, 1000.0]
    assert table["plan"].to_pylist() == ["red", 'a, "b"', None]
    assert table["paid"].to_pylist() == [True, False, None]
    assert table["since"].to_pylist() == DATES
    assert table["note"].null_count == 3


def as_lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.json", json.dumps(ROWS)),
        ("columns.json", json.dumps({name: [row[name] for row in ROWS] for name in ROWS[0]})),
        ("indexed.json", json.dumps({n: {str(k): row[n] for k, row in enumerate(ROWS)} for n in ROWS[0]})),
        ("t.jsonl", as_lines(ROWS)),
        ("t.ndjson", as_lines(ROWS) + "\n"),
    ],
)
def test_json(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    check(read_file(path))
    assert "'since': dates (day, month, year)" in reading_of(read_file(path))
    source = Source(path)
    (_, streamed), *_ = source.read(source.pieces[0])
    check(streamed)
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    check(read_file(packed))


def test_keys_of_some_objects_only(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n{"b": "x", "a": 2}\n')
    assert read_file(tmp_path / "t.jsonl").to_pydict() == {"a": [1, 2], "b": [None, "x"]}


def workbook(path, sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)


HEAD = list(ROWS[0])
CELLS = [[*list(row.values())[:4], date, None] for row, date in zip(ROWS, DATES, strict=True)]


def test_a_workbook(tmp_path):
    path = tmp_path / "t.xlsx"
    workbook(path, {"2024": [[], HEAD, *CELLS, []], "empty": []})
    check(read_file(path))
    check(read_file(path, table="2024"))
    check(read_file(f"{path}::2024"))


def test_sheets_are_chosen_by_name(tmp_path):
    path = tmp_path / "t.xlsx"
    workbook(
        path,
        {"one": [["a", "y"], *[[k * 7 % 41, "pq"[k % 2]] for k in range(40)]], "other one": [HEAD, *CELLS]},
    )
    check(read_file(path, table="other one"))
    result = CliRunner().invoke(program, ["cv", str(path), "-t", "y", "--sheet", "one"])
    assert result.exit_code == 0, result.output
    shown = CliRunner().invoke(program, ["cv", str(path), "-t", "y"]).stderr
    assert "has the sheets ['one', 'other one']; choose one with --table NAME or" in shown
    with pytest.raises(ValueError, match=r"has no sheet 'two' with cells; it has \['one', 'other one'\]"):
        read_file(path, table="two")


def test_dates_with_and_without_times(tmp_path):
    times = [dt.datetime.fromisoformat(day) for day in ("2024-01-31", "2024-02-01T10:30")]
    workbook(tmp_path / "t.xlsx", {"s": [["at"], *[[time] for time in times]]})
    assert read_file(tmp_path / "t.xlsx")["at"].to_pylist() == times


def test_workbooks_need_an_extra(tmp_path, monkeypatch):
    workbook(tmp_path / "t.xlsx", {"s": [["a"], [1]]})
    monkeypatch.setattr("crosscut.data.files.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'crosscut\[excel\]'"):
        read_file(tmp_path / "t.xlsx")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t.json", b"{", "this is not JSON"),
        ("t.jsonl", b'{"a": 1}\nno\n', r"line 2: this is not JSON"),
        ("t.json", b"[1, 2]", "does not hold objects; write a list of objects"),
        ("t.json", b'{"a": [1], "b": 2}', "not columns of one length"),
        ("t.json", b'[{"a": {"b": 1}}]', "column 'a' holds .*flatten it"),
        ("t.json", b"[" * 100_000, "this is not JSON"),
        ("t.xlsx", b"PK\x03\x04 and nothing", "t.xlsx' cannot be read"),
        ("t.xlsx", b"", "t.xlsx' is empty"),
    ],
)
def test_damaged_files(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=message):
        read_file(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "separator"), [("t.txt", "\t"), ("t.data", " "), ("u.data", ";"), ("t.txt", ",")]
)
def test_text_is_read_by_its_content(tmp_path, name, separator):
    lines = [["5.1", "3.5", "setosa"], ["4.9", "3.0", "setosa"], ["6.3", "3.3", "virginica"]]
    (tmp_path / name).write_text("".join(separator.join(line) + "\n" for line in lines))
    assert read_file(tmp_path / name).to_pydict() == {
        "c1": [5.1, 4.9, 6.3],
        "c2": [3.5, 3.0, 3.3],
        "c3": ["setosa", "setosa", "virginica"],
    }


def test_a_folder_is_read_without_its_notes(tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,p\n2,q\n")
    (tmp_path / "README.txt").write_text("What this is\n")
    assert Source(tmp_path).n_rows == 2


CSV = "a,y\n" + "".join(f"{k * 7 % 41},{'pq'[k % 2]}\n" for k in range(40))
RECORDS = [{"a": k * 7 % 41, "y": "pq"[k % 2]} for k in range(40)]


@pytest.mark.parametrize(
    "data",
    [CSV.encode(), gzip.compress(CSV.encode()), *map(str.encode, (json.dumps(RECORDS), as_lines(RECORDS)))],
)
def test_standard_input(data):
    result = CliRunner().invoke(program, ["cv", "-", "-t", "y"], input=data)
    assert result.exit_code == 0, result.output
    assert "40 rows; columns: 1 numeric" in result.stdout


def test_errors_of_standard_input_name_it():
    result = CliRunner().invoke(program, ["cv", "-", "-t", "y"], input=b"")
    assert result.exit_code == 3
    assert result.stderr == "crosscut: '-' is empty\n"


def test_a_stream_of_json_lines_grows_the_same_tree(tmp_path):
    (tmp_path / "t.jsonl").write_text(as_lines(RECORDS))
    (tmp_path / "t.csv").write_text(CSV)
    streams = (Stream(tmp_path / name) for name in ("t.jsonl", "t.csv"))
    one, other = (TreeClassifier(cv=3).fit(stream, "y") for stream in streams)
    assert one.to_text() == other.to_text()
