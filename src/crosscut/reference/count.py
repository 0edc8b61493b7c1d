"""Counters of the work that the paper analyses, by level; level 0 is the root."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Level:
    """The work of refining all nodes of one level of a forest, or of trees grown one by one."""

    nodes: int = 0  # nodes refined
    tested: int = 0  # lookups of an example's value in a column: t(e) in line 4 of Figure 2
    updates: int = 0  # calls of update_statistics per example
    sorted: int = 0  # examples sorted into child nodes, line 11
    tests: int = 0  # different tests, summed over the nodes: bundles of children
    tree_tests: int = 0  # tests of all trees


@dataclass
class Counts:
    """The work of a whole run, and the passes over the data of level-wise growth."""

    levels: list[Level] = field(default_factory=list)
    passes: int = 0

    def level(self, depth: int) -> Level:
        """Return the counters of a level; create them if necessary."""
        while len(self.levels) <= depth:
            self.levels.append(Level())
        return self.levels[depth]

    def total(self, name: str) -> int:
        """Sum one counter over the levels."""
        return sum(getattr(level, name) for level in self.levels)

    def f(self, n_trees: int) -> list[float]:
        """Return the number of different tests on each level, per test of an average tree: f(i) (3.2.1).

        It is 1 while all trees agree, and the number of trees if all differ. The work of one tree's next
        level is done f(i) times.
        """
        return [
            level.tests * n_trees / level.tree_tests if level.tree_tests else 0.0 for level in self.levels
        ]
