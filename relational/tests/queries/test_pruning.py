from dataclasses import replace

import numpy as np
import pytest

from crosscut.forest.pruning_table import additional_errors
from crosscut_relational import Bias, Database, RelationalTreeRegressor
from crosscut_relational.queries.growth import Grower
from crosscut_relational.queries.queries import Facts
from crosscut_relational.queries.resolve import resolve
from crosscut_relational.queries.tree import Node
from crosscut_relational.training_set import folds_of, tasks_of
from paper.data import bongard


def forest(bias_changes, **arguments):
    database, bias = bongard("complex", n=200, noise=0.3, **arguments)
    language = resolve(bias.with_settings(**bias_changes), database)
    return Grower(Facts.of(database, language), language, folds_of(tasks_of(5, database))).grow()


def merged(node):
    if not node.branches:
        return node
    yes, no = map(merged, node.branches)
    if yes.is_leaf and no.is_leaf and yes.prediction == no.prediction:
        return Node(node.statistics, yes.prediction)
    return replace(node, yes=yes, no=no)


def estimate(node, confidence):
    errors = sum(node.statistics) - node.statistics[int(node.prediction)]
    return errors + additional_errors(sum(node.statistics), errors, confidence)


def pessimistic(node, confidence):
    if not node.branches:
        return node, estimate(node, confidence)
    (yes, a), (no, b) = (pessimistic(branch, confidence) for branch in node.branches)
    if estimate(node, confidence) <= a + b:
        return Node(node.statistics, node.prediction), estimate(node, confidence)
    return replace(node, yes=yes, no=no), a + b


@pytest.mark.parametrize("confidence", [0.05, 0.25, 0.30, 0.95])
@pytest.mark.parametrize("seed", [0, 1])
def test_pruning_is_the_plain_recursion(confidence, seed):
    grown = forest({"confidence_level": confidence}, seed=seed)
    for tree, pruned in zip(grown.trees, grown.pruned, strict=True):
        root, total = pessimistic(merged(tree.root), confidence)
        assert pruned.root == root
        leaves = [(n - correct, n) for _, correct, n in pruned.leaves() if n]
        assert sum(e + additional_errors(n, e, confidence) for e, n in leaves) == pytest.approx(total)


def test_safe_pruning_only_merges_leaves_of_one_class():
    grown = forest({"pruning": "safe"})
    for tree, pruned in zip(grown.trees, grown.pruned, strict=True):
        assert pruned.root == merged(tree.root)
    assert sum(tree.n_nodes for tree in grown.trees) > sum(tree.n_nodes for tree in grown.pruned)


def test_no_pruning():
    grown = forest({"pruning": "none"})
    assert grown.trees == grown.pruned


def test_the_f_test_alone_stops_regression_trees():
    random = np.random.default_rng(5)
    has = random.random((120, 8)) < 0.4
    weights = 2.0 * has[:, 0] + has[:, 1] * has[:, 2] + random.normal(0, 1.0, 120)
    facts = {
        "w": [(i, float(weights[i])) for i in range(120)],
        "has": [(i, f"p{j}") for i, j in zip(*np.nonzero(has), strict=True)],
    }
    facts["has"] = [(int(i), part) for i, part in facts["has"]]
    database = Database.from_facts(facts, predict="w(+thing,-number)", regression=True)
    bias = Bias.of(["has(+T,#)"], ftest=0.5, regression=True)
    grown = RelationalTreeRegressor(bias, cv=4).fit(database).forest_
    assert grown.trees == grown.pruned
