"""GridSearchCV and RandomizedSearchCV give scikit-learn's results, choice and tree on data without ties."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.stats import loguniform, randint
from sklearn import model_selection as scikit
from sklearn.base import clone
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import crosscut
from crosscut import TreeClassifier

from .agreement import TOLERANCE, assert_same_results, assert_same_tree, ranks
from .growths import count_growths
from .tie_free import is_tie_free, make_data, tie_free_data

pytestmark = pytest.mark.filterwarnings("error::crosscut.DelegationWarning")
ATTRIBUTES = ("n_splits_", "multimetric_", "n_features_in_")


def assert_same_search(ours, theirs):
    assert_same_results(ours.cv_results_, theirs.cv_results_)
    for name in ATTRIBUTES:
        assert getattr(ours, name) == getattr(theirs, name), name
    if hasattr(theirs, "best_score_"):
        np.testing.assert_allclose(ours.best_score_, theirs.best_score_, **TOLERANCE)
    best = ours.cv_results_["params"][ours.best_index_]
    assert ours.best_params_ == best
    # among candidates whose scores are the same scikit-learn's rounding may prefer a later one
    assert best == theirs.best_params_ or ranks_alike(
        theirs.cv_results_, ours.best_index_, theirs.best_index_
    )
    if best == theirs.best_params_:
        assert_same_tree(ours.best_estimator_, theirs.best_estimator_)
    assert {name for name in vars(ours) if name.endswith("_")} == {
        name for name in vars(theirs) if name.endswith("_") and not name.startswith("_")
    }


def ranks_alike(results, one, other):
    (key,) = [key for key in results if key.startswith("rank_")]
    rounded = ranks(results[key.replace("rank", "mean", 1)])
    return one < other and rounded[one] == rounded[other]


def both(name, estimator, chances, X, y, *, fit=None, **options):
    searches = [
        getattr(module, name)(estimator, chances, **options).fit(X, y, **(fit or {}))
        for module in (crosscut, scikit)
    ]
    assert_same_search(*searches)
    return searches[0]


NUMBERS = {
    "max_depth": [1, 2, 4, None],
    "min_samples_leaf": [10, 20],
    "min_samples_split": [2, 60, 0.3],
    "ccp_alpha": [0.0, 0.003, 0.03],
    "min_impurity_decrease": [0.0, 0.01],
}


def test_a_grid_over_every_limit():
    estimator = DecisionTreeRegressor(random_state=0)
    leaves = [{"min_samples_leaf": size} for size in NUMBERS["min_samples_leaf"]]
    X, y = tie_free_data(estimator, 300, 4, n_classes=0, params=leaves)
    search = both("GridSearchCV", estimator, NUMBERS, X, y, return_train_score=True)
    np.testing.assert_array_equal(search.predict(X), search.best_estimator_.predict(X))


def test_numbers_of_leaves_and_shares_of_the_weight(monkeypatch):
    growths = count_growths(monkeypatch)
    grid = {
        "max_leaf_nodes": [None, 2, 5, 9],
        "min_weight_fraction_leaf": [0.05, 0.12],
        "min_samples_leaf": [1, 0.1],
        "ccp_alpha": [0.0, 0.01],
    }
    X, y = make_data(0, n_classes=0)
    ours, theirs = (
        module.GridSearchCV(DecisionTreeRegressor(random_state=0), grid, cv=3, return_train_score=True).fit(
            X, y
        )
        for module in (crosscut, scikit)
    )
    assert growths == [3 * (3 + 1)]  # shares of 0.05, 0.1 and 0.12, each for 3 splits and all rows
    assert_same_results(ours.cv_results_, theirs.cv_results_)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), **TOLERANCE)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_grid_over_criteria_and_class_weights(n_classes):
    grid = [
        {"criterion": ["gini", "entropy"], "max_depth": [1, 2, 3, None], "ccp_alpha": [0, 0.01, 0.05]},
        {"class_weight": ["balanced", {0: 2.0}], "min_impurity_decrease": [0, 0.02]},
    ]
    estimator = DecisionTreeClassifier(min_samples_split=40)
    kinds = [{"criterion": "entropy"}, {}, {"class_weight": "balanced"}, {"class_weight": {0: 2.0}}]
    X, y = tie_free_data(estimator, n_classes=n_classes, params=kinds)
    both("GridSearchCV", estimator, grid, X, y)


def test_several_metrics_and_refit():
    estimator = DecisionTreeClassifier(min_samples_split=40)
    X, y = tie_free_data(estimator)
    grid = {"max_depth": [1, 2, 3]}
    scoring = {"accuracy": "accuracy", "auc": "roc_auc"}
    both("GridSearchCV", estimator, grid, X, y, scoring=scoring, refit="auc")
    both("GridSearchCV", estimator, grid, X, y, scoring=scoring, refit=lambda results: 1)
    ours = crosscut.GridSearchCV(estimator, grid, scoring=scoring, refit=False).fit(X, y)
    assert not hasattr(ours, "best_estimator_")
    with pytest.raises(ValueError, match="For multi-metric scoring"):
        crosscut.GridSearchCV(estimator, grid, scoring=scoring).fit(X, y)


def test_random_candidates():
    estimator = DecisionTreeRegressor(min_samples_leaf=10)
    chances = {
        "max_depth": randint(1, 9),
        "ccp_alpha": loguniform(1e-4, 1e-1),
        "min_samples_split": randint(2, 80),
    }
    X, y = tie_free_data(estimator, 200, 3, n_classes=0)
    both("RandomizedSearchCV", estimator, chances, X, y, n_iter=25, random_state=3)
    # a generator goes on where it was: the second search draws others, and the same as scikit-learn
    states = [np.random.RandomState(5), np.random.RandomState(5)]
    found = [
        [
            module.RandomizedSearchCV(estimator, chances, n_iter=3, random_state=state)
            .fit(X, y)
            .cv_results_["params"]
            for _ in range(2)
        ]
        for module, state in zip((crosscut, scikit), states, strict=True)
    ]
    assert found[0] == found[1]
    assert found[0][0] != found[0][1]


def test_alphas_of_the_tree_s_own_path():
    estimator = DecisionTreeRegressor(min_samples_leaf=5)
    X, y = make_data(0, 200, 1, n_classes=0)
    alphas = estimator.cost_complexity_pruning_path(X, y).ccp_alphas
    for alpha in alphas:  # every one is a tie of the pruning on all rows
        searches = [
            module.GridSearchCV(estimator, {"ccp_alpha": [alpha]}, cv=2).fit(X, y)
            for module in (crosscut, scikit)
        ]
        assert_same_tree(*[search.best_estimator_ for search in searches])


def test_weights_groups_and_frames():
    estimator = DecisionTreeClassifier(min_samples_split=40)
    X, y, weights = tie_free_data(estimator, weighted=True)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    search = both("GridSearchCV", estimator, {"max_depth": [1, 2]}, frame, y, fit={"sample_weight": weights})
    assert list(search.feature_names_in_) == ["a", "b", "c"]
    groups = np.arange(200) // 20
    assert is_tie_free(estimator, X, y, cv=list(scikit.GroupKFold(4).split(X, y, groups)))
    both(
        "GridSearchCV",
        estimator,
        {"max_depth": [1, 2]},
        X,
        y,
        cv=scikit.GroupKFold(4),
        fit={"groups": groups},
    )


def test_one_growth_serves_the_grid(monkeypatch):
    growths = count_growths(monkeypatch)
    X, y = make_data(0, 200, 3)
    grid = {
        "max_depth": [1, 2, 3, 4],
        "ccp_alpha": [0, 0.1],
        "min_samples_leaf": [1, 5],
        "min_samples_split": [2, 9],
    }
    crosscut.GridSearchCV(DecisionTreeClassifier(), grid, cv=5).fit(X, y)
    assert growths == [2 * (5 + 1)]  # for each min_samples_leaf 5 folds + final
    crosscut.GridSearchCV(DecisionTreeClassifier(class_weight="balanced"), {"max_depth": [1, 2]}, cv=4).fit(
        X[:-3], y[:-3]
    )
    assert sum(growths[1:]) == 5


def test_clone_pickle_and_repr():
    X, y = make_data(0, 60, 1)
    search = crosscut.GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=2)
    fitted = clone(search).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert repr(search) == repr(scikit.GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=2))
    assert isinstance(search, scikit.GridSearchCV)
    assert search._repr_html_()


def test_verbose_prints_scikit_lines(capsys):
    X, y = make_data(0, 40, 1)
    for verbose in (1, 3, 10):
        lines = []
        for module in (crosscut, scikit):
            grid = {"max_depth": [1], "min_samples_leaf": [3, 4]}
            module.GridSearchCV(DecisionTreeClassifier(), grid, cv=2, verbose=verbose).fit(X, y)
            printed = [line for line in capsys.readouterr().out.splitlines() if "START" not in line]
            lines.append([line.partition(" total time")[0].replace(".", "") for line in printed])
        assert lines[0] == lines[1]


def test_our_tree_is_refitted_with_its_own_cross_validation():
    X, y = make_data(1, 150, 2)
    grid = {"max_depth": [1, 2, 3], "criterion": ["gini", "gain_ratio"]}
    ours = crosscut.GridSearchCV(TreeClassifier(cv=3), grid, cv=KFold(3)).fit(X, y)
    theirs = scikit.GridSearchCV(TreeClassifier(cv=3), grid, cv=KFold(3)).fit(X, y)
    assert_same_results(ours.cv_results_, theirs.cv_results_)
    assert ours.best_estimator_.cv_score_ == theirs.best_estimator_.cv_score_


def test_random_splitters_are_called_once():
    X, y = make_data(2, 100, 1, n_classes=0)
    found = []
    for module in (crosscut, scikit):
        cv = ShuffleSplit(3, random_state=np.random.RandomState(0))
        found.append(
            module.GridSearchCV(DecisionTreeRegressor(), {"max_depth": [2, 3]}, cv=cv).fit(X, y).cv_results_
        )
    assert_same_results(*found)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(60, 200),
    n_features=st.integers(1, 4),
    n_classes=st.sampled_from([0, 0, 3]),
    data=st.data(),
)
def test_random_grids_on_random_data(seed, n_rows, n_features, n_classes, data):
    leaf = st.integers(5, 15) if n_classes == 0 else st.integers(20, 30)
    chances = {
        "max_depth": st.one_of(st.none(), st.integers(1, 8)),
        "min_samples_split": st.one_of(st.integers(2, 50), st.floats(0.05, 0.5)),
        "min_samples_leaf": leaf,
        "ccp_alpha": st.floats(0, 0.2),
        "min_impurity_decrease": st.floats(0, 0.2),
    }
    names = data.draw(st.lists(st.sampled_from(sorted(chances)), min_size=1, max_size=4, unique=True))
    grid = {name: data.draw(st.lists(chances[name], min_size=1, max_size=3, unique=True)) for name in names}
    grid.setdefault("min_samples_leaf", [10 if n_classes == 0 else 25])
    X, y = make_data(seed, n_rows, n_features, n_classes=n_classes)
    estimator = DecisionTreeClassifier() if n_classes else DecisionTreeRegressor()
    leaves = [{"min_samples_leaf": size} for size in grid["min_samples_leaf"]]
    assume(is_tie_free(estimator, X, y, cv=3, params=leaves, seeds=2))
    both("GridSearchCV", estimator, grid, X, y, cv=3, return_train_score=True)


@pytest.mark.parametrize("kind", ["HalvingGridSearchCV", "HalvingRandomSearchCV"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"aggressive_elimination": True, "max_resources": 200, "refit": False},
        {"resource": "min_samples_split", "max_resources": 60, "min_resources": 2, "cv": 3},
    ],
)
def test_successive_halving(monkeypatch, kind, options):
    """The same as scikit-learn's with crosscut's tree, but with one growth in each round."""
    X, y = make_data(3, 500, 4)
    y = (y > np.median(y)).astype(int)
    tree = TreeClassifier(cv=None)
    grid = {"max_depth": [1, 2, 3, 5, None], "min_samples_leaf": [1, 4, 16]}
    weights = np.random.default_rng(0).integers(1, 4, 500).astype(float)
    growths = count_growths(monkeypatch)
    ours = getattr(crosscut, kind)(tree, grid, random_state=0, **options).fit(X, y, sample_weight=weights)
    n_refits = 2 * options.get("refit", True)  # crosscut's trees are fitted again for their attributes
    assert len(growths) == len(ours.n_candidates_) + n_refits
    theirs = getattr(scikit, kind)(tree, grid, random_state=0, **options).fit(X, y, sample_weight=weights)
    assert ours.n_candidates_ == theirs.n_candidates_
    assert len(ours.n_candidates_) >= 2
    for name, values in theirs.cv_results_.items():
        if name != "params" and values.dtype.kind == "f" and "time" not in name:
            np.testing.assert_allclose(ours.cv_results_[name], values, err_msg=name)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == theirs.best_score_
    if options.get("refit", True):
        assert ours.predict_proba(X).tolist() == theirs.predict_proba(X).tolist()


def test_a_small_space_is_warned_about_once():
    X, y = make_data(3, 60, 2)
    for shared in (True, False):
        tree = DecisionTreeRegressor(random_state=0, splitter="best" if shared else "random")
        generator = np.random.RandomState(3)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            crosscut.RandomizedSearchCV(tree, {"max_depth": [1, 2]}, n_iter=9, random_state=generator).fit(
                X, y
            )
        assert sum("is smaller than n_iter" in str(each.message) for each in caught) == 1
