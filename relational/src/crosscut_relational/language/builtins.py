"""Prolog's built-in predicates and arithmetic for background clauses.

Each predicate has cases. A case names the arguments that must be bound and yields all solutions for them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut_relational.language.terms import Compound, Term

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Solution = tuple[Any, ...]
    Solve = Callable[..., Iterator[Solution]]
    Cases = tuple[tuple[tuple[int, ...], Solve], ...]
    Operation = Callable[..., Any]

MAX_RANGE = 1_000_000


def _is_number(term: Any) -> bool:
    return isinstance(term, (int, float))


def _is_whole(term: Any) -> bool:
    return _is_number(term) and math.isfinite(term) and float(term).is_integer()


def _order(term: Any) -> tuple[Any, ...]:
    """Return a sort key for Prolog's standard order: numbers, atoms, then compound terms and lists."""
    if _is_number(term):
        return (1, term)
    if isinstance(term, str):
        return (3, term)
    args = term.args if isinstance(term, Compound) else term
    return (4, len(args), term.name if isinstance(term, Compound) else "[|]", tuple(map(_order, args)))


def _in_order(items: Iterable[Any]) -> tuple[Any, ...]:
    """Return the distinct terms in Prolog's standard order, as ``sort/2`` does."""
    return tuple(dict.fromkeys(sorted(items, key=_order)))


def _test(holds: Callable[..., bool]) -> Solve:
    """Return a predicate of bound arguments whose only solution is the arguments themselves."""

    def solve(*args: Any) -> Iterator[Solution]:
        if holds(*args):
            yield args

    return solve


def _function(value: Callable[..., Any]) -> Solve:
    """Return a predicate whose last argument is a function of the others, which must be lists."""

    def solve(*args: Any) -> Iterator[Solution]:
        if all(map(_is_list, args)):
            yield (*args, value(*args))

    return solve


def _between(low: Any, high: Any) -> Iterator[Solution]:
    if _is_whole(low) and _is_whole(high):
        if high - low >= MAX_RANGE:
            raise ValueError(f"between({low},{high},X) has more than {MAX_RANGE} values")
        for value in range(int(low), int(high) + 1):
            yield low, high, value


def _within(low: Any, high: Any, value: Any) -> bool:
    is_below = high in {"inf", "infinite"} or (_is_number(high) and value <= high)
    return _is_whole(low) and _is_whole(value) and low <= value and is_below


def _splits(items: Any) -> Iterator[Solution]:
    if _is_list(items):
        for cut in range(len(items) + 1):
            yield items[:cut], items[cut:], items


def _is_list(term: Any) -> bool:
    return isinstance(term, tuple)


def _is_pair(term: Any) -> bool:
    return isinstance(term, tuple) and len(term) > 0


_TYPES: dict[str, Callable[[Any], bool]] = {
    "number": _is_number,
    "integer": lambda term: isinstance(term, int),
    "float": lambda term: isinstance(term, float),
    "atom": lambda term: isinstance(term, str),
    "atomic": lambda term: isinstance(term, (str, int, float)),
    "compound": lambda term: isinstance(term, Compound) or _is_pair(term),
    "is_list": _is_list,
    "ground": lambda _: True,
    "nonvar": lambda _: True,
}
_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "@<": lambda a, b: _order(a) < _order(b),
    "@>": lambda a, b: _order(a) > _order(b),
    "@=<": lambda a, b: _order(a) <= _order(b),
    "@>=": lambda a, b: _order(a) >= _order(b),
}

# Cases by name and arity: the arguments that must be bound, and the solutions for them. The first case whose
# arguments are bound is used. `$list` relates a list to its first item and the rest, for lists that contain
# variables.
BUILTINS: dict[tuple[str, int], Cases] = {
    **{(name, 1): (((0,), _test(holds)),) for name, holds in _TYPES.items()},
    **{(name, 2): (((0, 1), _test(holds)),) for name, holds in _ORDERS.items()},
    ("between", 3): (((0, 1, 2), _test(_within)), ((0, 1), _between)),
    ("length", 2): (((0,), _function(len)),),
    ("sort", 2): (((0,), _function(_in_order)),),
    ("append", 3): (((0, 1), _function(lambda a, b: a + b)), ((2,), _splits)),
    ("$list", 3): (
        ((0,), lambda items: iter([(items, items[0], items[1:])] if _is_pair(items) else [])),
        ((1, 2), lambda first, rest: iter([((first, *rest), first, rest)] if _is_list(rest) else [])),
    ),
}


def cases_of(predicate: tuple[str, int]) -> Cases:
    """Return the cases of a built-in predicate; ``$term`` relates a term to its name and arguments."""
    name, arity = predicate
    if name != "$term":
        return BUILTINS[predicate]
    return (
        ((0,), lambda term: iter([(term, term.name, *term.args)] if isinstance(term, Compound) else [])),
        (tuple(range(1, arity)), lambda name, *args: iter([(Compound(name, args), name, *args)])),
    )


def is_recursion_on_lists(head: Term | None) -> bool:
    """Whether a clause defines a built-in predicate by recursion on a list, as in ``length([_|T],N)``.

    Lists are constants here, so the built-in predicate is used instead of the clause.
    """
    if not isinstance(head, Compound) or (head.name, len(head.args)) not in BUILTINS:
        return False
    return any(
        isinstance(each, tuple) or (isinstance(each, Compound) and each.name == "[|]") for each in head.args
    )


# Arithmetic comparisons and functions, vectorised over columns.
ORDERINGS: dict[str, Operation] = {"<": np.less, "=<": np.less_equal, ">": np.greater, ">=": np.greater_equal}
ORDERINGS |= {"=:=": np.equal, "=\\=": np.not_equal}


def _rounded(value: Any) -> Any:
    """Round halves away from zero, as Prolog does."""
    return np.copysign(np.floor(np.abs(value) + 0.5), value)


_UNARY: dict[str, Operation] = {
    name: getattr(np, name) for name in ("abs", "sqrt", "exp", "log", "log2", "sin", "cos", "tan", "floor")
}
_UNARY |= {"+": np.positive, "-": np.negative, "float": np.positive, "sign": np.sign, "atan": np.arctan}
_UNARY |= {"asin": np.arcsin, "acos": np.arccos, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh}
_UNARY |= {"ceiling": np.ceil, "truncate": np.trunc, "integer": _rounded, "round": _rounded}
_BINARY: dict[str, Operation] = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
_BINARY |= {"**": np.power, "^": np.power, "mod": np.mod, "rem": np.fmod}
_BINARY |= {"min": np.minimum, "max": np.maximum}
_BINARY |= {"div": np.floor_divide, "atan2": np.arctan2, "atan": np.arctan2}
_BINARY["//"] = lambda a, b: np.trunc(np.divide(a, b))

# Functions by name and arity.
FUNCTIONS: dict[tuple[str, int], Operation] = {
    **{(name, 1): function for name, function in _UNARY.items()},
    **{(name, 2): function for name, function in _BINARY.items()},
    ("pi", 0): lambda: np.float64(np.pi),
    ("e", 0): lambda: np.float64(np.e),
}
