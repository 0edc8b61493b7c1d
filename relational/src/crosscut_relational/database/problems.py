"""Report all problems of a background program together."""

from __future__ import annotations

import warnings
from difflib import get_close_matches
from typing import TYPE_CHECKING

from crosscut_relational.language.builtins import BUILTINS
from crosscut_relational.language.prolog import PrologError
from crosscut_relational.language.terms import indicator

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterator, Sequence

    from crosscut_relational.language.parts import Conjunction

    Predicate = tuple[str, int]


def unknown(
    conjunctions: Sequence[Conjunction], program: Collection[Predicate], declared: Container[Predicate]
) -> Iterator[tuple[Predicate, str]]:
    """Yield a predicate and a message for every literal whose predicate is undefined."""
    defined = {*program, *(each.predicate for each in conjunctions), ("member", 2)}
    for each in conjunctions:
        for part in each.parts:
            if part.kind == "relation" and part.predicate not in defined and part.predicate not in declared:
                name, arity = part.predicate
                if any(name == known for known, _ in defined):
                    same = sorted(indicator(*known) for known in defined if known[0] == name)
                    hint = f"there is {' and '.join(same)}."
                else:
                    names = sorted({known for known, _ in (*defined, *BUILTINS) if not known.startswith("$")})
                    near = get_close_matches(name, names, 1)
                    hint = f"did you mean {near[0]}?" if near else "no other name is near it."
                what = indicator(name, arity)
                message = f"{what} has no facts and no clauses; {hint} If it may be empty, declare it: "
                yield each.predicate, str(each.error(f"{message}':- dynamic {what}.'"))


def report(problems: Sequence[tuple[Predicate | None, str]], needed: Container[Predicate] | None) -> None:
    """Raise one error for all problems; problems of predicates that are not needed give warnings."""
    serious: list[str] = []
    others: list[str] = []
    for predicate, message in dict.fromkeys(problems):
        is_needed = needed is None or predicate is None or predicate in needed
        is_part = predicate is not None and predicate[0].startswith("$")  # of a clause
        (serious if is_needed or is_part else others).append(message)
    if others:
        warnings.warn(
            "no mode and no target needs what these clauses define, and it is left out:\n  "
            + "\n  ".join(others),
            UserWarning,
            stacklevel=2,
        )
    if serious:
        raise PrologError.of(serious, "the background")
