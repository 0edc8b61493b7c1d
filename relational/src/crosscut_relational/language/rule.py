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
    r"""A literal over numbered variables.

    Attributes
    ----------
    name : str
        A relation's name, or one of `COMPARISONS`, which are built in: ``=`` and ``\\=`` compare constants,
        the others numbers (false where a side is not a number).
    args : tuple of int
        A variable as its number ``v >= 0``, a constant with id ``c`` as ``~c`` (that is, ``-1 - c``).
    negated : bool
        ``\\+ goal``: true if no binding of its new variables makes the goal true.
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
    arguments are bound. The head's arguments are variables ``0 .. arity-1``. Further numbers are local to a
    body.

    Attributes
    ----------
    bodies : tuple of tuples of Goal
        One conjunction per clause; the predicate holds if one of them holds. Empty if a clause needs more
        than relations and comparisons, for example arithmetic.
    inputs : frozenset of int
        Positions of arguments that must be bound before the rule is evaluated.
    text : str
        The first clause, for messages.
    definition : tuple of Conjunction
        The normalised clauses, ready for evaluation.

    A rule with bodies is evaluated where it is used. Other rules used by modes have been evaluated on the
    possible constants of their arguments and stored as relations.
    """

    name: str
    arity: int
    bodies: tuple[tuple[Goal, ...], ...]
    inputs: frozenset[int]
    text: str = ""
    definition: tuple[Conjunction, ...] = field(default=(), repr=False, compare=False)

    @property
    def indicator(self) -> str:
        """``name/arity``."""
        return indicator(self.name, self.arity)
