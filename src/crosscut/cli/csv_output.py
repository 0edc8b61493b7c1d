"""Results as CSV, to a file or to the standard stream."""

from __future__ import annotations

import csv
import sys
from contextlib import contextmanager
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from crosscut.data.array_file import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would calculate


def write_csv(path: Path | None, headings: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    """Write lines under their headings; a file is complete, or it is not there."""
    with _stream(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(map(_harmless, headings))
        writer.writerows(map(_harmless, line) for line in lines)


def _harmless(cell: Any) -> Any:
    """Mark text that a spreadsheet would take for a formula as text, as spreadsheets do."""
    if not isinstance(cell, str) or not cell.startswith(_FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


@contextmanager
def _stream(path: Path | None) -> Iterator[Any]:
    if path is None:
        yield sys.stdout
        return
    with replacing(path) as file:
        text = TextIOWrapper(file, encoding="utf-8", newline="")
        yield text
        text.flush()
        text.detach()
