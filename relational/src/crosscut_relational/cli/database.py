"""Read the database that a command learns from or predicts: linked tables, or files of ACE or Aleph."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from crosscut.cli.failure import UNREADABLE, UNSUITABLE, Failure, failing_with
from crosscut.cli.source import Source, most_classes
from crosscut.cli.terminal import waiting
from crosscut.data.databases import is_sqlite
from crosscut.data.files import DATABASES, reading_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut_relational.database.database import Database
    from crosscut_relational.database.table_files import StoredTables
    from crosscut_relational.language.bias import Bias

MOST_LINKS = 12  # maximum number of links printed
_ALEPH = (".b", ".f", ".n", ".pl")
_ACE = (".s", ".kb", ".bg")


def read_database(
    path: Path | Server,
    *,
    target: str | None,
    kind: str | None,
    fold_files: Path | None,
    keys: tuple[str, ...] = (),
    links: tuple[str, ...] = (),
    drop_missing_target: bool = False,
    roles: dict[str, str | None],
    schema: dict[str, Any],
    settings: dict[str, Any],
) -> tuple[Database, Bias, Source]:
    """Return a database, its bias, and the columns with weights, groups and folds.

    ``keys``, ``links``, ``roles`` (columns of the target's table) and ``schema`` (options of
    `Bias.from_schema`) are for linked tables. None means that an option was not used.
    """
    from crosscut_relational.database.database import Database
    from crosscut_relational.language.attributes import KEY_OF_SEVERAL
    from crosscut_relational.language.bias import Bias

    chosen = {name: value for name, value in settings.items() if value is not None}
    form = _form(path)
    if form != "ace" and fold_files is not None:
        raise Failure(f"--fold-files needs files of ACE; {path} is not one", UNSUITABLE)
    if form != "tables" and isinstance(path, Path):
        tables_only = {"target": target, "kind": kind, "key": keys, "link": links, **roles, **schema}
        tables_only["drop_missing_target"] = drop_missing_target or None
        for option, value in tables_only.items():
            if value not in (None, ()):
                name = "--" + option.replace("_", "-")
                raise Failure(f"{name} is for linked tables; {path} names its own target", UNSUITABLE)
        with failing_with(UNREADABLE, f"{path}: "), waiting(f"reading {path.name}"):
            if form == "ace":
                database, bias = Database.from_ace(path, folds=fold_files), Bias.from_ace(path)
            else:
                prefix = path.with_suffix("")
                database, bias = Database.from_aleph(prefix), Bias.from_aleph(prefix)
            return database, bias.with_settings(**chosen), _source(database, {})
    stored = _tables(path)
    for line in _readings(stored.tables):
        warnings.warn(line, UserWarning, stacklevel=2)
    if target is None:
        suggestions = ", ".join(
            f"{name}.{[each for each in table.column_names if KEY_OF_SEVERAL not in each][-1]}"
            for name, table in stored.tables.items()
            if name not in stored.views
        )
        raise Failure(f"{path}: use --target TABLE.COLUMN, for example {suggestions}", UNSUITABLE)
    with failing_with(UNSUITABLE, f"{path}: "), waiting(f"linking the tables of {path.name}"):
        columns = _roles(stored, target, roles)
        database = stored.database(
            target,
            keys=dict(map(_key, keys)),
            links=dict(_link(each) for each in links),
            regression=None if kind is None else kind == "regression",
            drop_missing_target=drop_missing_target,
        )
        if drop_missing_target:
            table, _, column = target.rpartition(".")
            known = stored.tables[table][column].is_valid().to_numpy()
            columns = {role: values[known] for role, values in columns.items()}
            if not known.all():
                warnings.warn(
                    f"left out {np.count_nonzero(~known)} examples without {target}",
                    UserWarning,
                    stacklevel=2,
                )
        if linked := database.links:
            more = f" and {len(linked) - MOST_LINKS} more" if len(linked) > MOST_LINKS else ""
            warnings.warn(f"links: {', '.join(linked[:MOST_LINKS])}{more}", UserWarning, stacklevel=2)
        if kind is None and database.target is not None:
            _note_kind(database, target)
        if database.target is None:
            raise ValueError(f"--target {target} has no values")
        n_classes, n = len(database.classes), database.n_examples
        if n_classes > most_classes(n):
            raise ValueError(
                f"--target {target} has {n_classes:,} different values in {n:,} rows, too many for "
                "classes; use --kind regression to predict numbers"
            )
        chosen |= {name: value for name, value in schema.items() if value is not None}
        return database, Bias.from_schema(database, **chosen), _source(database, columns)


def _note_kind(database: Database, target: str) -> None:
    """Tell whether numbers are taken for classes or predicted as numbers, and how to override it."""
    if database.classes and not all(isinstance(each, int) for each in database.classes):
        return
    is_number = not database.classes
    n = len(np.unique(database.labels))
    what, kind = ("distinct values", "regression") if is_number else ("classes", "classification")
    other = "classification" if is_number else "regression"
    note = f"target {target!r}: numbers with {n:,} {what}, so {kind} (--kind {other} overrides)"
    warnings.warn(note, UserWarning, stacklevel=2)


def _roles(stored: StoredTables, target: str, roles: dict[str, str | None]) -> dict[str, NDArray[Any]]:
    """Return columns of the target's table by role; tests may not use folds and weights."""
    table = target.rpartition(".")[0]
    columns = {}
    for role, name in roles.items():
        if name is None or table not in stored.tables:
            continue
        rows, option = stored.tables[table], "--" + role.replace("_", "-")
        if name not in rows.column_names:
            raise ValueError(
                f"{option}: {table} has no column {name!r}; it has {', '.join(rows.column_names)}"
            )
        values = rows[name].to_pylist()
        if None in values:
            raise ValueError(f"{option} {name} has missing values")
        if role == "weights" and not np.issubdtype(np.array(values).dtype, np.number):
            raise ValueError(f"{option} {name} contains text; weights must be numbers")
        columns["folds" if role == "folds_column" else role] = np.array(values)
        if role in {"folds_column", "weights"}:
            stored.tables[table] = rows.drop_columns([name])
    return columns


def _source(database: Database, columns: dict[str, Any]) -> Source:
    kind = "classification" if database.classes else "regression"
    return Source(None, np.asarray(database.target), kind, **columns)


def _key(text: str) -> tuple[str, str]:
    table, dot, column = text.rpartition(".")
    if not dot:
        raise ValueError(f"--key {text}: use TABLE.COLUMN")
    return table, column


def _link(text: str) -> tuple[str, str]:
    start, equals, end = text.partition("=")
    if not equals:
        raise ValueError(f"--link {text}: use TABLE.COLUMN=TABLE.COLUMN")
    return start.strip(), end.strip()


def read_examples(path: Path | Server, model: Any) -> Database:
    """Read the examples to predict."""
    from crosscut_relational.database.database import Database

    form = _form(path)
    if form != "tables" and isinstance(path, Path):
        with failing_with(UNREADABLE, f"{path}: "), waiting(f"reading {path.name}"):
            return Database.from_ace(path) if form == "ace" else Database.from_aleph(path.with_suffix(""))
    name, column = model.fit_.schema.target_name, model.fit_.schema.target_column
    with warnings.catch_warnings(action="ignore"):  # printed as notes below
        stored = _tables(path)
    for line in _readings(stored.tables):
        click.echo(f"crosscut: note: {line}", err=True)
    if column is None or name not in stored.tables:
        why = f"there is no table {name!r}" if column else "the model was not learnt from tables"
        raise Failure(f"{path}: {why}", UNSUITABLE)
    with failing_with(UNSUITABLE, f"{path}: "), waiting(f"linking the tables of {path.name}"):
        stored.tables[name] = _without_values(stored.tables[name], column)
        with warnings.catch_warnings(action="ignore"):  # reported when the model was learnt
            return stored.database(f"{name}.{column}")


def place_of(data: str) -> Path | Server:
    """Return the file, folder or server that a command reads."""
    return Server(data) if data.startswith(("postgresql://", "postgres://")) else Path(data)


@dataclass(frozen=True)
class Server:
    """A database server; its address is not shown, since it may hold a password."""

    uri: str

    @property
    def name(self) -> str:
        """The name of the database, without the address."""
        return self.uri.partition("?")[0].rpartition("/")[2] or "postgresql"

    def __str__(self) -> str:
        return self.name


def _form(path: Path | Server) -> str:
    if isinstance(path, Server):
        return "tables"
    if path.is_dir() or (path.is_file() and path.suffix.lower() in DATABASES):
        return "tables"
    if path.is_file() and path.suffix in _ALEPH:
        return "aleph"
    if (path.is_file() and path.suffix in _ACE) or path.with_name(path.name + ".s").is_file():
        return "ace"
    if not path.exists():
        raise Failure(f"no such file or folder: {str(path)!r}", UNREADABLE)
    raise Failure(
        f"{path} is not a database; use a folder of tables (.csv, .parquet, ...), a database "
        f"({', '.join(DATABASES)}), or files of ACE ({', '.join(_ACE)}) or Aleph ({', '.join(_ALEPH)})",
        UNREADABLE,
    )


def _tables(path: Path | Server) -> StoredTables:
    from crosscut_relational.database.table_files import (
        read_duckdb,
        read_folder,
        read_postgresql,
        read_sqlite,
    )

    try:
        with failing_with(UNREADABLE), waiting(f"reading {path.name}"):
            if isinstance(path, Server):
                return read_postgresql(path.uri)
            if path.is_dir():
                return read_folder(path)
            return read_sqlite(path) if is_sqlite(path) else read_duckdb(path)
    except Failure:
        raise
    except Exception as error:  # duckdb and sqlite3 have their own exceptions
        raise Failure(f"{path}: {error}", UNREADABLE) from error


def _readings(tables: dict[str, Any]) -> list[str]:
    """Describe how text files were read, if not as plain CSV."""
    readings = {name: reading_of(table) for name, table in tables.items()}
    return [f"{name} is read as: {how}" for name, how in readings.items() if how]


def _without_values(table: Any, column: str) -> Any:
    """Return a table whose target column is empty; the column may be absent before."""
    import pyarrow as pa

    kept = table.drop_columns([column]) if column in table.column_names else table
    return kept.append_column(column, pa.nulls(table.num_rows))
