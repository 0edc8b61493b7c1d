"""How a text file writes a table: what stands between values, and which words mean a missing one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

MISSING_WORDS = (
    *("", "?", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "NULL", "null", "None"),
    *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
_SEPARATORS = ",;\t|"
_HEAD = 1 << 16  # bytes to look for a separator in


@dataclass(frozen=True)
class Dialect:
    """Separator, quotes and missing words of a text file."""

    separator: str = ","
    quote: str = '"'
    missing: tuple[str, ...] = MISSING_WORDS

    @classmethod
    def of(cls, path: Path, usual: str) -> Dialect:
        """Find the separator of a file; the one usual for its kind if there is no better."""
        with text_stream(path) as stream:
            head = stream.read(_HEAD).decode("utf-8", "replace")
        return cls(separator_of(head, usual))

    def parsing(self) -> Any:
        """Return pyarrow's options; values may hold line breaks in quotes."""
        from pyarrow import csv

        return csv.ParseOptions(delimiter=self.separator, quote_char=self.quote, newlines_in_values=True)

    def converting(self, types: pa.Schema | None = None) -> Any:
        """Return pyarrow's options; it finds the types that are not given."""
        from pyarrow import csv

        return csv.ConvertOptions(
            null_values=list(self.missing), strings_can_be_null=True, column_types=types
        )


def separator_of(head: str, usual: str) -> str:
    r"""Return the separator that occurs most often in the first line, and as often in the second.

    >>> separator_of("age;size, m\n1;2\n", ",")
    ';'
    >>> separator_of("age\n1\n", ",")
    ','
    """
    lines = re.sub(r'"[^"]*"', "", head).splitlines()[:2]
    first, second = ([line.count(mark) for mark in _SEPARATORS] for line in [*lines, "", ""][:2])
    agreeing = [n if n == other or len(lines) < 2 else 0 for n, other in zip(first, second, strict=True)]
    counts = dict(zip(_SEPARATORS, agreeing if any(agreeing) else first, strict=True))
    return max(_SEPARATORS, key=lambda mark: (counts[mark], mark == usual))


def text_stream(path: Path) -> Any:
    """Open a text file for reading bytes; .gz and .bz2 are unpacked."""
    import pyarrow as pa

    return pa.input_stream(str(path), compression="detect")
