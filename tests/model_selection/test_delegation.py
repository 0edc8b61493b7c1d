"""What cannot be grown together goes to scikit-learn, with one warning that names the reason."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn import model_selection as scikit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import crosscut
from crosscut import DelegationWarning, TreeClassifier, TreeRegressor

from .agreement import assert_same_results
from .tie_free import make_data


class MyTree(DecisionTreeClassifier):
    """May do anything."""


def delegated(function, *arguments, **options):
    """Return the result, and the one reason given."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*arguments, **options)
    reasons = [one for one in caught if issubclass(one.category, DelegationWarning)]
    assert len(reasons) == 1, reasons
    assert reasons[0].filename == __file__
    return result, str(reasons[0].message)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"splitter": "random"}, "splitter='random'"),
        ({"max_features": "sqrt"}, "max_features='sqrt'"),
        ({"max_features": 1}, "max_features=1"),
        ({"criterion": "absolute_error"}, "criterion='absolute_error'"),
        ({"criterion": "poisson"}, "criterion='poisson'"),
        ({"min_weight_fraction_leaf": 0.1, "min_samples_leaf": 3}, "limit leaves twice"),
        ({"monotonic_cst": [1, 0]}, "monotonic_cst"),
    ],
)
def test_parameters(settings, named):
    X, y = make_data(0, 60, 2, n_classes=0)
    estimator = DecisionTreeRegressor(random_state=0, **settings)
    y = np.abs(y)
    result, reason = delegated(crosscut.cross_validate, estimator, X, y)
    assert named in reason
    assert_same_results(result, scikit.cross_validate(estimator, X, y))
    grid = {name: [value] for name, value in settings.items()}
    search, reason = delegated(crosscut.GridSearchCV(DecisionTreeRegressor(random_state=0), grid).fit, X, y)
    assert named in reason
    expected = scikit.GridSearchCV(DecisionTreeRegressor(random_state=0), grid).fit(X, y)
    assert_same_results(search.cv_results_, expected.cv_results_)


@pytest.mark.parametrize("weights", [{"params": {"sample_weight": np.arange(1.0, 61)}}, {}])
def test_weight_fractions_with_row_weights(weights):
    X, y = make_data(0, 60, 2)
    balanced = None if weights else "balanced"
    tree = DecisionTreeClassifier(min_weight_fraction_leaf=0.1, class_weight=balanced, random_state=0)
    result, reason = delegated(crosscut.cross_validate, tree, X, y, **weights)
    assert "min_weight_fraction_leaf=0.1 limits the weight" in reason
    assert_same_results(result, scikit.cross_validate(tree, X, y, **weights))


@pytest.mark.parametrize(
    ("estimator", "named"),
    [
        (LogisticRegression(), "LogisticRegression"),
        (MyTree(random_state=0), "MyTree"),
        (TreeClassifier(prune="1se", cv=3), "prune='1se'"),
    ],
)
def test_estimators(estimator, named):
    X, y = make_data(1, 80, 2)
    for name in ("cross_validate", "cross_val_score", "cross_val_predict"):
        result, reason = delegated(getattr(crosscut, name), estimator, X, y, cv=3)
        assert named in reason
        expected = getattr(scikit, name)(estimator, X, y, cv=3)
        if isinstance(result, dict):
            assert_same_results(result, expected)
        else:
            np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda X, y: (csr_array(X), y), "sparse"),
        (lambda X, y: (X, np.column_stack([y, y])), "dimensions"),
        (lambda X, y: (X.tolist(), y + 0.5), "continuous"),
    ],
)
def test_data(change, named):
    X, y = change(*make_data(2, 60, 2))
    estimator = DecisionTreeClassifier(random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = crosscut.cross_validate(estimator, X, y, cv=KFold(3))
        except ValueError as error:
            with pytest.raises(type(error)):
                scikit.cross_validate(estimator, X, y, cv=KFold(3))
        else:
            assert_same_results(found, scikit.cross_validate(estimator, X, y, cv=KFold(3)))
    assert [named in str(one.message) for one in caught if one.category is DelegationWarning] == [True]


@pytest.mark.parametrize(
    ("cv", "named"),
    [
        ([(np.r_[np.arange(40), np.zeros(300, int)], np.arange(40, 60))], "301 times"),
        ([(np.arange(50), np.array([], int)), (np.arange(30), np.arange(30, 60))], "empty"),
    ],
)
def test_splits(cv, named):
    X, y = make_data(3, 60, 1)
    _, reason = delegated(crosscut.cross_validate, DecisionTreeClassifier(), X, y, cv=iter(cv))
    assert named in reason


@pytest.mark.parametrize("estimator", [DecisionTreeClassifier(max_features=1), LogisticRegression()])
def test_a_generator_of_splits_is_not_consumed(estimator):
    X, y = make_data(3, 60, 2)

    def cv():
        return KFold(3).split(X)

    grid = {"class_weight": [None]}
    calls = [
        lambda: crosscut.cross_validate(estimator, X, y, cv=cv())["test_score"],
        lambda: crosscut.cross_val_score(estimator, X, y, cv=cv()),
        lambda: crosscut.validation_curve(
            estimator, X, y, param_name="class_weight", param_range=[None], cv=cv()
        )[1],
        lambda: crosscut.GridSearchCV(estimator, grid, cv=cv()).fit(X, y).cv_results_["split2_test_score"],
        lambda: crosscut.RandomizedSearchCV(estimator, grid, n_iter=1, cv=cv()).fit(X, y).best_score_,
        lambda: crosscut.cross_val_predict(estimator, X, y, cv=cv()),
        lambda: crosscut.nested_cross_validate(estimator, grid, X, y, cv=cv()).test_score,
    ]
    for call in calls:
        result, _ = delegated(call)
        assert np.isfinite(result).all()


def test_empty_lists_are_empty_test_sets():
    X, y = make_data(3, 60, 1)
    cv = [(np.arange(50), []), (np.arange(30), np.arange(30, 60))]
    with (
        pytest.warns(DelegationWarning, match="a test set is empty"),
        pytest.raises((ValueError, IndexError)) as theirs,
    ):
        crosscut.cross_val_predict(DecisionTreeClassifier(), X, y, cv=cv)
    with pytest.raises(theirs.type):
        scikit.cross_val_predict(DecisionTreeClassifier(), X, y, cv=cv)


def test_values_the_estimator_refuses_fail_as_in_scikit():
    X, y = make_data(4, 60, 1)
    grid = {"max_depth": [2, -1]}
    for module in (crosscut, scikit):
        with pytest.warns(Warning, match="max_depth") as caught:
            search = module.GridSearchCV(DecisionTreeClassifier(), grid, cv=2).fit(X, y)
        assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, True]
        assert any("2 fits failed" in str(one.message) for one in caught)
    with (
        pytest.warns(DelegationWarning, match="depth"),
        pytest.raises(ValueError, match="Invalid parameter 'depth'"),
    ):
        crosscut.GridSearchCV(DecisionTreeClassifier(), {"depth": [1]}).fit(X, y)


def test_infinite_values_fail_as_in_scikit():
    X, y = make_data(5, 60, 1)
    X[3] = np.inf
    with pytest.raises(ValueError, match="infinity") as theirs:
        scikit.cross_validate(DecisionTreeClassifier(), X, y, error_score="raise")
    with (
        pytest.warns(DelegationWarning, match="the estimator does not accept X"),
        pytest.raises(ValueError, match="infinity") as ours,
    ):
        crosscut.cross_validate(DecisionTreeClassifier(), X, y, error_score="raise")
    assert str(ours.value) == str(theirs.value)


def test_columns_of_mixed_names_and_missing_classes_fail_as_in_scikit():
    X, y = make_data(7, 60, 2)
    frame = pd.DataFrame(X, columns=["a", 1])
    labels = np.where(y, "yes", None)
    for given, target in ((frame, y), (X, labels)):
        with pytest.raises((ValueError, TypeError)) as theirs:
            scikit.cross_validate(DecisionTreeClassifier(), given, target, cv=KFold(3), error_score="raise")
        with (
            pytest.warns(DelegationWarning, match="does not accept"),
            pytest.raises(type(theirs.value)) as ours,
        ):
            crosscut.cross_validate(DecisionTreeClassifier(), given, target, cv=KFold(3), error_score="raise")
        assert str(ours.value) == str(theirs.value)


def test_a_nested_search_over_splits_that_repeat_rows():
    X, y = make_data(8, 60, 1, n_classes=0)
    rows = np.arange(60)
    cv = [(np.r_[rows[rows % 3 != i], rows[rows % 9 == i + 1]], rows[rows % 3 == i]) for i in range(3)]
    tree, grid = DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2], "min_samples_leaf": [3]}
    found = crosscut.nested_cross_validate(tree, grid, X, y, cv=iter(cv), inner_cv=2)
    search = scikit.GridSearchCV(tree, grid, cv=2)
    np.testing.assert_allclose(found.test_score, scikit.cross_val_score(search, X, y, cv=cv), rtol=1e-12)


def test_a_delegated_search_draws_the_same_candidates():
    X, y = make_data(6, 60, 2)
    chances = {"max_features": [1, 2], "max_depth": list(range(1, 30))}
    found = []
    for module in (crosscut, scikit):
        state = np.random.RandomState(0)
        search = module.RandomizedSearchCV(
            DecisionTreeClassifier(random_state=0), chances, n_iter=5, random_state=state
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(search.fit(X, y).cv_results_["params"])
    assert found[0] == found[1]


def test_parameters_of_drop_ins_are_not_estimator_parameters():
    """A parameter added to the estimators needs an update of both lists here and of the documentation."""
    from sklearn_suite.trees import ABSENT, OF_DROP_INS

    own = TreeClassifier().get_params().keys() | TreeRegressor().get_params().keys()
    assert not own & (ABSENT.keys() | OF_DROP_INS.keys())
    page = (Path(__file__).parents[2] / "docs/from-scikit-learn.md").read_text(encoding="utf-8")
    assert f"Trees with {' or '.join(f'`{name}`' for name in OF_DROP_INS)} are grown" in " ".join(
        page.split()
    )
