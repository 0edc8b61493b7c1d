"""Literals of background clauses, and conjunctions of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crosscut_relational.language.builtins import FUNCTIONS, ORDERINGS
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

# Goals that combine other goals, by name and arity.
CONNECTIVES = frozenset(
    {
        *((name, 2) for name in (",", ";", "->", "forall")),
        *((name, 1) for name in ("\\+", "not", "once")),
    }
)

# Built-in predicates of Prolog that are not supported unless the program defines them, with the remedy.
_COLLECT = (
    "state counts, sums and lists of solutions as facts, or learn from linked tables, which have summaries"
)
_LISTS = "use member/2, append/3, length/2 or sort/2, or state the results as facts"
_EACH = "write forall(member(X,List), goal) for a test of all items, or state the results as facts"
_TERMS = "write the term in the clause, as in 'first(f(X,_),X)'"
_TEXT = "state the results as facts"
_EFFECTS = "leave it out: clauses are evaluated before learning and cannot have side effects"
_REMEDIES = {
    _COLLECT: "aggregate_all/3 aggregate_all/4 bagof/3 findall/3 findall/4 setof/3",
    _LISTS: """
        delete/3 intersection/3 last/2 list_to_set/2 max_list/2 max_member/2 min_list/2 min_member/2 msort/2
        nth0/3 nth1/3 numlist/3 reverse/2 select/3 subset/2 subtract/3 sum_list/2 sumlist/2 union/3
    """,
    _EACH: """
        exclude/3 foldl/4 foldl/5 foldl/6 include/3 maplist/2 maplist/3 maplist/4 maplist/5 partition/4
    """,
    _TERMS: "=../2 arg/3 copy_term/2 functor/3",
    _TEXT: """
        atom_chars/2 atom_codes/2 atom_concat/3 atom_length/2 atom_number/2 atomic_list_concat/2
        atomic_list_concat/3 concat_atom/2 number_codes/2 sub_atom/5
    """,
    _EFFECTS: """
        assert/1 asserta/1 assertz/1 b_getval/2 b_setval/2 catch/3 format/1 format/2 halt/0 ignore/1
        nb_getval/2 nb_setval/2 nl/0 print/1 random/1 random/3 read/1 retract/1 throw/1 write/1 writeln/1
    """,
    "write the goal itself": "call/1 call/2 call/3 call/4 call/5 call/6 call/7",
    "use @<, @=<, @>, @>= or ==": "compare/3",
    "use is, as in 'Y is X+1'": "plus/3 succ/2",
    "arguments are bound where a predicate is used; write a clause that needs no var": "var/1",
    "write the opposite of the tests before it into the clauses that follow, or use (Test -> A ; B)": "!/0",
}
UNSUPPORTED = {name: remedy for remedy, names in _REMEDIES.items() for name in names.split()}


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    r"""One literal of a body.

    ``kind`` is "relation" (`name` with constant or variable `args`), "compare" (`name` is one of `ORDERINGS`,
    `args` are expressions), "unify" (``=`` and ``==``), "differ" (``\=`` and ``\==``), "is", "built-in"
    (one of `BUILTINS`) or "rule" (a negated rule that is evaluated for the bound arguments).
    """

    kind: str
    name: str
    args: tuple[Term, ...]
    negated: bool = False

    @property
    def predicate(self) -> tuple[str, int]:
        """Name and arity of the predicate that it depends on."""
        return self.name, len(self.args)

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


def check_supported(term: Term, clause: Clause) -> None:
    """Raise an error with the remedy if a goal calls a built-in predicate that is not supported."""
    name, arity = predicate_of(term)
    remedy = UNSUPPORTED.get(f"{name}/{arity}")
    if remedy is not None:
        what = "the cut (!), except after a test with var," if name == "!" else indicator(name, arity)
        raise clause_error(clause, f"{what} is not supported; {remedy}")


def part_of(term: Term, clause: Clause) -> Part:
    """Return a goal as a literal; raise an error if it is not a literal."""
    if isinstance(term, Variable):
        raise clause_error(clause, f"a variable ({term.name}) cannot be called as a goal")
    if isinstance(term, str):
        return Part("relation", term, ())
    if not isinstance(term, Compound):
        raise clause_error(clause, f"{term_text(term)} is not a goal")
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
        if term.name in {"=", "==", "\\=", "\\==", "dif"}:
            # constants are ground, so `==` and `=` differ only in that `=` may bind a variable
            equal = term.name in {"=", "=="}
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
