import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from crosscut import TreeClassifier


def tie_free(seed=0, n=400, classes=3):
    """Rows with weights of their own: no two tests are equally good, so scikit-learn's choice is ours.

    Weights are integers, so that scikit-learn's sums are exact and a pure node is pure for it.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    score = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + rng.normal(size=n) * 0.7
    y = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    return X, y, rng.integers(500, 1500, size=n).astype(float)


# min_samples_leaf keeps nodes so large that two columns never order their rows alike
LIMITS = {"min_samples_leaf": 8}


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize(
    "cv", [2, 5, 10, StratifiedKFold(4, shuffle=True, random_state=1), ShuffleSplit(3, random_state=0)]
)
def test_trees_and_scores_are_scikit_learns(criterion, cv):
    X, y, w = tie_free()
    ours = TreeClassifier(criterion=criterion, cv=cv, **LIMITS).fit(X, y, w)
    theirs = DecisionTreeClassifier(criterion=criterion, random_state=0, **LIMITS)
    np.testing.assert_array_equal(ours.predict(X), clone(theirs).fit(X, y, w).predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), clone(theirs).fit(X, y, w).predict_proba(X), rtol=1e-12)
    scores = cross_val_score(theirs, X, y, cv=cv, params={"sample_weight": w})
    np.testing.assert_allclose(ours.cv_scores_, scores, rtol=1e-12)


def test_out_of_fold_predictions_are_scikit_learns():
    X, y, w = tie_free(1)
    labels = np.array(["low", "middle", "high"])[y]
    ours = TreeClassifier(cv=6, **LIMITS).fit(X, labels, w)
    theirs = DecisionTreeClassifier(random_state=0, **LIMITS)
    given = {"cv": 6, "params": {"sample_weight": w}}
    np.testing.assert_array_equal(ours.cv_predictions_, cross_val_predict(theirs, X, labels, **given))
    expected = cross_val_predict(theirs, X, labels, method="predict_proba", **given)
    np.testing.assert_allclose(ours.cv_probabilities_, expected, rtol=1e-12)
    assert len(ours.cv_trees_) == 6


@pytest.mark.parametrize("scoring", ["roc_auc_ovr", "neg_log_loss", "balanced_accuracy"])
def test_any_scorer(scoring):
    X, y, w = tie_free(2)
    ours = TreeClassifier(cv=4, scoring=scoring, **LIMITS).fit(X, y, w)
    theirs = DecisionTreeClassifier(random_state=0, **LIMITS)
    expected = cross_val_score(theirs, X, y, cv=4, scoring=scoring, params={"sample_weight": w})
    np.testing.assert_allclose(ours.cv_scores_, expected, rtol=1e-12)


def test_a_callable_scorer_gets_the_fitted_tree_of_each_fold():
    X, y, _ = tie_free(3)
    seen = []

    def scorer(model, X_test, y_test):
        seen.append(len(X_test))
        return accuracy_score(y_test, model.predict(X_test))

    model = TreeClassifier(cv=5, scoring=scorer).fit(X, y)
    assert sum(seen) == len(X)
    np.testing.assert_allclose(model.cv_scores_, TreeClassifier(cv=5).fit(X, y).cv_scores_)


def test_default_folds_are_stratified_kfolds():
    X, y = load_wine(return_X_y=True)
    plain = TreeClassifier(cv=7).fit(X, y)
    same = TreeClassifier(cv=StratifiedKFold(7)).fit(X, y)
    assert all(a.equals(b) for a, b in zip(plain.forest_, same.forest_, strict=True))
    shuffled = TreeClassifier(cv=7, random_state=3).fit(X, y)
    same = TreeClassifier(cv=StratifiedKFold(7, shuffle=True, random_state=3)).fit(X, y)
    assert all(a.equals(b) for a, b in zip(shuffled.forest_, same.forest_, strict=True))


def test_repeated_folds_average_and_partial_ones_leave_gaps():
    X, y, _ = tie_free(4)
    repeated = TreeClassifier(cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)).fit(X, y)
    assert len(repeated.cv_scores_) == 6
    np.testing.assert_allclose(repeated.cv_probabilities_.sum(axis=1), 1)
    assert set(np.unique(repeated.cv_probabilities_)) >= {0.0, 0.5, 1.0}  # two opinions per row
    some = TreeClassifier(cv=ShuffleSplit(2, test_size=0.1, random_state=0)).fit(X, y)
    assert np.isnan(some.cv_probabilities_).any()
    with pytest.raises(AttributeError, match="never holds out"):
        _ = some.cv_predictions_


def test_groups_reach_the_splitter():
    X, y, _ = tie_free(5)
    groups = np.arange(len(y)) % 8
    model = TreeClassifier(cv=GroupKFold(4), **LIMITS).fit(X, y, groups=groups)
    expected = cross_val_score(
        DecisionTreeClassifier(random_state=0, **LIMITS), X, y, cv=GroupKFold(4), groups=groups
    )
    np.testing.assert_allclose(model.cv_scores_, expected, atol=0.03)
    with pytest.warns(UserWarning, match="groups parameter is ignored"):
        TreeClassifier(cv=3).fit(X, y, groups=groups)


@pytest.mark.parametrize(
    "cv", [TimeSeriesSplit(4), PredefinedSplit(np.arange(400) % 5 - 1), [(range(300), range(300, 400))]]
)
def test_splits_that_are_no_partition(cv):
    X, y, w = tie_free(10)
    model = TreeClassifier(cv=cv, **LIMITS).fit(X, y, w)
    theirs = DecisionTreeClassifier(random_state=0, **LIMITS)
    np.testing.assert_allclose(
        model.cv_scores_, cross_val_score(theirs, X, y, cv=cv, params={"sample_weight": w}), rtol=1e-12
    )


def test_leave_one_out():
    X, y = load_iris(return_X_y=True)
    model = TreeClassifier(cv=LeaveOneOut()).fit(X, y)
    assert len(model.cv_trees_) == len(y)
    assert model.cv_score_ == pytest.approx(np.mean(model.cv_predictions_ == y))


def test_folds_that_rows_do_not_allow():
    X = np.arange(6.0).reshape(-1, 1)
    with pytest.warns(UserWarning, match="cv=10.*using 3 folds"):
        assert len(TreeClassifier().fit(X, [0, 0, 0, 1, 1, 1]).cv_trees_) == 3
    with pytest.warns(UserWarning, match="no cross-validation"):
        model = TreeClassifier().fit(X[:2], [0, 1])
    assert len(model.forest_) == 1


def test_without_cross_validation():
    X, y = load_iris(return_X_y=True)
    model = TreeClassifier(cv=None).fit(X, y)
    assert model.tree_.equals(TreeClassifier().fit(X, y).tree_)
    for name in (
        "cv_scores_",
        "cv_predictions_",
        "cv_probabilities_",
        "pruning_table_",
        "cv_trees_",
        "cv_score_",
    ):
        with pytest.raises(AttributeError, match=f"{name[:5]}.*needs cross-validation|pruning_table_ needs"):
            getattr(model, name)
    with pytest.raises(NotFittedError):
        _ = TreeClassifier().tree_


@pytest.mark.parametrize(
    "setting", [{"min_samples_leaf": 0.05}, {"min_samples_split": 0.2}, {"max_depth": 3}]
)
def test_limits_as_fractions_of_the_rows(setting):
    X, y, w = tie_free(6)
    setting = {"min_samples_leaf": 10} | setting
    ours = TreeClassifier(cv=3, **setting).fit(X, y, w)
    theirs = DecisionTreeClassifier(random_state=0, **setting)
    np.testing.assert_allclose(
        ours.cv_scores_, cross_val_score(theirs, X, y, cv=3, params={"sample_weight": w}), rtol=1e-12
    )
    assert ours.get_n_leaves() == theirs.fit(X, y, w).get_n_leaves()


@pytest.mark.parametrize("class_weight", ["balanced", {0: 5.0, 1: 1.0, 2: 0.25}])
def test_class_weights_multiply_sample_weights(class_weight):
    X, y, w = tie_free(7)
    ours = TreeClassifier(class_weight=class_weight, cv=None, **LIMITS).fit(X, y, w)
    theirs = DecisionTreeClassifier(class_weight=class_weight, random_state=0, **LIMITS).fit(X, y, w)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-12)


def frame(n=200, seed=0):
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "blue"], size=n)
    size = rng.normal(size=n).round(3)
    known = rng.random(n) < 0.9
    y = np.where((colour == "red") ^ (size > 0.3), "yes", "no")
    return pd.DataFrame({"size": np.where(known, size, np.nan), "colour": colour}), y


@pytest.mark.parametrize("splits", ["binary", "multiway"])
def test_frames_of_every_kind_give_the_same_tree(splits):
    X, y = frame()
    as_pandas = TreeClassifier(splits=splits).fit(X, y)
    arrow = pa.Table.from_pandas(X)
    for other in (
        pl.from_pandas(X),
        pl.from_pandas(X).lazy(),
        arrow,
        arrow.combine_chunks().to_batches()[0],
        X.astype({"colour": "category"}),
    ):
        model = TreeClassifier(splits=splits, scoring="roc_auc").fit(other, pa.array(y))
        np.testing.assert_array_equal(model.feature_names_in_, ["size", "colour"])
        assert len(model.cv_scores_) == 10
        assert all(a.equals(b) for a, b in zip(model.forest_, as_pandas.forest_, strict=True))
        np.testing.assert_array_equal(model.predict(other), as_pandas.predict(X))
    np.testing.assert_array_equal(as_pandas.feature_names_in_, ["size", "colour"])
    assert as_pandas.cv_score_ > 0.9
    new = pd.DataFrame({"size": [0.0, np.nan], "colour": ["violet", None]})
    assert set(as_pandas.predict(new)) <= {"yes", "no"}


def test_columns_are_checked_by_name():
    X, y = frame()
    model = TreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X.rename(columns={"size": "weight"}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X.to_numpy(dtype=object))


def test_pipeline_pickle_clone_and_repr():
    X, y = load_iris(return_X_y=True, as_frame=True)
    scaled = ColumnTransformer([("scale", StandardScaler(), list(X.columns[:2]))], remainder="passthrough")
    pipeline = make_pipeline(scaled, TreeClassifier(cv=4)).fit(X, y)
    assert pipeline.score(X, y) == 1.0
    model = pipeline[-1]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.cv_scores_, model.cv_scores_)
    np.testing.assert_array_equal(again.predict(scaled.transform(X)), pipeline.predict(X))
    assert not hasattr(clone(model), "forest_")
    assert "TreeClassifier" in model._repr_html_()
    assert repr(TreeClassifier(cv=5)) == "TreeClassifier(cv=5)"


def test_metadata_routing_of_weights_and_groups():
    import sklearn
    from sklearn.model_selection import cross_validate

    X, y, w = tie_free(8)
    groups = np.arange(len(y)) % 9
    with sklearn.config_context(enable_metadata_routing=True):
        model = TreeClassifier(cv=GroupKFold(3)).set_fit_request(sample_weight=True, groups=True)
        model.set_score_request(sample_weight=False)
        outer = cross_validate(
            model,
            X,
            y,
            cv=GroupKFold(3),
            params={"sample_weight": w, "groups": groups},
            return_estimator=True,
        )
    inner = outer["estimator"][0]
    assert len(inner.cv_trees_) == 3
    # a fold of groups holds out whole groups: 6 groups are left, 2 per inner fold
    assert set(np.bincount(inner.fit_.validation.times_held_out)) == {0, len(inner.fit_.validation.y)}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"criterion": "chaos"}, "criterion must be one of"),
        ({"splits": "ternary"}, "splits must be one of"),
        ({"prune": "hard"}, "prune must be one of"),
        ({"prune": "best", "cv": None}, "chooses by cross-validation"),
        ({"max_depth": 0}, "max_depth must be"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be"),
        ({"min_samples_split": 1.5}, "min_samples_split must be"),
        ({"ccp_alpha": -1.0}, "ccp_alpha must be"),
        ({"max_bins": 1}, "max_bins must be"),
        ({"cv": 1}, "cv"),
    ],
)
def test_invalid_parameters_are_refused(parameters, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        TreeClassifier(**parameters).fit(X, y)


def test_importances_paths_and_leaves_are_scikit_learns():
    X, y, w = tie_free(9)
    ours = TreeClassifier(cv=None, **LIMITS).fit(X, y, w)
    theirs = DecisionTreeClassifier(random_state=0, **LIMITS).fit(X, y, w)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-10)
    np.testing.assert_array_equal(ours.apply(X), theirs.apply(X))
    assert (ours.decision_path(X) != theirs.decision_path(X)).nnz == 0
    assert (ours.get_depth(), ours.get_n_leaves()) == (theirs.get_depth(), theirs.get_n_leaves())


def test_threads_change_nothing():
    X, y = load_breast_cancer(return_X_y=True)
    one, two = (TreeClassifier(n_jobs=n).fit(X, y) for n in (1, 2))
    assert all(a.equals(b) for a, b in zip(one.forest_, two.forest_, strict=True))
    np.testing.assert_array_equal(one.cv_predictions_, two.cv_predictions_)


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
def test_labels_far_apart_for_their_type(dtype):
    top = np.iinfo(dtype).max
    y = np.array([-top, top] * 6, dtype)
    model = TreeClassifier(cv=2).fit(np.arange(12.0)[:, None] % 2, y)
    assert model.classes_.tolist() == [-top, top]
    assert model.cv_score_ == 1


def test_all_predictions_agree_if_weights_tie_up_to_rounding():
    draw = np.random.default_rng(0)
    for _ in range(30):
        X, y = draw.integers(0, 3, (60, 2)).astype(float), draw.integers(0, 6, 60)
        model = TreeClassifier(class_weight="balanced", cv=None, max_depth=2).fit(X, y)
        predicted = model.predict(X)
        np.testing.assert_array_equal(predicted, model.classes_[model.predict_proba(X).argmax(axis=1)])
        np.testing.assert_array_equal(predicted, model.to_sklearn().predict(X))
