"""One relational decision tree: tests are conjunctions of literals that may use variables of the tests above."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosscut.relational.rule import Goal


@dataclass(frozen=True, slots=True)
class Node:
    """A node with the training examples that reach it.

    Attributes
    ----------
    statistics : tuple of float
        Examples per class; for regression their number, mean and squared deviations from it.
    prediction : float
        Code of the predicted class, or the mean.
    test : tuple of Goal
        The conjunction tested here, empty at leaves. Variables are numbered along the path: the example's fixed ones,
        then new ones test by test; those of a test are visible in its *yes* branch only.
    n_variables : int
        Variables that are in use before this test.
    yes, no : Node or None
        The branches.
    query : int
        The core's number of the part of the path's query that the test is in.
    """

    statistics: tuple[float, ...]
    prediction: float
    test: tuple[Goal, ...] = ()
    n_variables: int = 0
    yes: Node | None = None
    no: Node | None = None
    query: int = field(default=-1, compare=False, repr=False)

    @property
    def is_leaf(self) -> bool:
        """Whether the node has no test."""
        return not self.test

    @property
    def branches(self) -> tuple[Node, ...]:
        """The *yes* and *no* branches; none at a leaf."""
        return () if self.yes is None or self.no is None else (self.yes, self.no)

    def walk(self) -> Iterator[Node]:
        """Every node below and including this one, in preorder."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.branches))

    def leaves(self) -> Iterator[Node]:
        """The leaves, from *yes* to *no*."""
        return (node for node in self.walk() if node.is_leaf)


@dataclass(frozen=True)
class RelationalTree:
    """A grown relational tree.

    Attributes
    ----------
    root : Node
        The first node.
    classes : tuple
        Class names in the order of the statistics; empty for regression.
    """

    root: Node
    classes: tuple[object, ...] = ()

    @property
    def n_nodes(self) -> int:
        """Number of tests, as TILDE counts nodes."""
        return sum(not node.is_leaf for node in self.root.walk())

    @property
    def n_literals(self) -> int:
        """Number of literals in all tests."""
        return sum(len(node.test) for node in self.root.walk())

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return sum(1 for _ in self.root.leaves())

    @property
    def depth(self) -> int:
        """Tests on the longest path."""

        def below(node: Node) -> int:
            return 1 + max(map(below, node.branches)) if node.branches else 0

        return below(self.root)

    def leaves(self) -> list[tuple[object, float, float]]:
        """(class, correct, covered) of every leaf; for regression (mean, squared deviations, covered)."""
        if not self.classes:
            return [(leaf.prediction, leaf.statistics[2], leaf.statistics[0]) for leaf in self.root.leaves()]
        return [
            (self.classes[int(leaf.prediction)], leaf.statistics[int(leaf.prediction)], sum(leaf.statistics))
            for leaf in self.root.leaves()
        ]

    @property
    def training_accuracy(self) -> float:
        """Share of the training examples that the tree classifies as they are."""
        leaves = self.leaves()
        return sum(float(correct) for _, correct, _ in leaves) / sum(covered for _, _, covered in leaves)
