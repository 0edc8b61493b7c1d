"""Dialect of a text file: encoding, separator, header, decimal mark, missing words, column forms."""

from __future__ import annotations

import codecs
import csv
import io
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypedDict

import pyarrow as pa
from pyarrow import csv as arrow_csv

from crosscut.data.memory import check_memory
from crosscut.data.text.forms import BLANKS, NAMES, NumberForm, TextForm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from crosscut.data.text.forms import Form

MISSING_WORDS = (
    *("", "?", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "NULL", "null", "None"),
    *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
_WORDS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " ", "point": "."}
_SEPARATOR_NAMES = {"\t": "tab", " ": "space"}
_ENCODINGS = {"cp1252": "Windows-1252", "iso8859-1": "Latin-1", "utf-16": "UTF-16"}
READ_AS = b"read as"  # metadata key of a schema for the description of how the file was read
NO_MARK = "\x01"  # a decimal mark that never occurs: fractions stay text until all values are seen


class Reading(TypedDict, total=False):
    """The fields of `TextOptions` as keyword arguments."""

    header: bool | None
    separator: str | None
    decimal: str | None
    encoding: str | None
    missing: Sequence[str]
    dates: str | None


ZEROS = "numbers without their leading zeros"


@dataclass(frozen=True)
class TextOptions:
    """The parameters of :func:`crosscut.read_file` about text; those that are None are detected."""

    header: bool | None = None
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: Sequence[str] = ()
    dates: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", tuple(self.missing))
        for name in ("separator", "decimal"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _WORDS.get(value.lower(), value))
        if self.separator is not None and (len(self.separator) != 1 or self.separator in "\"'\r\n"):
            raise ValueError(f"separator must be one character or a word such as tab, not {self.separator!r}")
        if self.decimal not in {None, ".", ","}:
            raise ValueError(f"decimal must be '.' or ',', not {self.decimal!r}")
        if self.dates is not None and self.dates not in {*NAMES, "none"} and "%" not in self.dates:
            raise ValueError(
                f"dates must be dmy, mdy, ymd, none or a pattern such as %d.%m.%Y, not {self.dates!r}"
            )
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                raise ValueError(
                    f"encoding must be one Python knows, such as cp1252, not {self.encoding!r}"
                ) from None


@dataclass(frozen=True)
class Dialect:
    """How a text file is read."""

    separator: str = ","
    quote: str = '"'
    missing: tuple[str, ...] = MISSING_WORDS  # in every column
    encoding: str = "utf-8"
    header: bool = True  # the first line holds names
    names: tuple[str, ...] = ()  # of the columns, from the header or generated
    decimal: str = "."  # or ","; empty if the first lines do not show it
    skip: int = 0  # lines before the table
    codes: tuple[str, ...] = ()  # columns of whole numbers of which some start with 0
    loose: bool = False  # spaces precede quotes or separate values, which pyarrow cannot read
    forms: tuple[tuple[str, Form], ...] = ()  # of columns that are neither plain numbers nor plain text
    words: tuple[tuple[str, tuple[str, ...]], ...] = ()  # additional missing words of single columns

    def parsing(self) -> arrow_csv.ParseOptions:
        """Return pyarrow's options for parsing; quoted values may contain line breaks."""
        separator, quote = (",", '"') if self.loose else (self.separator, self.quote)
        return arrow_csv.ParseOptions(delimiter=separator, quote_char=quote, newlines_in_values=True)

    def converting(
        self, types: pa.Schema | None = None, columns: Sequence[str] = ()
    ) -> arrow_csv.ConvertOptions:
        """Return pyarrow's options for converting some or all columns; missing ``types`` are inferred."""
        return arrow_csv.ConvertOptions(
            include_columns=list(columns),
            null_values=list(self.missing),
            strings_can_be_null=True,
            column_types=types,
            decimal_point=self.decimal or NO_MARK,
        )

    def reading(self, block_size: int | None = None) -> arrow_csv.ReadOptions:
        """Return pyarrow's options for reading; the header is skipped because ``names`` replace it."""
        return arrow_csv.ReadOptions(
            column_names=list(self.names) or None,
            skip_rows=0 if self.loose else self.skip,
            skip_rows_after_names=int(self.header and bool(self.names)),
            block_size=block_size,
        )

    @contextmanager
    def opened(self, path: Path) -> Iterator[str]:
        """Provide a path that pyarrow can read: the file itself, or a rewritten temporary copy.

        A Python stream instead of a copy is unsafe: pyarrow reads ahead on its own threads. If these called
        Python, a process that ends during the call would hang or be aborted.
        """
        if self.loose:
            chunks = self._as_strict_csv(path)
        elif codecs.lookup(self.encoding).name != "utf-8":
            chunks = _as_utf8(path, self.encoding)
        else:
            yield str(path)
            return
        with TemporaryDirectory(prefix="crosscut-") as folder:
            copy = Path(folder, "copy.csv")
            with copy.open("wb") as file:
                file.writelines(chunks)
            yield str(copy)

    def _as_strict_csv(self, path: Path) -> Iterator[bytes]:
        """Yield the rows of a loosely formatted file as strict CSV."""
        text = io.TextIOWrapper(text_stream(path), encoding=self.encoding, newline="")
        for _ in range(self.skip):
            next(text, "")
        spaced = self.separator == " "
        lines = (line.strip(" \r\n") + "\n" for line in text) if spaced else text
        rows = csv.reader(lines, delimiter=self.separator, quotechar=self.quote, skipinitialspace=True)
        while block := list(islice(rows, 1000)):
            written = io.StringIO()
            csv.writer(written, lineterminator="\n").writerows(block)
            yield written.getvalue().encode()

    def with_forms(self, forms: Mapping[str, Form], words: Mapping[str, Iterable[str]]) -> Dialect:
        """Return the dialect with forms of columns and their additional missing words."""
        missing = {
            name: tuple(sorted(words[name]))
            for name, form in forms.items()
            if words[name] and not isinstance(form, TextForm)
        }
        return replace(self, forms=tuple(forms.items()), words=tuple(missing.items()))

    def in_forms(self, table: pa.Table) -> pa.Table:
        """Return the table with text columns converted to their forms."""
        words = dict(self.words)
        for name, form in self.forms:
            missing = frozenset((*self.missing, *words.get(name, ())))
            at = table.column_names.index(name)
            table = table.set_column(at, name, _values(table.column(at), form, missing))
        return table

    def description(self, usual: str) -> str:
        """Describe in one line how the file differs from a plain one; empty if it does not.

        >>> Dialect(";", decimal=",", header=False, names=("c1", "c2")).description(",")
        "';' separated, decimal comma, no header (columns c1 to c2)"
        """
        notes = []
        if self.separator != usual:
            notes.append(f"{_SEPARATOR_NAMES.get(self.separator, repr(self.separator))} separated")
        if self.quote != '"':
            notes.append(f"{self.quote} as quote")
        forms = dict(self.forms)
        numbers = [form for form in forms.values() if isinstance(form, NumberForm)]
        if self.decimal == "," or any(form.decimal == "," for form in numbers):
            notes.append("decimal comma")
        if not self.header:
            notes.append(f"no header (columns {self.names[0]} to {self.names[-1]})")
        if codecs.lookup(self.encoding).name != "utf-8":
            name = codecs.lookup(self.encoding).name
            notes.append(_ENCODINGS.get(name, name))
        for note in dict.fromkeys(form.description for form in forms.values() if form.description):
            notes += [f"{_listed(name for name, form in forms.items() if form.description == note)}: {note}"]
        if self.codes:
            notes.append(f"{_listed(iter(self.codes))}: {ZEROS}")
        if any(isinstance(form, TextForm) for form in forms.values()):
            notes.append("spaces around values removed")
        for words in dict.fromkeys(missing for _, missing in self.words):
            names = _listed(name for name, missing in self.words if missing == words)
            notes.append(f"{' '.join(map(repr, words))} in {names} is missing")
        return ", ".join(notes)


def _values(column: pa.ChunkedArray, form: Form, missing: frozenset[str]) -> pa.ChunkedArray:
    read: dict[str, Any] = {}
    chunks = []
    for chunk in column.chunks:
        coded = chunk.dictionary_encode()
        texts = coded.dictionary.to_pylist()
        for text in texts:
            if text not in read:
                plain = text.strip(BLANKS)
                read[text] = None if plain in missing else form.value(plain)
        chunks.append(pa.array([read[text] for text in texts], form.arrow_type).take(coded.indices))
    return pa.chunked_array(chunks, form.arrow_type)


def _listed(names: Iterator[str]) -> str:
    quoted = [repr(name) for name in names]
    return ", ".join(quoted[:3]) + (f" and {len(quoted) - 3} more" if len(quoted) > 3 else "")


def text_stream(path: Path) -> pa.NativeFile:
    """Open a text file as bytes; decompress .gz and .bz2."""
    return pa.input_stream(str(path), compression="detect")


def _as_utf8(path: Path, encoding: str) -> Iterator[bytes]:
    """Yield a file converted to UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)()
    with text_stream(path) as stream:
        while block := stream.read(1 << 18):
            yield decoder.decode(block).encode()
    yield decoder.decode(b"", final=True).encode()


def check_unpacked(path: Path) -> None:
    """Raise MemoryError if the decompressed file does not fit into memory."""
    size = 0
    with text_stream(path) as stream:
        while block := stream.read(1 << 24):
            size += len(block)
            instead = "fit a Stream, which reads it in batches"
            check_memory(3 * size, f"the decompressed {str(path)!r}", instead)
