"""Prolog terms as light Python values.

An atom is a ``str``, a number an ``int`` or ``float``, and a proper list a ``tuple``. Variables and compound
terms have classes. All terms except variables compare by value and are hashable, so ground terms serve as
constants of a database.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class Variable:
    """A logical variable; two of the same name in different clauses are different variables."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


class Compound:
    """A functor with arguments, such as ``worn(3, gear)`` or ``X < 5``."""

    __slots__ = ("args", "name")
    __match_args__ = ("name", "args")

    def __init__(self, name: str, args: tuple[Term, ...]) -> None:
        self.name = name
        self.args = args

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compound) and self.name == other.name and self.args == other.args

    def __hash__(self) -> int:
        return hash((self.name, self.args))

    def __repr__(self) -> str:
        return term_text(self)


Term: TypeAlias = "str | int | float | tuple[Term, ...] | Variable | Compound"
# A constant is a ground term; that its parts are ground is not expressed in the type.
Constant: TypeAlias = "str | int | float | tuple[Term, ...] | Compound"

INFIX = {
    **dict.fromkeys([":-", "-->"], (1200, 1199, 1199)),
    ";": (1100, 1099, 1100),
    "|": (1100, 1099, 1100),
    "->": (1050, 1049, 1050),
    ",": (1000, 999, 1000),
    # looser than comparison, so that `5: +X = c` and `#(2*5*C: gen(C), ...)` read as ACE means them
    ":": (990, 989, 990),
    **dict.fromkeys(["=", "\\=", "==", "\\==", "is", "=..", "<", "=<", ">", ">="], (700, 699, 699)),
    **dict.fromkeys(["=:=", "=\\=", "@<", "@>", "@=<", "@>="], (700, 699, 699)),
    **dict.fromkeys(["+", "-", "/\\", "\\/"], (500, 500, 499)),
    **dict.fromkeys(["*", "/", "//", "mod", "rem", "div", "<<", ">>"], (400, 400, 399)),
    "**": (200, 199, 199),
    "^": (200, 199, 200),
}
PREFIX = {
    **dict.fromkeys([":-", "?-"], (1200, 1199)),
    **dict.fromkeys(["dynamic", "discontiguous", "multifile"], (1150, 1149)),
    "\\+": (900, 900),
    **dict.fromkeys(["+", "-", "+-", "#", "\\"], (200, 200)),
}

_SYMBOL_CHARS = frozenset("+-*/\\^<>=~:.?@#&$")
_WORD = re.compile(r"[a-z]\w*|!")
_SOLO = frozenset({",", ";", "|"})


def name_and_args(literal: Term) -> tuple[str, tuple[Term, ...]]:
    """Return the name and the arguments of a literal; an atom has none."""
    return (literal.name, literal.args) if isinstance(literal, Compound) else (str(literal), ())


def predicate_of(literal: Term) -> tuple[str, int]:
    """Return the name of a literal and the number of its arguments."""
    name, args = name_and_args(literal)
    return name, len(args)


def indicator(name: str, arity: int) -> str:
    """Return ``name/arity`` as Prolog writes it."""
    return f"{atom_text(name)}/{arity}"


def atom_text(atom: str) -> str:
    """Return the atom, quoted where Prolog needs quotes."""
    if _WORD.fullmatch(atom) or ((atom in INFIX or atom in PREFIX) and atom not in _SOLO):
        return atom
    return _quoted(atom)


def _quoted(atom: str) -> str:
    escaped = atom.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"


def term_text(term: Term, limit: int = 1200) -> str:
    """Return the term as Prolog text that reads back as the same term.

    Examples
    --------
    >>> term_text(Compound("bond", (1, "d1_1", "Big", (2.5, "c"))))
    "bond(1,d1_1,'Big',[2.5,c])"
    """
    if isinstance(term, str):
        # an operator used as an atom next to another operator needs brackets
        alone = limit in {999, 1200} or (term not in INFIX and term not in PREFIX)
        return atom_text(term) if alone else f"({atom_text(term)})"
    if isinstance(term, Variable):
        return term.name
    if isinstance(term, tuple):
        return "[" + ",".join(term_text(item, 999) for item in term) + "]"
    if not isinstance(term, Compound):
        return repr(term)
    name, args = term.name, term.args
    if len(args) == 2 and name == "[|]":
        first, tail = args
        rest = term_text(tail, 999)
        if tail and (isinstance(tail, tuple) or predicate_of(tail) == ("[|]", 2)):
            return f"[{term_text(first, 999)},{rest[1:-1]}]"
        return f"[{term_text(first, 999)}|{rest}]"
    if len(args) == 2 and name in INFIX and name != "|":  # `a|b` is read as `a;b`
        priority, left_limit, right_limit = INFIX[name]
        left, right = term_text(args[0], left_limit), term_text(args[1], right_limit)
        # words need spaces around them; adjacent symbols would be read as one
        gap = " " if name[0].isalpha() or name in {":-", "->"} or {left[-1], right[0]} & _SYMBOL_CHARS else ""
        text = left + gap + name + gap + right
        return f"({text})" if priority > limit else text
    if len(args) == 1 and name in PREFIX:
        priority, right_limit = PREFIX[name]
        inner = term_text(args[0], right_limit)
        gap = " " if name[0].isalpha() or inner[0].isdigit() or inner[0] in _SYMBOL_CHARS | {"("} else ""
        text = name + gap + inner
        return f"({text})" if priority > limit else text
    functor = _quoted(name) if name in INFIX else atom_text(name)
    return functor + "(" + ",".join(term_text(argument, 999) for argument in args) + ")"


def variables(term: Term) -> Iterator[Variable]:
    """Yield every occurrence of a variable in the term, from left to right."""
    if isinstance(term, Variable):
        yield term
    elif isinstance(term, tuple):
        for item in term:
            yield from variables(item)
    elif isinstance(term, Compound):
        for argument in term.args:
            yield from variables(argument)


def substituted(term: Term, value: Callable[[Variable], Term]) -> Term:
    """Return the term with other terms for its variables; lists are constants and stay as they are."""
    if isinstance(term, Variable):
        return value(term)
    if isinstance(term, Compound):
        return Compound(term.name, tuple(substituted(argument, value) for argument in term.args))
    return term


def depth(term: Term) -> int:
    """Return the nesting depth of a term; the goals of a conjunction are on the same level."""
    deepest, pending = 0, [(term, 0)]
    while pending:
        each, level = pending.pop()
        deepest = max(deepest, level)
        if isinstance(each, Compound) and each.name in _SOLO and len(each.args) == 2:
            pending += [(each.args[0], level + 1), (each.args[1], level)]
        elif isinstance(each, (Compound, tuple)):
            pending += [(inner, level + 1) for inner in (each.args if isinstance(each, Compound) else each)]
    return deepest


def is_ground(term: Term) -> bool:
    """Whether the term has no variables."""
    return not isinstance(term, Variable) and next(variables(term), None) is None


def conjuncts(term: Term) -> list[Term]:
    """Return the goals of a conjunction ``a, b, c``."""
    goals: list[Term] = []
    while isinstance(term, Compound) and term.name == "," and len(term.args) == 2:
        goals.extend(conjuncts(term.args[0]))
        term = term.args[1]
    goals.append(term)
    return goals


def conjunction(goals: Sequence[Term]) -> Term | None:
    """Return the conjunction of goals, None if there are none."""
    body: Term | None = None
    for goal in reversed(goals):
        body = goal if body is None else Compound(",", (goal, body))
    return body
