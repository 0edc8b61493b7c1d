"""Relational trees whose size and shrinkage the held-out examples choose."""

import warnings

import numpy as np
import pytest

from crosscut import load_model, save_model
from crosscut_relational import (
    Bias,
    Database,
    RelationalTreeClassifier,
    RelationalTreeRegressor,
)
from paper.data import bongard
from tests.random_tables import in_duckdb, random_problem


def fitted(seed, **options):
    numbers = seed % 2 == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tables, database, bias, folds = random_problem(seed, numbers=numbers)
    maker = RelationalTreeRegressor if numbers else RelationalTreeClassifier
    return maker(bias, cv=folds, **options).fit(database), database, folds, tables


def nodes_in(tree):
    return [node.test for node in tree.root.walk() if node.test]


@pytest.mark.parametrize("prune", ["best", "1se"])
@pytest.mark.parametrize("shrinkage", [0, "auto"])
def test_results_are_those_of_the_chosen_trees(prune, shrinkage):
    smaller = strong = 0
    for seed in range(20):
        model, database, folds, tables = fitted(seed, prune=prune, shrinkage=shrinkage)
        predicted = in_duckdb(tables, model.to_sql())
        assert [predicted[key] for key in database.examples] == pytest.approx(
            model.predict(database).tolist()
        )
        table, row = model.pruning_table_, model.pruning_table_.choose(prune)
        loss = np.zeros(len(database))
        for fold, tree in enumerate(model.cv_trees_):
            held_out = folds == fold
            leaves = model._leaves(database[held_out], tree)
            expected = tree.values(leaves)
            np.testing.assert_array_equal(model.fit_.validation.values[held_out], expected)
            target = np.asarray(database.target)[held_out]
            if not database.classes:
                loss[held_out] = (target - expected[:, 0]) ** 2
                continue
            codes = [leaf.prediction for leaf in leaves]
            assert [model.classes_.tolist().index(p) for p in model.cv_predictions_[held_out]] == codes
            assert codes == expected.argmax(axis=1).tolist()
            one_hot = np.eye(len(database.classes))[target]
            loss[held_out] = ((one_hot - expected) ** 2).sum(axis=1) / 2
        assert table.cv_error[row] == pytest.approx(loss.mean())
        assert table.n_leaves[row] == model.tree_.n_leaves
        for whole, tree in zip(model.forest_.trees, model.forest_.pruned, strict=True):
            assert set(nodes_in(tree)) <= set(nodes_in(whole))
            assert tree.root.statistics == whole.root.statistics
        smaller += model.tree_.n_leaves < model.forest_.trees[0].n_leaves
        strong += model.fit_.shrinkage > 0
    assert smaller > 8
    assert (strong > 4) == (shrinkage == "auto")


def test_the_lowest_error_of_all_prunings_is_chosen():
    """Against pruning every tree anew: subtrees go in the order of alpha, all of the same alpha together."""
    model, database, folds, _ = fitted(4, prune="best", shrinkage=0)
    errors = []
    for alpha in model.pruning_table_.alpha:
        following = model.pruning_table_.alpha[model.pruning_table_.alpha > alpha].min(initial=np.inf)
        at = np.sqrt(alpha * following) if alpha else 0.0
        wrong = []
        for fold, tree in enumerate(model.forest_.trees[1:]):
            held_out = folds == fold
            cut = cut_by_definition(tree.root, at, sum(tree.root.statistics))
            reached = model._leaves(database[held_out], tree)
            above = parents(tree.root)
            for leaf, target in zip(reached, np.asarray(database.target)[held_out], strict=True):
                node = leaf
                while id(node) not in cut:
                    node = above[id(node)]
                counts = np.array(node.statistics) / sum(node.statistics)
                wrong.append(((np.eye(len(counts))[target] - counts) ** 2).sum() / 2)
        errors.append(np.mean(wrong))
    assert len(errors) > 3
    np.testing.assert_allclose(errors, model.pruning_table_.cv_error, rtol=1e-12)


def parents(root):
    return {id(child): node for node in root.walk() for child in node.branches}


def gini(node):
    counts = np.array(node.statistics)
    return counts.sum() - (counts**2).sum() / counts.sum()


def cut_by_definition(root, alpha, n):
    """Return the identities of the leaves after weakest-link pruning at an alpha."""
    closed = set()

    def leaves(node):
        if not node.branches or id(node) in closed:
            return [node]
        return [leaf for branch in node.branches for leaf in leaves(branch)]

    while True:
        links = []
        pending = [root]
        while pending:
            node = pending.pop()
            if node.branches and id(node) not in closed:
                below = leaves(node)
                links.append(((gini(node) - sum(map(gini, below))) / n / (len(below) - 1), node))
                pending += node.branches
        weakest = min(links, key=lambda link: link[0], default=(np.inf, None))
        if not links or weakest[0] > alpha:
            return {id(leaf) for leaf in leaves(root)}
        closed.add(id(weakest[1]))


@pytest.mark.parametrize("seed", [2, 3])
def test_chosen_trees_are_saved(tmp_path, seed):
    model, database, _, _ = fitted(seed, prune="best", shrinkage=3.0)
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert str(again) == str(model)
    assert again.fit_.shrinkage == model.fit_.shrinkage == 3.0
    assert again.cv_score_ == model.cv_score_
    assert again.cv_interval() == model.cv_interval()
    assert repr(again.pruning_table_) == repr(model.pruning_table_)
    np.testing.assert_array_equal(again.predict(database), model.predict(database))
    np.testing.assert_array_equal(again.fit_.validation.values, model.fit_.validation.values)


def test_a_choice_needs_folds():
    database, bias = bongard("simple", n=60)
    with pytest.raises(ValueError, match=r"prune='best' chooses by cross-validation; set cv"):
        RelationalTreeClassifier(bias, cv=None, prune="best").fit(database)
    alone = RelationalTreeClassifier(bias.with_settings(pruning="best"), cv=None).fit(database)
    assert str(alone) == str(RelationalTreeClassifier(bias, cv=None).fit(database))


def test_noise_is_pruned_to_the_root():
    rng = np.random.default_rng(0)
    tables = {"a": {"id": range(200), "x": rng.random(200), "y": rng.choice(["u", "v", "v"], 200)}}
    database = Database.from_tables(tables, target="a.y")
    bias = Bias.from_schema(database, pruning="none", minimal_cases=2, heuristic="gini")
    assert RelationalTreeClassifier(bias, random_state=0).fit(database).tree_.n_leaves > 20
    pruned = RelationalTreeClassifier(bias, prune="1se", shrinkage=0, random_state=0).fit(database)
    assert pruned.tree_.n_leaves < 4
