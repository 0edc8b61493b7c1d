"""One relational decision tree: tests are conjunctions that may use variables of the tests above."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from crosscut_relational.database.constants import Constants
    from crosscut_relational.language.attributes import Attribute, Column
    from crosscut_relational.language.rule import Goal
    from crosscut_relational.language.terms import Constant
    from crosscut_relational.queries.sql import Dialect


@dataclass(frozen=True, slots=True)
class Node:
    """A node with the training examples that reach it.

    ``statistics`` are the examples per class; for regression their number, mean, and squared deviations from
    the mean. ``prediction`` is the code of the predicted class, or the mean. ``test`` is the conjunction
    tested here, empty at leaves. Its variables are numbered along the path: fixed variables of the example,
    then new variables of each test, which are visible only in its *yes* branch. ``shrunk`` are class
    probabilities after shrinkage; the prediction is then that of the shrunk probabilities or mean.
    """

    statistics: tuple[float, ...]
    prediction: float
    test: tuple[Goal, ...] = ()
    yes: Node | None = None
    no: Node | None = None
    shrunk: tuple[float, ...] | None = None

    @property
    def is_leaf(self) -> bool:
        """Whether the node has no test."""
        return not self.test

    @property
    def branches(self) -> tuple[Node, ...]:
        """The *yes* and *no* branches; none at a leaf."""
        return () if self.yes is None or self.no is None else (self.yes, self.no)

    def walk(self) -> Iterator[Node]:
        """Yield this node and its descendants, in preorder."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.branches))

    def leaves(self) -> Iterator[Node]:
        """Yield the leaves, from *yes* to *no*."""
        return (node for node in self.walk() if node.is_leaf)


def linked(nodes: Sequence[Node], no: Sequence[int]) -> Node:
    """Return the root of a tree, given its nodes without branches in preorder.

    The *yes* branch of a node follows it, and the *no* branch is the node numbered ``no``.
    """
    done = list(nodes)
    for i in range(len(nodes) - 1, -1, -1):  # children before their parents
        if done[i].test:
            done[i] = replace(done[i], yes=done[i + 1], no=done[no[i]])
    return done[0]


def no_branches(nodes: Sequence[Node]) -> list[int]:
    """Return the number of each node's *no* branch among the nodes in preorder, -1 at leaves."""
    numbers = {id(node): number for number, node in enumerate(nodes)}
    return [-1 if node.no is None else numbers[id(node.no)] for node in nodes]


@dataclass(frozen=True)
class Signature:
    """The meaning of the numbers in a tree's tests.

    Variables ``0 .. n_keys-1`` are the example's keys. The attributes follow them, then variables of the
    root; all ``n_fixed`` have one value per example. Every query starts with the ``root``. Predicates in
    ``hidden_key`` are written without their first argument, and without any keys if ``implicit_key``.
    """

    constants: Constants
    target_name: str = "class"
    target_column: str | None = None
    n_keys: int = 1
    n_fixed: int = 1
    root: tuple[Goal, ...] = ()
    hidden_key: frozenset[tuple[str, int]] = frozenset()
    implicit_key: bool = False
    columns: Mapping[tuple[str, int], tuple[Column, ...]] = field(default_factory=dict)
    attributes: tuple[Attribute, ...] = ()

    @property
    def predicted(self) -> str:
        """Readable name of the target: a table's column, or the target predicate."""
        return f"{self.target_name}.{self.target_column}" if self.target_column else self.target_name


@dataclass(frozen=True)
class RelationalTree:
    """A grown relational tree. Its text uses table and column names, or TILDE's compact notation.

    Attributes
    ----------
    root : Node
        The first node.
    signature : Signature
        The meaning of the numbers in tests.
    classes : tuple
        Class names in the order of the statistics; empty for regression.
    """

    root: Node
    signature: Signature = field(compare=False, repr=False)
    classes: tuple[Constant, ...] = ()

    def __repr__(self) -> str:
        return f"RelationalTree({self.n_leaves} leaves, depth {self.depth}, {self.n_examples} examples)"

    def __str__(self) -> str:
        from crosscut_relational.queries.words import tree_in_words

        return tree_in_words(self) if self.signature.columns else self.to_tilde()

    def to_tilde(self) -> str:
        """Write the tree in TILDE's compact notation."""
        from crosscut_relational.queries.printing import compact

        return compact(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as nested dicts, with tests as text and as Prolog."""
        from crosscut_relational.queries.words import tree_data

        return tree_data(self)

    def to_sql(self, dialect: Dialect = "duckdb") -> str:
        """Write a tree over tables as an SQL query that returns the key and prediction of every example."""
        from crosscut_relational.queries.sql import tree_query

        return tree_query(self, dialect)

    def to_prolog(self) -> str:
        """Write the tree as a Prolog decision list, one clause per leaf."""
        from crosscut_relational.queries.printing import program

        return program(self)

    def values(self, leaves: Sequence[Node], m: float = 0.0) -> NDArray[np.float64]:
        """Return the class probabilities, or the mean, in each of the given leaves.

        ``m`` is the weight of the class frequencies of all training examples in the probabilities.
        """
        if not self.classes:
            return np.array([leaf.prediction for leaf in leaves], np.float64).reshape(-1, 1)
        counts = np.array([leaf.statistics for leaf in leaves], np.float64).reshape(-1, len(self.classes))
        if self.root.shrunk is not None:
            counts = counts.sum(axis=1, keepdims=True) * np.array([leaf.shrunk for leaf in leaves]).reshape(
                counts.shape
            )
        prior = np.array(self.root.statistics)
        return np.asarray((counts + m * prior / prior.sum()) / (counts.sum(axis=1, keepdims=True) + m))

    @property
    def goals(self) -> tuple[Goal, ...]:
        """All literals of the tests."""
        return tuple(goal for node in self.root.walk() for goal in node.test)

    @property
    def n_examples(self) -> int:
        """Number of training examples."""
        return int(sum(self.root.statistics) if self.classes else self.root.statistics[0])

    @property
    def n_nodes(self) -> int:
        """Number of tests, as TILDE counts nodes."""
        return sum(not node.is_leaf for node in self.root.walk())

    @property
    def n_literals(self) -> int:
        """Number of literals in all tests."""
        return len(self.goals)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return sum(1 for _ in self.root.leaves())

    @property
    def depth(self) -> int:
        """Number of tests on the longest path."""

        def below(node: Node) -> int:
            return 1 + max(map(below, node.branches)) if node.branches else 0

        return below(self.root)

    def leaves(self) -> list[tuple[object, float, float]]:
        """Return (class, correct, covered) per leaf; for regression (mean, squared deviations, covered)."""
        if not self.classes:
            return [(leaf.prediction, leaf.statistics[2], leaf.statistics[0]) for leaf in self.root.leaves()]
        return [
            (self.classes[int(leaf.prediction)], leaf.statistics[int(leaf.prediction)], sum(leaf.statistics))
            for leaf in self.root.leaves()
        ]
