"""SHAP values against their definition: the mean change of a prediction over all orders of the columns."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from crosscut import TreeClassifier, TreeRegressor


def table(seed, n=60):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "number": rng.integers(0, 9, n).astype(float),
            "letter": pd.Categorical(rng.choice(list("uvwxyz"), n)),
            "size": rng.normal(size=n),
            "kind": pd.Categorical(rng.choice(list("pqr"), n)),
        }
    )
    X.loc[rng.random(n) < 0.1, ["number", "letter"]] = np.nan
    score = X["number"].fillna(0) / 4 + X["letter"].isin(list("uvx")) + (X["kind"] == "p") * X["size"]
    return X, score + rng.normal(size=n) / 4


def expectation(tree, value, x, known, node=0):
    """Return the prediction for a row of which only some columns are known."""
    feature, children = int(tree.feature[node]), tree.children_of(node)
    if feature < 0:
        return value[node]
    if feature not in known:
        each = [tree.weight[c] * expectation(tree, value, x, known, c) for c in children]
        return sum(each) / tree.weight[node]
    cell, branches = x[feature], tree.branches[tree.first_branch[node] : tree.first_branch[node + 1]]
    if len(branches):
        branch = dict(branches.tolist()).get(cell, -1)
    else:
        branch = -1 if np.isnan(cell) else int(cell > tree.threshold[node])
    child = children[tree.missing[node] if branch < 0 else branch]
    return expectation(tree, value, x, known, child)


def by_definition(tree, value, x):
    total, orders = np.zeros((len(x), value.shape[1])), list(permutations(range(len(x))))
    for order in orders:
        before = expectation(tree, value, x, set())
        for k, column in enumerate(order):
            after = expectation(tree, value, x, set(order[: k + 1]))
            total[column] += after - before
            before = after
    return total / len(orders)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("splits", ["binary", "multiway"])
def test_values_of_classes_follow_the_definition(seed, splits):
    X, score = table(seed)
    y = np.where(score > 1, "yes", np.where(score > 0.5, "maybe", "no"))
    model = TreeClassifier(cv=None, splits=splits, max_depth=5).fit(X, y, np.arange(60) % 3 + 0.5)
    values, mean = model.shap_values(X)
    np.testing.assert_allclose(values.sum(axis=1) + mean, model.predict_proba(X), atol=1e-12)
    x, tree = model.fit_.schema.matrix(X), model.tree_
    value = tree.value / tree.value.sum(axis=1, keepdims=True)
    for row in range(0, 60, 9):
        np.testing.assert_allclose(values[row], by_definition(tree, value, x[row]), atol=1e-12)


def test_values_of_means_and_new_categories():
    X, y = table(7)
    model = TreeRegressor(cv=None, min_samples_leaf=3).fit(X, y)
    new = X.head(8).astype({"letter": object}).assign(letter="unseen")
    values, mean = model.shap_values(new)
    assert values.shape == (8, 4)
    np.testing.assert_allclose(values.sum(axis=1) + mean, model.predict(new))
    x = model.fit_.schema.matrix(new)
    for row in range(8):
        np.testing.assert_allclose(
            values[row], by_definition(model.tree_, model.tree_.value, x[row])[:, 0], atol=1e-12
        )


def test_a_single_leaf_explains_nothing():
    model = TreeClassifier(cv=None).fit([[1.0], [2.0]], ["a", "a"])
    values, mean = model.shap_values([[1.0]])
    assert values.tolist() == [[[0.0]]]
    assert mean.tolist() == [1.0]
