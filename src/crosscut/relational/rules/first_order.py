"""Rules whose conditions are conjunctions of literals: as a tree, and when two of them ask the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.relational.queries.tree import Node, RelationalTree

if TYPE_CHECKING:
    from collections.abc import Hashable

    from crosscut.relational.language.rule import Goal
    from crosscut.relational.queries.tree import Signature
    from crosscut.rules.rule_set import RuleSet

    Conditions = tuple[tuple[Goal, ...], ...]
    _Literal = tuple[str, tuple[int, ...], bool]

_THRESHOLDS = ("<", "=<", ">", ">=")
_ANY = -(1 << 62)  # in place of a threshold: the number of no constant


def goals_of(conditions: Conditions) -> tuple[Goal, ...]:
    """Return all literals of a rule."""
    return tuple(goal for test in conditions for goal in test)


def as_tree(rules: RuleSet, signature: Signature, classes: tuple[Any, ...]) -> RelationalTree:
    """Return a decision list as a tree, whose *no* branches lead to the next rule."""
    node = Node(rules.default.totals, float(rules.default.code))
    for rule in reversed(rules.rules):
        totals = tuple(a + b for a, b in zip(rule.totals, node.statistics, strict=True))
        leaf = Node(rule.totals, float(rule.code))
        node = Node(
            totals, float(np.argmax(totals)), goals_of(rule.conditions), signature.n_fixed, leaf, node
        )
    return RelationalTree(node, signature, classes)


def meaning(conditions: Conditions, n_fixed: int, *, thresholds: bool = True) -> Hashable:
    """Return what conditions ask, whatever their order and the numbers of their variables.

    Parameters
    ----------
    conditions : tuple of tuples of Goal
        Those of a rule.
    n_fixed : int
        Variables below this number are the example's.
    thresholds : bool
        Whether the constants that numbers are compared with count.

    Examples
    --------
    >>> from crosscut.relational.language.rule import Goal
    >>> worn, old = Goal("worn", (0, 1)), Goal("age", (0, 2))
    >>> meaning(((worn,), (old,)), 1) == meaning(((Goal("age", (0, 1)),), (Goal("worn", (0, 2)),)), 1)
    True
    >>> above = [((old, Goal(">", (2, ~constant))),) for constant in (5, 6)]
    >>> meaning(above[0], 1) == meaning(above[1], 1)
    False
    >>> meaning(above[0], 1, thresholds=False) == meaning(above[1], 1, thresholds=False)
    True
    """
    asked = {
        (
            goal.name,
            tuple(_ANY if a < 0 and goal.name in _THRESHOLDS and not thresholds else a for a in goal.args),
            goal.negated,
        )
        for goal in goals_of(conditions)
    }
    own = {a for _, args, _ in asked for a in args if a >= n_fixed}
    return _least(asked, _refined(asked, dict.fromkeys(own, 0)), n_fixed)


def _least(asked: set[_Literal], colours: dict[int, int], n_fixed: int) -> tuple[_Literal, ...]:
    """Return the literals, variables numbered by colour: of all ways to tell the alike apart, the least."""
    shared = [colour for colour in colours.values() if list(colours.values()).count(colour) > 1]
    if not shared:
        return tuple(sorted(_renamed(asked, {v: n_fixed + colour for v, colour in colours.items()})))
    alike = [v for v, colour in colours.items() if colour == min(shared)]
    # where two of them may change places in all literals, either comes first
    firsts = [
        v
        for i, v in enumerate(alike)
        if all(_renamed(asked, {v: other, other: v}) != asked for other in alike[:i])
    ]
    return min(_least(asked, _refined(asked, colours | {v: -1}), n_fixed) for v in firsts)


def _renamed(asked: set[_Literal], numbers: dict[int, int]) -> set[_Literal]:
    return {(name, tuple(numbers.get(a, a) for a in args), negated) for name, args, negated in asked}


def _refined(asked: set[_Literal], colours: dict[int, int]) -> dict[int, int]:
    """Tell variables apart by the literals they occur in, until that tells no more; colours count from 0."""
    while True:
        seen = {
            v: (
                colour,
                sorted(
                    (name, negated, [(a == v, a in colours, colours.get(a, a)) for a in args])
                    for name, args, negated in asked
                    if v in args
                ),
            )
            for v, colour in colours.items()
        }
        ranks = sorted(seen.values())
        finer = {v: ranks.index(own) for v, own in seen.items()}
        if len(set(finer.values())) == len(set(colours.values())):
            return finer
        colours = finer
