"""Weka's ARFF files: attributes with their types, then one line per row."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|\S+?)\s*(?:\s|(?=\{{))(.*)", re.IGNORECASE)
_CELL = re.compile(rf"\s*({_QUOTED}|[^,]*?)\s*(?:,|$)")
_SPARSE = re.compile(rf"\s*(\d+)\s+({_QUOTED}|[^,]*?)\s*(?:,|$)")
_JAVA_TO_PYTHON = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S", "'T'": "T"}


@dataclass(frozen=True)
class Attribute:
    """A column's name and type: ``numeric``, ``string``, ``date`` or ``nominal`` with its categories."""

    name: str
    kind: str
    categories: tuple[str, ...] = ()
    pattern: str = ""  # of dates

    def value(self, text: str) -> Any:
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
        return dt.datetime.strptime(text, self.pattern) if self.kind == "date" else text  # noqa: DTZ007, as written

    @property
    def zero(self) -> Any:
        """What a sparse row means by leaving the cell out."""
        return {"numeric": 0.0, "nominal": self.categories[0] if self.categories else None}.get(self.kind)


def read_arff(path: Path) -> pa.Table:
    """Read an ARFF file, dense or sparse, as an Arrow table; declared categories keep their order."""
    import pyarrow as pa

    attributes: list[Attribute] = []
    rows: list[list[Any]] = []
    in_data = False
    for number, line in _lines(path):
        try:
            if in_data:
                rows.append(_row(line, attributes))
            elif line.lower().startswith("@attribute"):
                attributes.append(_attribute(line))
            elif line.lower().startswith("@data"):
                in_data = True
            elif not line.lower().startswith("@relation"):
                raise ValueError("@relation, @attribute or @data was expected")  # noqa: TRY301, the line is added below
        except ValueError as error:
            raise ValueError(f"line {number} of {str(path)!r}: {error}") from error
    if not in_data:
        raise ValueError(f"{str(path)!r} has no @data line")
    columns = list(zip(*rows, strict=True)) or [()] * len(attributes)
    return pa.table({a.name: _arrow(a, column, pa) for a, column in zip(attributes, columns, strict=True)})


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if text and not text.startswith("%"):
                yield number, text


def _attribute(line: str) -> Attribute:
    match = _ATTRIBUTE.match(line)
    if match is None:
        raise ValueError("@attribute needs a name and a type")
    name, kind = _unquoted(match[1]), match[2].strip()
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
            pattern = pattern.replace(java, python)
        return Attribute(name, "date", pattern=pattern)
    raise ValueError(f"attribute {name!r} has the type {kind!r}; numeric, nominal, string and date are read")


def _row(line: str, attributes: list[Attribute]) -> list[Any]:
    if line.startswith("{"):
        values = [attribute.zero for attribute in attributes]
        for match in _SPARSE.finditer(line.strip("{} ")):
            values[int(match[1])] = attributes[int(match[1])].value(match[2])
        return values
    cells = _cells(line)
    if len(cells) != len(attributes):
        raise ValueError(f"{len(cells)} values for {len(attributes)} attributes")
    return [attribute.value(cell) for attribute, cell in zip(attributes, cells, strict=True)]


def _cells(line: str) -> list[str]:
    """Split at the commas that are not in quotes."""
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


def _arrow(attribute: Attribute, column: tuple[Any, ...], pa: Any) -> Any:
    if attribute.kind == "nominal":
        code = {category: c for c, category in enumerate(attribute.categories)}
        codes = pa.array([None if v is None else code[v] for v in column], pa.int32())
        return pa.DictionaryArray.from_arrays(
            codes, pa.array(attribute.categories, pa.string()), ordered=True
        )
    kinds = {"numeric": pa.float64(), "string": pa.string(), "date": pa.timestamp("s")}
    return pa.array(column, kinds[attribute.kind])
