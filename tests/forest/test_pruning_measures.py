"""Pruning by impurity, error and loss, compared with the definition on exact numbers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut import BaggedTrees, TreeClassifier, load_model, save_model

LOSSES = {"error": None, "loss": [[0, 1, 4], [2, 0, 1], [8, 3, 0]]}


def data(seed, n=120, ties=False):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (n, 3)).astype(float) if ties else rng.normal(size=(n, 3))
    y = np.digitize(X[:, 0] - X[:, 0].mean() + X[:, 1] * (X[:, 2] > 1) + rng.normal(size=n), [-0.4, 0.7])
    return X, y


def cost_of(model):
    return np.asarray(model.loss) if model.loss else 1 - np.eye(len(model.classes_))


def costs(model, tree):
    """Total cost of each class at each node; whole numbers, so they are exact."""
    return np.rint(tree.value).astype(int) @ cost_of(model).astype(int)


def smallest(tree, cost, alpha, node=0):
    """Return the leaves of the smallest subtree with the least cost + alpha |leaves|, and that sum."""
    alone = int(cost[node].min()) + alpha
    below = [smallest(tree, cost, alpha, child) for child in children(tree, node)]
    total = sum(part for _, part in below)
    if not below or alone <= total:
        return {node}, alone
    return set().union(*(leaves for leaves, _ in below)), total


def children(tree, node):
    return tree.children[tree.first_child[node] : tree.first_child[node + 1]].tolist()


def leaf_of(tree, leaves, x):
    node = 0
    while node not in leaves:
        node = children(tree, node)[int(np.float32(x[tree.feature[node]]) > tree.threshold[node])]
    return node


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    by=st.sampled_from(["error", "loss"]),
    ties=st.booleans(),
    weighted=st.booleans(),
)
def test_the_table_by_its_definition(seed, by, ties, weighted):
    X, y = data(seed, n=60, ties=ties)
    w = np.random.default_rng(seed).integers(1, 6, len(y)).astype(float) if weighted else None
    model = TreeClassifier(cv=4, prune_by=by, loss=LOSSES[by], min_samples_leaf=3).fit(X, y, w)
    table, cost, folds = model.pruning_table_, cost_of(model), model.fit_.validation
    weight = np.ones(len(y)) if w is None else w
    final = costs(model, model.tree_)
    for k, alpha in enumerate(table.alpha):
        leaves, _ = smallest(model.tree_, final, Fraction(alpha * weight.sum()).limit_denominator(1000))
        assert len(leaves) == table.n_leaves[k]
        total = final[list(leaves)].min(axis=1).sum()
        assert table.train_error[k] == pytest.approx(total / weight.sum(), abs=1e-12)
        middle = np.sqrt(alpha * table.alpha[k + 1]) if k + 1 < len(table) else 1e9
        loss = np.zeros(len(y))
        for t, tree in enumerate(model.cv_trees_, 1):
            own = costs(model, tree)
            leaves, _ = smallest(tree, own, middle * tree.weight[0])
            for row in folds.rows[folds.row_start[t] : folds.row_start[t + 1]]:
                loss[row] = cost[y[row], own[leaf_of(tree, leaves, X[row])].argmin()]
        mean = np.average(loss, weights=weight)
        assert table.cv_error[k] == pytest.approx(mean, abs=1e-12)
        spread = np.sqrt(np.average((loss - mean) ** 2, weights=weight) * (weight @ weight)) / weight.sum()
        assert table.standard_error[k] == pytest.approx(spread, abs=1e-7)


@pytest.mark.parametrize("by", ["error", "loss"])
@pytest.mark.parametrize("prune", ["best", "1se"])
def test_the_chosen_row_is_what_the_model_becomes(by, prune, tmp_path):
    X, y = data(3, n=300)
    model = TreeClassifier(prune=prune, prune_by=by, loss=LOSSES[by], shrinkage=None, cv=6).fit(X, y)
    table, cost = model.pruning_table_, cost_of(model)
    row = table.choose(prune)
    assert model.get_n_leaves() == table.n_leaves[row]
    assert cost[y, model.cv_predictions_].mean() == pytest.approx(table.cv_error[row], abs=1e-12)
    assert cost[y, model.predict(X)].mean() == pytest.approx(table.train_error[row], abs=1e-12)
    again = TreeClassifier(ccp_alpha=model.ccp_alpha_, prune_by=by, loss=LOSSES[by], cv=None).fit(X, y)
    assert again.tree_.equals(model.tree_)
    save_model(model, tmp_path / "model")
    stored = load_model(tmp_path / "model")
    np.testing.assert_array_equal(stored.predict(X), model.predict(X))
    assert str(stored.pruning_table_) == str(table)
    assert ("cost" in str(table)) == (by == "loss")


def test_all_forms_of_the_tree_predict_the_cheapest_class():
    X, y = data(1, n=200)
    names = np.array(["high", "low", "mid"])[y]
    model = TreeClassifier(prune_by="loss", loss={"mid": 6.0}, max_depth=3, cv=3).fit(X, names)
    plain = TreeClassifier(max_depth=3, cv=3).fit(X, names)
    assert np.count_nonzero(model.predict(X) == "mid") > np.count_nonzero(plain.predict(X) == "mid")
    expected = model.predict_proba(X) @ ((1 - np.eye(3)) * np.array([1, 1, 6])[:, None])
    np.testing.assert_array_equal(model.predict(X), model.classes_[expected.argmin(axis=1)])
    space = {}
    exec(model.to_python(), space)
    rows = [dict(zip(["x0", "x1", "x2"], row, strict=True)) for row in X]
    assert [space["predict"](row) for row in rows] == model.predict(X).tolist()
    assert {rule.prediction for rule in model.to_rules()} == set(model.predict(X))
    assert model.to_text().count("class: mid") == model.to_sql().count("'mid'") > 0
    with pytest.raises(ValueError, match="most probable class"):
        model.to_sklearn()
    bag = BaggedTrees(model, n_trees=5, random_state=0).fit(X, names)
    expected = bag.predict_proba(X) @ ((1 - np.eye(3)) * np.array([1, 1, 6])[:, None])
    np.testing.assert_array_equal(bag.predict(X), bag.classes_[expected.argmin(axis=1)])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prune_by": "loss"}, "belong together"),
        ({"loss": [1, 2, 3]}, "belong together"),
        ({"prune_by": "error", "loss": [1, 2, 3]}, "belong together"),
        ({"prune_by": "cost"}, "prune_by must be one of"),
        ({"prune_by": "loss", "loss": [1, 2]}, r"loss must be 3 costs, or a matrix"),
        ({"prune_by": "loss", "loss": [1, 2, -3]}, r"finite and >= 0"),
        ({"prune_by": "loss", "loss": {7: 2}}, "loss names 7, which is not among the classes"),
        ({"prune_by": "loss", "loss": [1, 2, 3], "prune": "pessimistic"}, "estimates errors, not costs"),
    ],
)
def test_what_means_nothing_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        TreeClassifier(**settings).fit(*data(0))


def test_rparts_form_needs_errors():
    X, y = data(0)
    with pytest.raises(ValueError, match="prune_by='error'"):
        TreeClassifier(cv=3).fit(X, y).pruning_table_.to_rpart()
