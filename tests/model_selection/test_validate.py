"""cross_validate, cross_val_score and validation_curve give scikit-learn's results on data without ties."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn import model_selection as scikit
from sklearn.metrics import make_scorer, mean_squared_error
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import crosscut
from crosscut import TreeClassifier, TreeRegressor
from crosscut.model_selection import call

from .agreement import TOLERANCE, assert_same_results, assert_same_tree
from .tie_free import is_tie_free, make_data, tie_free_data

pytestmark = pytest.mark.filterwarnings("error::crosscut.DelegationWarning")


def both(estimator, X, y, **options):
    return crosscut.cross_validate(estimator, X, y, **options), scikit.cross_validate(
        estimator, X, y, **options
    )


# Small nodes of classes always have tests of equal quality, so classes are compared with this limit, which
# leaves several levels of tests; numbers are compared to full depth in one column.
SPLIT = 40


def classifier(**settings):
    return DecisionTreeClassifier(**{"min_samples_split": SPLIT} | settings)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("seed", [0, 20, 40])
def test_scores_estimators_and_indices(n_classes, seed):
    estimator = classifier() if n_classes else DecisionTreeRegressor()
    X, y = tie_free_data(estimator, 200, 3 if n_classes else 1, n_classes=n_classes, seed=seed)
    options = {"return_train_score": True, "return_estimator": True, "return_indices": True, "cv": 5}
    assert_same_results(*both(estimator, X, y, **options))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"max_depth": 3},
        {"ccp_alpha": 0.01},
        {"min_impurity_decrease": 0.02},
        {"min_samples_split": 60},
        {"min_samples_split": 0.2, "min_samples_leaf": 0.05},
        {"max_depth": 4, "ccp_alpha": 0.005, "min_impurity_decrease": 0.001, "min_samples_split": 50},
    ],
)
def test_regression_with_every_limit(settings):
    estimator = DecisionTreeRegressor(**{"min_samples_leaf": 12} | settings)
    X, y = tie_free_data(estimator, 400, 5, n_classes=0)
    assert_same_results(*both(estimator, X, y, return_train_score=True, return_estimator=True))


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1.0, 1: 2.5, 2: 0.5}])
def test_weights(criterion, class_weight):
    estimator = classifier(criterion=criterion, class_weight=class_weight)
    X, y, weights = tie_free_data(estimator, n_classes=3, weighted=True)
    weights[::17] = 0
    assert is_tie_free(estimator, X, y, sample_weight=weights)
    assert_same_results(*both(estimator, X, y, params={"sample_weight": weights}, return_estimator=True))


@pytest.mark.parametrize(
    "cv",
    [
        KFold(4, shuffle=True, random_state=0),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
        ShuffleSplit(5, test_size=0.3, random_state=0),
        TimeSeriesSplit(4),
        PredefinedSplit(np.arange(240) % 3 - 1),
        [(np.arange(160), np.arange(100, 240)), (np.arange(240) % 2 == 0, np.arange(240) % 2 == 1)],
    ],
)
def test_every_kind_of_split(cv):
    X, y = tie_free_data(DecisionTreeRegressor(), 240, 1, n_classes=0, cv=cv)
    assert_same_results(*both(DecisionTreeRegressor(), X, y, cv=cv, return_indices=True))


def test_groups():
    X, y = make_data(4, 240, 1, n_classes=0)
    groups = np.arange(240) // 12
    assert_same_results(*both(DecisionTreeRegressor(), X, y, cv=GroupKFold(4), groups=groups))


def test_leave_one_out():
    X, y = make_data(5, 90, 1, n_classes=2)
    ours = crosscut.cross_val_score(DecisionTreeClassifier(), X, y, cv=LeaveOneOut())
    np.testing.assert_array_equal(
        ours, scikit.cross_val_score(DecisionTreeClassifier(), X, y, cv=LeaveOneOut())
    )


def test_many_splits_are_grown_in_parts(monkeypatch):
    X, y = make_data(5, 90, 2)
    options = {"cv": LeaveOneOut(), "return_indices": True, "return_estimator": True}
    whole = crosscut.cross_validate(DecisionTreeClassifier(), X, y, **options)
    predicted = crosscut.cross_val_predict(DecisionTreeClassifier(), X, y, cv=LeaveOneOut())
    monkeypatch.setattr(call, "ROWS_AT_ONCE", 90 * 20)
    assert_same_results(crosscut.cross_validate(DecisionTreeClassifier(), X, y, **options), whole)
    again = crosscut.cross_val_predict(DecisionTreeClassifier(), X, y, cv=LeaveOneOut())
    np.testing.assert_array_equal(again, predicted)


def test_a_generator_of_splits_runs_once():
    X, y = make_data(6, 100, 1, n_classes=2)
    result = crosscut.cross_validate(DecisionTreeClassifier(), X, y, cv=iter(list(KFold(3).split(X))))
    assert len(result["test_score"]) == 3


def count_leaves(estimator, X, y):
    return {"leaves": estimator.get_n_leaves(), "rows": len(X)}


@pytest.mark.parametrize(
    ("n_classes", "scoring"),
    [
        (2, ["accuracy", "roc_auc", "neg_log_loss", "f1", "balanced_accuracy"]),
        (2, "roc_auc"),
        (3, {"a": "accuracy", "b": "f1_macro", "c": "roc_auc_ovr"}),
        (0, ["r2", "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error"]),
        (0, ["r2", "neg_median_absolute_error", "explained_variance"]),
        (0, make_scorer(mean_squared_error, greater_is_better=False)),
        (0, {"leaves": lambda estimator, X, y: estimator.get_n_leaves(), "r2": "r2"}),
        (3, count_leaves),
    ],
)
def test_every_kind_of_scoring(n_classes, scoring):
    estimator = classifier() if n_classes else DecisionTreeRegressor(max_depth=4)
    X, y = tie_free_data(estimator, 200, 3 if n_classes else 1, n_classes=n_classes)
    assert_same_results(*both(estimator, X, y, scoring=scoring, return_train_score=True))


def test_r2_of_constant_and_single_rows():
    X, y = make_data(8, 40, 1, n_classes=0)
    y[:8] = 1.0
    cv = [(np.arange(8, 40), np.arange(8)), (np.arange(1, 40), [0]), (np.arange(20), np.arange(20, 40))]
    with pytest.warns(sklearn.exceptions.UndefinedMetricWarning):
        ours, theirs = both(DecisionTreeRegressor(), X, y, cv=cv)
    assert_same_results(ours, theirs)


def test_a_failing_scorer_is_reported_as_in_scikit():
    def fails(estimator, X, y):
        raise ZeroDivisionError("no score")

    X, y = make_data(9, 60, 1)
    with pytest.warns(UserWarning, match="Scoring failed"):
        result = crosscut.cross_validate(DecisionTreeClassifier(), X, y, scoring=fails, error_score=0.25)
    np.testing.assert_array_equal(result["test_score"], np.full(5, 0.25))
    with pytest.raises(ZeroDivisionError, match="no score"):
        crosscut.cross_validate(DecisionTreeClassifier(), X, y, scoring=fails, error_score="raise")


def test_frames_and_labels():
    X, y = tie_free_data(classifier())
    frame, labels = pd.DataFrame(X, columns=["a", "b", "c"]), pd.Series(np.where(y, "yes", "no"))
    ours, theirs = both(classifier(), frame, labels, return_estimator=True, scoring="roc_auc")
    assert_same_results(ours, theirs)


def test_missing_values():
    X, y = make_data(11, 300, 1, n_classes=0)
    X[::7] = np.nan
    assert is_tie_free(DecisionTreeRegressor(min_samples_leaf=5), X, y)
    assert_same_results(*both(DecisionTreeRegressor(min_samples_leaf=5), X, y, return_estimator=True))


def test_classes_that_a_training_set_lacks():
    X, y = make_data(12, 200, 3, n_classes=3)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    assert is_tie_free(classifier(), X, y, cv=KFold(3))
    assert_same_results(*both(classifier(), X, y, cv=KFold(3), return_estimator=True))


def test_targets_that_are_nearly_equal():
    X, y = make_data(13, 80, 1, n_classes=0)
    y = np.round(y) + np.arange(80) % 3 * 1e-10  # scikit-learn does not part what differs by so little
    ours, theirs = both(DecisionTreeRegressor(), X, y)
    np.testing.assert_allclose(ours["test_score"], theirs["test_score"], rtol=1e-9)


@pytest.mark.parametrize("method", ["cross_validate", "cross_val_score"])
def test_arguments_are_checked_as_in_scikit(method):
    X, y = make_data(0, 40, 1)
    for options in ({"cv": "ten"}, {"n_jobs": 1.5}, {"scoring": "best"}, {"error_score": "ignore"}):
        with pytest.raises(ValueError, match=next(iter(options))) as theirs:
            getattr(scikit, method)(DecisionTreeClassifier(), X, y, **options)
        with pytest.raises(type(theirs.value)) as ours:
            getattr(crosscut, method)(DecisionTreeClassifier(), X, y, **options)
        assert str(ours.value) == str(theirs.value)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        getattr(crosscut, method)(DecisionTreeClassifier(), X, y[:-1])


def test_metadata_routing():
    X, y, weights = tie_free_data(classifier(), weighted=True)
    groups = np.arange(200) // 10
    assert is_tie_free(classifier(), X, y, cv=list(GroupKFold(4).split(X, y, groups)), sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = classifier().set_fit_request(sample_weight=True)
        scoring = make_scorer(sklearn.metrics.accuracy_score).set_score_request(sample_weight=True)
        params = {"sample_weight": weights, "groups": groups}
        options = {"cv": GroupKFold(4), "params": params, "scoring": scoring}
        assert_same_results(*both(estimator, X, y, **options))
        for function in (crosscut.cross_validate, crosscut.permutation_test_score):
            with pytest.raises(ValueError, match="`groups` can only be passed if"):
                function(estimator, X, y, groups=[])
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="cross_validate"):
            crosscut.cross_validate(DecisionTreeClassifier(), X, y, params={"sample_weight": weights})


@pytest.mark.parametrize("name", ["max_depth", "ccp_alpha", "min_samples_leaf", "min_samples_split"])
def test_validation_curve(name):
    X, y = make_data(15, 250, 3, n_classes=0)
    values = {"max_depth": [1, 3, 5], "ccp_alpha": [0, 0.01, 0.1]}.get(name, [25, 40, 0.2])
    estimator = DecisionTreeRegressor(min_samples_leaf=20)
    options = {"param_name": name, "param_range": values, "cv": 4, "scoring": "neg_mean_squared_error"}
    for ours, theirs in zip(
        crosscut.validation_curve(estimator, X, y, **options),
        scikit.validation_curve(estimator, X, y, **options),
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs, **TOLERANCE)


@pytest.mark.parametrize(
    "estimator", [TreeClassifier(cv=None), TreeClassifier(cv=None, criterion="gain_ratio")]
)
def test_our_classifier_ties_and_nominal_columns(estimator):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": rng.integers(0, 4, 150), "b": rng.choice(list("uvwxyz"), 150), "c": rng.normal(size=150)}
    )
    y = rng.integers(0, 3, 150)
    ours, theirs = both(estimator, X, y, return_train_score=True, scoring=["accuracy", "neg_log_loss"])
    assert_same_results(ours, theirs)


def test_our_regressor():
    X, y = make_data(16, 120, 3, n_classes=0)
    ours, theirs = both(
        TreeRegressor(cv=None, max_depth=4, ccp_alpha=0.01), X, y.round(1), return_train_score=True
    )
    assert_same_results(ours, theirs)


def test_estimators_of_splits_are_those_of_fit():
    X, y = make_data(17, 100, 2)
    model = crosscut.cross_validate(TreeClassifier(cv=3), X, y, return_estimator=True, cv=KFold(2))[
        "estimator"
    ][0]
    assert isinstance(model, TreeClassifier)
    assert model.tree_.equals(TreeClassifier(cv=3).fit(X[50:], y[50:]).tree_)


def test_verbose_prints_scikit_lines(capsys):
    X, y = make_data(0, 40, 1)
    for options in (
        {"verbose": 3},
        {"verbose": 2, "scoring": ["accuracy", "f1"]},
        {"verbose": 3, "return_train_score": True},
    ):
        lines = []
        for function in (crosscut.cross_validate, scikit.cross_validate):
            function(DecisionTreeClassifier(max_depth=1), X, y, cv=2, **options)
            printed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("[CV")]
            lines.append([line.partition(" total time")[0].replace(".", "") for line in printed])
        assert lines[0] == lines[1]


def test_a_tree_of_the_result_is_a_plain_scikit_tree():
    estimator = classifier(max_depth=3)
    X, y = tie_free_data(estimator)
    model = crosscut.cross_validate(estimator, X, y, return_estimator=True)["estimator"][0]
    train = next(iter(scikit.StratifiedKFold(5).split(X, y)))[0]
    assert_same_tree(model, estimator.fit(X[train], y[train]))
    np.testing.assert_array_equal(model.predict(X), estimator.predict(X))
