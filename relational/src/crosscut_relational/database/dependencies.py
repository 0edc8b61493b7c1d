"""Order predicates for evaluation (strata): mutually recursive ones together, negated ones earlier.

Report problems of all clauses together, among them predicates that are not defined.
"""

from __future__ import annotations

import warnings
from difflib import get_close_matches
from typing import TYPE_CHECKING

from crosscut_relational.language.builtins import BUILTINS
from crosscut_relational.language.parts import CONNECTIVES
from crosscut_relational.language.prolog import PrologError
from crosscut_relational.language.terms import Compound, Variable, indicator, predicate_of

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence

    from crosscut_relational.language.parts import Conjunction
    from crosscut_relational.language.prolog import Clause
    from crosscut_relational.language.terms import Term

Predicate = tuple[str, int]


def components(
    definitions: Mapping[Predicate, Sequence[Conjunction]],
) -> Iterator[tuple[list[Predicate], bool]]:
    """Yield groups of predicates that depend on each other, callees first, and whether they are recursive."""
    called = {
        predicate: {
            part.predicate
            for each in conjunctions
            for part in each.parts
            if part.kind in {"relation", "rule"}
        }
        & definitions.keys()
        for predicate, conjunctions in definitions.items()
    }
    groups: dict[frozenset[Predicate], list[Predicate]] = {}
    for predicate in called:  # predicates that need each other need the same
        groups.setdefault(frozenset(closure([predicate], called)), []).append(predicate)
    for _, component in sorted(groups.items(), key=lambda group: len(group[0])):  # callers need more
        yield component, len(component) > 1 or component[0] in called[component[0]]


def calls(body: Term) -> set[Predicate]:
    """Return the predicates that a body calls."""
    if isinstance(body, Compound) and predicate_of(body) in CONNECTIVES:
        return set().union(*map(calls, body.args))
    return set() if isinstance(body, Variable) else {predicate_of(body)}


def reached(wanted: Iterable[Predicate], clauses: Iterable[tuple[Predicate, Clause]]) -> set[Predicate]:
    """Return the wanted predicates and all predicates that their clauses need."""
    needs: dict[Predicate, set[Predicate]] = {}
    for predicate, clause in clauses:
        needs.setdefault(predicate, set()).update(() if clause.body is None else calls(clause.body))
    return closure(wanted, needs)


def closure(wanted: Iterable[Predicate], needs: Mapping[Predicate, set[Predicate]]) -> set[Predicate]:
    """Return the wanted predicates and all that they need, directly or indirectly."""
    closed, new = set(wanted), list(wanted)
    while new:
        more = needs.get(new.pop(), set()) - closed
        closed |= more
        new += more
    return closed


def check_stratified(conjunctions: Sequence[Conjunction]) -> None:
    """Raise if a recursive group of predicates depends on its own negation."""
    members = {each.predicate for each in conjunctions}
    for each in conjunctions:
        for part in each.parts:
            if part.predicate not in members or not part.negated or part.kind not in {"relation", "rule"}:
                continue
            through = "" if part.name.startswith("$") else f" (through \\+ {part.name}/{len(part.args)})"
            raise each.error(f"it cannot be stratified: the predicate depends on its own negation{through}")


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
