r"""Normalise background clauses into conjunctions of simple parts, the form that is evaluated.

Disjunction and if-then-else become several conjunctions. A negation of several literals becomes ``\+`` of a
new predicate. Goals about all solutions, such as ``findall``, also become new predicates. Constructs outside
Datalog with arithmetic raise an error that names the clause and the construct.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import count, product
from typing import TYPE_CHECKING

from crosscut_relational.language.builtins import BUILTINS
from crosscut_relational.language.collected import GOALS, MAPS, Collection, binds, called_with, collection_of
from crosscut_relational.language.parts import NEVER, Conjunction, Part, clause_error, flat, part_of
from crosscut_relational.language.schedule import schedule
from crosscut_relational.language.terms import (
    Compound,
    Term,
    Variable,
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
                    seen = seen | binds(goal)
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
            case Compound("call", (closure, *more)) if not isinstance(closure, Variable):
                return self._bodies(called_with(closure, more), clause, seen)
            case Compound("once", (goal,)):
                return self._first_solution(goal, clause, seen)
            case Compound("ignore", (goal,)):
                self._first_solution(goal, clause, seen)
                return [[]]
            case Compound(name, (closure, *lists)) if name in MAPS and predicate_of(term) in GOALS:
                return [self._mapped(name, closure, tuple(lists), clause, seen)]
            case Compound() if (collection := collection_of(term, seen)) is not None:
                return [self._collected(collection, clause, seen)]
            case Compound("member", (item, tuple() as items)) if not is_ground(items):
                return [[part_of(Compound("=", (item, each)), clause)] for each in items]
            case "true":
                return [[]]
            case "fail" | "false":
                return []
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

    def _collected(self, collection: Collection, clause: Clause, seen: set[Variable]) -> list[Part]:
        """Define a predicate of a goal's solutions and return the parts that collect its last argument.

        The last argument is the value of the template. The other arguments keep solutions apart: the goal's
        variables, and the number of the alternative of ``;``.
        """
        goal_variables = dict.fromkeys(variables(collection.goal))
        for variable in variables(collection.template):
            if variable not in seen and variable not in goal_variables:
                raise clause_error(clause, f"{variable.name} is collected but does not occur in the goal")
        every = dict.fromkeys([*goal_variables, *variables(collection.template)])
        bodies = self._bodies(collection.goal, clause, seen)
        keys, groups = tuple(variable for variable in every if variable in seen), collection.groups or ()
        if collection.groups is not None:  # no result without solutions, so the goal may bind these keys
            bound = set(keys).intersection(*(schedule(body, (), ())[2] for body in bodies))
            keys, groups = (
                tuple(key for key in keys if key not in bound),
                (*(key for key in keys if key in bound), *groups),
            )
        local_variables = [each for each in goal_variables if each not in seen and each not in groups]
        value, terms = flat((collection.template,))
        name = self._new("$all")
        definition = []
        for number, body in enumerate(bodies):
            bound = {variable for part in body if not part.negated for variable in part.variables()}
            local = (variable if variable in bound else 0 for variable in local_variables)
            definition.append(((*keys, *groups, *local, number, *value), [*body, *terms]))
        arity = len(keys) + len(groups) + len(local_variables) + 2
        self._define(name, definition or [((*keys, *(0,) * (arity - len(keys))), [NEVER])], clause)
        args, parts = flat((*keys, *groups, collection.result))
        return [Part("collect", collection.how, args, source=(name, arity), n_inputs=len(keys)), *parts]

    def _mapped(
        self, name: str, closure: Term, lists: tuple[Term, ...], clause: Clause, seen: set[Variable]
    ) -> list[Part]:
        """Return the parts that apply a closure to the items of lists."""
        keys = tuple(dict.fromkeys(variables(closure)))
        if isinstance(closure, Variable) or not seen.issuperset(keys):
            unbound = next(each for each in keys if isinstance(closure, Variable) or each not in seen)
            raise clause_error(clause, f"{unbound.name} in the first argument of {name} is never bound")
        items = tuple(Variable("Item") for _ in (lists if name == "maplist" else lists[:1]))
        bodies = self._bodies(called_with(closure, items), clause, seen | {*items})
        source = self._new("$all")
        head = (*keys, *items)
        self._define(source, [(head, body) for body in bodies] or [(head, [NEVER])], clause)
        args, parts = flat((*keys, *lists))
        return [Part("map", name, args, source=(source, len(head)), n_inputs=len(keys)), *parts]


def check_alternatives(n: int, clause: Clause) -> None:
    """Raise an error if a clause expands to too many conjunctions."""
    if n > MOST_ALTERNATIVES:
        raise clause_error(
            clause, f"its alternatives combine to more than {MOST_ALTERNATIVES:,} conjunctions; use fewer ';'"
        )
