"""Goals about all solutions of a goal: ``findall``, ``aggregate_all``, ``bagof``, ``setof``, ``maplist``.

A solution counts once even if it has several proofs, as with tabling in other Prolog systems.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from crosscut_relational.language.builtins import in_order
from crosscut_relational.language.terms import (
    Compound,
    Term,
    Variable,
    name_and_args,
    predicate_of,
    variables,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    Values = list[Any]

# Goals that take goals as arguments, by name and arity: the positions of those arguments, and the number of
# arguments added when they are called.
GOALS: dict[tuple[str, int], tuple[tuple[int, int], ...]] = {
    **{(name, 2): ((0, 0), (1, 0)) for name in (",", ";", "->", "forall")},
    **{(name, 1): ((0, 0),) for name in ("\\+", "not", "once", "ignore")},
    **{(name, 3): ((1, 0),) for name in ("findall", "aggregate_all", "bagof", "setof")},
    ("^", 2): ((1, 0),),
    **{("call", n): ((0, n - 1),) for n in range(1, 8)},
    **{("maplist", n): ((0, n - 1),) for n in range(2, 6)},
    **{(name, 3): ((0, 1),) for name in ("include", "exclude")},
    ("partition", 4): ((0, 1),),
}
MAPS = frozenset({"maplist", "include", "exclude", "partition"})
MOST_LISTS = 100_000  # maximum number of result lists of maplist per input list


class Collection(NamedTuple):
    """A goal that collects the values of a template over the solutions of another goal."""

    how: str  # one of `REDUCTIONS`
    template: Term
    goal: Term
    result: Term
    groups: tuple[Variable, ...] | None = None  # bagof, setof: free variables; one result per value


def collection_of(term: Compound, seen: Container[Variable]) -> Collection | None:
    """Return the collection of a goal, or None; variables not in `seen` are local to it."""
    match term:
        case Compound("findall", (template, goal, result)):
            return Collection("findall", template, goal, result)
        case Compound("bagof" | "setof" as how, (template, goal, result)):
            inner = goal
            while isinstance(inner, Compound) and inner.name == "^" and len(inner.args) == 2:
                inner = inner.args[1]
            bound = {*variables(template), *_quantified(goal)}
            free = (each for each in dict.fromkeys(variables(inner)) if each not in seen)
            return Collection(how, template, inner, result, tuple(each for each in free if each not in bound))
        case Compound(
            "aggregate_all", (Compound("sum" | "max" | "min" as how, (value, *witness)), goal, result)
        ):
            number = Variable("Number")
            valued = Compound(",", (goal, Compound("is", (number, value))))
            if not witness:
                return Collection(f"aggregate_all({how})", number, valued, result)
            if how != "sum" and len(witness) == 1:
                pair = Compound(how, (number, *witness))
                return Collection(f"aggregate_all({how}(X,W))", pair, valued, result)
        case Compound("aggregate_all", (Compound("bag" | "set" as how, (template,)), goal, result)):
            return Collection(f"aggregate_all({how})", template, goal, result)
        case Compound("aggregate_all", ("count", goal, result)):
            return Collection("aggregate_all(count)", 0, goal, result)
    return None


def _quantified(goal: Term) -> set[Variable]:
    """Return the variables before ``^``."""
    if isinstance(goal, Compound) and goal.name == "^" and len(goal.args) == 2:
        return {*variables(goal.args[0]), *_quantified(goal.args[1])}
    return set()


def binds(goal: Term) -> set[Variable]:
    """Return the variables that a goal may bind, without the local variables of a collection."""
    if isinstance(goal, Compound) and predicate_of(goal) in {("\\+", 1), ("not", 1), ("forall", 2)}:
        return set()
    collection = collection_of(goal, ()) if isinstance(goal, Compound) else None
    if collection is not None:
        return {*variables(collection.result), *(collection.groups or ())}
    if isinstance(goal, Compound) and predicate_of(goal) in {(",", 2), (";", 2), ("->", 2)}:
        return set().union(*map(binds, goal.args))
    return {*variables(goal)}


def called_with(closure: Term, more: Iterable[Term]) -> Term:
    """Return the goal made from a closure such as ``p`` or ``p(a)`` by appending arguments."""
    name, args = name_and_args(closure)
    every = (*args, *more)
    return Compound(name, every) if every else name


def _sorted(values: Values) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(in_order(values)))


def _first_best(best: Callable[..., Any]) -> Callable[[Values], Values]:
    return lambda pairs: [best(pairs, key=lambda pair: pair.args[0])] if pairs else []


# Each maps the collected values, in the order of the solutions, to a list of zero or one result.
REDUCTIONS: dict[str, Callable[[Values], Values]] = {
    **{name: lambda values: [tuple(values)] for name in ("findall", "aggregate_all(bag)")},
    "bagof": lambda values: [tuple(values)] if values else [],
    "setof": lambda values: [_sorted(values)] if values else [],
    "aggregate_all(set)": lambda values: [_sorted(values)],
    "aggregate_all(count)": lambda values: [len(values)],
    "aggregate_all(sum)": lambda values: [sum(values)],
    "aggregate_all(max)": lambda values: [max(values)] if values else [],
    "aggregate_all(min)": lambda values: [min(values)] if values else [],
    "aggregate_all(max(X,W))": _first_best(max),
    "aggregate_all(min(X,W))": _first_best(min),
}


def mapped(
    how: str, items: Sequence[Any], solutions: Sequence[list[tuple[Any, ...]]], n: int
) -> list[Values]:
    """Return the result lists of a list, given the solutions of each of its items.

    Raises
    ------
    ValueError
        If there are more than `MOST_LISTS`.
    """
    if how == "maplist":
        n_lists = 1
        for matches in solutions:
            n_lists *= len(matches)
            if n_lists > MOST_LISTS:
                raise ValueError(f"maplist makes more than {MOST_LISTS:,} lists of one")
        return [[tuple(each[i] for each in chosen) for i in range(n)] for chosen in product(*solutions)]
    kept = tuple(item for item, matches in zip(items, solutions, strict=True) if matches)
    others = tuple(item for item, matches in zip(items, solutions, strict=True) if not matches)
    return [[tuple(items), *{"include": [kept], "exclude": [others], "partition": [kept, others]}[how]]]
