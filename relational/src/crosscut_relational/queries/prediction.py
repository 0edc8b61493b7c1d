"""Evaluate the queries of a relational model on the examples of another database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosscut_relational.queries.queries import Facts, Queries, members
from crosscut_relational.queries.stored_rules import with_stored_rules

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from crosscut_relational.database.database import Database
    from crosscut_relational.language.rule import Goal
    from crosscut_relational.queries.tree import Node, RelationalTree, Signature


class ModelQueries:
    """The goals of a model, evaluated on a database that may differ from the training database."""

    def __init__(
        self, signature: Signature, goals: Iterable[Goal], database: Database, *, step_limit: int
    ) -> None:
        if len(database.keys) != signature.n_keys:
            raise ValueError(
                f"the examples of the database have {len(database.keys)} keys; the model was trained on "
                f"examples with {signature.n_keys}"
            )
        self.n_examples = database.n_examples
        self._root = signature.root
        self._translated = {
            goal: _translated(goal, signature, database) for goal in (*signature.root, *goals)
        }
        database = with_stored_rules(database, self._translated.values())
        used = {a for goal in self._translated for a in goal.args}
        self._queries = Queries(Facts(database, (), signature.attributes, used), step_limit=step_limit)
        self.all_examples = self._queries.all_examples

    def truth(self, goals: Iterable[Goal], mask: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the examples of `mask` (as bits) for which all goals hold."""
        # every query includes the root, whose variables may have several values per example in this database
        conjunction = [self._translated[goal] for goal in (*self._root, *goals)]
        return self._queries.truth(self._queries.conjunction(conjunction), mask)

    def flags(self, bits: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Convert a set of examples from bits to one flag per example."""
        return members(bits, self.n_examples)


def _translated(goal: Goal, signature: Signature, database: Database) -> Goal:
    """Translate a goal of a model to the constants of the database."""
    if signature.constants is database.constants:
        return goal
    terms, intern = signature.constants.terms, database.constants.intern
    return goal.renamed(lambda a: a if a >= 0 else ~intern(terms[~a]))


def leaf_numbers(tree: RelationalTree, database: Database, *, step_limit: int) -> NDArray[np.int64]:
    """Return the number of the leaf that each example reaches; leaves are numbered from *yes* to *no*."""
    queries = ModelQueries(tree.signature, tree.goals, database, step_limit=step_limit)
    numbers = {id(leaf): number for number, leaf in enumerate(tree.root.leaves())}
    result = np.full(database.n_examples, -1, np.int64)

    def route(node: Node, path: tuple[Goal, ...], reached: NDArray[np.uint64]) -> None:
        if not reached.any():
            return
        if not node.branches:
            result[queries.flags(reached)] = numbers[id(node)]
            return
        longer = (*path, *node.test)
        holds = queries.truth(longer, reached)
        yes, no = node.branches
        route(yes, longer, holds)
        route(no, path, reached & ~holds)

    route(tree.root, (), queries.all_examples)
    return result
