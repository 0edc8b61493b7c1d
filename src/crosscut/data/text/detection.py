"""Detect the dialect of a text file from its first lines."""

from __future__ import annotations

import codecs
import csv
import io
import re
from typing import TYPE_CHECKING

from crosscut.data.text.column_guess import ColumnGuess
from crosscut.data.text.dialect import MISSING_WORDS, Dialect, TextOptions, text_stream
from crosscut.data.text.forms import BLANKS, MISSING_AMONG_NUMBERS, SHAPE, NumberForm

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SEPARATORS = ",;\t|"
_HEAD = 1 << 18  # bytes to inspect
_MOST_HEAD = 1 << 26  # bytes if the header is longer
_LINES = 500
_COLUMNS = 500  # to inspect for a header
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_EXCEL = re.compile(r"sep=(.)\r?\n")
_QUOTED = re.compile(rf"\"[^\"]*\"|(?<![^{_SEPARATORS}\n])'[^'\n]*'(?![^{_SEPARATORS}\r\n])")
_INNER_DIGIT = re.compile(r"(?<=[\d.,])\d")  # of a number's digits only a leading zero matters
_POINT, _COMMA = NumberForm(".", ","), NumberForm(",", ".")


class NotTextError(ValueError):
    """A file that should be text is not."""


def detect(path: Path, usual: str, options: TextOptions) -> Dialect:
    """Return the dialect of a file from the user's options, else from its first lines.

    ``usual`` is the usual separator of this kind of file, used if no other fits better. The forms of columns
    are not known yet, because they depend on all rows.
    """
    with text_stream(path) as stream:
        head = stream.read(_HEAD)
        while head and len(head) % _HEAD == 0 and b"\n" not in head[-_HEAD:] and len(head) < _MOST_HEAD:
            more = stream.read(_HEAD)
            if not more:
                break
            head += more
        whole = len(stream.read(1)) == 0
    encoding = options.encoding or encoding_of(head)
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head, final=whole).removeprefix("\ufeff")
    excel = _EXCEL.match(text)
    separator = options.separator or (excel[1] if excel else separator_of(text, usual))
    text = text[excel.end() :] if excel else text
    quote = _quote_of(text, separator)
    loose = (
        separator == " "
        or re.search(rf"(?:^|{re.escape(separator)}) +{quote}", text, re.MULTILINE) is not None
    )
    rows = _rows(text, separator, quote, whole=whole)
    missing = (*MISSING_WORDS, *options.missing)
    cells = [[cell.strip(BLANKS) for cell in row] for row in rows]
    header = _has_header(cells, missing) if options.header is None else options.header
    first = cells[0] if cells else []
    names = [(cell if header else "") or f"c{c}" for c, cell in enumerate(first, 1)]
    return Dialect(
        separator,
        quote,
        missing,
        encoding,
        header,
        tuple(names),
        options.decimal or _decimal_of(cells[1:] if header else cells, separator),
        1 if excel else 0,
        tuple(_codes(names, cells[1:] if header else cells)),
        loose,
    )


def _codes(names: list[str], rows: list[list[str]]) -> Iterator[str]:
    """Return the columns of whole numbers of which some start with 0, such as ZIP codes."""
    for c, name in enumerate(names[:_COLUMNS]):
        cells = [row[c] for row in rows if len(row) > c and row[c]]
        if all(map(str.isdecimal, cells)) and any(len(cell) > 1 and cell[0] == "0" for cell in cells):
            yield name


def encoding_of(head: bytes) -> str:
    """Return the encoding of the first bytes: UTF-16, UTF-8, Windows-1252 or Latin-1."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8"
    even, odd = head[0:2000:2].count(0), head[1:2000:2].count(0)
    if max(even, odd) > len(head[:2000]) // 4 and min(even, odd) == 0:
        return "utf-16-be" if even else "utf-16-le"
    if _CONTROL.search(head):
        raise NotTextError("it contains binary data, not text as its name says")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return one_byte_encoding(head)
    return "utf-8"


def one_byte_encoding(data: bytes) -> str:
    """Return Windows-1252, or Latin-1 if a byte is undefined in Windows-1252."""
    return "latin-1" if re.search(rb"[\x81\x8d\x8f\x90\x9d]", data) else "cp1252"


def separator_of(head: str, usual: str) -> str:
    r"""Return the separator with the same count in most lines and whose cells look most like values.

    >>> separator_of("age;size, m\n1;2\n", ",")
    ';'
    >>> separator_of("1,5;2,5\n3,5;1,5\n", ",")
    ';'
    >>> separator_of("age\n1\n", ",")
    ','
    """
    lines = [line for line in _QUOTED.sub("x", head).splitlines()[:_LINES] if line.strip()]
    lines = lines[:-1] if len(lines) > 2 else lines  # the last may be truncated
    if not lines:
        return usual
    counts = {mark: [line.count(mark) for line in lines] for mark in _SEPARATORS}
    alike = {mark: sum(k == n[0] for k in n) / len(n) if n[0] else 0.0 for mark, n in counts.items()}
    if not any(alike.values()):
        words = {sum(map(bool, line.split(" "))) for line in lines}  # a non-breaking space is no separator
        return " " if len(lines) > 1 and len(words) == 1 and words.pop() > 1 else usual
    if len(lines) > 1 and all(fraction <= 1 / len(lines) for fraction in alike.values()):
        return max(_SEPARATORS, key=lambda mark: (counts[mark][0], mark == usual))
    most = max(round(fraction, 2) for fraction in alike.values())
    best = [mark for mark in _SEPARATORS if round(alike[mark], 2) == most]
    return max(best, key=lambda mark: (_clean(lines, mark), counts[mark][0], mark == usual))


def _clean(lines: list[str], mark: str) -> float:
    """Return the fraction of cells that contain no other separator or are decimal-comma numbers."""
    shapes = [cell.strip().translate(SHAPE) for line in lines for cell in line.split(mark)]
    others = set(_SEPARATORS) - {mark}
    clean = {shape: not others & set(shape) or _COMMA.value(shape) is not None for shape in set(shapes)}
    return sum(clean[shape] for shape in shapes) / len(shapes)


def _quote_of(text: str, separator: str) -> str:
    """Return the single quote if cells are quoted by it consistently, else the double quote."""
    if '"' in text or "'" not in text:
        return '"'
    mark = re.escape(separator)
    begun = re.findall(rf"(?:^|{mark}) *'", text, re.MULTILINE)
    quoted = re.findall(rf"(?:^|{mark}) *'[^'\n]*' *(?={mark}|\r?$)", text, re.MULTILINE)
    return "'" if begun and len(begun) == len(quoted) else '"'


def _rows(text: str, separator: str, quote: str, *, whole: bool) -> list[list[str]]:
    if separator == " ":
        text = "\n".join(line.strip() for line in text.splitlines())
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, quotechar=quote, skipinitialspace=True
    )
    rows: list[list[str]] = []
    try:
        for row in reader:
            if row:
                rows.append(row)
            if len(rows) > _LINES:
                return rows
    except csv.Error:  # a cell exceeds the size limit of csv
        return rows
    return rows if whole or len(rows) < 2 else rows[:-1]


def _has_header(rows: list[list[str]], missing: tuple[str, ...]) -> bool:
    """Whether the first row differs from the values below it.

    A word above numbers or dates indicates a header; a number above numbers indicates none. If all
    columns are text, words that occur again below indicate none.
    """
    if len(rows) < 2:
        return True
    first, below = rows[0][:_COLUMNS], rows[1:]
    names = again = 0
    fitting: list[str] = []
    for c, cell in enumerate(first):
        values = [row[c] for row in below if len(row) > c]
        guess = ColumnGuess(missing, TextOptions())
        guess.add(dict.fromkeys(values))
        if cell in missing or cell in MISSING_AMONG_NUMBERS:
            fitting += [cell] if cell and guess.forms else []
        elif guess.forms:
            fits = any(form.value(cell) is not None for form in guess.forms)
            names += not fits
            fitting += [cell] if fits else []
        else:
            again += cell in values
    if names or not fitting:
        return bool(names) or again <= len(first) / 2
    # consecutive numbers such as 0, 1, 2 or 2019, 2020 can be names
    run = len(fitting) > 1 and all(cell.isdecimal() for cell in fitting)
    run = run and fitting == [str(int(fitting[0]) + k) for k in range(len(fitting))]
    if len(fitting) == len(first):
        return run and len(first) > 2 and fitting[0] in {"0", "1"}
    return run and not again


def _decimal_of(rows: list[list[str]], separator: str) -> str:
    """Return the decimal mark of the numbers; empty if it is unclear."""
    marks = set()
    marked = {cell.translate(SHAPE) for row in rows for cell in row if "." in cell or "," in cell}
    for cell in {_INNER_DIGIT.sub("9", cell) for cell in marked}:
        with_point, with_comma = (form.value(cell) is not None for form in (_POINT, _COMMA))
        if with_point != with_comma:
            marks.add("." if with_point else ",")
    return marks.pop() if len(marks) == 1 else "." if separator == "," else ""
