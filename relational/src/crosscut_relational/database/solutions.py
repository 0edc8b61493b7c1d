"""Facts of literals that aggregate the solutions of a predicate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut_relational.database.relation import rows_of
from crosscut_relational.language.collected import REDUCTIONS, mapped
from crosscut_relational.language.schedule import given_list
from crosscut_relational.language.terms import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from crosscut_relational.database.bindings import Bindings
    from crosscut_relational.language.parts import Part

    Solutions = Callable[[tuple[str, int], NDArray[np.int32], Sequence[int]], NDArray[np.int32]]
    Rows = list[tuple[int, ...]]


def all_solutions(part: Part, bindings: Bindings, solutions: Solutions) -> NDArray[np.int32]:
    """Return the facts of a literal for the values of its inputs.

    ``solutions`` returns the facts of a predicate, or at least those with the given constants in some places.
    """
    assert part.source is not None
    if part.kind == "rule":
        places = [i for i, a in enumerate(part.args) if not isinstance(a, Variable) or a in bindings.columns]
        return solutions(part.source, bindings.project(tuple(part.args[i] for i in places)), places)
    facts = (_collected if part.kind == "collect" else _mapped)(part, bindings, solutions)
    return np.ascontiguousarray(np.array(facts, np.int32).reshape(-1, len(part.args)).T)


def _collected(part: Part, bindings: Bindings, solutions: Solutions) -> Rows:
    assert part.source is not None
    constants, n, depth = bindings.constants, part.n_inputs, len(part.args) - 1
    wanted = bindings.project(part.args[:n])
    keys = dict.fromkeys(map(tuple, wanted.T.tolist()))
    collected: dict[tuple[int, ...], list[Any]] = {key: [] for key in keys} if depth == n else {}
    for row in rows_of(solutions(part.source, wanted, range(n))):
        if tuple(row[:n]) in keys:
            collected.setdefault(tuple(row[:depth]), []).append(constants.terms[row[-1]])
    reduce = REDUCTIONS[part.name]
    return [
        (*key, constants.intern(result)) for key, values in collected.items() for result in reduce(values)
    ]


def _mapped(part: Part, bindings: Bindings, solutions: Solutions) -> Rows:
    assert part.source is not None
    constants, n = bindings.constants, part.n_inputs
    place = given_list(part, bindings.columns)
    assert place is not None
    calls = bindings.project((*part.args[:n], part.args[place])).T.tolist()
    inputs = [(tuple(key), constants.terms[number]) for *key, number in calls]
    lists = [
        (key, items, [constants.intern(item) for item in items])
        for key, items in inputs
        if isinstance(items, tuple)
    ]
    wanted = dict.fromkeys((*key, item) for key, _, numbers in lists for item in numbers)
    columns = np.array(list(wanted), np.int32).reshape(-1, n + 1).T
    outputs: dict[tuple[int, ...], list[tuple[Any, ...]]] = {}
    for row in rows_of(solutions(part.source, columns, [*range(n), place])):
        solution = tuple(constants.terms[each] for each in row[n:])
        outputs.setdefault((*row[:n], row[place]), []).append(solution)
    facts: Rows = []
    for key, items, numbers in lists:
        options = [outputs.get((*key, number), []) for number in numbers]
        results = mapped(part.name, items, options, len(part.args) - n)
        facts += [(*key, *map(constants.intern, result)) for result in results]
    return facts
