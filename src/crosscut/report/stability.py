"""Where the trees of the folds agree with the final tree, in numbers and in words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.statistics.sentences import stability_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosscut.forest.tree import Tree
    from crosscut.training.fit import Fit


def aligned(trees: Sequence[Tree]) -> list[dict[int, int]]:
    """Return, for each node of the first tree, the node in the same place of every other tree that has one.

    Two nodes are in the same place if the tests above them ask about the same columns, whatever the values.
    """
    first = trees[0]
    found: list[dict[int, int]] = [{} for _ in range(len(first))]
    for task, tree in enumerate(trees[1:], 1):
        todo = [(0, 0)]
        while todo:
            own, other = todo.pop()
            found[own][task] = other
            if first.feature[own] >= 0 and first.feature[own] == tree.feature[other]:
                below = _children(first, own), _children(tree, other)
                if len(below[0]) == len(below[1]):
                    todo += zip(*below, strict=True)
    return found


def _children(tree: Tree, node: int) -> list[int]:
    children: list[int] = tree.children[tree.first_child[node] : tree.first_child[node + 1]].tolist()
    return children


def stability(fit: Fit) -> dict[str, Any]:
    """Return how many folds ask each question of the final tree, f(i) and forks per level, and sentences."""
    sharing, trees = fit.forest.sharing, fit.forest.trees
    questions = _questions(fit)
    disagree = np.flatnonzero(sharing.f > 1)
    return {
        "agreed_levels": int(disagree[0]) if len(disagree) else len(sharing.f),
        "levels": len(sharing.f),
        "f": [float(f) for f in sharing.f],
        "forks": [int(n) for n in sharing.n_forks],
        "forest_nodes": [int(n) for n in sharing.n_nodes],
        "tree_nodes": [int(n) for n in sharing.n_tree_nodes],
        "questions": questions,
        "words": stability_sentences(
            questions, len(trees) - 1, int(sum(len(tree) > 1 for tree in trees[1:]))
        ),
    }


def _questions(fit: Fit) -> list[dict[str, Any]]:
    """Say of every test of the final tree how many folds ask about its column there, and what others do."""
    trees, tree, names = fit.forest.trees, fit.final, fit.schema.names
    found = []
    for node, others in enumerate(aligned(trees)):
        if tree.feature[node] < 0:
            continue
        asked = Counter(int(trees[task].feature[at]) for task, at in others.items())
        same = asked.pop(int(tree.feature[node]), 0)
        instead = [[names[f] if f >= 0 else None, count] for f, count in asked.most_common()]
        column, level = names[int(tree.feature[node])], int(tree.depth[node]) + 1
        found.append({"node": node, "level": level, "column": column, "folds": same, "instead": instead})
    return found
