"""Order predicates for evaluation (strata): mutually recursive ones together, negated ones earlier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosscut_relational.language.parts import CONNECTIVES
from crosscut_relational.language.terms import Compound, Variable, predicate_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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
    for component in _strongly_connected(called):
        recursive = len(component) > 1 or component[0] in called[component[0]]
        yield sorted(component, key=list(definitions).index), recursive


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


def _strongly_connected(calls: Mapping[Predicate, set[Predicate]]) -> Iterator[list[Predicate]]:
    """Tarjan's algorithm without recursion; components come callees first."""
    number: dict[Predicate, int] = {}
    low: dict[Predicate, int] = {}
    stack: list[Predicate] = []
    on_stack: set[Predicate] = set()
    for root in calls:
        if root in number:
            continue
        work: list[tuple[Predicate, Iterator[Predicate]]] = []

        def enter(node: Predicate, work: list[tuple[Predicate, Iterator[Predicate]]] = work) -> None:
            number[node] = low[node] = len(number)
            stack.append(node)
            on_stack.add(node)
            work.append((node, iter(sorted(calls[node]))))

        enter(root)
        while work:
            node, callees = work[-1]
            callee = next(callees, None)
            if callee is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    component = stack[stack.index(node) :]
                    del stack[len(stack) - len(component) :]
                    on_stack.difference_update(component)
                    yield component
            elif callee not in number:
                enter(callee)
            elif callee in on_stack:
                low[node] = min(low[node], number[callee])
