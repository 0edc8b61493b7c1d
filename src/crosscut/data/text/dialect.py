"""How a text file writes a table: encoding, separator, header, decimal mark, missing words, columns."""

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

from crosscut.data.memory import check_memory
from crosscut.data.text.forms import BLANKS, NAMES, NumberForm, TextForm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from crosscut.data.text.forms import Form

MISSING_WORDS = (
    *("", "?", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "NULL", "null", "None"),
    *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
_WORDS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " ", "point": "."}
_SAID = {"\t": "tab", " ": "space"}
_ENCODINGS = {"cp1252": "Windows-1252", "iso8859-1": "Latin-1", "utf-16": "UTF-16"}
READ_AS = b"read as"  # where the schema of a table says how its file was read
NO_MARK = "\x01"  # as a decimal mark: numbers with a fraction stay text until all of them have been seen


class Reading(TypedDict, total=False):
    """The fields of `TextOptions`, as functions take them."""

    header: bool | None
    separator: str | None
    decimal: str | None
    encoding: str | None
    missing: Sequence[str]
    dates: str | None


@dataclass(frozen=True)
class TextOptions:
    """What the user says about text files; what is None is found out.

    Parameters
    ----------
    header : bool, optional
        Whether the first line holds the names of the columns.
    separator : str, optional
        One character, or ``comma``, ``semicolon``, ``tab``, ``pipe`` or ``space``.
    decimal : {".", ","}, optional
    encoding : str, optional
        Any that Python knows, such as ``utf-8`` or ``cp1252``.
    missing : sequence of str
        Words that mean a missing value, besides the usual ones.
    dates : str, optional
        ``dmy``, ``mdy`` or ``ymd``; a pattern such as ``%Y%m%d``; or ``none``: nothing in text is a date.
    """

    header: bool | None = None
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: Sequence[str] = ()
    dates: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", tuple(self.missing))
        for name in ("separator", "decimal"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, _WORDS.get(given.lower(), given))
        if self.separator is not None and (len(self.separator) != 1 or self.separator in "\"'\r\n"):
            raise ValueError(
                f"separator must be one character or a word such as tab, but {self.separator!r} was given"
            )
        if self.decimal not in {None, ".", ","}:
            raise ValueError(f"decimal must be '.' or ',', but {self.decimal!r} was given")
        if self.dates is not None and self.dates not in {*NAMES, "none"} and "%" not in self.dates:
            raise ValueError(
                f"dates must be dmy, mdy, ymd, none or a pattern such as %d.%m.%Y; {self.dates!r} was given"
            )
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                raise ValueError(
                    f"encoding must be one Python knows, such as cp1252, but {self.encoding!r} was given"
                ) from None


@dataclass(frozen=True)
class Dialect:
    """How a text file is read.

    Attributes
    ----------
    separator, quote : str
    missing : sequence of str
        Words that mean a missing value in every column.
    encoding : str
    header : bool
        Whether the first line holds names.
    names : tuple of str
        Names of the columns, from the header or made up.
    decimal : str
        ".", "," or nothing where no number in the first lines tells.
    skip : int
        Lines before the table.
    loose : bool
        Whether spaces stand before quotes or in rows between values, which pyarrow does not read.
    forms : tuple of (name, form)
        Columns that are neither plain numbers nor plain text.
    words : tuple of (name, words)
        Further missing words of single columns.
    """

    separator: str = ","
    quote: str = '"'
    missing: tuple[str, ...] = MISSING_WORDS
    encoding: str = "utf-8"
    header: bool = True
    names: tuple[str, ...] = ()
    decimal: str = "."
    skip: int = 0
    loose: bool = False
    forms: tuple[tuple[str, Form], ...] = ()
    words: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def parsing(self) -> Any:
        """Return pyarrow's options; values may hold line breaks in quotes."""
        from pyarrow import csv as arrow_csv

        separator, quote = (",", '"') if self.loose else (self.separator, self.quote)
        return arrow_csv.ParseOptions(delimiter=separator, quote_char=quote, newlines_in_values=True)

    def converting(self, types: pa.Schema | None = None, columns: Sequence[str] = ()) -> Any:
        """Return pyarrow's options for some columns or all; it finds the types that are not given."""
        from pyarrow import csv as arrow_csv

        return arrow_csv.ConvertOptions(
            include_columns=list(columns),
            null_values=list(self.missing),
            strings_can_be_null=True,
            column_types=types,
            decimal_point=self.decimal or NO_MARK,
        )

    def reading(self, **options: Any) -> Any:
        """Return pyarrow's options; names come from here, the header is skipped."""
        from pyarrow import csv as arrow_csv

        return arrow_csv.ReadOptions(
            column_names=list(self.names) or None,
            skip_rows=0 if self.loose else self.skip,
            skip_rows_after_names=int(self.header and bool(self.names)),
            **options,
        )

    @contextmanager
    def opened(self, path: Path) -> Iterator[str]:
        """Give the path that pyarrow reads, of a copy where it would not read the file itself.

        pyarrow reads ahead on threads of its own. If these called Python to make the text, a process that
        ends meanwhile would wait for them for ever, or be aborted.
        """
        if self.loose:
            chunks = self._rewritten(path)
        elif codecs.lookup(self.encoding).name != "utf-8":
            chunks = _recoded(path, self.encoding)
        else:
            yield str(path)
            return
        with TemporaryDirectory(prefix="crosscut-") as folder:
            copy = Path(folder, "copy.csv")
            with copy.open("wb") as file:
                file.writelines(chunks)
            yield str(copy)

    def _rewritten(self, path: Path) -> Iterator[bytes]:
        """Yield the rows of a loosely written file as pyarrow reads them."""
        text = io.TextIOWrapper(text_stream(path), encoding=self.encoding, newline="")
        for _ in range(self.skip):
            next(text, "")
        spaced = self.separator == " "
        lines = (line.strip(" \r\n") + "\n" for line in text) if spaced else text
        rows = csv.reader(lines, delimiter=self.separator, quotechar=self.quote, skipinitialspace=True)
        while some := list(islice(rows, 1000)):
            written = io.StringIO()
            csv.writer(written, lineterminator="\n").writerows(some)
            yield written.getvalue().encode()

    def with_forms(self, forms: Mapping[str, Form], words: Mapping[str, Iterable[str]]) -> Dialect:
        """Return the dialect with the forms of columns, and the words that are missing values in them."""
        own = {
            name: tuple(sorted(words[name])) for name, form in forms.items() if not isinstance(form, TextForm)
        }
        return replace(
            self,
            forms=tuple(forms.items()),
            words=tuple((name, missing) for name, missing in own.items() if missing),
        )

    def formed(self, table: pa.Table) -> pa.Table:
        """Return a table whose text columns have become what they mean."""
        words = dict(self.words)
        for name, form in self.forms:
            missing = frozenset((*self.missing, *words.get(name, ())))
            at = table.column_names.index(name)
            table = table.set_column(at, name, _values(table.column(at), form, missing))
        return table

    def told(self, usual: str) -> str:
        """Return in one line what is not as in a plain file of this kind; nothing if all is.

        >>> Dialect(";", decimal=",", header=False, names=("c1", "c2")).told(",")
        "';' separated, decimal comma, no header (columns c1 to c2)"
        """
        said = []
        if self.separator != usual:
            said.append(f"{_SAID.get(self.separator, repr(self.separator))} separated")
        if self.quote != '"':
            said.append(f"{self.quote} as quote")
        forms = dict(self.forms)
        numbers = [form for form in forms.values() if isinstance(form, NumberForm)]
        if self.decimal == "," or any(form.decimal == "," for form in numbers):
            said.append("decimal comma")
        if not self.header:
            said.append(f"no header (columns {self.names[0]} to {self.names[-1]})")
        if codecs.lookup(self.encoding).name != "utf-8":
            name = codecs.lookup(self.encoding).name
            said.append(_ENCODINGS.get(name, name))
        told = dict.fromkeys(form.told for form in forms.values() if form.told)
        said += [f"{_listed(n for n, form in forms.items() if form.told == own)}: {own}" for own in told]
        if any(isinstance(form, TextForm) for form in forms.values()):
            said.append("spaces around values removed")
        for words in dict.fromkeys(own for _, own in self.words):
            names = _listed(name for name, own in self.words if own == words)
            said.append(f"{' '.join(map(repr, words))} in {names} is missing")
        return ", ".join(said)


def _values(column: pa.ChunkedArray, form: Form, missing: frozenset[str]) -> pa.ChunkedArray:
    import pyarrow as pa

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
    found = [repr(name) for name in names]
    return ", ".join(found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")


def text_stream(path: Path) -> Any:
    """Open a text file for reading bytes; .gz and .bz2 are unpacked."""
    import pyarrow as pa

    return pa.input_stream(str(path), compression="detect")


def _recoded(path: Path, encoding: str) -> Iterator[bytes]:
    """Yield a file in UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)()
    with text_stream(path) as stream:
        while block := stream.read(1 << 18):
            yield decoder.decode(block).encode()
    yield decoder.decode(b"", final=True).encode()


def check_unpacked(path: Path) -> None:
    """Refuse a packed file that is larger than memory."""
    size = 0
    with text_stream(path) as stream:
        while block := stream.read(1 << 24):
            size += len(block)
            instead = "fit a Stream, which reads it in batches"
            check_memory(3 * size, f"the unpacked {str(path)!r}", instead)
