"""The order in which the relations of a conjunction are joined."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosscut_relational.language.schedule import schedule
from crosscut_relational.language.terms import Variable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from crosscut_relational.language.parts import Conjunction, Part

    Facts = Mapping[tuple[str, int], NDArray[np.int32]]

CHEAP = 100_000  # the written order is kept if it makes fewer bindings


def joined_cheaply(conjunction: Conjunction, facts: Facts) -> Sequence[Part]:
    """Return the parts in the given order, or the most selective relations first if that is much cheaper."""
    parts, head = conjunction.parts, conjunction.head_variables
    if sum(part.kind == "relation" for part in parts) < 2:
        return parts
    written, _, _ = schedule(parts, (), head)
    cost = _cost(written, facts)
    if cost < CHEAP:
        return parts
    chosen: list[Part] = []
    waiting = [part for part in parts if part.kind == "relation" and not part.negated]
    while waiting:
        known = {variable for part in chosen for variable in part.variables()}
        best = min(waiting, key=lambda part: (not part.variables() & known, _fanout(part, known, facts)))
        if not chosen:
            best = min(waiting, key=lambda part: _fanout(part, known, facts))
        waiting.remove(best)
        chosen.append(best)
    rest = [part for part in parts if part not in chosen]
    reordered, _, _ = schedule([*chosen, *rest], (), head)
    return [*chosen, *rest] if 4 * _cost(reordered, facts) < cost else parts


def _cost(ordered: Sequence[Part], facts: Facts) -> float:
    """Estimate the number of bindings when joining the relations in this order."""
    rows, total = 1.0, 0.0
    known: set[Variable] = set()
    for part in ordered:
        if part.kind == "relation" and not part.negated:
            rows *= _fanout(part, known, facts)
            total += rows
        known |= part.variables()
    return total


def _fanout(part: Part, known: set[Variable], facts: Facts) -> float:
    """Estimate the number of facts that match the constants and bound variables of a relation."""
    stored = facts.get(part.predicate)
    if stored is None or stored.shape[1] == 0:
        return 0.0
    number = float(stored.shape[1])
    for column, argument in zip(stored, part.args, strict=True):
        if not isinstance(argument, Variable) or argument in known:
            number /= len(np.unique(column))
    return number
