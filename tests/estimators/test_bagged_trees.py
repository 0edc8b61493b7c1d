import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import BaggingClassifier
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from crosscut import BaggedTrees, TreeClassifier, TreeRegressor
from crosscut.tasks import Tasks


def test_trees_are_those_of_the_bootstrap_samples():
    X, y = load_breast_cancer(return_X_y=True)
    model = BaggedTrees(TreeClassifier(max_depth=4), n_trees=6, random_state=1).fit(X, y)
    seed = int(np.random.RandomState(1).randint(2**31))
    tasks = Tasks.bootstrap(6, len(y), random_state=seed)
    for t, tree in enumerate(model.forest_):
        times = tasks.multiplicity[t].astype(float)
        alone = TreeClassifier(max_depth=4, cv=None).fit(X, y, times)
        np.testing.assert_array_equal(alone.tree_.threshold, tree.threshold)
        np.testing.assert_array_equal(alone.tree_.value, tree.value)


def test_out_of_bag_predictions_are_from_trees_without_the_row():
    X, y = load_diabetes(return_X_y=True)
    model = BaggedTrees(TreeRegressor(min_samples_leaf=5), n_trees=30, random_state=0).fit(X, y)
    tasks = Tasks.bootstrap(30, len(y), random_state=int(np.random.RandomState(0).randint(2**31)))
    total, times = np.zeros(len(y)), np.zeros(len(y))
    for t, tree in enumerate(model.forest_):
        rows = tasks.test_rows(t)
        alone = BaggedTrees(TreeRegressor(), n_trees=1).fit(X, y)
        alone.fit_ = replace(alone.fit_, forest=type(model.forest_)([tree]))
        total[rows] += alone.predict(X[rows])
        times[rows] += 1
    np.testing.assert_allclose(model.oob_predictions_, total / times, rtol=1e-12)
    assert model.oob_score_ == pytest.approx(r2_score(y, total / times))


@pytest.mark.parametrize("tree", [TreeClassifier(max_depth=5), TreeRegressor(ccp_alpha=0.001)])
def test_scikit_learns_forest_predicts_the_same(tree):
    X, y = load_breast_cancer(return_X_y=True)
    frame = pd.DataFrame(X[:, :6], columns=list("abcdef"))
    frame[frame > 900] = np.nan
    y = np.array(["no", "maybe", "yes"])[y + (X[:, 1] > 25)] if is_classifier(tree) else X[:, 7]
    model = BaggedTrees(tree, n_trees=12, random_state=0).fit(frame, y)
    theirs = pickle.loads(pickle.dumps(model.to_sklearn()))
    check_is_fitted(theirs)
    np.testing.assert_array_equal(theirs.predict(frame), model.predict(frame))
    assert theirs.get_params()["n_estimators"] == 12
    assert list(theirs.feature_names_in_) == list("abcdef")
    assert theirs.feature_importances_.sum() == pytest.approx(1)
    if is_classifier(tree):
        np.testing.assert_array_equal(theirs.predict_proba(frame), model.predict_proba(frame))
        np.testing.assert_array_equal(
            model.predict(frame), model.classes_[model.predict_proba(frame).argmax(axis=1)]
        )


def test_what_scikit_learns_forests_cannot_express():
    frame = pd.DataFrame({"colour": ["red", "blue"] * 20})
    with pytest.raises(ValueError, match="nominal column 'colour'"):
        BaggedTrees(n_trees=2).fit(frame, [0, 1] * 20).to_sklearn()
    with pytest.raises(ValueError, match="has a loss"):
        BaggedTrees(TreeClassifier(loss=[1, 2], prune_by="loss"), n_trees=2).fit(
            np.arange(40).reshape(-1, 1), [0, 1] * 20
        ).to_sklearn()


def test_as_good_as_scikit_learns_bagging():
    X, y = load_breast_cancer(return_X_y=True)
    ours = BaggedTrees(n_trees=60, random_state=0).fit(X, y)
    theirs = BaggingClassifier(DecisionTreeClassifier(), n_estimators=60, oob_score=True, random_state=0).fit(
        X, y
    )
    assert ours.oob_score_ == pytest.approx(theirs.oob_score_, abs=0.02)
    np.testing.assert_allclose(ours.predict_proba(X).sum(axis=1), 1)
    assert ours.score(X, y) > 0.99


def test_rows_in_every_sample_have_no_out_of_bag_prediction():
    X, y = load_breast_cancer(return_X_y=True)
    model = BaggedTrees(n_trees=1, random_state=0).fit(X, y)
    unseen = np.isnan(model.oob_probabilities_[:, 0])
    assert 0.5 < unseen.mean() < 0.75
    assert all(model.oob_predictions_[i] is None for i in np.flatnonzero(unseen))
    assert 0.8 < model.oob_score_ < 1


def test_kind_follows_the_tree():
    assert is_classifier(BaggedTrees())
    assert is_regressor(BaggedTrees(TreeRegressor()))
    assert not hasattr(BaggedTrees(TreeRegressor()), "predict_proba")
    assert clone(BaggedTrees(TreeRegressor(), n_trees=3)).n_trees == 3


@pytest.mark.parametrize(
    ("parameters", "message"), [({"n_trees": 0}, "n_trees"), ({"max_samples": 0}, "max_samples")]
)
def test_wrong_parameters(parameters, message):
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        BaggedTrees(**parameters).fit(X, y)


def test_importances_are_those_of_scikit_learns_forest():
    X, y = load_iris(return_X_y=True)
    model = BaggedTrees(n_trees=20, random_state=0).fit(X, y)
    assert model.feature_importances_ == pytest.approx(model.to_sklearn().feature_importances_)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert not BaggedTrees(n_trees=3).fit(X[:9], [0] * 9).feature_importances_.any()


@pytest.mark.parametrize("learner", [TreeClassifier, TreeRegressor])
def test_shrinkage_is_chosen_out_of_bag(learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = X[:, 0] + rng.normal(size=150) * 2
    y = y if learner is TreeRegressor else y > 0
    settings = {"n_trees": 20, "random_state": 0}
    model = BaggedTrees(learner(), shrinkage="auto", **settings).fit(X, y)
    assert model.shrinkage_ > 0

    def error(bagged):
        out_of_bag = bagged.fit_.validation
        seen = out_of_bag.times_held_out > 0
        value = out_of_bag.values[seen]
        actual = y[seen, None] if learner is TreeRegressor else np.eye(2)[y[seen].astype(int)]
        return np.sum((value - actual) ** 2)

    mean_weight = model.forest_.packed.weight[0] / model.forest_.packed.n_rows[0]  # rows are drawn repeatedly
    errors = {
        strength * mean_weight: error(
            BaggedTrees(learner(), shrinkage=strength * mean_weight, **settings).fit(X, y)
        )
        for strength in (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
    }
    assert model.shrinkage_ == min(errors, key=errors.get)
    assert error(model) == pytest.approx(min(errors.values()))
    single = BaggedTrees(learner(shrinkage=model.shrinkage_), **settings).fit(X, y)
    np.testing.assert_allclose(*(each._values(X) for each in (model, single)))
    with pytest.raises(ValueError, match="shrinkage must be 'auto', None or a number >= 0, not -1"):
        BaggedTrees(learner(), shrinkage=-1).fit(X, y)
