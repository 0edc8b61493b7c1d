"""Read Weka's ARFF files: attributes with their types, then one line per row."""

from __future__ import annotations

import datetime as dt
import re
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from crosscut.data.file_kind import Contents, FileKind
from crosscut.data.text.dialect import text_stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosscut.data.file_kind import Place

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|\S+?)\s*(?:\s|(?=\{{))(.*)", re.IGNORECASE)
_KIND = re.compile(rf"(\{{(?:{_QUOTED}|[^}}'\"])*\}}|(?:{_QUOTED}|[^%'\"])*?)\s*(?:%.*)?")  # without comment
_CELL = re.compile(rf"\s*((?:\d+\s+)?(?:{_QUOTED})|[^,]*?)\s*(?:,|$)")  # sparse rows: index and value
_SPARSE = re.compile(r"(\d{1,9})\s+(.*)")
_JAVA_TO_PYTHON = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S", "'T'": "T"}

Cell: TypeAlias = float | str | dt.datetime | None


@dataclass(frozen=True)
class Attribute:
    """A column's name and type: ``numeric``, ``string``, ``date`` or ``nominal`` with its categories."""

    name: str
    kind: str
    categories: tuple[str, ...] = ()
    pattern: str = ""  # of dates

    def value(self, text: str) -> Cell:
        """Return the Python value of a cell; None if it is missing."""
        if text == "?":
            return None
        if self.kind == "numeric":
            return float(text)
        text = _unquoted(text)
        if self.kind == "nominal":
            if text not in self.categories:
                raise ValueError(f"{text!r} is not one of {list(self.categories)}")
            return text
        return dt.datetime.strptime(text, self.pattern) if self.kind == "date" else text  # noqa: DTZ007, no zone

    @property
    def zero(self) -> Cell:
        """Value of a cell that a sparse row leaves out."""
        return {"numeric": 0.0, "nominal": self.categories[0] if self.categories else None}.get(self.kind)

    @property
    def arrow_type(self) -> pa.DataType:
        """Type of the column."""
        if self.kind == "nominal":
            return pa.dictionary(pa.int32(), pa.string(), ordered=True)
        return {"numeric": pa.float64(), "string": pa.string(), "date": pa.timestamp("s")}[self.kind]

    def arrow(self, column: tuple[Cell, ...]) -> pa.Array:
        """Return the values of a column."""
        if self.kind != "nominal":
            return pa.array(column, self.arrow_type)
        code = {category: c for c, category in enumerate(self.categories)}
        codes = pa.array([None if value is None else code[str(value)] for value in column], pa.int32())
        return pa.DictionaryArray.from_arrays(codes, pa.array(self.categories, pa.string()), ordered=True)


class ArffFile(FileKind):
    """An ARFF file, dense or sparse; it has one part. Declared categories keep their order."""

    def contents(self, place: Place) -> Contents:
        """Return the declared columns, and count the rows."""
        with text_stream(place.path) as stream:
            lines = _lines(stream)
            attributes = _attributes(place, lines)
            return Contents(pa.schema([(a.name, a.arrow_type) for a in attributes]), (sum(1 for _ in lines),))

    def read(self, place: Place, part: int, rows: int, contents: Contents) -> Iterator[pa.Table]:  # noqa: ARG002
        """Yield the rows."""
        with text_stream(place.path) as stream:
            lines = _lines(stream)
            attributes = _attributes(place, lines)
            while block := list(islice(lines, rows)):
                cells = []
                for number, line in block:
                    with _naming_line(place, number):
                        cells.append(_row(line, attributes))
                columns = zip(attributes, zip(*cells, strict=True), strict=True)
                yield pa.table(
                    [attribute.arrow(column) for attribute, column in columns], schema=contents.schema
                )


def _lines(stream: pa.NativeFile) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(TextIOWrapper(stream, encoding="utf-8"), 1):
        text = line.strip()
        if text and not text.startswith("%"):
            yield number, text


def _attributes(place: Place, lines: Iterator[tuple[int, str]]) -> list[Attribute]:
    """Read the lines up to @data."""
    attributes: list[Attribute] = []
    for number, line in lines:
        word = line.lower()
        if word.startswith("@data"):
            return attributes
        with _naming_line(place, number):
            if word.startswith("@attribute"):
                attributes.append(_attribute(line))
            elif not word.startswith("@relation"):
                raise ValueError("expected @relation, @attribute or @data")
    raise ValueError(f"{str(place)!r} has no @data line")


@contextmanager
def _naming_line(place: Place, number: int) -> Iterator[None]:
    """Add the line number to errors."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"line {number} of {str(place)!r}: {error}") from error


def _attribute(line: str) -> Attribute:
    match = _ATTRIBUTE.match(line)
    if match is None:
        raise ValueError("@attribute needs a name and a type")
    name, kind = _unquoted(match[1]), match[2].strip()
    plain = _KIND.fullmatch(kind)
    kind = kind if plain is None else plain[1]
    if kind.startswith("{") and kind.endswith("}"):
        return Attribute(name, "nominal", tuple(_unquoted(cell) for cell in _cells(kind[1:-1])))
    word, _, rest = kind.partition(" ")
    if word.lower() in {"numeric", "real", "integer"}:
        return Attribute(name, "numeric")
    if word.lower() == "string":
        return Attribute(name, "string")
    if word.lower() == "date":
        pattern = _unquoted(rest.strip()) or "yyyy-MM-dd'T'HH:mm:ss"
        for java, python in _JAVA_TO_PYTHON.items():
            if pattern.count(java) > 1:
                raise ValueError(f"attribute {name!r} has the date format {rest.strip()!r} with {java} twice")
            pattern = pattern.replace(java, python)
        return Attribute(name, "date", pattern=pattern)
    raise ValueError(
        f"attribute {name!r} has the type {kind!r}; supported are numeric, nominal, string and date"
    )


def _row(line: str, attributes: list[Attribute]) -> list[Cell]:
    if line.startswith("{"):
        values = [attribute.zero for attribute in attributes]
        for cell in filter(None, _cells(line.strip("{} "))):
            match = _SPARSE.fullmatch(cell)
            if match is None or int(match[1]) >= len(attributes):
                last = len(attributes) - 1
                raise ValueError(f"{cell!r} is not an attribute index (0 to {last}) followed by a value")
            values[int(match[1])] = attributes[int(match[1])].value(match[2])
        return values
    cells = _cells(line)
    if len(cells) != len(attributes):
        raise ValueError(f"{len(cells)} values for {len(attributes)} attributes")
    return [attribute.value(cell) for attribute, cell in zip(attributes, cells, strict=True)]


def _cells(line: str) -> list[str]:
    """Split at commas outside quotes."""
    if "'" not in line and '"' not in line:
        return [cell.strip() for cell in line.split(",")]
    cells, at = [], 0
    while at <= len(line):
        match = _CELL.match(line, at)
        if match is None:
            raise ValueError(f"cannot read {line[at:]!r}")
        cells.append(match[1])
        if not match[0].endswith(","):
            break
        at = match.end()
    return cells


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
