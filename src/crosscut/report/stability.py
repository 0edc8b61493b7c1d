"""Where the trees of the folds agree with the final tree, in numbers and in words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.export.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosscut.forest.tree import Tree
    from crosscut.training.fit import Fit

MOST = 0.8  # of the folds: a question that so many ask is stable


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
        "words": _words(questions, len(trees) - 1, int(sum(len(tree) > 1 for tree in trees[1:]))),
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


def _words(questions: list[dict[str, Any]], n_folds: int, n_asking: int) -> list[str]:
    if not questions:
        if n_asking == 0:
            return ["No tree has a test: none found a split worth making."]
        return [f"The final tree has no test, but the trees of {counted(n_asking, 'fold')} have."]
    first = questions[0]
    if all(question["folds"] == n_folds for question in questions):
        asked = "the same question" if len(questions) == 1 else f"the same {len(questions)} questions"
        return [f"All {n_folds} folds ask {asked} as the final tree, if at slightly different values."]
    sentences = [
        f"All {n_folds} folds ask about {first['column']} first."
        if first["folds"] == n_folds
        else f"{first['folds'] or 'None'} of the {n_folds} folds ask{'s' * (first['folds'] == 1)} about "
        f"{first['column']} first, as the final tree does; {_others(first['instead'])}."
    ]
    stable = sum(question["folds"] >= MOST * n_folds for question in questions)
    if len(questions) > 1:
        sentences.append(
            f"Of the {len(questions)} questions of the final tree, {stable or 'none'} "
            f"{'are' if stable > 1 else 'is'} asked in the same place by at least "
            f"{int(np.ceil(MOST * n_folds))} of the {n_folds} folds."
        )
    return sentences


def _others(instead: list[list[Any]], most: int = 3) -> str:
    """Say what the other folds ask, those of most folds first."""
    said = [
        f"{count} ask{'s' * (count == 1)} about {column}"
        if column is not None
        else f"{count} {'asks' if count == 1 else 'ask'} nothing"
        for column, count in instead[:most]
    ]
    left = sum(count for _, count in instead[most:])
    return ", ".join(said + [f"{left} about other columns"] * bool(left))
