"""Write attributes as Prolog goals that bind a variable to the value (SWI-Prolog's ``aggregate_all``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosscut_relational.database.database import MISSING
from crosscut_relational.language.terms import atom_text, term_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosscut_relational.language.attributes import Attribute

_SOLUTIONS = {
    "count": "aggregate_all(count,({rows}),{value})",
    "sum": "aggregate_all(sum({x}),({rows},number({x})),{value})",
    "min": "aggregate_all(min({x}),({rows},number({x})),{value})",
    "max": "aggregate_all(max({x}),({rows},number({x})),{value})",
    "mean": "aggregate_all(r(count,sum({x})),({rows},number({x})),r({n},{sum})),{n}>0,{value} is {sum}/{n}",
    "share": "aggregate_all(count,({all}),{n}),{n}>0,"
    "aggregate_all(count,({rows}),{sum}),{value} is {sum}/{n}",
    "distinct": "findall({x},({rows},{x}\\=={missing}),{n}),sort({n},{sum}),length({sum},{value})",
    "latest": "findall({date}-{x},({rows},number({date}),{x}\\=={missing}),{n}),"
    "msort({n},{sum}),last({sum},_-{value})",
}


def attribute_goals(attribute: Attribute, key: str, value: str, names: Iterator[str]) -> str:
    """Return goals that bind the variable `value` to the attribute of the example with this key."""
    if attribute.function == "value":
        rows = _rows(attribute, key, {attribute.column or 0: value}, names)
        return rows if attribute.kind != "nominal" else f"({rows}->true;{value}={MISSING})"
    x, n, total, date = (next(names) for _ in range(4))
    terms = {} if attribute.column is None else {attribute.column: x}
    time = ""
    if attribute.date is not None and (attribute.as_of is not None or attribute.function == "latest"):
        date = terms.setdefault(attribute.date, date)
    if attribute.as_of is not None:
        now = next(names)
        dated = _rows(attribute, key, {attribute.as_of: now}, names, steps=1)
        time = f"{dated},number({now}),number({date}),{date}<{now}"
        time = f",{time}" + ("" if attribute.days is None else f",{date}>={now}-{attribute.days}")
    all_rows = _rows(attribute, key, terms, names) + time
    if attribute.condition is not None:
        column, constant = attribute.condition
        terms = {**terms, column: term_text(constant)}
    rows = _rows(attribute, key, terms, names) + time
    return _SOLUTIONS[attribute.function].format(
        rows=rows, all=all_rows, value=value, x=x, n=n, sum=total, date=date, missing=MISSING
    )


def _rows(
    attribute: Attribute, key: str, terms: dict[int, str], names: Iterator[str], steps: int | None = None
) -> str:
    """Return literals that follow the steps, with the given terms in columns of the last table."""
    texts = []
    path = attribute.steps[:steps]
    entry = key
    for number, step in enumerate(path):
        args = ["_"] * step.arity
        args[step.enter] = entry
        if number == len(path) - 1:
            for column, name in terms.items():
                args[column] = name
        else:
            leave = path[number + 1].leave
            if leave != step.enter:
                entry = args[leave] = next(names)
            elif number == 0:
                continue  # the key itself needs no goal
        texts.append(f"{atom_text(step.table)}({','.join(args)})")
    return ",".join(texts)
