"""Paths of tests and the candidates that extend them (the core: ``relational/cpp/refine.cpp``)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosscut_relational import _core
    from crosscut_relational.language.rule import Goal
    from crosscut_relational.queries.queries import Queries


@dataclass(frozen=True, eq=False)
class Test:
    """A candidate added to a path.

    Variables of its goals are numbered: fixed variables, variables of earlier tests, new variables. On
    examples for which the path holds, the test holds if the ``query``, the component that contains it, holds.
    """

    goals: tuple[Goal, ...]
    query: int
    path: Path


@dataclass(frozen=True, eq=False)
class Path:
    """A conjunction of tests: the query of a node (reached if all hold) or the body of a rule."""

    components: tuple[int, ...] = ()  # parts of the query that share only fixed variables
    # for each variable, in order of introduction, its component (a position) and its number there
    variables: tuple[tuple[int, int], ...] = ()

    @classmethod
    def root(cls, queries: Queries) -> Path:
        """Return the path without tests: the root goals of the language, if any."""
        facts = queries.facts
        if not facts.root:
            return cls()
        literals = [facts.literal(goal, facts.n_fixed) for goal in facts.root]
        _, parts, places = queries.store.extend([], literals, queries.root_types())
        return cls(tuple(parts), tuple(places))

    @cached_property
    def ages(self) -> list[int]:
        """Age of each variable, ordered by component; 0 for the newest."""
        newest = len(self.variables) - 1
        return [newest - i for _, i in sorted((place, i) for i, place in enumerate(self.variables))]

    def candidates(self, queries: Queries) -> _core.Candidates:
        """Return the candidate tests; ``candidates.queries`` are their queries."""
        return queries.store.candidates(list(self.components))

    def extend(self, queries: Queries, candidates: _core.Candidates, number: int) -> Test:
        """Add the candidate of the given number."""
        _, literals, positions, new_types, query, parts, places = queries.store.test(candidates, number)
        n_old = len(self.variables)
        by_place = {place: i for i, place in enumerate(self.variables)}
        # the core numbers the variables of the joined components one after the other, then new variables
        local = [
            by_place[position, variable]
            for position in positions
            for variable in range(sum(place[0] == position for place in self.variables))
        ]
        joined = {variable: i for i, variable in enumerate(local)}
        numbers = [*local, *range(n_old, n_old + len(new_types))]
        kept = [i for i in range(len(self.components)) if i not in positions]
        variables = [
            (len(kept) + places[joined[i]][0], places[joined[i]][1])
            if i in joined
            else (kept.index(position), variable)
            for i, (position, variable) in enumerate(self.variables)
        ]
        variables += [(len(kept) + part, place) for part, place in places[len(local) :]]
        goals = queries.facts.goals(literals, numbers)
        components = (*(self.components[i] for i in kept), *parts)
        return Test(goals, query, Path(components, tuple(variables)))
