"""cross_val_predict gives scikit-learn's predictions on data without ties."""

import numpy as np
import pytest
from sklearn import model_selection as scikit
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import crosscut
from crosscut import TreeClassifier

from .agreement import TOLERANCE
from .tie_free import is_tie_free, make_data, tie_free_data

CLASSIFIER = DecisionTreeClassifier(min_samples_split=40)


@pytest.mark.filterwarnings("error::crosscut.DelegationWarning", "ignore:divide by zero")
@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba"])
@pytest.mark.parametrize("labels", [[0, 1, 2], ["a", "b", "c"]])
def test_every_method(method, labels):
    X, y = tie_free_data(CLASSIFIER, n_classes=3, cv=4)
    y = np.array(labels)[y]
    options = {"cv": 4, "method": method}
    ours = crosscut.cross_val_predict(CLASSIFIER, X, y, **options)
    theirs = scikit.cross_val_predict(CLASSIFIER, X, y, **options)
    assert ours.dtype == theirs.dtype
    if method == "predict":
        np.testing.assert_array_equal(ours, theirs)
    else:
        np.testing.assert_allclose(ours, theirs, **TOLERANCE)


@pytest.mark.parametrize("settings", [{}, {"max_depth": 3}, {"ccp_alpha": 0.01}])
def test_numbers(settings):
    X, y = make_data(0, 150, 1, n_classes=0)
    estimator = DecisionTreeRegressor(**settings)
    weights = np.linspace(1, 2, 150)
    options = {"cv": KFold(5, shuffle=True, random_state=1), "params": {"sample_weight": weights}}
    ours = crosscut.cross_val_predict(estimator, X, y, **options)
    np.testing.assert_allclose(ours, scikit.cross_val_predict(estimator, X, y, **options), **TOLERANCE)


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba"])
def test_classes_that_a_training_set_lacks(method):
    X, y = make_data(12, 200, 3, n_classes=3)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    assert is_tie_free(CLASSIFIER, X, y, cv=KFold(3))
    messages, found = [], []
    for module in (crosscut, scikit):
        with pytest.warns(RuntimeWarning, match="Number of classes in training fold") as caught:
            found.append(module.cross_val_predict(CLASSIFIER, X, y, cv=KFold(3), method=method))
        messages.append([str(one.message) for one in caught if "Number of" in str(one.message)])
    assert messages[0] == messages[1]
    np.testing.assert_allclose(found[0], found[1], **TOLERANCE)


def test_splits_must_be_a_partition():
    X, y = make_data(0, 60, 1)
    for module in (crosscut, scikit):
        with pytest.raises(ValueError, match="cross_val_predict only works for partitions"):
            module.cross_val_predict(CLASSIFIER, X, y, cv=scikit.ShuffleSplit(3, random_state=0))


def test_a_method_that_trees_lack():
    X, y = make_data(0, 60, 1)
    with (
        pytest.warns(crosscut.DelegationWarning, match="decision_function"),
        pytest.raises(AttributeError, match="decision_function"),
    ):
        crosscut.cross_val_predict(CLASSIFIER, X, y, method="decision_function")


def test_our_tree():
    X, y = make_data(3, 150, 3)
    X = X.round(1)
    ours = crosscut.cross_val_predict(TreeClassifier(), X, y, method="predict_proba")
    theirs = scikit.cross_val_predict(TreeClassifier(cv=None), X, y, method="predict_proba")
    np.testing.assert_array_equal(ours, theirs)
