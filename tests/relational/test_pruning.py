import math
from dataclasses import replace

import pytest

from crosscut import datasets
from crosscut.relational.folds import folds_of
from crosscut.relational.growth import Grower
from crosscut.relational.pruning import additional_errors, error_estimate
from crosscut.relational.queries import Facts
from crosscut.relational.tree import Node

DEVIATION = {0.05: 1.65, 0.25: 0.6925, 0.30: 0.545, 0.95: 0.25 - 0.25 * 0.55 / 0.6}


def forest(bias_changes, **arguments):
    database, bias = datasets.bongard("complex", n=200, noise=0.3, **arguments)
    language = bias.with_settings(**bias_changes).resolve(database)
    return Grower(Facts(database, language.root), language, folds_of(5, database)).grow()


def plain(n, errors, confidence):
    """C4.5's formula for a whole number of errors."""
    if errors == 0:
        return n * (1 - confidence ** (1 / n))
    if errors + 0.5 >= n:
        return 0.67 * (n - errors)
    z, e = DEVIATION[confidence] ** 2, errors + 0.5
    return n * (e + z / 2 + math.sqrt(z * (e * (1 - e / n) + z / 4))) / (n + z) - errors


@pytest.mark.parametrize("confidence", DEVIATION)
@pytest.mark.parametrize(("n", "errors"), [(6, 0), (1, 0), (1, 1), (10, 1), (10, 9), (100, 5), (3, 2)])
def test_additional_errors_interpolate_the_table(n, errors, confidence):
    assert additional_errors(n, errors, confidence) == pytest.approx(plain(n, errors, confidence), rel=1e-12)


def test_additional_errors_of_machines_leaves():
    assert 2 * additional_errors(6, 0) + additional_errors(3, 0) == pytest.approx(3.58571211334849, abs=1e-13)


@pytest.mark.parametrize(
    ("n", "errors", "confidence"), [(0, 0, 0.25), (3, 4, 0.25), (3, -1, 0.25), (3, 1, 0.0), (3, 1, 1.5)]
)
def test_additional_errors_refuse_what_makes_no_sense(n, errors, confidence):
    with pytest.raises(ValueError, match=r"there have to be examples|has to be above 0"):
        additional_errors(n, errors, confidence)


def merged(node):
    if not node.branches:
        return node
    yes, no = map(merged, node.branches)
    if yes.is_leaf and no.is_leaf and yes.prediction == no.prediction:
        return Node(node.statistics, yes.prediction)
    return replace(node, yes=yes, no=no)


def estimate(node, confidence):
    errors = sum(node.statistics) - node.statistics[int(node.prediction)]
    return errors + plain(sum(node.statistics), errors, confidence)


def pessimistic(node, confidence):
    if not node.branches:
        return node, estimate(node, confidence)
    (yes, a), (no, b) = (pessimistic(branch, confidence) for branch in node.branches)
    if estimate(node, confidence) <= a + b:
        return Node(node.statistics, node.prediction), estimate(node, confidence)
    return replace(node, yes=yes, no=no), a + b


@pytest.mark.parametrize("confidence", DEVIATION)
@pytest.mark.parametrize("seed", [0, 1])
def test_pruning_is_the_plain_recursion(confidence, seed):
    grown = forest({"confidence_level": confidence}, seed=seed)
    for tree, pruned in zip(grown.trees, grown.pruned, strict=True):
        root, total = pessimistic(merged(tree.root), confidence)
        assert pruned.root == root
        assert error_estimate(pruned, confidence) == pytest.approx(total)


def test_safe_pruning_only_merges_leaves_of_one_class():
    grown = forest({"pruning": "safe"})
    for tree, pruned in zip(grown.trees, grown.pruned, strict=True):
        assert pruned.root == merged(tree.root)
    assert sum(tree.n_nodes for tree in grown.trees) > sum(tree.n_nodes for tree in grown.pruned)


def test_no_pruning():
    grown = forest({"pruning": "none"})
    assert grown.trees == grown.pruned
