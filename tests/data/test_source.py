import errno

import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from stream_tables import table_of, write_pieces

from crosscut import TreeClassifier
from crosscut.data.columnar_files import ParquetFile
from crosscut.data.source import Source


def test_rows_are_numbered_in_the_order_of_the_files(tmp_path):
    table = table_of(0, 100)
    source = Source(write_pieces(table, tmp_path, 3), batch_rows=20)
    found = [pair for piece in source.pieces for pair in source.read(piece)]
    row = 0
    for first, part in found:
        assert first == row
        assert part.num_rows <= 20
        row += part.num_rows
    assert pa.concat_tables([part for _, part in found]).equals(table)


def test_truncated_file(tmp_path):
    paths = write_pieces(table_of(0, 500), tmp_path, 2)
    last = tmp_path / "part-001.parquet"
    last.write_bytes(last.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"part-001\.parquet' cannot be read; it is damaged, incomplete"):
        TreeClassifier().fit(paths, "y")


def test_file_damaged_in_the_middle(tmp_path):
    file = tmp_path / "part-000.parquet"
    parquet.write_table(table_of(0, 5000), file, write_page_checksum=True)
    data = bytearray(file.read_bytes())
    data[100:3000] = bytes(2900)
    file.write_bytes(data)
    with pytest.raises(ValueError, match=r"part-000\.parquet' cannot be read"):
        TreeClassifier().fit(file, "y")


def test_column_missing_in_one_file(tmp_path):
    table = table_of(0, 100)
    paths = write_pieces(table, tmp_path, 2)
    parquet.write_table(table.drop_columns(["few"]), tmp_path / "part-001.parquet")
    with pytest.raises(ValueError, match=r"part-001\.parquet' lacks the column\(s\) \['few'\]"):
        TreeClassifier().fit(paths, "y")


def test_type_changes_between_files(tmp_path):
    table = table_of(0, 100)
    paths = write_pieces(table, tmp_path, 2)
    text = table.set_column(1, "few", table["few"].cast(pa.string()))
    parquet.write_table(text, tmp_path / "part-001.parquet")
    with pytest.raises(ValueError, match=r"column 'few' is text in .*part-001.*, but numbers before"):
        TreeClassifier().fit(paths, "y")


def test_whole_numbers_may_be_followed_by_others(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,a\n2,b\n")
    (tmp_path / "b.csv").write_text("x,y\n1.5,a\n,b\n")
    source = Source(tmp_path)
    tables = [table for piece in source.pieces for _, table in source.read(piece)]
    assert pa.concat_tables(tables)["x"].to_pylist() == [1.0, 2.0, 1.5, None]


def test_torn_csv_file(tmp_path):
    csv.write_csv(table_of(0, 100), tmp_path / "a.csv")
    with (tmp_path / "a.csv").open("a") as file:
        file.write("1.5,3")
    with pytest.raises(ValueError, match=r"a\.csv': line 102 has 2 values, expected 6"):
        TreeClassifier().fit(tmp_path / "a.csv", "y")


def test_no_permission(tmp_path, monkeypatch):
    def refuse(*_arguments):
        raise PermissionError(errno.EACCES, "Permission denied")

    paths = write_pieces(table_of(0, 100), tmp_path, 1)
    monkeypatch.setattr(ParquetFile, "contents", refuse)  # root, who may run this, may read everything
    with pytest.raises(PermissionError, match=r"part-000\.parquet' cannot be read: Permission denied"):
        TreeClassifier().fit(paths, "y")


def test_what_cannot_be_found(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file matches"):
        Source(tmp_path / "*.parquet")
    with pytest.raises(FileNotFoundError, match="has no file with a supported ending"):
        Source(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        Source(tmp_path / "rows.parquet")
    (tmp_path / "rows.docx").write_text("")
    with pytest.raises(ValueError, match=r"ends in '\.docx'"):
        Source(tmp_path / "rows.docx")


def test_an_empty_column_takes_the_type_it_has_in_other_files(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n,1\nNA,0\n")
    (tmp_path / "b.csv").write_text("x,y\nred,1\n,0.5\n")
    source = Source(tmp_path)
    assert source.schema.types == [pa.string(), pa.float64()]
    tables = [table for piece in source.pieces for _, table in source.read(piece)]
    assert pa.concat_tables(tables).to_pydict() == {"x": [None, None, "red", None], "y": [1.0, 0.0, 1.0, 0.5]}


def test_columns_in_another_order(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("y,x\n1,2\n")
    with pytest.raises(ValueError, match=r"b\.csv' has other columns: .*need the columns .*, in this order"):
        Source(tmp_path)


def test_categories_and_text(tmp_path):
    table = pa.table({"x": pa.array(["a", "b"]).dictionary_encode(), "y": [1, 2]})
    parquet.write_table(table, tmp_path / "a.parquet")
    parquet.write_table(table.set_column(0, "x", table["x"].cast(pa.string())), tmp_path / "b.parquet")
    source = Source(tmp_path)
    assert source.schema.types == [pa.string(), pa.int64()]
    assert all(table.schema == source.schema for piece in source.pieces for _, table in source.read(piece))
