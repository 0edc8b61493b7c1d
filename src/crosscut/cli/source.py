"""Read the file to train on, and infer the role of each column unless an option sets it."""

from __future__ import annotations

import math
import sys
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crosscut.cli.failure import UNREADABLE, UNSUITABLE, Failure, as_options, failing_with
from crosscut.data.column_roles import findings
from crosscut.data.column_types import kind_of_values
from crosscut.data.files import read_file, reading_of, split_target
from crosscut.data.text.dialect import ZEROS, TextOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from crosscut.typing import TableLike

FEW_CLASSES = 10  # whole numbers with at most this number of distinct values are classes
MANY_CATEGORIES = 10_000  # a text column with more values is not used as categories
_CHANGED_BY = "--header or --no-header, --separator, --decimal, --encoding, --missing and --dates"
_KINDS = {"true or false": "boolean", "numbers": "numeric", "dates": "date", "null": "numeric"}
OPTION = {"folds": "--folds-column"}  # options that are not named like the role of their column
MANY_NUMBERS = 20  # a text column with at least this number of distinct numbers was meant to be numeric


@dataclass
class Source:
    """Rows to grow a tree on."""

    X: TableLike  # the columns to split on
    y: NDArray[Any]
    kind: str  # "classification" or "regression"
    groups: NDArray[Any] | None = None  # the columns named by --groups, --weights, --folds-column and --time
    weights: NDArray[Any] | None = None
    folds: NDArray[Any] | None = None
    time: NDArray[Any] | None = None
    notes: list[str] = field(default_factory=list)  # what was inferred, and how to override it
    left_out: bool = False  # whether the file has other columns besides X and the target
    rows: NDArray[Any] = field(default_factory=lambda: np.empty(0, np.int64))  # numbers in the file, from 1


def read_rows(path: str, table: str | None = None, options: TextOptions = TextOptions()) -> TableLike:  # noqa: B008, frozen
    """Read a file; every error becomes a failure."""
    if Path(path).is_dir():
        raise Failure(f"{path} is a folder; name a file in it", UNREADABLE)
    if path == "-":
        return _read_input(table, options)
    try:
        frame = read_file(path, table=table, **asdict(options))
    except Exception as error:  # each library that reads files has its own errors
        text = as_options(str(error))
        if not text.replace("\n", " ").isprintable() or "\ufffd" in text:
            text = f"{path} is not a text file, although its name suggests one"
        raise Failure(text if path in text else f"{path}: {text}", UNREADABLE) from error
    if frame.num_rows == 0:
        raise Failure(f"{path} has columns but no rows", UNSUITABLE)
    return frame


_BEGINNINGS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"PK\x03\x04": ".xlsx",
    b"\x1f\x8b": ".csv.gz",
    b"[": ".json",
    b"{": ".jsonl",
}


def _read_input(table: str | None, options: TextOptions) -> TableLike:
    """Read standard input, whose first bytes tell the format: text unless it is another known one."""
    data = sys.stdin.buffer.read()
    ending = next((end for begin, end in _BEGINNINGS.items() if data.lstrip().startswith(begin)), ".txt")
    with TemporaryDirectory(prefix="crosscut-") as folder:
        path = Path(folder, f"input{ending}")
        path.write_bytes(data)
        try:
            return read_rows(str(path), table, options)
        except Failure as failure:
            raise Failure(failure.message.replace(str(path), "-"), failure.exit_code) from failure


def rows_for(fitted: BaseEstimator, frame: TableLike) -> TableLike:
    """Return the columns of a table that a model needs."""
    schema, final = fitted.fit_.schema, fitted.fit_.final
    absent = [name for name in schema.names if name not in frame.column_names]
    tested = (
        {schema.names[f] for f in final.feature[final.feature >= 0]} if hasattr(final, "feature") else None
    )
    needed = [name for name in absent if tested is None or name in tested]
    if needed:
        near = {name: get_close_matches(name, frame.column_names, 1) for name in needed}
        hints = [f"{name!r}{f' (did you mean {near[name][0]!r}?)' if near[name] else ''}" for name in needed]
        raise ValueError(
            f"the model uses the column{'s' * (len(needed) > 1)} {', '.join(hints)}, which the file lacks; "
            f"the file has {', '.join(frame.column_names[:20])}"
        )
    for name in absent:  # of no use to the tree, so its predictions do not need them
        frame = frame.append_column(name, pa.nulls(frame.num_rows, pa.float64()))
    # a model fitted on an array knows its columns by position, x0, x1, ...
    if schema.named:
        return frame.select(list(schema.names))
    return np.column_stack([frame[name].to_numpy() for name in schema.names])


def read_source(
    path: str,
    target: str,
    *,
    table: str | None = None,
    kind: str | None = None,
    groups: str | None = None,
    weights: str | None = None,
    folds: str | None = None,
    time: str | None = None,
    drop: Sequence[str] = (),
    nominal: Sequence[str] = (),
    keep: Sequence[str] = (),
    drop_missing_target: bool = False,
    options: TextOptions = TextOptions(),  # noqa: B008, frozen
    for_numbers: str | None = None,
) -> Source:
    """Read a file and decide the role of each column.

    ``for_numbers`` advises what to use for a numeric target if only classes can be predicted.
    """
    frame = read_rows(path, table, options)
    reading = as_options(reading_of(frame))
    notes = [f"read as: {reading} ({_CHANGED_BY} change it)"] if reading else []
    if ZEROS in reading:
        notes.append("numbers that start with 0 look like codes; --nominal NAME takes them as categories")
    rows = np.arange(1, frame.num_rows + 1)
    if drop_missing_target and target in frame.column_names and frame[target].null_count:
        kept = frame[target].is_valid()
        notes.append(f"{frame[target].null_count:,} rows without {target!r} were left out")
        frame, rows = frame.filter(kept), rows[kept.to_numpy()]
    with failing_with(UNSUITABLE, f"{path}: "):
        X, y = split_target(frame, target)
        roles: dict[str, Any] = {}
        named = {"time": time, "groups": groups, "weights": weights, "folds": folds}
        for role, name in named.items():
            if name is not None:
                rest, roles[role] = _take(X, name, OPTION.get(role, f"--{role}"), target)
                X = X if role == "time" else rest  # a tree may split on time
        for name in drop:
            X, _ = _take(X, name, "--drop", target)
        for name in nominal:
            X = _as_text(X, name)
        for name in keep:
            _check_known(X, name, "--keep")
    if X.num_columns == 0:
        raise Failure(f"{path}: {target!r} is the only column; a tree needs others to split on", UNSUITABLE)
    if X.num_rows < 2:
        raise Failure(f"{path} has one row; a tree needs at least two", UNSUITABLE)
    source = Source(X, y, kind or "", **roles, notes=notes, rows=rows)
    _check_target(source, path, target, for_numbers)
    _check_mixtures(source, path, set(nominal))
    _leave_out(source, path, target, {*keep, *nominal})
    _check_columns(source, path)
    source.left_out = source.X.num_columns < frame.num_columns - 1
    return source


def _take(X: TableLike, name: str, option: str, target: str) -> tuple[Any, NDArray[Any]]:
    if name not in X.column_names:
        why = "it is the target" if name == target else f"the columns are {', '.join(X.column_names[:20])}"
        raise ValueError(f"{option} {name!r} cannot be used: {why}")
    if option == "--weights" and kind_of_values(X[name].type) not in {"numbers", "true or false"}:
        raise ValueError(f"{option} {name!r} must be numeric, but it holds {kind_of_values(X[name].type)}")
    column = X[name].to_pylist()
    if option != "--drop" and any(cell is None for cell in column):
        row = 1 + next(row for row, cell in enumerate(column) if cell is None)
        raise ValueError(
            f"{option} {name!r} has missing values, first in row {row}; fill them in or remove these rows"
        )
    return X.drop_columns([name]), np.asarray(column, dtype=np.float64 if option == "--weights" else None)


def _as_text(X: TableLike, name: str) -> TableLike:
    _check_known(X, name, "--nominal")
    return X.set_column(X.column_names.index(name), name, X[name].cast(pa.string()))


def _check_known(X: TableLike, name: str, option: str) -> None:
    if name not in X.column_names:
        raise ValueError(
            f"{option} {name!r} is not a column to split on; choose one of {', '.join(X.column_names[:20])}"
        )


def most_classes(n_rows: int) -> int:
    """Return the largest number of distinct values that ``n_rows`` rows may have as classes."""
    return max(FEW_CLASSES, math.isqrt(n_rows) * 5)


def _check_target(source: Source, path: str, target: str, for_numbers: str | None) -> None:
    """Decide between classes and numbers, and refuse targets that cannot be learnt."""
    y = source.y
    values = np.unique(y)
    if len(values) == 1:
        raise Failure(
            f"{path}: every row has {target!r} = {values[0]}; there is nothing to predict", UNSUITABLE
        )
    numeric = y.dtype.kind in "fiu"
    whole = numeric and bool(np.all(np.isfinite(y))) and bool(np.all(y == np.round(y)))
    if not source.kind:
        classes = not numeric or (whole and len(values) <= FEW_CLASSES)
        source.kind = "classification" if classes else "regression"
        what = {"O": "text", "b": "boolean"}.get(y.dtype.kind, "numbers")
        unit = "classes" if classes else "distinct values"
        override = f" (--kind {'regression' if classes else 'classification'} overrides)" if numeric else ""
        source.notes.append(
            f"target {target!r}: {what} with {len(values)} {unit}, so {source.kind}{override}"
        )
    if source.kind == "regression" and not numeric:
        what = "holds text" if y.dtype.kind == "O" else "is not numeric"
        raise Failure(f"{path}: {target!r} {what}; use --kind classification", UNSUITABLE)
    if source.kind == "regression" and not np.all(np.isfinite(y)):
        raise Failure(f"{path}: {target!r} holds infinite values", UNSUITABLE)
    if source.kind == "classification":
        if len(values) > (FEW_CLASSES if numeric and for_numbers else most_classes(len(y))):
            raise Failure(
                f"{path}: {target!r} has {len(values):,} distinct values in {len(y):,} rows, "
                "too many to be classes"
                + (f"; {for_numbers or 'use --kind regression'}" if numeric else "; choose another --target"),
                UNSUITABLE,
            )
        if whole and y.dtype.kind == "f":
            source.y = y.astype(np.int64)


def _leave_out(source: Source, path: str, target: str, keep: set[str]) -> None:
    """Leave out identifiers and free text, which only fit by chance; note other suspicious columns."""
    suspicious = [
        finding
        for finding in findings(source.X, source.y, classes=source.kind == "classification")
        if finding.name not in keep
    ]
    useless = [finding for finding in suspicious if finding.what in {"identifier", "free text"}]
    if len(useless) == source.X.num_columns:
        name, _, reason = useless[0]
        what = f"{name!r} {reason}, too many to be categories; use --keep {quote(name)} to include it"
        raise Failure(f"{path}: there is no column to split on: {what}", UNSUITABLE)
    if useless:
        source.X = source.X.drop_columns([finding.name for finding in useless])
        reasons = ", ".join(f"{name!r} {reason}" for name, _, reason in useless)
        flags = " ".join(f"--keep {quote(name)}" for name, _, _ in useless)
        source.notes.append(f"left out: {reasons} ({flags} includes {'it' if len(useless) == 1 else 'them'})")
    advice = {
        "constant": "it cannot be split",
        "many categories": "splits on many categories overfit easily; group them, or use --drop",
        "leak": f"if it is not known before {target!r}, leave it out with --drop",
    }
    several = {
        "constant": "have one value in every row",
        "many categories": "have many categories",
        "leak": "predict the target almost alone",
    }
    for what, sentence in advice.items():
        of_kind = [finding for finding in suspicious if finding.what == what]
        if len(of_kind) > 1:
            source.notes.append(f"{_listed([name for name, _, _ in of_kind])} {several[what]}: {sentence}")
        source.notes += [
            f"column {name!r} {reason}: {sentence}" for name, _, reason in of_kind if len(of_kind) == 1
        ]


def _listed(names: list[str], most: int = 5) -> str:
    """List a few columns, or the first of many."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"columns {', '.join(map(repr, names[:most]))}{more}"


def _check_columns(source: Source, path: str) -> None:
    """Refuse columns that cannot be split on; note the number of columns of each kind."""
    kinds = {"numeric": 0, "boolean": 0, "date": 0, "nominal": 0}
    missing: dict[str, int] = {}
    empty: list[str] = []
    for name in source.X.column_names:
        column = source.X[name]
        held = kind_of_values(column.type)
        if held == "text":
            kinds["nominal"] += 1
            values = pc.unique(column).drop_null()
            if len(values) > MANY_CATEGORIES:
                raise Failure(
                    f"{path}: column {name!r} has {len(values):,} distinct texts in {len(column):,} rows, "
                    f"too many to be categories; leave it out with --drop {quote(name)}",
                    UNSUITABLE,
                )
        elif held in _KINDS:
            kinds[_KINDS[held]] += 1
        else:
            raise Failure(
                f"{path}: column {name!r} holds {held}, neither numbers, dates nor text; leave it out with "
                f"--drop {quote(name)}",
                UNSUITABLE,
            )
        if column.null_count:
            missing[name] = column.null_count
        if column.null_count == len(column):
            empty.append(name)
    if empty:
        what = f"column {empty[0]!r} is" if len(empty) == 1 else f"{_listed(empty)} are"
        source.notes.append(f"{what} empty and cannot be used")
    counted = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    note = f"; missing values: {_missing_counts(missing)}" if missing else ""
    source.notes.append(f"{source.X.num_rows:,} rows; columns: {counted}{note}")


def _missing_counts(missing: dict[str, int], most: int = 5) -> str:
    """List the columns with missing values and their counts, highest first."""
    names = sorted(missing, key=lambda name: (-missing[name], name))
    text = ", ".join(f"{name} {missing[name]:,}" for name in names[:most])
    return text + (f" and {len(names) - most} more columns" if len(names) > most else "")


def _check_mixtures(source: Source, path: str, nominal: set[str]) -> None:
    """Refuse text columns in which most distinct values are numbers."""
    for name in source.X.column_names:
        if source.X[name].type != pa.string() or name in nominal:
            continue
        values = pc.unique(source.X[name]).drop_null().to_pylist()
        numbers = list(filter(_is_number, values))
        if len(values) > len(numbers) >= max(MANY_NUMBERS, len(values) / 2):
            other = next(value for value in values if not _is_number(value))
            raise Failure(
                f"{path}: column {name!r} mixes numbers such as {numbers[0]} with text such as {other!r}; "
                f"leave missing cells empty, or use --nominal {quote(name)} to take all of it as categories",
                UNSUITABLE,
            )


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
