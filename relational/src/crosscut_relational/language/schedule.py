"""The order in which the parts of a body are evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosscut_relational.language.builtins import cases_of
from crosscut_relational.language.terms import Variable, variables

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from crosscut_relational.language.builtins import Solve
    from crosscut_relational.language.parts import Part


def schedule(
    parts: Sequence[Part], bound: Iterable[Variable], head: Iterable[Variable], first: Part | None = None
) -> tuple[list[Part], list[Part], set[Variable]]:
    """Order parts so that each has its inputs bound when its turn comes.

    Tests go as early as they can, since they only remove bindings; relations keep their order, those that
    share a variable with what is bound first.

    Parameters
    ----------
    parts : sequence of Part
        A body.
    bound : iterable of Variable
        What is bound before.
    head : iterable of Variable
        Variables of the head; inside a negation they are not the negation's own.
    first : Part, optional
        The relation to start with.

    Returns
    -------
    ordered, left : list of Part
        Parts in their order, and those whose inputs are never bound.
    bound : set of Variable
        What is bound in the end.
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
    """Return what extends bindings next: a relation, or a built-in predicate that has its inputs."""
    relations = [each for each in waiting if each.kind == "relation" and not each.negated]
    builtins = [
        each
        for each in waiting
        if each.kind == "built-in" and not each.negated and builtin_inputs(each, known) is not None
    ]
    linked = [each for each in (*relations, *builtins) if each.variables() & known]
    return next(iter((*linked, *relations, *builtins)), None)


def _is_ready(part: Part, known: set[Variable], outside: set[Variable], waiting: Sequence[Part]) -> bool:
    """Whether a test has its inputs; a relation that is not negated is no test."""
    if part.kind in {"relation", "rule"}:
        if not part.negated:
            return False
        elsewhere = {variable for each in waiting if each is not part for variable in each.variables()}
        return not (part.variables() & (elsewhere | outside)) - known
    if part.source is not None and not part.negated:
        return {*variables(part.args[: part.n_inputs])} <= known and (
            part.kind == "collect" or given_list(part, known) is not None
        )
    if part.kind == "is" and not part.negated:
        return set(variables(part.args[1])) <= known
    if part.kind == "unify" and not part.negated:
        return any(not isinstance(side, Variable) or side in known for side in part.args)
    return part.variables() <= known


def given_list(part: Part, known: Container[Variable]) -> int | None:
    """Return the place of the list whose items a closure is applied to, the first that is bound."""
    lists = range(part.n_inputs, len(part.args))
    places = lists if part.name == "maplist" else lists[:1]
    bound = (place for place in places if all(each in known for each in variables(part.args[place])))
    return next(bound, None)


def builtin_inputs(part: Part, known: Container[Variable]) -> tuple[tuple[int, ...], Solve] | None:
    """Return the bound arguments of a built-in predicate and its solutions for them, None if too few are."""
    for inputs, solve in cases_of(part.predicate):
        if all(each in known for position in inputs for each in variables(part.args[position])):
            return inputs, solve
    return None


def makes_constants(part: Part) -> bool:
    """Whether a built-in predicate may have solutions that are not among its inputs."""
    return all(len(inputs) < len(part.args) for inputs, _ in cases_of(part.predicate))
