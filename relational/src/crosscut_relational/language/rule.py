"""Background predicates that are evaluated on bound arguments instead of being stored as facts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crosscut_relational.language.terms import indicator

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosscut_relational.language.parts import Conjunction

COMPARISONS = ("=", "\\=", "<", "=<", ">", ">=")
ALIASES = {"==": "=", "=:=": "=", "\\==": "\\=", "=\\=": "\\="}


@dataclass(frozen=True, slots=True)
class Goal:
    r"""A literal over numbered variables; ``\\+`` if it is negated.

    The name is that of a relation or one of `COMPARISONS`: ``=`` and ``\\=`` compare constants, the others
    numbers (false where a side is not a number). An argument is a variable's number ``v >= 0`` or, for the
    constant with id ``c``, ``~c``.
    """

    name: str
    args: tuple[int, ...]
    negated: bool = False

    def renamed(self, number: Callable[[int], int]) -> Goal:
        """Return the goal with other numbers for its variables and constants."""
        return Goal(self.name, tuple(map(number, self.args)), self.negated)

    @property
    def is_comparison(self) -> bool:
        """Whether the goal is a built-in comparison."""
        return len(self.args) == 2 and self.name in COMPARISONS


@dataclass(frozen=True, slots=True)
class Rule:
    """A predicate defined by clauses whose head variables are not all bound by their bodies.

    ``lteq(X,Y) :- X =< Y`` and ``equals(X,X)`` have no finite set of facts, but are tests once their
    arguments are bound. The head's arguments are variables ``0 .. arity-1``; further numbers are local to a
    body. A rule with bodies is evaluated where it is used. Other rules used by modes have been evaluated on
    the possible constants of their arguments and stored as relations.
    """

    name: str
    arity: int
    bodies: tuple[tuple[Goal, ...], ...]  # one per clause; empty if one needs, for example, arithmetic
    inputs: frozenset[int]  # positions of arguments that must be bound before
    text: str = ""  # the first clause, for messages
    definition: tuple[Conjunction, ...] = field(default=(), repr=False, compare=False)

    @property
    def indicator(self) -> str:
        """``name/arity``."""
        return indicator(self.name, self.arity)
