"""Variable bindings as columns, which the parts of a clause extend and filter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut_relational.database.relation import distinct_facts, equal_pairs, fact_numbers, searched
from crosscut_relational.language.builtins import FUNCTIONS, ORDERINGS
from crosscut_relational.language.schedule import builtin_inputs
from crosscut_relational.language.terms import Compound, Term, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from crosscut_relational.database.constants import Constants
    from crosscut_relational.language.parts import Part

MAX_BINDINGS = 50_000_000


class Bindings:
    """A table of constants with one column per variable; starts as one row without variables."""

    def __init__(self, constants: Constants) -> None:
        self.constants = constants
        self.columns: dict[Variable, NDArray[np.int32]] = {}
        self.n_rows = 1
        self.undefined = False  # whether some arithmetic had no value, such as 1/0

    def apply(self, part: Part, facts: NDArray[np.int32] | None) -> None:
        """Join with the `facts` of a relation or rule, or filter by a test."""
        if part.kind == "built-in":
            facts = self._solutions(part)
        if facts is not None:
            (self._exclude if part.negated else self._join)(part.args, facts)
        elif part.kind == "is":
            self._evaluate(part.args[0], part.args[1], negated=part.negated)
        elif part.kind == "unify" and not part.negated:
            self._unify(*part.args)
        else:
            self._keep(self._holds(part) ^ part.negated)

    def keep_only(self, wanted: Iterable[Variable]) -> None:
        """Keep only some variables, and drop repeated rows."""
        kept = [variable for variable in self.columns if variable in set(wanted)]
        if len(kept) == len(self.columns):
            return
        columns = {variable: self.columns[variable] for variable in kept}
        if kept and self.n_rows > 1:
            table = distinct_facts(np.stack([columns[variable] for variable in kept]))
            columns = dict(zip(kept, table, strict=True))
            self.n_rows = table.shape[1]
        elif not kept:
            self.n_rows = min(self.n_rows, 1)
        self.columns = columns

    def project(self, args: tuple[Term, ...]) -> NDArray[np.int32]:
        """Return one fact per row, with arguments taken from the bindings."""
        table = np.empty((len(args), self.n_rows), np.int32)
        for row, argument in zip(table, args, strict=True):
            row[:] = self._ids(argument)
        return distinct_facts(table)

    def _ids(self, term: Term) -> Any:
        return self.columns[term] if isinstance(term, Variable) else self.constants.intern(term)

    def _take(self, rows: NDArray[np.int64]) -> None:
        self.columns = {variable: column[rows] for variable, column in self.columns.items()}
        self.n_rows = len(rows)

    def _keep(self, mask: Any) -> None:
        self._take(np.flatnonzero(np.broadcast_to(np.asarray(mask, bool), self.n_rows)))

    def _select(
        self, args: tuple[Term, ...], facts: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], dict[Variable, int]]:
        """Return facts that match the constants and repeated variables, and the column of each variable."""
        mask = np.ones(facts.shape[1], bool)
        place: dict[Variable, int] = {}
        for column, argument in enumerate(args):
            if not isinstance(argument, Variable):
                mask &= facts[column] == self.constants.intern(argument)
            elif argument in place:
                mask &= facts[column] == facts[place[argument]]
            else:
                place[argument] = column
        return (facts if mask.all() else facts[:, mask]), place

    def _matches(
        self, facts: NDArray[np.int32], place: dict[Variable, int]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return a number per row and per fact; those with equal values of the shared variables are equal."""
        shared = [variable for variable in place if variable in self.columns]
        if not shared:
            return np.zeros(self.n_rows, np.int64), np.zeros(facts.shape[1], np.int64)
        left = np.stack([self.columns[variable] for variable in shared])
        first, second = fact_numbers([left, facts[[place[variable] for variable in shared]]])
        return first, second

    def _join(self, args: tuple[Term, ...], facts: NDArray[np.int32]) -> None:
        facts, place = self._select(args, facts)
        rows, matched = equal_pairs(*self._matches(facts, place), MAX_BINDINGS)
        self._take(rows)
        for variable, column in place.items():
            if variable not in self.columns:
                self.columns[variable] = facts[column][matched]

    def _exclude(self, args: tuple[Term, ...], facts: NDArray[np.int32]) -> None:
        left, right = self._matches(*self._select(args, facts))
        ordered = np.sort(right)
        self._keep(searched(ordered, left, "left") == searched(ordered, left, "right"))

    def _solutions(self, part: Part) -> NDArray[np.int32]:
        """Return the facts of a built-in predicate for the values of its inputs."""
        case = builtin_inputs(part, self.columns)
        assert case is not None
        inputs, solve = case
        terms, intern = self.constants.terms, self.constants.intern
        facts = [
            [intern(argument) for argument in solution]
            for values in self.project(tuple(part.args[position] for position in inputs)).T.tolist()
            for solution in solve(*(terms[each] for each in values))
        ]
        return np.ascontiguousarray(np.array(facts, np.int32).reshape(-1, len(part.args)).T)

    def _unify(self, left: Term, right: Term) -> None:
        for new, known in ((left, right), (right, left)):
            if isinstance(new, Variable) and new not in self.columns:
                self.columns[new] = np.broadcast_to(np.int32(self._ids(known)), self.n_rows)
                return
        self._keep(self._ids(left) == self._ids(right))

    def _holds(self, part: Part) -> Any:
        left, right = part.args
        if part.kind == "compare":
            a, b = self._value(left), self._value(right)
            return ORDERINGS[part.name](a, b) & np.isfinite(a) & np.isfinite(b)
        equal = np.asarray(self._ids(left) == self._ids(right))
        return equal if part.kind == "unify" else ~equal

    def _value(self, term: Term) -> Any:
        if isinstance(term, Variable):
            return self.constants.numbers[self.columns[term]]
        if isinstance(term, Compound):
            values = [self._value(argument) for argument in term.args]
            with np.errstate(all="ignore"):
                result = FUNCTIONS[term.name, len(term.args)](*values)
            finite = np.logical_and.reduce(np.broadcast_arrays(*map(np.isfinite, values)))
            self.undefined |= bool(np.any(finite & ~np.isfinite(result)))
            return result
        if isinstance(term, str):
            return FUNCTIONS[term, 0]()
        assert isinstance(term, (int, float))
        return np.float64(term)

    def _evaluate(self, target: Term, expression: Term, *, negated: bool) -> None:
        """Evaluate ``target is expression``; drop rows whose value is not a finite number."""
        values = np.broadcast_to(self._value(expression), self.n_rows)
        if not isinstance(target, Variable) or target in self.columns:
            self._keep((values == self._value(target)) ^ negated)
            return
        finite = np.isfinite(values)
        distinct, inverse = np.unique(values[finite], return_inverse=True)
        whole = [int(value) if value.is_integer() else value for value in distinct.tolist()]
        self._keep(finite)
        self.columns[target] = self.constants.intern_all(whole)[inverse]
