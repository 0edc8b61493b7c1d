"""Replace cuts in background clauses by negations in the clauses that follow."""

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
    substituted,
    variables,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crosscut_relational.language.prolog import Clause

    Excluded = list[tuple[tuple[Term, ...], list[Term]]]  # arguments of heads, and the goals before the cut


def without_cuts(clauses: Iterable[Clause]) -> Iterator[Clause]:
    r"""Yield clauses that mean the same without cuts and ``var``.

    A cut is replaced if it follows tests of the head's arguments and these are distinct variables. Other cuts
    stay. Arguments are bound wherever a predicate is used, so ``var(X)`` is false.

    Examples
    --------
    >>> from crosscut_relational.language.prolog import read_program
    >>> for clause in without_cuts(read_program("f(X,Y) :- X > 3, !, Y = a. f(X,b).")):
    ...     print(clause)
    f(X,Y) :- X>3,Y=a.
    f(X,b) :- \+X>3.
    """
    cut: dict[tuple[str, int], Excluded] = {}
    for clause in clauses:
        if clause.head is None:
            continue
        excluded = cut.setdefault(predicate_of(clause.head), [])
        written = [] if clause.body is None else conjuncts(clause.body)
        goals = [goal for goal in written if not _is_var(goal, 1)]
        if any(map(_is_var, goals)) or any(not tests for _, tests in excluded):
            continue
        _, args = name_and_args(clause.head)
        guards = [_none_of(tests, head, args) for head, tests in excluded]
        if "!" in goals:
            last = len(goals) - 1 - goals[::-1].index("!")
            tests = [goal for goal in goals[:last] if goal != "!"]
            different = len({*args}) == len(args) and all(isinstance(each, Variable) for each in args)
            if different and {*variables(tuple(tests))} <= {*args}:
                goals = [*tests, *goals[last + 1 :]]
                excluded.append((args, tests))
        yield replace(clause, body=_chain(",", [*guards, *goals]) if guards or goals else None)


def _is_var(goal: Term, negations: int = 0) -> bool:
    """Whether a goal is ``var(X)`` inside the given number of negations."""
    for _ in range(negations):
        if not (isinstance(goal, Compound) and goal.name in {"\\+", "not"} and len(goal.args) == 1):
            return False
        (goal,) = goal.args
    return isinstance(goal, Compound) and predicate_of(goal) == ("var", 1)


def _none_of(tests: list[Term], head: tuple[Term, ...], args: tuple[Term, ...]) -> Term:
    """Return the goal that at least one of the tests fails for these arguments."""
    values = dict(zip(head, args, strict=True))
    failed = [Compound("\\+", (substituted(test, lambda each: values.get(each, each)),)) for test in tests]
    return _chain(";", failed)


def _chain(operator: str, terms: Sequence[Term]) -> Term:
    *before, chained = terms
    for term in reversed(before):
        chained = Compound(operator, (term, chained))
    return chained
