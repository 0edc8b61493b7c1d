"""Hierarchical shrinkage by its definition, alone and chosen together with the size of the tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import RepeatedStratifiedKFold

from crosscut import TreeClassifier, TreeRegressor, load_model, save_model
from crosscut.forest.shrinkage import shrunk

STRENGTHS = (0, 1, 3, 10, 30, 100, 300, 1000)  # for rows of weight 1


def by_definition(tree, strength, classifies):
    """Predictions of all nodes, one by one."""
    own = tree.value / tree.value.sum(axis=1, keepdims=True) if classifies else tree.value
    values = own.copy()
    for node in range(len(tree)):
        for child in tree.children[tree.first_child[node] : tree.first_child[node + 1]]:
            values[child] = values[node] + (own[child] - own[node]) / (1 + strength / tree.weight[node])
    return values


def loss_of(values, y, measure, n_classes):
    if measure == "squared":
        return (y - values[:, 0]) ** 2
    of_class = values[np.arange(len(y)), y]
    if measure == "brier":
        return ((values - np.eye(n_classes)[y]) ** 2).sum(axis=1) * (0.5 if n_classes == 2 else 1)
    if measure == "log":
        return -np.log(np.maximum(of_class, 2.0**-52))
    return (values.argmax(axis=1) != y).astype(float)


def problem(seed, n, n_classes, *, weighted):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(n, 3)).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    score = np.nan_to_num(X[:, 0]) + rng.normal(size=n) * 2
    y = score if not n_classes else np.argsort(np.argsort(score)) * n_classes // n
    return X, y, rng.integers(1, 4, size=n).astype(float) if weighted else None


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.sampled_from([0, 2, 4]),
    scoring=st.sampled_from([None, "accuracy", "neg_log_loss"]),
    weighted=st.booleans(),
    repeats=st.sampled_from([1, 2]),
)
def test_the_table_by_its_definition(seed, n_classes, scoring, weighted, repeats):
    X, y, w = problem(seed, 60, n_classes, weighted=weighted)
    learner = TreeClassifier if n_classes else TreeRegressor
    scoring = scoring if n_classes else None
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=repeats, random_state=0)
    cv = list(cv.split(X, y if n_classes else np.arange(60) % 2))
    model = learner(prune="best", cv=cv, scoring=scoring).fit(X, y, w)
    table, forest = model.pruning_table_, model.fit_.grown
    measures = {None: "brier", "accuracy": "error", "neg_log_loss": "log"}
    measure = measures[scoring] if n_classes else "squared"
    smooth = "brier" if measure == "error" else measure
    unit = forest[0].weight[0] / forest[0].n_rows[0]
    weight = np.ones(len(y)) if w is None else w
    for row in range(len(table)):
        inner = table.tests_kept(forest.packed, row)
        trees = type(forest)(forest.packed.cut(inner)[0])
        losses = {}
        for strength in STRENGTHS:
            total, smooth_total, times = np.zeros(len(y)), np.zeros(len(y)), np.zeros(len(y))
            for tree, (_, test) in zip(list(trees)[1:], cv, strict=True):
                values = by_definition(tree, strength * unit, n_classes > 0)
                leaf = learner.apply(stand_in(model, tree), X[test])
                np.add.at(total, test, loss_of(values[leaf], y[test], measure, n_classes))
                np.add.at(smooth_total, test, loss_of(values[leaf], y[test], smooth, n_classes))
                np.add.at(times, test, 1)
            losses[strength] = total / times, np.average(smooth_total / times, weights=weight)
        lowest = min(smooth_loss for _, smooth_loss in losses.values())
        chosen = round(table.shrinkage[row] / unit)
        assert losses[chosen][1] == pytest.approx(lowest, rel=1e-9, abs=1e-12)
        loss = losses[chosen][0]
        mean = np.average(loss, weights=weight)
        assert table.cv_error[row] == pytest.approx(mean, rel=1e-9, abs=1e-12)
        spread = np.sqrt(np.average((loss - mean) ** 2, weights=weight) * (weight @ weight)) / weight.sum()
        assert table.standard_error[row] == pytest.approx(spread, rel=1e-6, abs=1e-9)


def stand_in(model, tree):
    """A model that consists of this tree."""
    from copy import copy
    from dataclasses import replace

    from crosscut.forest.forest import Forest

    other = copy(model)
    other.fit_ = replace(model.fit_, forest=Forest([tree]), validation=None, chosen_by=None)
    return other


@pytest.mark.parametrize("learner", [TreeClassifier, TreeRegressor])
def test_a_given_strength_is_used(learner, tmp_path):
    X, y = load_iris(return_X_y=True) if learner is TreeClassifier else load_diabetes(return_X_y=True)
    raw, model = (learner(cv=3, shrinkage=strength).fit(X, y) for strength in (None, 20.0))
    classifies = learner is TreeClassifier
    for own, small in zip(raw.forest_, model.forest_, strict=True):
        expected = by_definition(own, 20.0, classifies)
        values = small.value / small.weight[:, None] if classifies else small.value
        np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-14)
    predicted = model.predict_proba(X) if classifies else model.predict(X)[:, None]
    np.testing.assert_allclose(
        predicted, by_definition(raw.tree_, 20.0, classifies)[model.apply(X)], rtol=1e-12
    )
    assert model.shrinkage_ == 20.0
    assert shrunk(raw.forest_, 0.0, classifies=classifies) is raw.forest_
    np.testing.assert_array_equal(model.feature_importances_, raw.feature_importances_)
    save_model(model, tmp_path / "model")
    stored = load_model(tmp_path / "model")
    np.testing.assert_array_equal(stored.predict(X), model.predict(X))
    assert stored.shrinkage_ == 20.0
    same = model.to_sklearn()
    np.testing.assert_allclose(same.predict_proba(X) if classifies else same.predict(X)[:, None], predicted)


@pytest.mark.parametrize("shrinkage", ["yes", -1, True, np.nan])
def test_refusals(shrinkage):
    with pytest.raises(ValueError, match="shrinkage must be"):
        TreeClassifier(shrinkage=shrinkage).fit(*load_iris(return_X_y=True))


def test_an_unpruned_tree_is_not_shrunk_by_default():
    X, y = load_diabetes(return_X_y=True)
    assert TreeRegressor(cv=3).fit(X, y).shrinkage_ == 0
    assert TreeRegressor(cv=3, prune="best").fit(X, y).shrinkage_ > 0
