"""Agreement of the trees of the folds with the final tree, as numbers and sentences."""

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
    """Map each node of the first tree to the nodes in the same place of the other trees.

    Two nodes are in the same place if the tests above them use the same columns, whatever the thresholds.
    The result has a dict per node, from the number of a tree to its node; trees without one are absent.
    """
    first = trees[0]
    matches: list[dict[int, int]] = [{} for _ in range(len(first))]
    for task, tree in enumerate(trees[1:], 1):
        todo = [(0, 0)]
        while todo:
            node, other = todo.pop()
            matches[node][task] = other
            if first.feature[node] >= 0 and first.feature[node] == tree.feature[other]:
                below = first.children_of(node), tree.children_of(other)
                if len(below[0]) == len(below[1]):
                    todo += zip(*below, strict=True)
    return matches


def stability(fit: Fit) -> dict[str, Any]:
    """Return the agreement of the folds with each split, f(i) and forks by level, and sentences."""
    sharing, trees = fit.forest.sharing, fit.forest.trees
    questions = _splits(fit)
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


def _splits(fit: Fit) -> list[dict[str, Any]]:
    """Count for each split of the final tree the folds that split on its column, and the others' columns."""
    trees, tree, names = fit.forest.trees, fit.final, fit.schema.names
    questions = []
    for node, others in enumerate(aligned(trees)):
        if tree.feature[node] < 0:
            continue
        counts = Counter(int(trees[task].feature[at]) for task, at in others.items())
        same = counts.pop(int(tree.feature[node]), 0)
        instead = [[names[f] if f >= 0 else None, count] for f, count in counts.most_common()]
        column, level = names[int(tree.feature[node])], int(tree.depth[node]) + 1
        questions.append({"node": node, "level": level, "column": column, "folds": same, "instead": instead})
    return questions
