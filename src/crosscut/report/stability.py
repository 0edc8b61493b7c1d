"""Where the trees of the folds agree with each other, in numbers and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from crosscut.forest.sharing import SharedNode
    from crosscut.training.fit import Fit

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def stability(fit: Fit) -> dict[str, Any]:
    """Return f(i), forks and nodes per level, on how many levels all trees agree, and sentences about it."""
    sharing = fit.forest.sharing
    disagree = np.flatnonzero(sharing.f > 1)
    agreed = int(disagree[0]) if len(disagree) else len(sharing.f)
    return {
        "agreed_levels": agreed,
        "levels": len(sharing.f),
        "f": [float(f) for f in sharing.f],
        "forks": [int(n) for n in sharing.n_forks],
        "forest_nodes": [int(n) for n in sharing.n_nodes],
        "tree_nodes": [int(n) for n in sharing.n_tree_nodes],
        "words": _words(fit, agreed),
    }


def _words(fit: Fit, agreed: int) -> list[str]:
    sharing = fit.forest.sharing
    n_folds, n_levels = sharing.n_trees - 1, len(sharing.f)
    everyone = f"All {n_folds} folds and the final tree"
    if n_levels == 0:
        return ["No tree has a test: none found a split worth making."]
    if agreed == n_levels:
        return [f"{everyone} agree on every test of the {_levels(n_levels)}."]
    sentences = [f"{everyone} agree on the first {_levels(agreed)}."] if agreed else []
    where = _first_disagreement(sharing.root, agreed, sharing.n_trees)
    if where is not None:
        sentences.append(_describe(fit, where, sharing.n_trees))
    forks = int(sharing.n_forks.sum())
    sentences.append(
        f"On level {n_levels}, the deepest, a test of one tree is shared by "
        f"{sharing.n_trees / sharing.f[-1]:.1f} of the {sharing.n_trees} trees on average; "
        f"there {'is' if forks == 1 else 'are'} {forks} fork{'' if forks == 1 else 's'} in all."
    )
    return sentences


def _levels(count: int) -> str:
    word = _WORDS[count] if count < len(_WORDS) else str(count)
    return f"{word} level{'' if count == 1 else 's'}" if count != 1 else "level"


def _first_disagreement(root: SharedNode, depth: int, n_trees: int) -> SharedNode | None:
    """Return the fork (or the node where some trees stop) with most trees on the first level they differ."""
    found = [
        node
        for node in root
        if node.depth == depth and (len(node.groups) != 1 or len(node.groups[0]) < n_trees)
    ]
    return max(found, key=lambda node: (node.is_fork, len(node.tasks)), default=None)


def _describe(fit: Fit, node: SharedNode, n_trees: int) -> str:
    names = fit.schema.names
    at = dict(zip(node.tasks, node.nodes, strict=True))
    parts: dict[str, int] = {}
    for group in node.groups:
        tree = fit.forest.trees[group[0]]
        column = names[int(tree.feature[at[group[0]]])]
        parts[column] = parts.get(column, 0) + len(group)
    if len(node.groups) > len(parts):
        parts = {f"{column} (at different values)": count for column, count in parts.items()}
    said = [f"{count} test{'s' if count == 1 else ''} {column}" for column, count in parts.items()]
    stopped = len(node.tasks) - sum(parts.values())
    if stopped:
        said.append(f"{stopped} stop{'s' if stopped == 1 else ''}")
    place = "the root" if node.depth == 0 else f"level {node.depth + 1}"
    those = f"the {n_trees} trees" if len(node.tasks) == n_trees else f"{len(node.tasks)} trees at one node"
    return f"The trees first differ at {place}: of {those}, {', '.join(said)}."
