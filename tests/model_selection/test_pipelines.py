"""Pipelines that end in a tree give scikit-learn's numbers; their steps are fitted once per training set."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import model_selection as scikit
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import crosscut
from crosscut import TreeClassifier, TreeRegressor

from .agreement import TOLERANCE, assert_same_results, assert_same_tree
from .growths import count_growths
from .tie_free import make_data

pytestmark = pytest.mark.filterwarnings("error::crosscut.DelegationWarning")
TREE = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
LIMITS = {"tree__max_depth": [2, 4, None], "tree__ccp_alpha": [0.0, 0.01], "tree__min_samples_leaf": [5, 12]}
# nodes of few rows have two categories of a column at most, whose encoded columns are then equally good
LARGE = DecisionTreeRegressor(min_samples_leaf=30, random_state=0)
LARGE_LIMITS = {
    "tree__max_depth": [2, 3, None],
    "tree__ccp_alpha": [0.0, 0.01],
    "tree__min_samples_leaf": [30, 40],
}


def pipeline(*steps, tree=TREE):
    return Pipeline([*((f"step{k}", step) for k, step in enumerate(steps)), ("tree", tree)])


def assert_same_pipeline(ours, theirs):
    """Compare fitted pipelines: what every step makes of rows is the same to the bit, and so is the tree."""
    assert_same_tree(ours.steps[-1][1], theirs.steps[-1][1])
    for (name, step), (other, expected) in zip(ours.steps[:-1], theirs.steps[:-1], strict=True):
        assert name == other
        assert type(step) is type(expected)


def both(model, X, y, *, grid=LIMITS, fit=None, cv=4, **options):
    """Search with both, and cross-validate with both."""
    searches = [
        module.GridSearchCV(model, grid, cv=cv, **options).fit(X, y, **(fit or {}))
        for module in (crosscut, scikit)
    ]
    assert_same_results(*[search.cv_results_ for search in searches])
    assert searches[0].best_params_ == searches[1].best_params_
    assert_same_pipeline(*[search.best_estimator_ for search in searches])
    np.testing.assert_allclose(*[search.predict(X) for search in searches], **TOLERANCE)
    results = [
        module.cross_validate(model, X, y, cv=cv, params=fit, return_estimator=True, return_train_score=True)
        for module in (crosscut, scikit)
    ]
    for ours, theirs in zip(*[result.pop("estimator") for result in results], strict=True):
        assert_same_pipeline(ours, theirs)
    assert_same_results(*results)
    predicted = [
        module.cross_val_predict(model, X, y, cv=KFold(3), params=fit) for module in (crosscut, scikit)
    ]
    np.testing.assert_allclose(*predicted, **TOLERANCE)
    return searches[0]


def make_frame(seed, n_rows=300):
    """Numbers, some missing, and categories; the target depends on all of them."""
    rng = np.random.default_rng(seed)
    X, y = make_data(seed, n_rows, 2, n_classes=0)
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["colour"] = rng.choice(["red", "green", "blue", "grey"], n_rows)
    frame["size"] = rng.choice(["s", "m", "l"], n_rows)
    y = y + frame["colour"].map({"red": 0.7, "green": 0.2, "blue": -0.4, "grey": 0}).to_numpy()
    frame.loc[rng.random(n_rows) < 0.1, "b"] = np.nan
    return frame, y


SCALERS = [StandardScaler(), MinMaxScaler((-3, 7)), MaxAbsScaler(), RobustScaler()]


@pytest.mark.parametrize("scaler", SCALERS)
def test_scalers_share_one_growth(scaler, monkeypatch):
    growths = count_growths(monkeypatch)
    X, y = make_data(0, 200, 3, n_classes=0)
    X[:, 1] = X[:, 1].round(1)
    both(pipeline(scaler), X * [1, 100, 1e-3] + [5, 0, 1], y)
    assert growths == [2 * (4 + 1), 4, 3]  # for both leaf sizes 4 folds + final; cross_validate; predict


def test_several_scalers_and_classes():
    X, y = make_data(1, 300, 3, n_classes=3)
    tree = DecisionTreeClassifier(min_samples_split=60, random_state=0)
    both(
        pipeline(StandardScaler(), "passthrough", RobustScaler(), tree=tree),
        X,
        y,
        grid={"tree__max_depth": [1, 2, 3]},
    )


def test_values_that_scaling_brings_too_close(monkeypatch):
    # neighbours 1e-9 apart cannot be told apart after scaling, or only for some training sets
    growths = count_growths(monkeypatch)
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(60, 1)), 3, axis=0)
    X[1::3] += 1e-9
    X[2::3] += 2e-7 * rng.random((60, 1))
    y = rng.normal(size=180)
    both(
        pipeline(StandardScaler(), tree=DecisionTreeRegressor(random_state=0)),
        X,
        y,
        grid={"tree__max_depth": [3, None]},
        cv=KFold(5, shuffle=True, random_state=1),
    )
    assert growths[0] == 6
    assert 1 in growths  # some grew alone


def test_values_that_only_scaling_tells_apart():
    # as float32 these are few different numbers, centred they are many
    X, y = make_data(2, 200, 2, n_classes=0)
    both(pipeline(StandardScaler()), X + 1e8, y)


@pytest.mark.parametrize(
    "steps",
    [
        [SimpleImputer()],
        [SimpleImputer(strategy="median", add_indicator=True), StandardScaler()],
        [SelectKBest(k=1)],
        [SimpleImputer(), PCA(2)],
        [SimpleImputer(), MinMaxScaler(clip=True)],
        [StandardScaler()],
    ],
)
@pytest.mark.filterwarnings("ignore:.*Features .* are constant")
def test_other_steps_of_numbers(steps):
    X, y = make_data(3, 200, 3, n_classes=0)
    if not isinstance(steps[0], SelectKBest):
        X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    both(pipeline(*steps), X, y)


def encoded(*, sparse=False, categories="onehot"):
    encoder = (
        OneHotEncoder(handle_unknown="ignore", sparse_output=sparse)
        if categories == "onehot"
        else OrdinalEncoder()
    )
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return ColumnTransformer(
        [("numbers", numbers, ["a", "b"]), ("words", encoder, ["colour", "size"])],
        sparse_threshold=float(sparse),
    )


@pytest.mark.parametrize("step", [encoded(), encoded(sparse=True), encoded(categories="ordinal")])
@pytest.mark.parametrize("cv", [KFold(4), ShuffleSplit(3, random_state=0)])
def test_columns_of_several_kinds(step, cv):
    frame, y = make_frame(4)
    results = [
        module.GridSearchCV(pipeline(step, tree=LARGE), LARGE_LIMITS, cv=cv, return_train_score=True).fit(
            frame, y
        )
        for module in (crosscut, scikit)
    ]
    assert_same_results(*[search.cv_results_ for search in results])
    assert_same_pipeline(*[search.best_estimator_ for search in results])


def test_encoded_categories_share_one_growth(monkeypatch):
    growths = count_growths(monkeypatch)
    frame, y = make_frame(5)
    step = ColumnTransformer(
        [("words", OneHotEncoder(), ["colour", "size"]), ("numbers", StandardScaler(), ["a"])]
    )
    both(pipeline(step, tree=LARGE), frame, y, grid=LARGE_LIMITS)
    assert growths == [2 * (4 + 1), 4, 3]


def test_training_sets_with_different_numbers_of_columns():
    X, y = make_data(15, 200, 2, n_classes=0)
    X[:50, 0] = np.nan  # one training set of KFold has no missing values
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(c=np.where(np.arange(200) < 50, "once", "often"))
    words = ColumnTransformer([("c", OneHotEncoder(handle_unknown="ignore"), ["c"])], remainder="passthrough")
    for model, table in (
        (pipeline(SimpleImputer(add_indicator=True)), X),
        (pipeline(words, tree=LARGE), frame[["b", "c"]]),
    ):
        found = [module.cross_validate(model, table, y, cv=KFold(4)) for module in (crosscut, scikit)]
        assert_same_results(*found)


def test_set_output():
    frame, y = make_frame(6)
    model = pipeline(encoded(), tree=LARGE).set_output(transform="pandas")
    search = both(model, frame, y, grid=LARGE_LIMITS)
    assert list(search.best_estimator_[-1].feature_names_in_[:2]) == ["numbers__a", "numbers__b"]


def test_steps_that_change_training_rows_otherwise():
    frame, y = make_frame(7)
    labels = (y > 0).astype(int)
    tree = DecisionTreeClassifier(min_samples_split=60, random_state=0)
    model = pipeline(
        ColumnTransformer(
            [("words", TargetEncoder(random_state=0), ["colour"]), ("a", "passthrough", ["a"])]
        ),
        tree=tree,
    )
    both(model, frame, labels, grid={"tree__max_depth": [1, 2]})


def test_weights_and_class_weights():
    X, y = make_data(8, 200, 2, n_classes=3)
    weights = np.random.default_rng(0).uniform(0.5, 2, 200)
    tree = DecisionTreeClassifier(min_samples_split=40, random_state=0)
    fit = {"tree__sample_weight": weights, "step0__sample_weight": weights[::-1]}
    both(
        pipeline(StandardScaler(), tree=tree),
        X,
        y,
        grid={"tree__max_depth": [1, 2, 3], "tree__class_weight": [None, "balanced"]},
        fit=fit,
    )


class Counted(TransformerMixin, BaseEstimator):
    """Counts how often it is fitted."""

    fits = 0

    def __init__(self, power=1):
        self.power = power

    def fit(self, X, y=None):
        Counted.fits += 1
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return np.sign(X) * np.abs(X) ** self.power


def test_steps_are_fitted_once_per_choice_and_training_set():
    X, y = make_data(9, 150, 2, n_classes=0)
    Counted.fits = 0
    grid = LIMITS | {"step0__power": [1, 3]}
    ours = crosscut.GridSearchCV(pipeline(Counted()), grid, cv=4).fit(X, y)
    assert Counted.fits == 2 * (4 + 1)
    theirs = scikit.GridSearchCV(pipeline(Counted()), grid, cv=4).fit(X, y)
    assert_same_results(ours.cv_results_, theirs.cv_results_)
    assert ours.best_params_ == theirs.best_params_


def test_replaced_steps():
    X, y = make_data(10, 150, 2, n_classes=0)
    both(
        pipeline(StandardScaler()),
        X,
        y,
        grid={"step0": ["passthrough", MinMaxScaler(), PCA(1)], "tree__max_depth": [2, 4]},
    )


@pytest.mark.parametrize(
    "scoring", ["r2", "neg_median_absolute_error", lambda model, X, y: model[-1].get_n_leaves()]
)
def test_scorers_and_curves(scoring):
    X, y = make_data(11, 150, 2, n_classes=0)
    both(pipeline(StandardScaler()), X, y, scoring=scoring, grid={"tree__max_depth": [2, 4]})
    options = {"param_name": "tree__max_depth", "param_range": [1, 3], "cv": 3, "scoring": scoring}
    for ours, theirs in zip(
        *[
            module.validation_curve(pipeline(StandardScaler()), X, y, **options)
            for module in (crosscut, scikit)
        ],
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs, **TOLERANCE)


@pytest.mark.parametrize("inner_cv", [None, 3])
def test_nested(inner_cv):
    X, y = make_data(12, 150, 2, n_classes=0)
    model, grid = pipeline(StandardScaler()), {"tree__max_depth": [1, 2, 4]}
    ours = crosscut.nested_cross_validate(model, grid, X, y, cv=KFold(4), inner_cv=inner_cv)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.steps[-1] = ("tree", MyTree(min_samples_leaf=5, random_state=0))
        theirs = crosscut.nested_cross_validate(model, grid, X, y, cv=KFold(4), inner_cv=inner_cv)
    np.testing.assert_allclose(ours.test_score, theirs.test_score, **TOLERANCE)
    assert ours.best_params == theirs.best_params
    np.testing.assert_allclose(ours.estimator.predict(X), theirs.estimator.predict(X), **TOLERANCE)


class MyTree(DecisionTreeRegressor):
    """Is left to scikit-learn."""


@pytest.mark.parametrize("tree", [TreeRegressor(cv=None), TreeClassifier(cv=None, criterion="gain_ratio")])
@pytest.mark.parametrize("step", [StandardScaler(), SimpleImputer()])
def test_our_trees(tree, step):
    X, y = make_data(13, 150, 3, n_classes=0)
    X = X.round(1)
    X[::9, 0] = np.nan
    y = y if isinstance(tree, TreeRegressor) else np.digitize(y, [-0.5, 0.5])
    grid = {"tree__max_depth": [2, None], "tree__min_samples_leaf": [1, 5], "tree__max_bins": [None, 8]}
    searches = [
        module.GridSearchCV(pipeline(step, tree=tree), grid, cv=KFold(3)).fit(X, y)
        for module in (crosscut, scikit)
    ]
    assert_same_results(*[search.cv_results_ for search in searches])
    assert searches[0].best_estimator_[-1].tree_.equals(searches[1].best_estimator_[-1].tree_)


@pytest.mark.parametrize(
    ("model", "grid", "named"),
    [
        (
            pipeline(StandardScaler(), tree=LogisticRegression()),
            {"tree__C": [1]},
            "ends in a LogisticRegression",
        ),
        (
            pipeline(StandardScaler()),
            {"tree": [TREE, DecisionTreeRegressor(max_depth=1)]},
            "replaces the tree",
        ),
        (pipeline(StandardScaler()), {"tree__max_features": [1]}, "max_features=1"),
        (pipeline(OrdinalEncoder()), {"tree__max_depth": [1]}, "steps of the pipeline fail"),
    ],
)
def test_what_is_delegated(model, grid, named):
    X, y = make_data(14, 60, 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ours = crosscut.GridSearchCV(model, grid, cv=3).fit(X, y)
        theirs = scikit.GridSearchCV(clone(model), grid, cv=3).fit(X, y)
    (reason,) = [one for one in caught if one.category is crosscut.DelegationWarning]
    assert named in str(reason.message)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


STEPS = st.sampled_from(
    [
        [StandardScaler()],
        [MinMaxScaler(clip=True)],
        [RobustScaler(), MaxAbsScaler()],
        [SimpleImputer(strategy="median")],
        [SimpleImputer(), StandardScaler()],
        [SimpleImputer(add_indicator=True)],
        [SimpleImputer(), PCA(1)],
        [StandardScaler(with_mean=False), "passthrough"],
    ]
)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), steps=STEPS, data=st.data())
def test_random_tables_give_the_scores_of_refits_ties_or_not(seed, steps, data):
    rng = np.random.default_rng(seed)
    n_rows = data.draw(st.integers(20, 90))
    few = rng.integers(0, 5, n_rows) * data.draw(st.sampled_from([1.0, 0.1, 1e-4, 1e6]))
    close = rng.integers(0, 4, n_rows) + rng.integers(0, 3, n_rows) * data.draw(
        st.sampled_from([1e-9, 1e-7, 3e-7])
    )
    X = np.column_stack([few, close, rng.normal(size=n_rows) + data.draw(st.sampled_from([0.0, 1e7]))])
    X = X.astype(data.draw(st.sampled_from([np.float64, np.float32])))
    if data.draw(st.booleans()):
        X[rng.random(X.shape) < 0.1] = np.nan
        X[:3] = [[0, 0, 0], [1, 1, 1], [0, 1, 0]]
    classes = data.draw(st.booleans())
    tied = rng.integers(0, 3, n_rows)
    y = tied if classes else data.draw(st.sampled_from([rng.normal(size=n_rows), tied / 10, tied + 1e9]))
    model = pipeline(*steps, tree=TreeClassifier(cv=None) if classes else TreeRegressor(cv=None))
    grid = {"tree__max_depth": [2, None], "tree__min_samples_leaf": [1, 4]}
    cv = KFold(3, shuffle=True, random_state=seed % 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        results = [
            module.GridSearchCV(model, grid, cv=cv, return_train_score=True, refit=refit)
            .fit(X, y)
            .cv_results_
            for module, refit in ((crosscut, data.draw(st.booleans())), (scikit, False))
        ]
    assert_same_results(*results)
