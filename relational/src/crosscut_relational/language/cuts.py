"""Clauses with ``var``, as ACE and Aleph programs write comparisons that can also bind a variable."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crosscut_relational.language.terms import (
    Compound,
    Term,
    Variable,
    conjuncts,
    name_and_args,
    predicate_of,
    variables,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crosscut_relational.language.prolog import Clause


def without_var(clauses: Iterable[Clause]) -> list[Clause]:
    r"""Return clauses that mean the same without ``var``, and without cuts that are then superfluous.

    Arguments are bound wherever a predicate is used, so ``var(X)`` is false: a clause with it is dropped, and
    ``\+ var(X)`` is true. A cut at the start of a body then always excludes the clauses that follow. A cut
    after tests of the head's arguments in the last clause excludes nothing. Other cuts stay.

    Examples
    --------
    >>> from crosscut_relational.language.prolog import read_program
    >>> for clause in without_var(read_program("le(X,Y) :- var(Y), !, X = Y. le(X,Y) :- X =< Y.")):
    ...     print(clause)
    le(X,Y) :- X=<Y.
    """
    kept: list[Clause] = []
    ended: set[tuple[str, int]] = set()
    last: dict[tuple[str, int], int] = {}
    for clause in clauses:
        if clause.head is None or predicate_of(clause.head) in ended:
            continue
        goals = [goal for goal in _goals(clause) if not _is_var(goal, 1)]
        if any(map(_is_var, goals)):
            continue
        _, args = name_and_args(clause.head)
        if goals[:1] == ["!"] and len({*args}) == len(args) and all(isinstance(a, Variable) for a in args):
            ended.add(predicate_of(clause.head))
            goals = goals[1:]
        last[predicate_of(clause.head)] = len(kept)
        kept.append(_with_body(clause, goals))
    for place in last.values():
        clause = kept[place]
        goals = _goals(clause)
        if "!" in goals:
            tests = goals[: goals.index("!")]
            if {*variables(tuple(tests))} <= {*variables((clause.head or "",))}:
                kept[place] = _with_body(clause, tests + goals[len(tests) + 1 :])
    return kept


def _goals(clause: Clause) -> list[Term]:
    return [] if clause.body is None else conjuncts(clause.body)


def _with_body(clause: Clause, goals: list[Term]) -> Clause:
    body: Term | None = None
    for goal in reversed(goals):
        body = goal if body is None else Compound(",", (goal, body))
    return replace(clause, body=body)


def _is_var(goal: Term, negations: int = 0) -> bool:
    """Whether a goal is ``var(X)`` inside the given number of negations."""
    for _ in range(negations):
        if not (isinstance(goal, Compound) and goal.name in {"\\+", "not"} and len(goal.args) == 1):
            return False
        (goal,) = goal.args
    return isinstance(goal, Compound) and predicate_of(goal) == ("var", 1)
