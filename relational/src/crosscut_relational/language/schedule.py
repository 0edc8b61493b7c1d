"""The order in which the parts of a body are evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosscut_relational.language.builtins import cases_of
from crosscut_relational.language.terms import Variable, variables

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from crosscut_relational.language.builtins import Solve
    from crosscut_relational.language.parts import Conjunction, Part

    Facts = Mapping[tuple[str, int], NDArray[np.int32]]

CHEAP = 100_000  # the written order is kept if it makes fewer bindings


def schedule(
    parts: Sequence[Part], bound: Iterable[Variable], head: Iterable[Variable], first: Part | None = None
) -> tuple[list[Part], list[Part], set[Variable]]:
    """Order the parts of a body so that the inputs of each are bound before it is evaluated.

    Tests come as early as possible, because they only remove bindings. Relations keep their order, except
    that `first` and relations with a bound variable come first. Variables of the head are not local to a
    negation. Returns the ordered parts, the parts whose inputs are never bound, and the variables that are
    bound after the ordered parts.
    """
    known, outside = set(bound), set(head)
    waiting = list(parts)
    ordered: list[Part] = []
    if first is not None:
        waiting.remove(first)
        ordered.append(first)
        known |= first.variables()
    while waiting:
        part = next((each for each in waiting if _is_ready(each, known, outside, waiting)), None)
        if part is None:
            part = _next_join(waiting, known)
            if part is None:
                break
        waiting.remove(part)
        ordered.append(part)
        if not part.negated:
            known |= part.variables()
    return ordered, waiting, known


def _next_join(waiting: Sequence[Part], known: set[Variable]) -> Part | None:
    """Return the next part to join: a relation, or a built-in predicate whose inputs are bound."""
    relations = [each for each in waiting if each.kind == "relation" and not each.negated]
    builtins = [
        each
        for each in waiting
        if each.kind == "built-in" and not each.negated and builtin_inputs(each, known) is not None
    ]
    linked = [each for each in (*relations, *builtins) if each.variables() & known]
    return next(iter((*linked, *relations, *builtins)), None)


def _is_ready(part: Part, known: set[Variable], outside: set[Variable], waiting: Sequence[Part]) -> bool:
    """Whether the inputs of a test are bound; a relation that is not negated is not a test."""
    if part.kind in {"relation", "rule"}:
        if not part.negated:
            return False
        elsewhere = {variable for each in waiting if each is not part for variable in each.variables()}
        return not (part.variables() & (elsewhere | outside)) - known
    if part.kind == "is" and not part.negated:
        return set(variables(part.args[1])) <= known
    if part.kind == "unify" and not part.negated:
        return any(not isinstance(side, Variable) or side in known for side in part.args)
    return part.variables() <= known


def builtin_inputs(part: Part, known: Container[Variable]) -> tuple[tuple[int, ...], Solve] | None:
    """Return the first case of a built-in predicate whose inputs are bound, or None."""
    for inputs, solve in cases_of(part.predicate):
        if all(each in known for position in inputs for each in variables(part.args[position])):
            return inputs, solve
    return None


def makes_constants(part: Part) -> bool:
    """Whether a built-in predicate may create constants that are not among its inputs."""
    return all(len(inputs) < len(part.args) for inputs, _ in cases_of(part.predicate))


def joined_cheaply(conjunction: Conjunction, facts: Facts) -> Sequence[Part]:
    """Return the parts in the given order, or the most selective relations first if that is much cheaper."""
    parts, head = conjunction.parts, conjunction.head_variables
    if sum(part.kind == "relation" for part in parts) < 2:
        return parts
    written, _, _ = schedule(parts, (), head)
    cost = _cost(written, facts)
    if cost < CHEAP:
        return parts
    chosen: list[Part] = []
    waiting = [part for part in parts if part.kind == "relation" and not part.negated]
    while waiting:
        known = {variable for part in chosen for variable in part.variables()}
        best = min(waiting, key=lambda part: (not part.variables() & known, _fanout(part, known, facts)))
        if not chosen:
            best = min(waiting, key=lambda part: _fanout(part, known, facts))
        waiting.remove(best)
        chosen.append(best)
    rest = [part for part in parts if part not in chosen]
    reordered, _, _ = schedule([*chosen, *rest], (), head)
    return [*chosen, *rest] if 4 * _cost(reordered, facts) < cost else parts


def _cost(ordered: Sequence[Part], facts: Facts) -> float:
    """Estimate the number of bindings when joining the relations in this order."""
    rows, total = 1.0, 0.0
    known: set[Variable] = set()
    for part in ordered:
        if part.kind == "relation" and not part.negated:
            rows *= _fanout(part, known, facts)
            total += rows
        known |= part.variables()
    return total


def _fanout(part: Part, known: set[Variable], facts: Facts) -> float:
    """Estimate the number of facts that match the constants and bound variables of a relation."""
    stored = facts.get(part.predicate)
    if stored is None or stored.shape[1] == 0:
        return 0.0
    number = float(stored.shape[1])
    for column, argument in zip(stored, part.args, strict=True):
        if not isinstance(argument, Variable) or argument in known:
            number /= len(np.unique(column))
    return number
