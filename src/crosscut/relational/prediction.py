"""Classifying the examples of another database with a relational tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosscut.relational.queries import Facts, Queries, members
from crosscut.relational.rule import Goal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from crosscut.relational.database import Database
    from crosscut.relational.tree import Node, RelationalTree


def leaf_numbers(tree: RelationalTree, database: Database, *, step_limit: int) -> NDArray[np.int64]:
    """For each example of a database the number of the leaf it falls in, counted from *yes* to *no*."""
    signature = tree.signature
    if len(database.keys) != signature.n_keys:
        raise ValueError(
            f"the examples of the database have {len(database.keys)} keys, those the tree was grown from "
            f"{signature.n_keys}"
        )
    translate = _translation(tree, database)
    # the root is written out in every query: what has one value per example there need not have one here
    root = [translate(goal) for goal in signature.root]
    tests = {id(node): [translate(goal) for goal in node.test] for node in tree.root.walk()}
    queries = Queries(Facts(database), step_limit=step_limit)
    numbers = {id(leaf): number for number, leaf in enumerate(tree.root.leaves())}
    result = np.full(database.n_examples, -1, np.int64)

    def route(node: Node, path: Sequence[Goal], reached: NDArray[np.uint64]) -> None:
        if not reached.any():
            return
        if not node.branches:
            result[members(reached, database.n_examples)] = numbers[id(node)]
            return
        longer = [*path, *tests[id(node)]]
        holds = queries.truth(queries.conjunction(longer), reached)
        yes, no = node.branches
        route(yes, longer, holds)
        route(no, path, reached & ~holds)

    route(tree.root, root, queries.everything)
    return result


def _translation(tree: RelationalTree, database: Database) -> Callable[[Goal], Goal]:
    """Goals with the tree's constants as goals with the database's."""
    terms, intern = tree.signature.constants.terms, database.constants.intern
    same = tree.signature.constants is database.constants

    def translate(goal: Goal) -> Goal:
        if same:
            return goal
        return Goal(goal.name, tuple(a if a >= 0 else ~intern(terms[~a]) for a in goal.args), goal.negated)

    return translate
