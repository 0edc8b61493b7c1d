import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_text, plot_tree
from sklearn.utils.validation import check_is_fitted

from crosscut import TreeClassifier, TreeRegressor


@pytest.fixture(scope="module")
def classifier():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, TreeClassifier(cv=3).fit(X, y.map({0: "setosa", 1: "versicolor", 2: "virginica"}))


@pytest.fixture(scope="module")
def regressor():
    X, y = load_diabetes(return_X_y=True)
    return X, TreeRegressor(cv=3, max_depth=5).fit(X, y)


def test_a_classifier_predicts_identically(classifier):
    X, model = classifier
    theirs = model.to_sklearn()
    assert isinstance(theirs, DecisionTreeClassifier)
    check_is_fitted(theirs)
    np.testing.assert_array_equal(theirs.predict(X), model.predict(X))
    np.testing.assert_array_equal(theirs.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(theirs.apply(X), model.apply(X))
    np.testing.assert_array_equal(theirs.feature_names_in_, X.columns)
    np.testing.assert_allclose(theirs.feature_importances_, model.feature_importances_, rtol=1e-12)
    assert (theirs.get_depth(), theirs.get_n_leaves()) == (model.get_depth(), model.get_n_leaves())
    assert not hasattr(clone(theirs), "tree_")


def test_a_regressor_predicts_identically(regressor):
    X, model = regressor
    theirs = model.to_sklearn()
    assert isinstance(theirs, DecisionTreeRegressor)
    np.testing.assert_array_equal(theirs.predict(X), model.predict(X))


def test_the_same_as_fitting_scikit_learn():
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    w = rng.integers(500, 1500, size=len(y)).astype(float)
    ours = TreeClassifier(cv=None, min_samples_leaf=10).fit(X, y, w).to_sklearn()
    theirs = DecisionTreeClassifier(min_samples_leaf=10, random_state=0).fit(X, y, w)
    a, b = ours.tree_.__getstate__(), theirs.tree_.__getstate__()
    for name in ("left_child", "right_child", "feature", "threshold", "n_node_samples"):
        np.testing.assert_array_equal(a["nodes"][name], b["nodes"][name], err_msg=name)
    for name in ("impurity", "weighted_n_node_samples"):
        np.testing.assert_allclose(a["nodes"][name], b["nodes"][name], rtol=1e-12, atol=1e-14, err_msg=name)
    np.testing.assert_allclose(a["values"], b["values"], rtol=1e-12)


def test_missing_values_go_the_same_way():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[rng.random(X.shape) < 0.2] = np.nan
    y = (np.nan_to_num(X[:, 0], nan=1.0) + np.nan_to_num(X[:, 1], nan=-1.0) > 0).astype(int)
    model = TreeClassifier(cv=None, min_samples_leaf=3).fit(X, y)
    theirs = model.to_sklearn()
    new = rng.normal(size=(500, 4))
    new[rng.random(new.shape) < 0.4] = np.nan
    np.testing.assert_array_equal(theirs.predict_proba(new), model.predict_proba(new))


def test_shap_explains_it(classifier):
    shap = pytest.importorskip("shap")
    X, model = classifier
    values = shap.TreeExplainer(model.to_sklearn()).shap_values(X)
    base = shap.TreeExplainer(model.to_sklearn()).expected_value
    np.testing.assert_allclose(
        np.asarray(base) + np.asarray(values).sum(axis=1), model.predict_proba(X), atol=1e-9
    )


@pytest.mark.parametrize("what", ["classifier", "regressor"])
def test_onnx_runs_it(what, request):
    skl2onnx = pytest.importorskip("skl2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    X, model = request.getfixturevalue(what)
    x = np.asarray(X, dtype=np.float32)
    converted = skl2onnx.to_onnx(model.to_sklearn(), x[:1])
    session = onnxruntime.InferenceSession(converted.SerializeToString())
    predicted = session.run(None, {session.get_inputs()[0].name: x})[0]
    if what == "classifier":
        np.testing.assert_array_equal(predicted, model.predict(X))
    else:
        np.testing.assert_allclose(predicted.ravel(), model.predict(X), rtol=1e-6)


def test_scikit_learn_draws_it(classifier):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, model = classifier
    figure, axes = plt.subplots()
    boxes = plot_tree(model.to_sklearn(), ax=axes)
    assert sum("samples" in box.get_text() for box in boxes) == len(model.tree_)
    plt.close(figure)
    assert "petal" in export_text(model.to_sklearn(), feature_names=list(X.columns))


@pytest.mark.parametrize("splits", ["binary", "multiway"])
def test_nominal_tests_are_refused_by_name(splits):
    X = pd.DataFrame({"colour": list("rgb") * 10, "size": np.arange(30.0)})
    model = TreeClassifier(splits=splits, cv=None).fit(X, np.tile([1, 0, 2], 10))
    with pytest.raises(ValueError, match="nominal column 'colour'"):
        model.to_sklearn()
    # the nominal column is there, but the tree does not test it
    model = TreeClassifier(splits=splits, cv=None).fit(X, X["size"] > 15)
    assert model.to_sklearn().tree_.feature[0] == 1
