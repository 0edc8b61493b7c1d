"""Literals with moded arguments, the modes and templates built from them, and a resolved language."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias
from typing import Literal as OneOf

from crosscut_relational.language.terms import INFIX, Constant, Term, term_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crosscut_relational.language.attributes import Attribute
    from crosscut_relational.language.rule import Goal
    from crosscut_relational.language.settings import Settings

Mark: TypeAlias = OneOf["+", "-", "+-", "", "_"]


@dataclass(frozen=True, slots=True)
class Var:
    """A variable; its mark determines how it is bound.

    ``+`` is bound before the literal, of the argument's type; ``-`` is new; ``+-`` is each bound variable of
    the argument's type, then a new one. Without a mark it is the argument of that name elsewhere in the mode
    or template, or new if there is none. ``_`` is new, and no later literal takes it as an input: a column
    that a mode does not use.
    """

    mark: Mark
    name: str

    @property
    def is_input(self) -> bool:
        """Whether an existing variable or constant may replace it."""
        return self.mark in {"", "+", "+-"}


@dataclass(frozen=True, slots=True)
class Const:
    """A constant written in the mode; `id` is its number in the database once the bias is resolved."""

    value: Constant
    id: int = -1


@dataclass(frozen=True, slots=True)
class Choice:
    """``#[a,b]``: each of the constants, in this order; ``#``: every constant of the argument's column."""

    values: tuple[Constant, ...] | None = None


@dataclass(frozen=True, slots=True)
class Key:
    """A key of the example (number ``index``), never another variable of its type.

    Numbers after the keys refer to the example's attributes, which have a readable ``name``.
    """

    index: int = 0
    name: str = ""


Argument: TypeAlias = Var | Key | Const | Choice


@dataclass(frozen=True)
class TypeVariable:
    """A type that matches any other and is bound by its first use, such as ``X`` in ``type(equals(X,X))``."""

    name: str


TypeNames: TypeAlias = tuple[str | TypeVariable | None, ...]


@dataclass(frozen=True, slots=True)
class Literal:
    r"""A predicate or comparison with moded arguments; ``negated`` is ``\\+``."""

    name: str
    args: tuple[Argument, ...]
    negated: bool = False

    @property
    def arity(self) -> int:
        """Number of arguments."""
        return len(self.args)

    @property
    def predicate(self) -> tuple[str, int]:
        """Name and arity."""
        return self.name, len(self.args)

    def changed(self, change: Callable[[Argument], Argument]) -> Literal:
        """Return the literal with every argument changed."""
        return replace(self, args=tuple(map(change, self.args)))

    def __str__(self) -> str:
        texts = [_argument_text(argument) for argument in self.args]
        if len(texts) == 2 and self.name in INFIX:
            text = f"{texts[0]} {self.name} {texts[1]}"
        else:
            text = term_text(self.name) + (f"({','.join(texts)})" if texts else "")
        return f"\\+ {text}" if self.negated else text


@dataclass(frozen=True, slots=True)
class Generator:
    """``#(C: goal, ...)``: constants for ``variables`` are the solutions of ``goal`` on the database.

    ``max_values`` keeps at most that number of solutions, evenly spaced; None keeps all.
    """

    variables: tuple[str, ...]
    goal: Term
    max_values: int | None = None


@dataclass(frozen=True, slots=True)
class Mode:
    """A conjunction of literals that may be added to a path as one test, at most ``max_uses`` times.

    ``generator`` gives the constants for its unmarked variables; None in a resolved mode. Uses are counted
    per ``source``: in a `Language`, the number of the bias's mode that this one was expanded from.
    """

    literals: tuple[Literal, ...]
    max_uses: int | None = None
    generator: Generator | None = None
    source: int = 0

    def __str__(self) -> str:
        text = ", ".join(map(str, self.literals))
        return text if self.max_uses is None else f"{self.max_uses}: {text}"


@dataclass(frozen=True, slots=True)
class Lookahead:
    """``then`` may be added in the same step as a literal that matches ``first``.

    Arguments of ``first`` are unmarked variables (or constants); the same names in ``then`` stand for the
    matched literal's arguments, other unmarked names for new variables.
    """

    first: Literal
    then: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class AutoLookahead:
    """After a literal that matches ``first``, a mode's literal that uses one of ``variables`` may follow."""

    first: Literal
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Discretization:
    """``to_be_discretized(literal, n, variables)``: at most ``n`` thresholds for each of the variables."""

    literal: Literal
    n: int
    variables: tuple[str, ...]


def _argument_text(argument: Argument) -> str:
    match argument:
        case Var(mark, name):
            return f"{mark}{name}"
        case Key(index, name):
            return name or f"Key{index or ''}"
        case Const(value):
            return term_text(value)
        case Choice(values):
            return "#" if values is None else f"#{term_text(values)}"


@dataclass(frozen=True)
class Language:
    """Input of refinement, made by `resolve`.

    Every argument of a literal is a `Key`, a `Var` or a `Const` with its id. Constant choices have been
    expanded into one mode each; generated constants and thresholds have been computed. In the models format,
    the key has been added in front of literals on keyed relations. A literal's predicate is looked up as a
    comparison (`COMPARISONS`), then as a relation of the database, then as one of its rules.

    Modes are in order of generation: those of the bias, each with its constants in order (those of the last
    argument change fastest). Every query starts with the `root`, whose first variables are the keys.
    """

    modes: tuple[Mode, ...]
    lookahead: tuple[Lookahead, ...]
    auto_lookahead: tuple[AutoLookahead, ...]
    root: tuple[Goal, ...]
    root_types: TypeNames  # of the variables bound by keys and root; a `TypeVariable` for an untyped key
    types: Mapping[tuple[str, int], TypeNames]
    typed: bool
    implicit_key: bool
    settings: Settings
    attributes: tuple[Attribute, ...] = ()

    def types_of(self, name: str, arity: int) -> TypeNames:
        """Type of each argument: a name, a `TypeVariable`, or None where any type fits."""
        return self.types.get((name, arity), (None,) * arity)
