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
from crosscut_relational.database.database import MISSING, ROW_NUMBER, Column, Database
from crosscut_relational.database.relation import Relation, distinct_facts
from crosscut_relational.database.target import class_codes
from crosscut_relational.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from crosscut_relational.database.constants import Constants
    from crosscut_relational.database.database import ColumnKind
    from crosscut_relational.language.terms import Constant

FEW_CLASSES = 10  # integers with at most this number of different values are classes
UNKNOWN = "unknown"  # a link to a row that does not exist
_UNSUPPORTED = (bytes, bytearray, memoryview, list, tuple, dict, set)  # types of values that tests cannot use


class SchemaError(ValueError):
    """Keys, links or the target do not match the tables."""


@dataclass
class _Values:
    """One column as Python values, None where missing."""

    values: list[Any]
    kind: Literal["numeric", "date", "nominal"]
    refers_to: (
        tuple[str, str] | tuple[()]
    ) = ()  # of a link: the column it names a row by, if not the key, and its table

    @property
    def is_distinct(self) -> bool:
        present = [value for value in self.values if value is not None]
        return len({*present}) == len(present)

    @property
    def is_unique(self) -> bool:
        return None not in self.values and self.is_distinct


_Tables = dict[str, dict[str, _Values]]


def build(
    tables: Mapping[str, Any],
    target: str,
    keys: Mapping[str, str],
    links: Mapping[str, str],
    *,
    classes: Sequence[Constant] | None,
    regression: bool | None,
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
    with watching_part(0.5, 1.0):
        for table, content in each_part(columns.items(), sizes):
            _add_relation(database, table, content, primary.get(table), linked.get(table, {}))
    _set_target(database, values, target, classes, regression)
    return database


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
        listed = {str(name): list(values) for name, values in frame.items()}
        if len({len(values) for values in listed.values()}) > 1:
            raise SchemaError(f"columns {', '.join(listed)} of one table have different lengths")
        categorical: set[str] = set()
    else:
        import narwhals as nw

        native = nw.from_native(frame, eager_only=True)
        categorical = {name for name, kind in native.schema.items() if kind in {nw.Categorical, nw.Enum}}
        listed = {name: native[name].to_list() for name in native.columns}
    unsupported = [
        name for name, values in listed.items() if any(isinstance(each, _UNSUPPORTED) for each in values)
    ]
    if unsupported:
        _warn(f"{table}: {', '.join(unsupported)} left out, because the values are binary or nested")
    return {
        name: _values(f"{table}.{name}", values, categorical=name in categorical)
        for name, values in listed.items()
        if name not in unsupported
    }


def _warn(text: str) -> None:
    warnings.warn(text, CrosscutWarning, stacklevel=6)


def _values(name: str, values: list[Any], *, categorical: bool) -> _Values:
    plain = [_plain(value) for value in values]
    numbers = [isinstance(value, (int, float)) for value in plain if value is not None]
    if categorical or not numbers or not all(numbers):
        if any(numbers) and not categorical:
            _warn(f"{name} mixes numbers and other values; all are treated as names")
        return _Values(plain, "nominal")
    known = [original for original, value in zip(values, plain, strict=True) if value is not None]
    dates = [isinstance(value, (dt.date, np.datetime64)) for value in known]
    if any(dates) and not all(dates):
        _warn(f"{name} mixes numbers and dates; dates become days since 1970-01-01")
    return _Values(plain, "date" if all(dates) else "numeric")


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
        likely = [name for noun in _nouns(table) for name in (f"{noun}_id", f"{noun}id", f"id_{noun}")]
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


def _nouns(table: str) -> list[str]:
    """Return a table's name in lower case, and its singular if it looks like a plural."""
    name = table.lower()
    for plural, singular in (("ies", "y"), ("ses", "s"), ("xes", "x"), ("ches", "ch"), ("s", "")):
        if name.endswith(plural) and len(name) > len(plural) + 1 and not name.endswith("ss"):
            return [name, name[: -len(plural)] + singular]
    return [name]


def _is_shared_key(table: str, column: str, tables: _Tables) -> bool:
    """Whether other tables repeat the values of a column whose name ends with id, key or code."""
    if not column.lower().endswith(("id", "key", "code")) or not tables[table][column].is_unique:
        return False
    others = [content[column] for name, content in tables.items() if name != table and column in content]
    values = set(tables[table][column].values)
    return any(each.values and not each.is_distinct for each in others) and all(
        not each.is_unique and _fraction_within(each, values) > 0.5 for each in others
    )


def _fraction_within(column: _Values, values: set[Any]) -> float:
    """Return the fraction of a column's distinct values that are among other values."""
    distinct = {value for value in column.values if value is not None}
    return len(distinct & values) / len(distinct) if distinct else 0.0


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
            tables[table][column].values = [
                None if value is None else keys.get(value, Compound(UNKNOWN, (end, value)))
                for value in tables[table][column].values
            ]
            tables[table][column].refers_to = (other_column, other)
        referred[table][column] = other
    for table, content in tables.items():
        for column in content:
            if column in referred[table] or primary.get(table) == column:
                continue
            for other, key in primary.items():
                named = {key.lower()} - {"id"}
                for noun in _nouns(other):
                    named |= {f"{noun}_{key}".lower(), f"{noun}_id", f"{noun}id"}
                if other != table and column.lower() in named:
                    referred[table][column] = other
                    break
    return referred


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
    keys = {end: set(tables[end][key].values) for end, key in primary.items()}
    pairs = [
        (_fraction_within(content, keys[end]), f"{start}.{column}={end}.{primary[end]}")
        for start in tables
        for column, content in tables[start].items()
        if content.kind != "date" and column != primary.get(start) and column not in linked[start]
        for end in keys
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
    target = database.target_name
    n_rows = max((len(each.values) for each in content.values()), default=0)
    if key is None:
        key = ROW_NUMBER
        content = {
            key: _Values([Compound("row", (table, number)) for number in range(n_rows)], "nominal"),
            **content,
        }
    own_type = links.get(key, table)
    to_target = [name for name, other in links.items() if other == target and name != key]
    first = ([] if target in {table, own_type} else to_target[:1]) + [key]
    order = [*first, *(name for name in content if name not in first)]
    columns, types, described = [], [], []
    for name in order:
        linked = name == key or name in links
        columns.append(_ids(content[name].values, database.constants, f"{table}.{name}" if linked else None))
        types.append(own_type if name == key else links.get(name, f"{table}.{name}"))
        kind: ColumnKind = "key" if name == key else "link" if linked else content[name].kind
        described.append(Column(name, kind, *content[name].refers_to))
    stacked = distinct_facts(np.stack(columns))
    predicate = (table, len(order))
    database.columns[predicate] = tuple(described)
    database.relations[predicate] = Relation(table, stacked, tuple(types), keyed=types[0] == target)
    if table == target:
        database.keys = np.ascontiguousarray(columns[0][None, :])
        database.key_types = (target,)


def _ids(values: list[Any], constants: Constants, link: str | None) -> NDArray[np.int32]:
    if link is None:
        return constants.intern_all(MISSING if value is None else value for value in values)
    # A missing link must not join with another missing link, so each becomes a different constant. Frames
    # turn integer columns with gaps into floats.
    return constants.intern_all(
        Compound(MISSING, (link, number))
        if value is None
        else int(value)
        if isinstance(value, float) and value.is_integer()
        else value
        for number, value in enumerate(values)
    )


def _are_classes(numbers: set[float]) -> bool:
    """Whether numbers are taken for classes, as `crosscut cv` does: few different integers."""
    return len(numbers) <= FEW_CLASSES and all(isinstance(each, int) for each in numbers)


def _set_target(
    database: Database,
    values: _Values,
    target: str,
    classes: Sequence[Constant] | None,
    regression: bool | None,
) -> None:
    missing = [example for example, value in enumerate(values.values) if value is None]
    if len(missing) == len(values.values):
        return
    if missing:
        raise SchemaError(
            f"{target} is missing for {len(missing)} of {len(values.values)} examples (the first: "
            f"{database.example_text(missing[0])}); drop those rows, or empty the column to predict all"
        )
    if regression is None:
        regression = values.kind == "numeric" and not _are_classes({*values.values})
    if regression:
        if values.kind != "numeric":
            other = next((each for each in values.values if not isinstance(each, (int, float))), None)
            content = "dates" if values.kind == "date" else f"values such as {other!r}"
            raise SchemaError(f"{target} has {content}; a regression needs a numeric target")
        database.target = np.array(values.values, np.float64)
        return
    ids = database.constants.intern_all(values.values)
    database.classes, database.target = class_codes(
        database, ids, None if classes is None else tuple(classes)
    )
