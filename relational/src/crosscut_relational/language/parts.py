"""Literals of background clauses, and conjunctions of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crosscut_relational.language.arithmetic import FUNCTIONS, ORDERINGS
from crosscut_relational.language.prolog import Clause, PrologError
from crosscut_relational.language.terms import (
    Compound,
    Term,
    Variable,
    indicator,
    is_ground,
    predicate_of,
    substituted,
    term_text,
    variables,
)

if TYPE_CHECKING:
    from collections.abc import Callable

# Unsupported built-in predicates of Prolog, with the reason. Other arities may be defined by the program.
_EFFECTS = """
    assert/1 asserta/1 assertz/1 b_getval/2 b_setval/2 catch/3 format/1 format/2 halt/0 nb_getval/2
    nb_setval/2 nl/0 print/1 random/1 random/3 read/1 retract/1 throw/1 write/1 writeln/1
"""
UNSUPPORTED = {
    **dict.fromkeys(_EFFECTS.split(), ": clauses are evaluated before learning and cannot have side effects"),
    "aggregate_all/3": " except for count, sum(X), max(X), min(X), max(X,W), min(X,W), bag(X) and set(X)",
    **dict.fromkeys(["call/1", "call/2", "call/3", "call/4"], " with a goal that is a variable"),
    **dict.fromkeys(["aggregate_all/4", "findall/4", "foldl/4", "foldl/5", "foldl/6", "var/1"], ""),
    "!/0": "",
}


_CUT = "the cut (!), except after tests of the head's arguments,"


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    r"""One literal of a body.

    ``kind`` is "relation" (`name` with constant or variable `args`), "compare" (`name` is one of `ORDERINGS`,
    `args` are expressions), "unify" (``=`` and ``==``), "differ" (``\=`` and ``\==``), "is", "built-in"
    (one of `BUILTINS`), "collect" (one of `REDUCTIONS`) or "map" (one of `MAPS`). The last two are about all
    solutions of the predicate `source`, whose first `n_inputs` arguments are the first of `args` and have to
    be bound.
    """

    kind: str
    name: str
    args: tuple[Term, ...]
    negated: bool = False
    source: tuple[str, int] | None = None
    n_inputs: int = 0

    @property
    def predicate(self) -> tuple[str, int]:
        """Name and arity of the predicate that it depends on."""
        return self.source or (self.name, len(self.args))

    def variables(self) -> set[Variable]:
        """Variables of the literal."""
        return set(variables(self.args))

    def substituted(self, value: Callable[[Variable], Term]) -> Part:
        """Return the literal with other terms for its variables."""
        return replace(self, args=tuple(substituted(argument, value) for argument in self.args))


NEVER = Part("unify", "=", (0, 1))


@dataclass(frozen=True, slots=True, eq=False)
class Conjunction:
    """``head :- parts``, one of the conjunctions that a clause is normalised into."""

    name: str
    head: tuple[Term, ...]
    parts: tuple[Part, ...]
    clause: Clause

    @property
    def predicate(self) -> tuple[str, int]:
        """Name and arity of the head."""
        return self.name, len(self.head)

    @property
    def head_variables(self) -> set[Variable]:
        """Variables of the head."""
        return set(variables(self.head))

    def error(self, message: str) -> PrologError:
        """Return an error that names the clause."""
        return clause_error(self.clause, message)


def clause_error(clause: Clause, message: str) -> PrologError:
    """Return an error that names a clause."""
    return PrologError(f"background clause '{clause}' ({clause.place}): {message}")


def flat(args: tuple[Term, ...]) -> tuple[tuple[Term, ...], list[Part]]:
    """Replace each term that contains variables by a new variable; return also the parts that define it."""
    arguments: list[Term] = []
    definitions: list[Part] = []
    for argument in args:
        if isinstance(argument, Variable) or is_ground(argument):
            arguments.append(argument)
            continue
        arguments.append(Variable("Term"))
        inner: tuple[Term, ...]
        if isinstance(argument, tuple):
            name, inner = "$list", (argument[0], argument[1:])
        else:
            assert isinstance(argument, Compound)
            is_list = predicate_of(argument) == ("[|]", 2)
            name, inner = ("$list", argument.args) if is_list else ("$term", (argument.name, *argument.args))
        parts, deeper = flat(inner)
        definitions += [Part("built-in", name, (arguments[-1], *parts)), *deeper]
    return tuple(arguments), definitions


def part_of(term: Term, clause: Clause) -> Part:
    """Return a goal as a literal; raise an error if it is not a literal or is unsupported."""
    if isinstance(term, Variable):
        raise clause_error(clause, f"a variable ({term.name}) cannot be called as a goal")
    if isinstance(term, str):
        reason = UNSUPPORTED.get(f"{term}/0")
        if reason is not None:
            raise clause_error(clause, f"{_CUT if term == '!' else f'{term}/0'} is not supported{reason}")
        return Part("relation", term, ())
    if not isinstance(term, Compound):
        raise clause_error(clause, f"{term_text(term)} is not a goal")
    reason = UNSUPPORTED.get(f"{term.name}/{len(term.args)}")
    if reason is not None:
        raise clause_error(clause, f"{indicator(*predicate_of(term))} is not supported{reason}")
    if len(term.args) == 2:
        if term.name in ORDERINGS:
            for side in term.args:
                _check_expression(side, clause)
            return Part("compare", term.name, term.args)
        if term.name == "is":
            if not isinstance(term.args[0], (Variable, int, float)):
                raise clause_error(
                    clause, f"the left side of '{term_text(term)}' is neither a variable nor a number"
                )
            _check_expression(term.args[1], clause)
            return Part("is", "is", term.args)
        if term.name in {"=", "==", "\\=", "\\==", "dif", "copy_term"}:
            # constants are ground, so `==` and `=` differ only in that `=` may bind a variable
            equal = term.name in {"=", "==", "copy_term"}
            return Part("unify", "=", term.args) if equal else Part("differ", "\\=", term.args)
    if predicate_of(term) == ("memberchk", 2):
        return Part("relation", "member", term.args)
    return Part("relation", term.name, term.args)


def _check_expression(term: Term, clause: Clause) -> None:
    if isinstance(term, (Variable, int, float)) or (isinstance(term, str) and (term, 0) in FUNCTIONS):
        return
    if isinstance(term, Compound) and (term.name, len(term.args)) in FUNCTIONS:
        for argument in term.args:
            _check_expression(argument, clause)
        return
    raise clause_error(clause, f"'{term_text(term)}' is not a supported arithmetic expression")
