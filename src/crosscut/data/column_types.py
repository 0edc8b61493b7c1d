"""Compare and combine the column types of files and their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping


def kind_of_values(dtype: pa.DataType) -> str:
    """Return the kind of values of a column; all numeric types are the same kind."""
    if pa.types.is_boolean(dtype):
        return "true or false"
    if pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype):
        return "numbers"
    if pa.types.is_date(dtype) or pa.types.is_timestamp(dtype):
        return "dates"
    texts = (pa.types.is_dictionary, pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return "text" if any(is_text(dtype) for is_text in texts) else str(dtype)


def common_type(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    """Return the type that pyarrow infers for a text column with values of both types.

    ``uint8`` marks integers that are all 0 or 1, because pyarrow may infer booleans for the whole column.
    """
    if a == b or pa.types.is_null(b):
        return a
    if pa.types.is_null(a):
        return b
    bit, whole = pa.uint8(), pa.int64()
    moments = [pa.timestamp("ns"), pa.timestamp("s"), pa.date32()]  # each can hold the following ones
    for wider, types in (
        (pa.binary(), [a, b]),
        (pa.bool_(), [bit]),
        (pa.float64(), [whole, bit]),
        (whole, [bit]),
        (moments[0], moments),
        (moments[1], moments[2:]),
    ):
        if wider in {a, b} and {a, b} <= {wider, *types}:
            return wider
    return pa.string()


def final_type(dtype: pa.DataType) -> pa.DataType:
    """Return the final type of a column, once all parts are read."""
    return pa.int64() if dtype == pa.uint8() else dtype


def schema_for_both(known: pa.Schema, other: pa.Schema) -> pa.Schema:
    """Return types that can hold the values of two files with the same columns."""
    fields = []
    for pair in zip(known, other, strict=True):
        try:
            both = [pa.schema([field]) for field in pair]
            fields.append(pa.unify_schemas(both, promote_options="permissive").field(0))
        except pa.ArrowException:  # categories and text
            fields.append(pa.field(pair[0].name, pa.string()))
    return pa.schema(fields)


def check_same(known: Mapping[str, str], other: Mapping[str, str], where: str) -> None:
    """Refuse a part of the data whose columns differ from the known ones in name, order or kind."""
    if list(known) != list(other):
        absent = [name for name in known if name not in other]
        extra = [name for name in other if name not in known]
        problem = f"lacks the column(s) {absent}" if absent else f"has other columns: {extra or list(other)}"
        raise ValueError(
            f"{where} {problem}; all parts of the data need the columns {list(known)}, in this order"
        )
    for name, kind in other.items():
        if kind != known[name] and "null" not in {kind, known[name]}:
            raise ValueError(
                f"column {name!r} is {kind} in {where}, but {known[name]} before; convert one of them"
            )
