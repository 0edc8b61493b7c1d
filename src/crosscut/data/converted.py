"""Read JSON files and workbooks of spreadsheets by converting them to CSV.

So types, dates, missing values and the notes about them are those of the same table in a CSV file.
"""

from __future__ import annotations

import csv
import datetime as dt
import json
from abc import abstractmethod
from contextlib import contextmanager
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from crosscut.data.text.dialect import text_stream
from crosscut.data.text.text_file import TextFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from crosscut.data.file_kind import Contents, Place


class ConvertedFile(TextFile):
    """A file whose rows are written to a temporary CSV file, which is read."""

    header: bool | None = None  # None: detected

    def __init__(self) -> None:
        super().__init__(",")

    @abstractmethod
    def rows(self, place: Place) -> Iterable[Sequence[object]]:
        """Return the rows, the names of the columns first if there are any."""

    @contextmanager
    def _copy(self, place: Place) -> Iterator[Place]:
        header = self.header if place.options.header is None else place.options.header
        options = replace(place.options, header=header, separator=",", encoding="utf-8")
        with TemporaryDirectory(prefix="crosscut-") as folder:
            path = Path(folder, "copy.csv")
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(map(_cell, row) for row in self.rows(place))
            yield replace(place, path=path, options=options, shown=str(place))

    def contents(self, place: Place) -> Contents:
        """Return columns and rows."""
        with self._copy(place) as copy:
            return super().contents(copy)

    def read(self, place: Place, part: int, rows: int, contents: Contents) -> Iterator[pa.Table]:
        """Yield the rows of the file."""
        with self._copy(place) as copy:
            yield from super().read(copy, part, rows, contents)

    def whole(self, place: Place) -> pa.Table:
        """Read all rows."""
        with self._copy(place) as copy:
            return super().whole(copy)


def _cell(value: object) -> object:
    """Return a value as CSV has it: no cell for None, dates without a time, whole numbers without a point."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date()
    return value


class Workbook(ConvertedFile):
    """A sheet of a workbook of Excel or OpenDocument, read by calamine.

    calamine is the reader that pandas and polars use, too: one small wheel without dependencies reads every
    format, and returns typed cells.
    """

    def rows(self, place: Place) -> Iterable[Sequence[object]]:
        """Return the rows of the sheet, without empty ones."""
        from python_calamine import CalamineError, CalamineWorkbook

        try:
            with CalamineWorkbook.from_path(place.path) as book:
                sheets = {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}
        except CalamineError as error:
            raise OSError(str(error)) from error
        filled, name, sheet = [name for name in sheets if sheets[name]], str(place.path), place.table
        if not filled:
            raise ValueError(f"{name!r} is empty")
        if sheet is None and len(filled) > 1:
            raise ValueError(
                f"{name!r} has the sheets {filled}; choose one with table=... or '{name}::{filled[0]}'"
            )
        if sheet is not None and not sheets.get(sheet):
            raise ValueError(f"{name!r} has no sheet {sheet!r} with cells; it has {filled}")
        rows = sheets[filled[0] if sheet is None else sheet]
        return [row for row in rows if any(cell not in {"", None} for cell in row)]


class JsonLines(ConvertedFile):
    """Objects, one per line."""

    header = True

    def rows(self, place: Place) -> Iterable[Sequence[object]]:
        """Return the names of all columns, then the values of each object."""
        with TextIOWrapper(text_stream(place.path), encoding=place.options.encoding or "utf-8-sig") as lines:
            records = [_parsed(place, line, k) for k, line in enumerate(lines, 1) if line.strip()]
        return _table(place, records)


class Json(ConvertedFile):
    """A list of objects, or an object of columns, which are lists or objects by row."""

    header = True

    def rows(self, place: Place) -> Iterable[Sequence[object]]:
        """Return the names of all columns, then the values of each object."""
        with TextIOWrapper(text_stream(place.path), encoding=place.options.encoding or "utf-8-sig") as file:
            data = _parsed(place, file.read())
        if isinstance(data, dict):
            columns = [list(c.values()) if isinstance(c, dict) else c for c in data.values()]
            if not all(isinstance(c, list) and len(c) == len(columns[0]) for c in columns):
                what = "is an object, but its values are not columns of one length"
                raise ValueError(f"{str(place)!r} {what}; {_JSON}")
            return [list(data), *zip(*columns, strict=True)]
        return _table(place, data)


_JSON = 'write a list of objects such as [{"age": 30, "plan": "a"}], or one object per line (.jsonl)'


def _parsed(place: Place, text: str, line: int | None = None) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f", line {line}" * (line is not None)
        raise ValueError(f"{str(place)!r}{where}: this is not JSON ({error}); {_JSON}") from error


def _table(place: Place, records: Any) -> Iterator[list[object]]:
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise ValueError(f"{str(place)!r} does not hold objects; {_JSON}")
    names = list(dict.fromkeys(name for record in records for name in record))
    yield names
    for record in records:
        row = [record.get(name) for name in names]
        nested = [name for name, cell in zip(names, row, strict=True) if isinstance(cell, dict | list)]
        if nested:
            raise ValueError(
                f"{str(place)!r}: column {nested[0]!r} holds {json.dumps(record[nested[0]])[:60]}; "
                "flatten it to numbers, booleans, dates or text, or remove it"
            )
        yield row
