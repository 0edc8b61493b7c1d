"""Evaluate background clauses before learning: stratum by stratum, recursive ones semi-naively."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from itertools import compress, product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from crosscut import CrosscutWarning
from crosscut.engines.progress import each_part
from crosscut_relational.database.bindings import Bindings
from crosscut_relational.database.dependencies import (
    check_stratified,
    closure,
    components,
    reached,
    report,
    unknown,
)
from crosscut_relational.database.relation import distinct_facts, fact_numbers, in_chunks
from crosscut_relational.language.builtins import is_recursion_on_lists
from crosscut_relational.language.clauses import Normalizer, check_alternatives, without_var
from crosscut_relational.language.parts import Conjunction, Part
from crosscut_relational.language.prolog import PrologError
from crosscut_relational.language.rule import ALIASES, COMPARISONS, Goal, Rule
from crosscut_relational.language.schedule import joined_cheaply, makes_constants, schedule
from crosscut_relational.language.terms import Compound, Term, Variable, predicate_of

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Sequence

    from numpy.typing import NDArray

    from crosscut_relational.database.constants import Constants
    from crosscut_relational.database.database import Database
    from crosscut_relational.language.prolog import Clause

Predicate = tuple[str, int]
Facts = dict[Predicate, "NDArray[np.int32]"]

TESTS = ("relation", "compare", "unify", "differ")  # kinds of parts that bind nothing if they are negated
HELPERS = ("$not", "$if")  # predicates for parts of clauses


@dataclass
class Derivation:
    """Facts derived so far during evaluation, and predicates that need bound arguments."""

    constants: Constants
    facts: Facts
    rules: dict[Predicate, Rule] = field(default_factory=dict)

    @classmethod
    def of(cls, database: Database) -> Derivation:
        """Return a derivation that starts with the facts of a database."""
        facts = {predicate: relation.columns for predicate, relation in database.relations.items()}
        return cls(database.constants, facts, dict(database.rules))

    def derive(
        self,
        clauses: Sequence[Clause],
        declared: Container[Predicate] | None = None,
        wanted: Collection[Predicate] | None = None,
        unread: Sequence[str] = (),
    ) -> None:
        """Add the facts that the clauses derive.

        All problems are reported at once, including those of reading the program (`unread`). With
        `declared`, a predicate that is neither defined nor declared is a problem; without it, such predicates
        are false. Predicates not needed by the `wanted` ones are not evaluated; their problems are warnings.
        """
        # lists are constants, so built-in predicates replace the program's definitions of member/2 and others
        stated = [(predicate_of(clause.head), clause) for clause in clauses if clause.head is not None]
        heads = [(predicate_of(clause.head), clause) for clause in without_var(clauses) if clause.head]
        replaced = {predicate for predicate, clause in heads if is_recursion_on_lists(clause.head)}
        self.facts = {predicate: rows for predicate, rows in self.facts.items() if predicate not in replaced}
        replaced.add(("member", 2))
        known = {*self.facts, *self.rules, *(predicate for predicate, _ in stated)} - replaced
        normalizer = Normalizer(known)
        problems: list[tuple[Predicate | None, str]] = [(None, problem) for problem in unread]
        failed: set[Predicate] = set()
        for predicate, clause in heads:
            try:
                if predicate not in replaced:
                    normalizer.add(clause)
            except PrologError as error:
                problems.append((predicate, str(error)))
                failed.add(predicate)
        conjunctions = normalizer.conjunctions
        if declared is not None:
            problems += unknown(conjunctions, known | failed, declared)
        if any(part.predicate == ("member", 2) for each in conjunctions for part in each.parts):
            self.add_member(normalizer.lists)
        by_predicate: dict[Predicate, list[Conjunction]] = {}
        for each in conjunctions:
            by_predicate.setdefault(each.predicate, []).append(each)
        calls = {
            name: {part.predicate for each in definition for part in each.parts}
            for name, definition in by_predicate.items()
        }
        evaluated = closure(by_predicate if wanted is None else wanted, calls)
        for component, recursive in each_part(list(components(by_predicate))):
            if evaluated.isdisjoint(component):
                continue
            together = [each for predicate in component for each in by_predicate[predicate]]
            try:
                needed = {part.predicate for each in together for part in each.parts}
                if not failed.isdisjoint(needed.union(component)):
                    failed |= set(component)
                    continue
                check_stratified(together)
                self._derive_component(together, recursive)
            except PrologError as error:
                problems.append((component[0], str(error)))
                failed |= set(component)
        if problems:
            report(problems, None if wanted is None else reached(wanted, heads))
        called = {
            part.predicate for rule in self.rules.values() for body in rule.definition for part in body.parts
        }
        self.facts = {
            predicate: rows
            for predicate, rows in self.facts.items()
            if not predicate[0].startswith(HELPERS) or predicate in called
        }

    def add_member(self, lists: Sequence[tuple[Term, ...]] = ()) -> None:
        """Store ``member(Item, List)`` for every list that is a constant."""
        if ("member", 2) in self.facts:
            return
        for each in lists:
            self.constants.intern(each)
        pairs = []
        position = 0
        while position < len(self.constants):  # items may be lists themselves and are interned as we go
            term = self.constants.terms[position]
            if isinstance(term, tuple):
                pairs += [
                    (self.constants.intern(item), position) for item in term if not isinstance(item, Variable)
                ]
            position += 1
        self.facts["member", 2] = distinct_facts(np.array(pairs, np.int32).reshape(-1, 2).T)

    def _derive_component(self, conjunctions: list[Conjunction], recursive: bool) -> None:
        unfolded = [new for each in conjunctions for new in self._unfolded(each)]
        open_ones = [each for each in unfolded if not _is_range_restricted(each)]
        if recursive:
            for each in open_ones:
                raise each.error(
                    f"it is recursive and leaves {_unbound(each)} unbound; "
                    "bind it with a literal that is not negated"
                )
            self._fixpoint(unfolded)
        elif open_ones:
            self._add_rule(unfolded)
        else:
            for each in unfolded:
                self._add(each.predicate, self.evaluate(each))

    def _unfolded(self, conjunction: Conjunction) -> list[Conjunction]:
        """Return the conjunction with calls of rules replaced by their bodies."""
        options: list[list[tuple[Part, ...]]] = []
        for part in conjunction.parts:
            rule = self.rules.get(part.predicate) if part.kind == "relation" else None
            if rule is None:
                options.append([(part,)])
                continue
            called = [_called(body, part) for body in rule.definition]
            if not part.negated:
                options.append(called)
            elif all(len(parts) == 1 and parts[0].kind in TESTS for parts in called):
                tests = (test for (test,) in called)
                options.append([tuple(replace(test, negated=not test.negated) for test in tests)])
            else:
                options.append([(replace(part, kind="rule"),)])
        check_alternatives(prod(map(len, options)), conjunction.clause)
        return [
            replace(conjunction, parts=tuple(part for parts in chosen for part in parts))
            for chosen in product(*options)
        ]

    def _add_rule(self, conjunctions: list[Conjunction]) -> None:
        """Keep a predicate as a rule, since its clauses need bound arguments."""
        first = conjunctions[0]
        name, arity = first.predicate
        if first.predicate in self.facts:
            raise first.error(
                f"{name}/{arity} also has facts; give the clause's variables a domain with a literal"
            )
        head = tuple(Variable(f"A{number}") for number in range(arity))
        bodies = []
        inputs: set[int] = set()
        for each in conjunctions:
            parts = tuple(Part("unify", "=", pair) for pair in zip(head, each.head, strict=True)) + each.parts
            parts = _simplified(parts, head)
            body = replace(each, head=head, parts=parts)
            _, _, bound = schedule(parts, (), head)
            inputs |= {number for number, variable in enumerate(head) if variable not in bound}
            bodies.append(body)
        needed = [head[number] for number in sorted(inputs)]
        for body in bodies:
            _, left, _ = schedule(body.parts, needed, head)
            if left:
                raise body.error(f"the variable {_unbound(body, needed)} is never bound")
        goals = tuple(self._goals(body, head) for body in bodies)
        if None in goals:  # a stored predicate may also bind some of its arguments
            inputs = _least_inputs(bodies, head, inputs)
        self.rules[name, arity] = Rule(
            name,
            arity,
            tuple(each for each in goals if each is not None) if None not in goals else (),
            frozenset(inputs),
            str(first.clause),
            tuple(bodies),
        )

    def _goals(self, body: Conjunction, head: tuple[Variable, ...]) -> tuple[Goal, ...] | None:
        """Return the body over numbered variables, None if it needs more than relations and comparisons."""
        numbers = {variable: number for number, variable in enumerate(head)}
        goals = []
        for part in body.parts:
            name = ALIASES.get(part.name, part.name)
            if part.kind == "is" or (part.kind != "relation" and name not in COMPARISONS):
                return None
            args = []
            for argument in part.args:
                if isinstance(argument, Variable):
                    args.append(numbers.setdefault(argument, len(numbers)))
                elif part.kind == "compare" and isinstance(argument, Compound):
                    return None
                else:
                    args.append(~self.constants.intern(argument))
            goals.append(Goal(name, tuple(args), part.negated))
        return tuple(goals)

    def evaluate(
        self,
        conjunction: Conjunction,
        first: Part | None = None,
        delta: NDArray[np.int32] | None = None,
        start: Bindings | None = None,
    ) -> NDArray[np.int32]:
        """Return the facts that the conjunction derives; `first`, if given, is joined with `delta` only."""
        bindings = start if start is not None else Bindings(self.constants)
        head = conjunction.head_variables
        parts = conjunction.parts if first is not None else joined_cheaply(conjunction, self.facts)
        ordered, _, _ = schedule(parts, bindings.columns, head, first)
        later: list[set[Variable]] = [head]
        for part in reversed(ordered):
            later.append(later[-1] | part.variables())
        later.reverse()
        for part, needed in zip(ordered, later[1:], strict=True):
            facts = None
            if part.kind == "relation":
                facts = delta if part is first else self.facts.get(part.predicate)
                if facts is None:
                    facts = np.empty((len(part.args), 0), np.int32)
            try:
                if part.kind == "rule":
                    known = [not isinstance(each, Variable) or each in bindings.columns for each in part.args]
                    inputs = bindings.project(tuple(compress(part.args, known)))
                    facts = self.solutions(part.predicate, inputs, np.flatnonzero(known).tolist())
                bindings.apply(part, facts)
            except PrologError:
                raise
            except ValueError as error:
                raise conjunction.error(f"at '{part.name}', {error}") from None
            bindings.keep_only(needed)
        if bindings.undefined:
            clause = conjunction.clause
            warnings.warn(
                f"background clause '{clause}' ({clause.place}): some arithmetic has no value, "
                "such as a division by zero; the clause fails for these values",
                CrosscutWarning,
                stacklevel=2,
            )
        return bindings.project(conjunction.head)

    def solutions(
        self, predicate: Predicate, inputs: NDArray[np.int32], places: Sequence[int]
    ) -> NDArray[np.int32]:
        """Return the facts of a predicate; if it needs bound arguments, those with `inputs` in `places`."""
        rule = self.rules.get(predicate)
        if rule is None:
            return self.facts.get(predicate, np.empty((predicate[1], 0), np.int32))
        derived = []
        for body in rule.definition:
            head = tuple(each for each in body.head if isinstance(each, Variable))
            bound = [head[place] for place in places]
            _, left, known = schedule(body.parts, bound, head)
            if left or not {*head} <= known:
                raise body.error(f"some arguments of {rule.text} are not bound where it is negated")
            start = Bindings(self.constants)
            start.n_rows, start.columns = inputs.shape[1], dict(zip(bound, inputs, strict=True))
            derived.append(self.evaluate(body, start=start))
        return np.concatenate(derived, axis=1)

    def _add(self, predicate: Predicate, derived: NDArray[np.int32]) -> NDArray[np.int32]:
        """Store facts, and return those that are new."""
        known = self.facts.get(predicate)
        if known is None:
            self.facts[predicate] = derived
            return derived
        if len(derived) == 0:
            new = derived[:, : int(known.shape[1] == 0 and derived.shape[1] > 0)]
        else:
            old, numbers = fact_numbers([known, derived])
            new = derived[:, ~np.isin(numbers, old)]
        self.facts[predicate] = np.ascontiguousarray(np.concatenate([known, new], axis=1))
        return new

    def _fixpoint(self, conjunctions: list[Conjunction]) -> None:
        """Semi-naive evaluation: a new fact has at least one premise that was new in the round before."""
        recursive = {each.predicate for each in conjunctions}
        for each in conjunctions:
            for part in each.parts:
                if part.kind in {"is", "rule"} or (part.kind == "built-in" and makes_constants(part)):
                    kind = "numbers" if part.kind == "is" else "constants"
                    name = "a term with variables" if part.name[0] == "$" else f"'{part.name}'"
                    raise each.error(f"{name} in a recursive predicate may create new {kind} without end")
        empty = {predicate: np.empty((predicate[1], 0), np.int32) for predicate in recursive}
        calls = [[p for p in each.parts if p.predicate in recursive] for each in conjunctions]
        # only a body with two recursive calls uses facts of earlier rounds
        is_linear = all(len(parts) < 2 for parts in calls)
        stored = {predicate: [self.facts.get(predicate, empty[predicate])] for predicate in recursive}
        seen = {predicate: set(_keys(facts)) for predicate, (facts,) in stored.items()}

        def add(predicate: Predicate, derived: NDArray[np.int32]) -> NDArray[np.int32]:
            is_new = np.zeros(derived.shape[1], bool)
            for chunk in in_chunks(derived.shape[1]):
                keys = _keys(derived[:, chunk])
                is_new[chunk] = [key not in seen[predicate] for key in keys]
                seen[predicate].update(keys)
            new = derived[:, is_new]
            stored[predicate].append(new)
            if not is_linear:
                stored[predicate] = [np.concatenate(stored[predicate], axis=1)]
                self.facts[predicate] = stored[predicate][0]
            return new

        self.facts |= {predicate: facts for predicate, (facts,) in stored.items()}
        deltas: Facts = {predicate: facts for predicate, (facts,) in stored.items()}
        for each in conjunctions:
            new = add(each.predicate, self.evaluate(each))
            deltas[each.predicate] = np.concatenate([deltas[each.predicate], new], axis=1)
        while any(delta.shape[1] for delta in deltas.values()):
            new_facts = dict(empty)
            for each, parts in zip(conjunctions, calls, strict=True):
                for part in parts:
                    new = add(each.predicate, self.evaluate(each, part, deltas[part.predicate]))
                    new_facts[each.predicate] = np.concatenate([new_facts[each.predicate], new], axis=1)
            deltas = new_facts
        for predicate, facts in stored.items():
            self.facts[predicate] = np.ascontiguousarray(np.concatenate(facts, axis=1))


def _keys(facts: NDArray[np.int32]) -> list[bytes]:
    """Return a hashable key for each fact."""
    rows = np.ascontiguousarray(facts.T)
    if rows.shape[1] == 0:
        return [b""] * len(rows)
    keys: list[bytes] = rows.view(f"V{4 * rows.shape[1]}").ravel().tolist()
    return keys


def _is_range_restricted(conjunction: Conjunction) -> bool:
    _, left, bound = schedule(conjunction.parts, (), conjunction.head_variables)
    return not left and conjunction.head_variables <= bound


def _unbound(conjunction: Conjunction, known: Sequence[Variable] = ()) -> str:
    head = conjunction.head_variables
    _, left, bound = schedule(conjunction.parts, known, head)
    return ", ".join(sorted(variable.name for variable in head.union(*(p.variables() for p in left)) - bound))


def _called(body: Conjunction, call: Part) -> tuple[Part, ...]:
    """Return the body's parts for a call: its arguments for the head's variables, the others renamed."""
    values: dict[Term, Term] = dict(zip(body.head, call.args, strict=True))
    return tuple(
        part.substituted(lambda variable: values.setdefault(variable, Variable(variable.name)))
        for part in body.parts
    )


def _least_inputs(
    bodies: Sequence[Conjunction], head: tuple[Variable, ...], inputs: Collection[int]
) -> set[int]:
    """Drop inputs that follow from the others, starting with the last argument."""
    least = set(inputs)
    for place in sorted(inputs, reverse=True):
        keys = [head[each] for each in least - {place}]
        schedules = [schedule(body.parts, keys, head) for body in bodies]
        if all(not left and {*head} <= bound for _, left, bound in schedules):
            least.remove(place)
    return least


def _simplified(parts: tuple[Part, ...], head: tuple[Variable, ...]) -> tuple[Part, ...]:
    """Drop ``A0 = X`` by writing A0 for X, so that ``lteq(X,Y) :- X =< Y`` keeps one comparison."""
    values: dict[Variable, Term] = {}
    kept = []
    for part in parts[: len(head)]:
        variable, value = part.args
        if isinstance(value, Variable) and value not in values:
            values[value] = variable
        else:
            kept.append(part)
    return tuple(
        part.substituted(lambda variable: values.get(variable, variable))
        for part in (*kept, *parts[len(head) :])
    )
