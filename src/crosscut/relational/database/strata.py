"""The order in which predicates can be derived: what depends on itself together, negation only downwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crosscut.relational.language.clauses import Conjunction

Predicate = tuple[str, int]


def components(
    definitions: Mapping[Predicate, Sequence[Conjunction]],
) -> Iterator[tuple[list[Predicate], bool]]:
    """Yield groups of predicates that depend on each other, callees first, and whether they are recursive.

    Raises
    ------
    PrologError
        If a predicate depends on its own negation.
    """
    calls = {
        predicate: {part.predicate for each in conjunctions for part in each.parts if part.kind == "relation"}
        & definitions.keys()
        for predicate, conjunctions in definitions.items()
    }
    for component in _strongly_connected(calls):
        members = set(component)
        recursive = len(component) > 1 or component[0] in calls[component[0]]
        for predicate in component:
            for each in definitions[predicate]:
                for part in each.parts:
                    if part.kind == "relation" and part.negated and part.predicate in members:
                        through = (
                            ""
                            if part.name.startswith("$")
                            else f" (through \\+ {part.name}/{len(part.args)})"
                        )
                        raise each.error(
                            f"it cannot be stratified: the predicate depends on its own negation{through}"
                        )
        yield sorted(component, key=list(definitions).index), recursive


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
