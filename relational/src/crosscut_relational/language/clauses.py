r"""Normalise background clauses into conjunctions of simple parts, the form that is evaluated.

Disjunction and if-then-else become several conjunctions. A negation of several literals becomes ``\+`` of a
new predicate. Constructs outside Datalog with arithmetic raise an error that names the clause, the construct
and what to write instead.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import count, product
from typing import TYPE_CHECKING

from crosscut_relational.language.builtins import BUILTINS
from crosscut_relational.language.parts import (
    NEVER,
    Conjunction,
    Part,
    check_supported,
    clause_error,
    flat,
    part_of,
)
from crosscut_relational.language.terms import (
    Compound,
    Term,
    Variable,
    conjunction,
    conjuncts,
    is_ground,
    name_and_args,
    predicate_of,
    variables,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from crosscut_relational.language.prolog import Clause

MOST_ALTERNATIVES = 1000  # maximum number of conjunctions per clause


@dataclass
class Normalizer:
    """Turns clauses into conjunctions, adding predicates for negated conjunctions.

    A built-in predicate that the program defines itself (in `defined`) is treated as a relation.
    """

    defined: AbstractSet[tuple[str, int]] = frozenset()
    conjunctions: list[Conjunction] = field(default_factory=list)
    lists: list[tuple[Term, ...]] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=count)

    def add(self, clause: Clause) -> None:
        """Normalise one clause."""
        assert clause.head is not None
        name, args = name_and_args(clause.head)
        head, terms = flat(args)
        bodies: list[list[Part]] = [[]]
        if clause.body is not None:
            bodies = self._bodies(clause.body, clause, set(variables(args)))
        for body in bodies:
            self.conjunctions.append(Conjunction(name, head, (*body, *terms), clause))

    def _bodies(self, term: Term, clause: Clause, seen: set[Variable]) -> list[list[Part]]:
        """Return the disjunctive normal form of a body; `seen` are the variables to its left."""
        match term:
            case Compound(",", (_, _)):
                conjunctions: list[list[Part]] = [[]]
                for goal in conjuncts(term):
                    bodies = self._bodies(goal, clause, seen)
                    check_alternatives(len(conjunctions) * len(bodies), clause)
                    conjunctions = [a + b for a, b in product(conjunctions, bodies)]
                    seen = seen | _binds(goal)
                return conjunctions
            case Compound(";", (Compound("->", (condition, then)), otherwise)):
                yes = self._first_solution(condition, clause, seen)
                no = [self._negation(condition, clause, seen)]
                return [a + b for a, b in product(yes, self._bodies(then, clause, seen))] + [
                    no + b for b in self._bodies(otherwise, clause, seen)
                ]
            case Compound(";", (left, right)):
                return self._bodies(left, clause, seen) + self._bodies(right, clause, seen)
            case Compound("->", (condition, then)):
                yes = self._first_solution(condition, clause, seen)
                return [a + b for a, b in product(yes, self._bodies(then, clause, seen))]
            case Compound("\\+" | "not", (inner,)):
                return [[self._negation(inner, clause, seen)]]
            case Compound("forall", (condition, action)):
                counterexample = Compound(",", (condition, Compound("\\+", (action,))))
                return [[self._negation(counterexample, clause, seen)]]
            case Compound("once", (goal,)):
                return self._first_solution(goal, clause, seen)
            case Compound("member", (item, tuple() as items)) if not is_ground(items):
                return [[part_of(Compound("=", (item, each)), clause)] for each in items]
            case "true":
                return [[]]
            case "fail" | "false":
                return []
        if not isinstance(term, Variable) and predicate_of(term) not in self.defined:
            check_supported(term, clause)
        part = part_of(term, clause)
        if part.kind == "relation" and part.predicate in BUILTINS and part.predicate not in self.defined:
            part = replace(part, kind="built-in")
        self.lists += [each for each in part.args if isinstance(each, tuple) and is_ground(each)]
        if part.kind in {"compare", "is"}:
            return [[part]]
        args, terms = flat(part.args)
        return [[replace(part, args=args), *terms]]

    def _first_solution(self, goal: Term, clause: Clause, seen: set[Variable]) -> list[list[Part]]:
        """Return a goal whose first solution is used; its own variables must not occur elsewhere."""
        every = Counter(variables((clause.head or "", clause.body or "")))
        inside = Counter(variables(goal))
        local = [variable for variable in inside if variable not in seen]
        for variable in local:
            if every[variable] > inside[variable]:
                raise clause_error(
                    clause,
                    f"the condition of '->', or once, binds {variable.name}, which is used elsewhere, but "
                    "only its first solution would count",
                )
        bodies = self._bodies(goal, clause, seen)
        return [[self._helper("$if", bodies, goal, clause, seen)]] if local else bodies

    def _negation(self, inner: Term, clause: Clause, seen: set[Variable]) -> Part:
        bodies = self._bodies(inner, clause, seen)
        if len(bodies) == 1 and len(bodies[0]) == 1:
            (part,) = bodies[0]
            is_test = part.kind == "relation" or part.variables() <= seen
            if is_test and not (part.negated and part.kind == "relation"):
                return replace(part, negated=not part.negated)
        return replace(self._helper("$not", bodies, inner, clause, seen), negated=True)

    def _helper(
        self, name: str, bodies: list[list[Part]], goal: Term, clause: Clause, seen: set[Variable]
    ) -> Part:
        """Return a literal of a new predicate for a goal; its arguments are the seen variables."""
        shared = tuple(dict.fromkeys(variable for variable in variables(goal) if variable in seen))
        name = self._new(name)
        self._define(name, [(shared, body) for body in bodies] or [(shared, [NEVER])], clause)
        return Part("relation", name, shared)

    def _new(self, prefix: str) -> str:
        """Return an unused predicate name; previously derived predicates may also have helpers."""
        known = {name for name, _ in self.defined}
        return next(name for name in (f"{prefix}{i}" for i in self.numbers) if name not in known)

    def _define(
        self, name: str, definition: Iterable[tuple[tuple[Term, ...], list[Part]]], clause: Clause
    ) -> None:
        self.conjunctions += [Conjunction(name, head, tuple(body), clause) for head, body in definition]


def _binds(goal: Term) -> set[Variable]:
    """Return the variables that a goal may bind."""
    if isinstance(goal, Compound) and predicate_of(goal) in {("\\+", 1), ("not", 1), ("forall", 2)}:
        return set()
    if isinstance(goal, Compound) and predicate_of(goal) in {(",", 2), (";", 2), ("->", 2)}:
        return set().union(*map(_binds, goal.args))
    return {*variables(goal)}


def check_alternatives(n: int, clause: Clause) -> None:
    """Raise an error if a clause expands to too many conjunctions."""
    if n > MOST_ALTERNATIVES:
        raise clause_error(
            clause, f"its alternatives combine to more than {MOST_ALTERNATIVES:,} conjunctions; use fewer ';'"
        )


def without_var(clauses: Iterable[Clause]) -> list[Clause]:
    r"""Return clauses that mean the same without ``var``, and without cuts that are then superfluous.

    Arguments are bound wherever a predicate is used, so ``var(X)`` is false: a clause with it is dropped, and
    ``\\+ var(X)`` is true. A cut at the start of a body then always excludes the clauses that follow. A cut
    after tests of the head's arguments in the last clause excludes nothing. Other cuts stay.
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
        kept.append(replace(clause, body=conjunction(goals)))
    for place in last.values():
        clause = kept[place]
        goals = _goals(clause)
        if "!" in goals:
            tests = goals[: goals.index("!")]
            if {*variables(tuple(tests))} <= {*variables((clause.head or "",))}:
                kept[place] = replace(clause, body=conjunction(tests + goals[len(tests) + 1 :]))
    return kept


def _goals(clause: Clause) -> list[Term]:
    return [] if clause.body is None else conjuncts(clause.body)


def _is_var(goal: Term, negations: int = 0) -> bool:
    """Whether a goal is ``var(X)`` inside the given number of negations."""
    for _ in range(negations):
        if not (isinstance(goal, Compound) and goal.name in {"\\+", "not"} and len(goal.args) == 1):
            return False
        (goal,) = goal.args
    return isinstance(goal, Compound) and predicate_of(goal) == ("var", 1)
