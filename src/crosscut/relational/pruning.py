"""Pruning as TILDE does it: merge leaves of one class, then C4.5's pessimistic error estimate."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING

from crosscut.relational.tree import Node, RelationalTree

if TYPE_CHECKING:
    from crosscut.relational.settings import Settings

# C4.5 (release 8) interpolates the normal deviation that belongs to a confidence level in this table
CONFIDENCE = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
DEVIATION = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)


def additional_errors(n: float, errors: float, confidence: float = 0.25) -> float:
    """How many more errors C4.5 expects than the `errors` seen among `n` training examples.

    Examples
    --------
    >>> round(additional_errors(6, 0), 4)
    1.2378
    >>> round(additional_errors(100, 5), 4)
    2.1968
    """
    if errors < 1e-6:
        return n * (1 - math.exp(math.log(confidence) / n))
    if errors < 0.9999:
        none = n * (1 - math.exp(math.log(confidence) / n))
        return none + errors * (additional_errors(n, 1.0, confidence) - none)
    if errors + 0.5 >= n:
        return 0.67 * (n - errors)
    squared = _deviation(confidence) ** 2
    shifted = errors + 0.5
    share = (
        shifted + squared / 2 + math.sqrt(squared * (shifted * (1 - shifted / n) + squared / 4))
    ) / (n + squared)
    return n * share - errors


def _deviation(confidence: float) -> float:
    i = max(bisect_left(CONFIDENCE, confidence), 1)
    step = (confidence - CONFIDENCE[i - 1]) / (CONFIDENCE[i] - CONFIDENCE[i - 1])
    return DEVIATION[i - 1] + (DEVIATION[i] - DEVIATION[i - 1]) * step


def error_estimate(tree: RelationalTree, confidence: float = 0.25) -> float:
    """C4.5's estimate of the number of errors of a tree on as many examples as it was grown from."""
    return sum(_as_leaf(leaf, confidence) for leaf in tree.root.leaves())


def prune(tree: RelationalTree, settings: Settings) -> RelationalTree:
    """The tree pruned as the settings say; regression trees are left as they are."""
    if settings.pruning == "none" or not tree.classes:
        return tree
    root = _merge(tree.root)
    if settings.pruning == "c45":
        root, _ = _replace(root, settings.confidence_level)
    return replace(tree, root=root)


def _leaf(node: Node) -> Node:
    return Node(node.statistics, node.prediction)


def _merge(node: Node) -> Node:
    """Safe pruning: a test both of whose branches predict one class says nothing."""
    if not node.branches:
        return node
    yes, no = map(_merge, node.branches)
    if yes.is_leaf and no.is_leaf and yes.prediction == no.prediction:
        return Node(node.statistics, yes.prediction)
    return replace(node, yes=yes, no=no)


def _as_leaf(node: Node, confidence: float) -> float:
    n = sum(node.statistics)
    errors = n - node.statistics[int(node.prediction)]
    return errors + additional_errors(n, errors, confidence) if n else 0.0


def _replace(node: Node, confidence: float) -> tuple[Node, float]:
    """The node pruned, with its estimate: a subtree that is expected to make no fewer errors becomes a leaf."""
    leaf = _as_leaf(node, confidence)
    if not node.branches:
        return node, leaf
    (yes, below_yes), (no, below_no) = (_replace(branch, confidence) for branch in node.branches)
    if leaf <= below_yes + below_no:
        return _leaf(node), leaf
    return replace(node, yes=yes, no=no), below_yes + below_no
