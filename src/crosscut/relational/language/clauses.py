r"""Background clauses brought into the form that can be evaluated: conjunctions of simple parts.

Disjunction and if-then-else become several conjunctions; ``\+`` of more than one literal becomes ``\+`` of a
new predicate. What lies outside Datalog with arithmetic gets an error that names the clause and the
construct.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING

from crosscut.relational.language.arithmetic import FUNCTIONS, ORDERINGS
from crosscut.relational.language.builtins import BUILTINS
from crosscut.relational.language.prolog import Clause, PrologError
from crosscut.relational.language.terms import (
    Compound,
    Term,
    Variable,
    conjuncts,
    indicator,
    is_ground,
    name_and_args,
    predicate_of,
    substituted,
    term_text,
    variables,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Container

# Built-in predicates of Prolog that are no Datalog; a program's own predicates of other arity are not meant.
UNSUPPORTED = frozenset(
    """
    !/0 =../2 aggregate_all/3 arg/3 assert/1 asserta/1 assertz/1 atom_codes/2 atom_number/2
    bagof/3 call/1 call/2 call/3 catch/3 concat_atom/2 copy_term/2 exclude/3 findall/3 foldl/4
    format/1 format/2 functor/3 halt/0 ignore/1 include/3 maplist/2 maplist/3 maplist/4 nb_getval/2
    nb_setval/2 nl/0 number_codes/2 once/1 print/1 random/1 random/3 read/1 retract/1 setof/3
    sub_atom/5 throw/1 var/1 write/1 writeln/1
    """.split()  # noqa: SIM905  # a list of 50 quoted names reads worse
)


MOST_ALTERNATIVES = 1000  # that a clause may stand for

_CUT = "the cut (!), except after tests of the head's arguments,"


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    r"""One literal of a body.

    ``kind`` is "relation" (`name` with constant or variable `args`), "compare" (`name` is one of `ORDERINGS`,
    `args` are expressions), "unify" (``=`` and ``==``), "differ" (``\=`` and ``\==``), "is", or "built-in"
    (one of `BUILTINS`).
    """

    kind: str
    name: str
    args: tuple[Term, ...]
    negated: bool = False

    @property
    def predicate(self) -> tuple[str, int]:
        """Name and arity."""
        return self.name, len(self.args)

    def variables(self) -> set[Variable]:
        """Variables of the literal."""
        return set(variables(self.args))

    def substituted(self, value: Callable[[Variable], Term]) -> Part:
        """Return the literal with other terms for its variables."""
        return replace(self, args=tuple(substituted(argument, value) for argument in self.args))


@dataclass(frozen=True, slots=True, eq=False)
class Conjunction:
    """``head :- parts``, one of the conjunctions that a clause stands for."""

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


@dataclass
class Normalizer:
    """Turns clauses into conjunctions, adding predicates for negated conjunctions.

    A built-in predicate that the program defines itself, one of `own`, is a relation like others.
    """

    own: Container[tuple[str, int]] = ()
    conjunctions: list[Conjunction] = field(default_factory=list)
    lists: list[tuple[Term, ...]] = field(default_factory=list)

    def add(self, clause: Clause) -> None:
        """Take in one clause."""
        assert clause.head is not None
        name, args = name_and_args(clause.head)
        head, made = _flat(args)
        bodies: list[list[Part]] = [[]]
        if clause.body is not None:
            bodies = self._bodies(clause.body, clause, set(variables(args)))
        for body in bodies:
            self.conjunctions.append(Conjunction(name, head, (*body, *made), clause))

    def _bodies(self, term: Term, clause: Clause, seen: set[Variable]) -> list[list[Part]]:
        """Disjunctive normal form of a body; `seen` are the variables to its left."""
        match term:
            case Compound(",", (_, _)):
                found: list[list[Part]] = [[]]
                for goal in conjuncts(term):
                    bodies = self._bodies(goal, clause, seen)
                    check_alternatives(len(found) * len(bodies), clause)
                    found = [a + b for a, b in product(found, bodies)]
                    seen = seen | set(variables(goal))
                return found
            case Compound(";", (Compound("->", (condition, then)), otherwise)):
                yes = self._condition(condition, clause, seen)
                no = [self._negation(condition, clause, seen)]
                return [a + b for a, b in product(yes, self._bodies(then, clause, seen))] + [
                    no + b for b in self._bodies(otherwise, clause, seen)
                ]
            case Compound(";", (left, right)):
                return self._bodies(left, clause, seen) + self._bodies(right, clause, seen)
            case Compound("->", (condition, then)):
                yes = self._condition(condition, clause, seen)
                return [a + b for a, b in product(yes, self._bodies(then, clause, seen))]
            case Compound("\\+" | "not", (inner,)):
                return [[self._negation(inner, clause, seen)]]
            case Compound("forall", (condition, action)):
                counterexample = Compound(",", (condition, Compound("\\+", (action,))))
                return [[self._negation(counterexample, clause, seen)]]
            case Compound("member", (item, tuple() as items)) if not is_ground(items):
                return [[_part(Compound("=", (item, each)), clause)] for each in items]
            case "true":
                return [[]]
            case "fail" | "false":
                return []
        part = _part(term, clause)
        if part.kind == "relation" and part.predicate in BUILTINS and part.predicate not in self.own:
            part = replace(part, kind="built-in")
        self.lists += [each for each in part.args if isinstance(each, tuple) and is_ground(each)]
        if part.kind in {"compare", "is"}:
            return [[part]]
        args, made = _flat(part.args)
        return [[replace(part, args=args), *made]]

    def _condition(self, condition: Term, clause: Clause, seen: set[Variable]) -> list[list[Part]]:
        new = [
            variable.name
            for variable in variables(condition)
            if variable not in seen and variable.name != "_"
        ]
        if new:
            raise clause_error(
                clause, f"the condition of '->' binds {new[0]}, and only its first solution would count"
            )
        return self._bodies(condition, clause, seen)

    def _negation(self, inner: Term, clause: Clause, seen: set[Variable]) -> Part:
        bodies = self._bodies(inner, clause, seen)
        if len(bodies) == 1 and len(bodies[0]) == 1:
            (part,) = bodies[0]
            if not part.negated or part.kind != "relation":
                return replace(part, negated=not part.negated)
        # Variables of the negated goal that stand nowhere to its left are its own.
        shared = tuple(dict.fromkeys(variable for variable in variables(inner) if variable in seen))
        name = f"$not{len(self.conjunctions)}"
        for body in bodies:
            self.conjunctions.append(Conjunction(name, shared, tuple(body), clause))
        if not bodies:
            self.conjunctions.append(Conjunction(name, shared, (Part("unify", "=", (0, 1)),), clause))
        return Part("relation", name, shared, negated=True)


def clause_error(clause: Clause, message: str) -> PrologError:
    """Return an error that names a clause."""
    return PrologError(f"background clause '{clause}' ({clause.place}): {message}")


def check_alternatives(n: int, clause: Clause) -> None:
    """Refuse a clause that stands for too many conjunctions."""
    if n > MOST_ALTERNATIVES:
        raise clause_error(
            clause, f"its alternatives combine to more than {MOST_ALTERNATIVES:,} conjunctions; use fewer ';'"
        )


def _flat(args: tuple[Term, ...]) -> tuple[tuple[Term, ...], list[Part]]:
    """Return arguments with a variable for each term that has variables, and what that is made of."""
    flat: list[Term] = []
    made: list[Part] = []
    for argument in args:
        if isinstance(argument, Variable) or is_ground(argument):
            flat.append(argument)
            continue
        flat.append(Variable("Term"))
        inner: tuple[Term, ...]
        if isinstance(argument, tuple):
            name, inner = "$list", (argument[0], argument[1:])
        else:
            assert isinstance(argument, Compound)
            is_list = predicate_of(argument) == ("[|]", 2)
            name, inner = ("$list", argument.args) if is_list else ("$term", (argument.name, *argument.args))
        parts, deeper = _flat(inner)
        made += [Part("built-in", name, (flat[-1], *parts)), *deeper]
    return tuple(flat), made


def _part(term: Term, clause: Clause) -> Part:
    if isinstance(term, Variable):
        raise clause_error(clause, f"a variable ({term.name}) cannot be called as a goal")
    if isinstance(term, str):
        if f"{term}/0" in UNSUPPORTED:
            raise clause_error(clause, f"{_CUT if term == '!' else term} is not supported")
        return Part("relation", term, ())
    if not isinstance(term, Compound):
        raise clause_error(clause, f"{term_text(term)} is not a goal")
    if f"{term.name}/{len(term.args)}" in UNSUPPORTED:
        raise clause_error(clause, f"{indicator(*predicate_of(term))} is not supported")
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
            # constants are ground, so that `==` and `=` differ only in which may bind a variable
            equal = term.name in {"=", "=="}
            return Part("unify", "=", term.args) if equal else Part("differ", "\\=", term.args)
    if predicate_of(term) == ("memberchk", 2):
        return Part("relation", "member", term.args)
    return Part("relation", term.name, term.args)


def _check_expression(term: Term, clause: Clause) -> None:
    if isinstance(term, (Variable, int, float)):
        return
    if isinstance(term, Compound) and (term.name, len(term.args)) in FUNCTIONS:
        for argument in term.args:
            _check_expression(argument, clause)
        return
    raise clause_error(clause, f"'{term_text(term)}' is not an arithmetic expression that is supported")
