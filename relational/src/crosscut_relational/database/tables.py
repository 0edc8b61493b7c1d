"""Turn linked tables into relations: find keys and links, and convert the values of columns."""

from __future__ import annotations

import datetime as dt
import math
import warnings
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from crosscut import CrosscutWarning
from crosscut.data.columns import moment_of
from crosscut.engines.progress import each_part, watching_part
from crosscut_relational.database.database import MISSING, ROW_NUMBER, Database
from crosscut_relational.database.relation import Relation
from crosscut_relational.database.target import class_codes
from crosscut_relational.language.attributes import Column, singular
from crosscut_relational.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from crosscut_relational.database.constants import Constants
    from crosscut_relational.language.attributes import ColumnKind
    from crosscut_relational.language.terms import Constant

FEW_CLASSES = 10  # integers with at most this number of different values are classes
UNKNOWN = "unknown"  # a link to a row that does not exist
_UNSUPPORTED = (bytes, bytearray, memoryview, list, tuple, dict, set)  # types of values that tests cannot use


class SchemaError(ValueError):
    """Keys, links or the target do not match the tables."""


@dataclass
class _Values:
    """One column as codes, so that only its distinct values are Python objects."""

    distinct: list[Any]
    codes: NDArray[np.int32]  # places in `distinct`, -1 where missing
    kind: Literal["numeric", "date", "nominal"]
    refers_to: (
        tuple[str, str] | tuple[()]
    ) = ()  # of a link: the column it names a row by, if not the key, and its table

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def values(self) -> list[Any]:
        """The values of the rows, None where missing."""
        return [*map([*self.distinct, None].__getitem__, self.codes.tolist())]

    @property
    def is_distinct(self) -> bool:
        return int(np.count_nonzero(self.codes >= 0)) == len(self.distinct)

    @property
    def is_unique(self) -> bool:
        return len(self.codes) == len(self.distinct)


_Tables = dict[str, dict[str, _Values]]


def build(
    tables: Mapping[str, Any],
    target: str,
    keys: Mapping[str, str],
    links: Mapping[str, str],
    *,
    classes: Sequence[Constant] | None,
    regression: bool | None,
    drop_missing_target: bool = False,
) -> Database:
    """Build the database of linked tables; see `Database.from_tables`."""
    columns: _Tables = {}
    with watching_part(0.0, 0.5):
        sizes = [max(1, len(frame)) for frame in tables.values()]
        for name, frame in each_part(tables.items(), sizes):
            columns[name] = _columns(name, frame)
    target_table, target_column = _split(target, "target", columns)
    primary = _primary_keys(columns, dict(keys))
    linked = _links(columns, primary, dict(links))
    _warn_of_unlinked(columns, primary, linked, target_table)
    values = columns[target_table].pop(target_column)
    if target_table in primary and primary[target_table] == target_column:
        raise SchemaError(f"target is {target!r}, which is the key of {target_table}")
    database = Database(target_name=target_table, target_column=target_column)
    database.key_types = (_first_table(target_table, primary, linked),)
    with watching_part(0.5, 1.0):
        for table, content in each_part(columns.items(), sizes):
            links = {name: _first_table(other, primary, linked) for name, other in linked[table].items()}
            _add_relation(database, table, content, primary.get(table), links)
    _set_target(database, values, target, classes, regression, drop=drop_missing_target)
    known = values.codes >= 0
    return database[known] if drop_missing_target and known.any() and not known.all() else database


def _split(text: str, argument: str, tables: _Tables) -> tuple[str, str]:
    table, _, column = text.rpartition(".")
    if table not in tables or column not in tables[table]:
        known = (
            ", ".join(tables)
            if table not in tables
            else ", ".join(f"{table}.{name}" for name in tables[table])
        )
        raise SchemaError(f"{argument} names {text!r}; use 'table.column' with one of {known}")
    return table, column


def _columns(table: str, frame: Any) -> dict[str, _Values]:
    if isinstance(frame, dict):
        listed = {str(name): _coded(values) for name, values in frame.items()}
        if len({len(codes) for _, codes in listed.values()}) > 1:
            raise SchemaError(f"columns {', '.join(listed)} of one table have different lengths")
        categorical: set[str] = set()
    else:
        import narwhals as nw

        native = nw.from_native(frame, eager_only=True)
        categorical = {name for name, kind in native.schema.items() if kind in {nw.Categorical, nw.Enum}}
        listed = {name: _coded_series(native[name]) for name in native.columns}
    unsupported = [
        name
        for name, (distinct, _) in listed.items()
        if any(issubclass(each, _UNSUPPORTED) for each in {*map(type, distinct)})
    ]
    if unsupported:
        _warn(f"{table}: {', '.join(unsupported)} left out, because the values are binary or nested")
    return {
        name: _values(f"{table}.{name}", *coded, categorical=name in categorical)
        for name, coded in listed.items()
        if name not in unsupported
    }


def _coded_series(series: Any) -> tuple[list[Any], NDArray[np.int32]]:
    """Return the distinct values of a column, and the place of each row's value among them, -1 if null."""
    import pyarrow as pa

    try:
        column = series.to_arrow()
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        codes = coded.indices.cast(pa.int32()).fill_null(-1).to_numpy()
        return coded.dictionary.to_pylist(), codes
    except (pa.ArrowException, TypeError):  # objects of different types, or nested ones
        return _coded(series.to_list())


def _coded(values: Any) -> tuple[list[Any], NDArray[np.int32]]:
    """Return the distinct values of a sequence like `_coded_series`; 1, 1.0 and True are different."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        distinct, codes = np.unique(values, return_inverse=True)
        return distinct.tolist(), codes.astype(np.int32)
    rows = list(values)
    numbers: dict[Any, int] = {}
    try:
        places = [numbers.setdefault((type(each), each), len(numbers)) for each in rows]
    except TypeError:  # values that are not hashable are nested
        return rows, np.arange(len(rows), dtype=np.int32)
    return [each for _, each in numbers], np.array(places, np.int32)


def _warn(text: str) -> None:
    warnings.warn(text, CrosscutWarning, stacklevel=6)


def _values(name: str, original: list[Any], codes: NDArray[np.int32], *, categorical: bool) -> _Values:
    kinds = {*map(type, original)}
    if kinds <= {int} or kinds <= {str}:  # constants as they are, such as a million keys
        distinct, known = original, original
    else:
        plain = [_plain(value) for value in original]
        known = [value for value, each in zip(original, plain, strict=True) if each is not None]
        places: dict[Any, int] = {}  # different values may be equal as constants, such as 1 and 1.0
        place = [-1 if each is None else places.setdefault(each, len(places)) for each in plain]
        codes = np.array([*place, -1], np.int32)[codes]
        distinct = list(places)
    numbers = [issubclass(kind, (int, float)) for kind in {*map(type, distinct)}]
    if categorical or not numbers or not all(numbers):
        if any(numbers) and not categorical:
            _warn(f"{name} mixes numbers and other values; all are treated as names")
        return _Values(distinct, codes, "nominal")
    if kinds <= {int}:
        return _Values(distinct, codes, "numeric")
    dates = [isinstance(value, (dt.date, np.datetime64)) for value in known]
    if any(dates) and not all(dates):
        _warn(f"{name} mixes numbers and dates; dates become days since 1970-01-01")
    return _Values(distinct, codes, "date" if all(dates) else "numeric")


def _plain(value: Any) -> Any:
    """Return a value as a constant: numbers, text, dates as days since 1970-01-01; None if missing."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.datetime):
        days = (value.replace(tzinfo=None) - moment_of(0)) / dt.timedelta(days=1)
        return int(days) if days.is_integer() else days
    if isinstance(value, dt.date):
        return value.toordinal() - moment_of(0).toordinal()
    if isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Decimal):
        return float(value)
    text = str(value)
    return None if text in {"NaT", "<NA>"} else text


def _primary_keys(tables: _Tables, keys: dict[str, str]) -> dict[str, str]:
    for table, column in keys.items():
        _split(f"{table}.{column}", "keys", tables)
        if not tables[table][column].is_unique:
            raise SchemaError(
                f"keys names {table}.{column}, but it has missing or repeated values; name a column with a "
                "distinct value in every row, or none to number the rows"
            )
    for table, content in tables.items():
        nouns = (table.lower(), singular(table).lower())
        likely = [name for noun in nouns for name in (f"{noun}_id", f"{noun}id", f"id_{noun}")]
        names = {name.lower(): name for name in content}
        for name in (*likely, "id"):
            column = names.get(name, "")
            if table not in keys and column and content[column].is_unique:
                keys[table] = column
    for table, content in tables.items():
        if table not in keys:
            shared = [column for column in content if _is_shared_key(table, column, tables)]
            keys.update((table, column) for column in shared[:1])
    return keys


def _is_shared_key(table: str, column: str, tables: _Tables) -> bool:
    """Whether other tables repeat the values of a column whose name ends with id, key or code."""
    if not column.lower().endswith(("id", "key", "code")) or not tables[table][column].is_unique:
        return False
    others = [content[column] for name, content in tables.items() if name != table and column in content]
    values = set(tables[table][column].distinct)
    return any(len(each) and not each.is_distinct for each in others) and all(
        not each.is_unique and _fraction_within(each, values) > 0.5 for each in others
    )


def _fraction_within(column: _Values, values: set[Any]) -> float:
    """Return the fraction of a column's distinct values that are among other values."""
    within = sum(value in values for value in column.distinct)
    return within / len(column.distinct) if column.distinct else 0.0


def _links(tables: _Tables, primary: dict[str, str], links: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return the table that each linking column refers to."""
    referred: dict[str, dict[str, str]] = {table: {} for table in tables}
    for start, end in links.items():
        table, column = _split(start, "links", tables)
        other, other_column = _split(end, "links", tables)
        if not tables[other][other_column].is_distinct:
            raise SchemaError(
                f"links refers to {end!r}, which has repeated values; refer to a column with "
                f"distinct values such as {other}.{primary.get(other, 'id')}"
            )
        key = primary.setdefault(other, other_column)
        if key != other_column:  # replace the value by the key of the row it refers to
            keys = dict(zip(tables[other][other_column].values, tables[other][key].values, strict=True))
            tables[table][column].distinct = [
                keys.get(value, Compound(UNKNOWN, (end, value))) for value in tables[table][column].distinct
            ]
            tables[table][column].refers_to = (other_column, other)
        referred[table][column] = other
    for table, content in tables.items():
        for column in content:
            if column in referred[table] or primary.get(table) == column:
                continue
            for other, key in primary.items():
                named = {key.lower()} - {"id"}
                for noun in (other.lower(), singular(other).lower()):
                    named |= {f"{noun}_{key}".lower(), f"{noun}_id", f"{noun}id"}
                if other != table and column.lower() in named:
                    referred[table][column] = other
                    break
    return referred


def _first_table(table: str, primary: dict[str, str], linked: dict[str, dict[str, str]]) -> str:
    """Return the table that the key of a table comes from, if the key is itself a link."""
    path = [table]
    while (other := linked[path[-1]].get(primary.get(path[-1], ""))) and other not in path:
        path.append(other)
    return min(path) if other else path[-1]  # tables that refer to each other


def _warn_of_unlinked(
    tables: _Tables, primary: dict[str, str], linked: dict[str, dict[str, str]], target: str
) -> None:
    """Name the tables that no path of links joins to the target's table, and what might link them."""
    reached, new = {target}, [target]
    while new:
        table = new.pop()
        joined = {*linked[table].values(), *(name for name, ends in linked.items() if table in ends.values())}
        new += joined - reached
        reached |= joined
    absent = [table for table in tables if table not in reached]
    if not absent:
        return
    keys = {
        (end, column): set(content.distinct)
        for end, contents in tables.items()
        for column, content in contents.items()
        if column == primary.get(end, column if content.is_unique and content.kind == "nominal" else "")
    }
    pairs = [
        (_fraction_within(content, values), f"{start}.{column}={end}.{key}")
        for start in tables
        for column, content in tables[start].items()
        if content.kind != "date" and column != primary.get(start) and column not in linked[start]
        for (end, key), values in keys.items()
        if end != start and (start in absent) != (end in absent)
    ]
    likely = max(pairs, default=(0.0, ""), key=lambda pair: pair[0])
    hint = f" (perhaps {likely[1]})" if likely[0] > 0.9 else ""
    _warn(
        f"not linked to {target}, so no test uses them: {', '.join(absent)}. Name the columns that refer to "
        f"their rows, or to which their rows refer, with links{hint}"
    )


def _add_relation(
    database: Database, table: str, content: dict[str, _Values], key: str | None, links: dict[str, str]
) -> None:
    """Store a table with its columns in order: the link to the target's table if any, its key, the rest."""
    (target,) = database.key_types
    n_rows = max(map(len, content.values()), default=0)
    if key is None:
        key = ROW_NUMBER
        content = {
            key: _Values(
                [Compound("row", (table, number)) for number in range(n_rows)],
                np.arange(n_rows, dtype=np.int32),
                "nominal",
            ),
            **content,
        }
    own_type = links.get(key, table)
    to_target = [name for name, other in links.items() if other == target and name != key]
    first = ([] if target in {table, own_type} else to_target[:1]) + [key]
    order = [*first, *(name for name in content if name not in first)]
    columns, types, described = [], [], []
    for name in order:
        linked = name == key or name in links
        columns.append(_ids(content[name], database.constants, f"{table}.{name}" if linked else None))
        types.append(own_type if name == key else links.get(name, f"{table}.{name}"))
        kind: ColumnKind = "key" if name == key else "link" if linked else content[name].kind
        refers_to = content[name].refers_to or ((None, table) if kind == "key" else ())
        described.append(Column(name, kind, *refers_to))
    stacked = np.stack(columns)  # keys are distinct, and so are rows
    predicate = (table, len(order))
    database.columns[predicate] = tuple(described)
    database.relations[predicate] = Relation(table, stacked, tuple(types), keyed=types[0] == target)
    if table == database.target_name:
        database.keys = np.ascontiguousarray(columns[0][None, :])


def _ids(column: _Values, constants: Constants, link: str | None) -> NDArray[np.int32]:
    """Return the constants of a column.

    A missing link must not join with another missing link, so each becomes a different constant. Frames turn
    integer links with gaps into floats.
    """
    distinct, absent = column.distinct, column.codes < 0
    if link is not None and float in {*map(type, distinct)}:
        distinct = [
            int(value) if isinstance(value, float) and value.is_integer() else value for value in distinct
        ]
    ids = np.append(constants.intern_all(distinct), np.int32(-1))[column.codes]
    if absent.any():
        if link is None:
            ids[absent] = constants.intern(MISSING)
        else:
            rows = np.flatnonzero(absent).tolist()
            ids[absent] = constants.intern_all(Compound(MISSING, (link, row)) for row in rows)
    return ids


def _are_classes(numbers: set[float]) -> bool:
    """Whether numbers are taken for classes, as `crosscut cv` does: few different integers."""
    return len(numbers) <= FEW_CLASSES and all(isinstance(each, int) for each in numbers)


def _set_target(
    database: Database,
    values: _Values,
    target: str,
    classes: Sequence[Constant] | None,
    regression: bool | None,
    *,
    drop: bool,
) -> None:
    missing = np.flatnonzero(values.codes < 0).tolist()
    if len(missing) == len(values):
        return
    if missing and not drop:
        raise SchemaError(
            f"{target} is missing for {len(missing)} of {len(values)} examples (the first: "
            f"{database.example_text(missing[0])}); use drop_missing_target, or empty the column to predict "
            "all"
        )
    if regression is None:
        regression = values.kind == "numeric" and not _are_classes({*values.distinct})
    if regression:
        if values.kind != "numeric":
            other = next((each for each in values.distinct if not isinstance(each, (int, float))), None)
            content = "dates" if values.kind == "date" else f"values such as {other!r}"
            raise SchemaError(f"{target} has {content}; a regression needs a numeric target")
        database.target = np.array(values.distinct, np.float64)[values.codes]
        return
    ids = database.constants.intern_all(values.distinct)[values.codes]
    database.classes, database.target = class_codes(
        database, ids, None if classes is None else tuple(classes)
    )
