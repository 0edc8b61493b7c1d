"""A Prolog decision list, such as TILDE prints after a tree, read back to classify new examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.relational.language.prolog import PrologError, read_program
from crosscut.relational.language.rule import ALIASES, COMPARISONS, Goal
from crosscut.relational.language.terms import Compound, Variable, conjuncts, name_and_args, term_text
from crosscut.relational.queries.queries import STEP_LIMIT, Facts, Queries, members

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from crosscut.relational.database.database import Database
    from crosscut.relational.language.prolog import Clause
    from crosscut.relational.language.terms import Constant, Term


@dataclass(frozen=True)
class DecisionList:
    """Clauses that are tried in order; the first whose body holds gives the prediction.

    Examples
    --------
    >>> from crosscut.relational.database.database import Database
    >>> rules = DecisionList.from_prolog('''
    ...     machine(A,[sendback]) :- worn(A,B), not_replaceable(B), !.
    ...     machine(A,[fix]) :- worn(A,B), !.
    ...     machine(A,[ok]).
    ... ''')
    >>> db = Database.from_prolog('''
    ...     machine(1, fix). worn(1, gear).
    ...     machine(2, ok).
    ...     not_replaceable(engine).
    ... ''', predict="machine(+machine,-action)")
    >>> rules.predict(db).tolist()
    ['fix', 'ok']
    """

    clauses: tuple[Clause, ...]

    @classmethod
    def from_prolog(cls, text: str) -> DecisionList:
        """Read clauses ``machine(A,[fix]) :- worn(A,B), !.``, for models ``class([fix]) :- worn(A), !.``."""
        clauses = tuple(read_program(text))
        if not clauses:
            raise PrologError("the program has no clauses")
        for clause in clauses:
            if not isinstance(clause.head, Compound):
                raise PrologError(f"'{clause}' has no head that gives a class, such as class([pos])")
        return cls(clauses)

    def predict(self, database: Database, *, step_limit: int = STEP_LIMIT) -> NDArray[Any]:
        """Class of every example; None where no clause applies."""
        bodies = [self._goals(clause, database) for clause in self.clauses]
        facts = Facts(database)
        queries = Queries(facts, step_limit=step_limit)
        result = np.full(database.n_examples, None, object)
        left = queries.everything
        for clause, goals in zip(self.clauses, bodies, strict=True):
            applies = queries.truth(queries.conjunction(goals), left) if goals else left
            result[members(applies, database.n_examples)] = _value(clause)
            left = left & ~applies
        return result

    def _goals(self, clause: Clause, database: Database) -> list[Goal]:
        head = clause.head
        assert isinstance(head, Compound)
        *keys, _ = head.args
        n_keys = len(database.keys)
        if len(keys) != (0 if database.implicit_key else n_keys):
            raise PrologError(
                f"'{clause}': the head has {len(keys)} keys, the database's examples have {n_keys}"
            )
        numbers: dict[Variable, int] = {}
        for i, key in enumerate(keys):
            if not isinstance(key, Variable):
                raise PrologError(f"'{clause}': the head's key {term_text(key)} is not a variable")
            numbers[key] = i

        def argument(term: Term) -> int:
            if isinstance(term, Variable):
                return numbers.setdefault(term, n_keys + len(numbers) - len(keys))
            return ~database.constants.intern(term)

        goals = []
        for goal, negated in _body(clause):
            name, args = name_and_args(goal)
            placed = tuple(map(argument, args))
            name = ALIASES.get(name, name)
            stored = database.relations.get((name, len(args) + 1))
            is_comparison = name in COMPARISONS and len(args) == 2
            if database.implicit_key and not is_comparison and stored is not None and stored.keyed:
                placed = (0, *placed)
            goals.append(Goal(name, placed, negated))
        return goals


def _body(clause: Clause) -> Iterator[tuple[Term, bool]]:
    if clause.body is None:
        return
    for goal in conjuncts(clause.body):
        is_number = isinstance(goal, Compound) and goal.name == "number" and len(goal.args) == 1
        if goal in ("!", "true") or is_number:  # comparisons are false where a side is no number
            continue
        negated = isinstance(goal, Compound) and goal.name in {"\\+", "not"} and len(goal.args) == 1
        inner = goal.args[0] if negated and isinstance(goal, Compound) else goal
        if not isinstance(inner, (str, Compound)):
            raise PrologError(f"'{clause}': {term_text(inner)} is not a goal")
        yield inner, negated


def _value(clause: Clause) -> Constant:
    assert isinstance(clause.head, Compound)
    value = clause.head.args[-1]
    if isinstance(value, tuple) and len(value) == 1:
        return value[0]  # type: ignore[return-value]  # TILDE writes classes as one-element lists
    return value  # type: ignore[return-value]
