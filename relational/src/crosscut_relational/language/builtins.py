"""Prolog's built-in predicates for background clauses, evaluated on constants.

Each predicate has cases. A case names the arguments that must be bound and yields all solutions for them.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from crosscut_relational.language.terms import Compound, Term, term_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Solution = tuple[Any, ...]
    Solve = Callable[..., Iterator[Solution]]
    Cases = tuple[tuple[tuple[int, ...], Solve], ...]

MAX_RANGE = 1_000_000
MAX_ATOM = 1000


def _is_number(term: Any) -> bool:
    return isinstance(term, (int, float))


def _anything(_: Any) -> bool:
    return True


def _is_whole(term: Any) -> bool:
    return _is_number(term) and math.isfinite(term) and float(term).is_integer()


def _numbers(items: Any) -> bool:
    return isinstance(items, tuple) and all(map(_is_number, items))


def _order(term: Any) -> tuple[Any, ...]:
    """Return a sort key for Prolog's standard order: numbers, atoms, then compound terms and lists."""
    if _is_number(term):
        return (1, term)
    if isinstance(term, str):
        return (3, term)
    args = term.args if isinstance(term, Compound) else term
    return (4, len(args), term.name if isinstance(term, Compound) else "[|]", tuple(map(_order, args)))


def in_order(items: Iterable[Any]) -> list[Any]:
    """Return terms in Prolog's standard order."""
    return sorted(items, key=_order)


def _compared(a: Any, b: Any) -> str:
    left, right = _order(a), _order(b)
    return "=" if left == right else "<" if left < right else ">"


def _test(holds: Callable[..., bool]) -> Solve:
    """Return a predicate of bound arguments whose only solution is the arguments themselves."""

    def solve(*args: Any) -> Iterator[Solution]:
        if holds(*args):
            yield args

    return solve


def _function(value: Callable[..., Any], accepts: Callable[..., bool]) -> Solve:
    """Return a predicate whose last argument is a function of the others, where it accepts them."""

    def solve(*args: Any) -> Iterator[Solution]:
        if accepts(*args):
            yield (*args, value(*args))

    return solve


def _between(low: Any, high: Any) -> Iterator[Solution]:
    if _is_whole(low) and _is_whole(high):
        if high - low >= MAX_RANGE:
            raise ValueError(f"between({low},{high},X) has more than {MAX_RANGE} values")
        for value in range(int(low), int(high) + 1):
            yield low, high, value


def _within(low: Any, high: Any, value: Any) -> bool:
    return (
        _is_whole(low)
        and _is_whole(value)
        and low <= value
        and (high in {"inf", "infinite"} or value <= high)
    )


def _item(start: int) -> Solve:
    def solve(items: Any) -> Iterator[Solution]:
        if isinstance(items, tuple):
            for number, item in enumerate(items, start):
                yield number, items, item

    return solve


def _splits(items: Any) -> Iterator[Solution]:
    if isinstance(items, tuple):
        for cut in range(len(items) + 1):
            yield items[:cut], items[cut:], items


def _selected(items: Any) -> Iterator[Solution]:
    if isinstance(items, tuple):
        for place, item in enumerate(items):
            yield item, items, items[:place] + items[place + 1 :]


def _first_is_list(first: Any, _: Any) -> bool:
    return isinstance(first, tuple)


def _lists(*terms: Any) -> bool:
    return all(isinstance(term, tuple) for term in terms)


def _without_repetitions(items: Any) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(items))


def _full(items: Any) -> bool:
    return isinstance(items, tuple) and len(items) > 0


def _atoms(*terms: Any) -> bool:
    return all(isinstance(term, (str, int, float)) for term in terms)


def _text(term: Any) -> str:
    return term if isinstance(term, str) else term_text(term)


def _number_of(text: str) -> int | float | None:
    """Parse a number in Prolog's notation; None if the text is not a number."""
    if not re.fullmatch(r"[+-]?\d+(\.\d+([eE][+-]?\d+)?)?", text):
        return None
    return float(text) if "." in text else int(text)


def _as_list(part: Callable[[str], Any], whole: Callable[[Any], str], value: Callable[[str], Any]) -> Cases:
    """Return the cases that convert an atom or number to a list of characters or codes, and back."""

    def joined(items: Any) -> Iterator[Solution]:
        kind = int if whole is chr else str
        if isinstance(items, tuple) and all(isinstance(item, kind) for item in items):
            result = value("".join(map(whole, items)))
            if result is not None:
                yield result, items

    split = _function(lambda term: tuple(map(part, _text(term))), _atoms)
    return ((0,), split), ((1,), joined)


def _atom_number(atom: Any) -> Iterator[Solution]:
    number = _number_of(atom) if isinstance(atom, str) else None
    if number is not None:
        yield atom, number


def _univ(term: Any) -> tuple[Any, ...]:
    if isinstance(term, Compound):
        return (term.name, *term.args)
    return ("[|]", term[0], term[1:]) if _full(term) else (term,)


def _from_univ(items: Any) -> Iterator[Solution]:
    if _full(items) and len(items) == 1:
        yield items[0], items
    elif _full(items) and isinstance(items[0], str):
        is_list = items[0] == "[|]" and len(items) == 3 and isinstance(items[2], tuple)
        yield (items[1], *items[2]) if is_list else Compound(items[0], items[1:]), items


def _arguments(term: Any) -> Iterator[Solution]:
    for number, argument in enumerate(_univ(term)[1:], 1):
        yield number, term, argument


def _functor(term: Any) -> Iterator[Solution]:
    name, *args = _univ(term)
    yield term, name, len(args)


def _sub_atoms(atom: Any) -> Iterator[Solution]:
    text = _text(atom) if _atoms(atom) else ""
    n = len(text)
    if n > MAX_ATOM:
        raise ValueError(
            f"sub_atom/5 of an atom of {n} characters has too many solutions; bind its last argument"
        )
    for start in range(n + 1):
        for end in range(start, n + 1):
            yield atom, start, end - start, n - end, text[start:end]


def _occurrences(atom: Any, sub: Any) -> Iterator[Solution]:
    if _atoms(atom, sub):
        text, wanted = _text(atom), _text(sub)
        for start in range(len(text) - len(wanted) + 1):
            if text.startswith(wanted, start):
                yield atom, start, len(wanted), len(text) - start - len(wanted), sub


def _joined(items: Any, separator: Any = "") -> bool:
    return isinstance(items, tuple) and _atoms(separator, *items)


def _separated(separator: Any, text: Any) -> Iterator[Solution]:
    if _atoms(separator, text) and _text(separator):
        yield tuple(_text(text).split(_text(separator))), separator, text


_TYPES: dict[str, Callable[[Any], bool]] = {
    "number": _is_number,
    "integer": lambda term: isinstance(term, int),
    "float": lambda term: isinstance(term, float),
    "atom": lambda term: isinstance(term, str),
    "atomic": _atoms,
    "compound": lambda term: isinstance(term, Compound) or _full(term),
    "is_list": _lists,
    "ground": _anything,
    "nonvar": _anything,
}
_ORDERS: dict[str, str] = {"@<": "<", "@>": ">", "@=<": "<=", "@>=": ">="}
_OF_A_LIST: dict[str, tuple[Callable[[Any], Any], Callable[[Any], bool]]] = {
    "length": (len, _lists),
    "last": (lambda items: items[-1], _full),
    "reverse": (lambda items: items[::-1], _lists),
    "sum_list": (sum, _numbers),
    "sumlist": (sum, _numbers),
    "max_list": (max, lambda items: _numbers(items) and _full(items)),
    "min_list": (min, lambda items: _numbers(items) and _full(items)),
    "msort": (lambda items: tuple(in_order(items)), _lists),
    "sort": (lambda items: _without_repetitions(in_order(items)), _lists),
    "list_to_set": (_without_repetitions, _lists),
    "max_member": (lambda items: max(items, key=_order), _full),
    "min_member": (lambda items: min(items, key=_order), _full),
    "atom_length": (lambda term: len(_text(term)), _atoms),
    "concat_atom": (lambda items: "".join(map(_text, items)), _joined),
    "atomic_list_concat": (lambda items: "".join(map(_text, items)), _joined),
}
# Conversions between atoms or numbers and lists of characters or codes.
_AS_LISTS: dict[str, tuple[Callable[[str], Any], Callable[[Any], str], Callable[[str], Any]]] = {
    "atom_chars": (str, str, str),
    "atom_codes": (ord, chr, str),
    "number_codes": (ord, chr, _number_of),
}
_OF_TWO_LISTS: dict[str, Callable[[Any, Any], tuple[Any, ...]]] = {
    "subtract": lambda a, b: tuple(item for item in a if item not in b),
    "intersection": lambda a, b: tuple(item for item in a if item in b),
    "union": lambda a, b: (*(item for item in a if item not in b), *b),
}

# Cases by name and arity: the arguments that must be bound, and the solutions for them. The first case whose
# arguments are bound is used.
BUILTINS: dict[tuple[str, int], Cases] = {
    **{(name, 1): (((0,), _test(holds)),) for name, holds in _TYPES.items()},
    **{
        (name, 2): (((0, 1), _test(lambda a, b, wanted=wanted: _compared(a, b) in (wanted[0], wanted[1:]))),)
        for name, wanted in _ORDERS.items()
    },
    **{(name, 2): (((0,), _function(value, accepts)),) for name, (value, accepts) in _OF_A_LIST.items()},
    ("between", 3): (((0, 1, 2), _test(_within)), ((0, 1), _between)),
    ("succ", 2): (
        ((0,), _function(lambda a: a + 1, lambda a: _is_whole(a) and a >= 0)),
        ((1,), lambda b: iter([(b - 1, b)] if _is_whole(b) and b > 0 else [])),
    ),
    ("plus", 3): (
        ((0, 1), _function(lambda a, b: a + b, lambda *args: all(map(_is_number, args)))),
        ((0, 2), lambda a, c: iter([(a, c - a, c)] if _is_number(a) and _is_number(c) else [])),
        ((1, 2), lambda b, c: iter([(c - b, b, c)] if _is_number(b) and _is_number(c) else [])),
    ),
    **{(name, 2): _as_list(*functions) for name, functions in _AS_LISTS.items()},
    ("atom_number", 2): (
        ((0,), _atom_number),
        ((1,), lambda n: iter([(_text(n), n)] if _is_number(n) else [])),
    ),
    ("arg", 3): (((1,), _arguments),),
    ("functor", 3): (((0,), _functor),),
    ("=..", 2): (((0,), _function(_univ, _anything)), ((1,), _from_univ)),
    ("sub_atom", 5): (((0, 4), _occurrences), ((0,), _sub_atoms)),
    ("atomic_list_concat", 3): (
        ((0, 1), _function(lambda items, by: _text(by).join(map(_text, items)), _joined)),
        ((1, 2), _separated),
    ),
    ("subset", 2): (((0, 1), _test(lambda a, b: _lists(a, b) and {*a} <= {*b})),),
    ("compare", 3): (((1, 2), lambda a, b: iter([(_compared(a, b), a, b)])),),
    ("nth0", 3): (((1,), _item(0)),),
    ("nth1", 3): (((1,), _item(1)),),
    ("append", 3): (
        ((0, 1), _function(lambda a, b: a + b, _lists)),
        ((2,), _splits),
    ),
    ("atom_concat", 3): (((0, 1), _function(lambda a, b: _text(a) + _text(b), _atoms)),),
    **{(name, 3): (((0, 1), _function(kept, _lists)),) for name, kept in _OF_TWO_LISTS.items()},
    ("delete", 3): (((0, 1), _function(lambda a, x: tuple(i for i in a if i != x), _first_is_list)),),
    ("select", 3): (((1,), _selected),),
    ("numlist", 3): (
        ((0, 1), _function(lambda a, b: tuple(range(int(a), int(b) + 1)), lambda *n: all(map(_is_whole, n)))),
    ),
}

# `$list` relates a list to its first item and the rest, for lists that contain variables.
BUILTINS["$list", 3] = (
    ((0,), lambda items: iter([(items, items[0], items[1:])] if _full(items) else [])),
    ((1, 2), lambda first, rest: iter([((first, *rest), first, rest)] if _lists(rest) else [])),
)


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
    """Whether a clause defines a built-in predicate by recursion on a list, as in ``last([_|T],X)``.

    Lists are constants here, so the built-in predicate is used instead of the clause.
    """
    if not isinstance(head, Compound) or (head.name, len(head.args)) not in BUILTINS:
        return False
    return any(
        isinstance(each, tuple) or (isinstance(each, Compound) and each.name == "[|]") for each in head.args
    )
