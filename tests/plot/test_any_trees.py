"""plot_forest and sharing of trees that were fitted elsewhere."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from crosscut import Fit, TreeClassifier
from crosscut.forest.export.scikit import tree_from_sklearn
from crosscut.forest.predict import apply
from crosscut.plot import plot_forest


@pytest.mark.parametrize(
    ("kind", "load"), [(DecisionTreeClassifier, load_iris), (DecisionTreeRegressor, load_diabetes)]
)
def test_a_tree_of_scikit_learn_is_the_same_here(kind, load):
    X, y = load(return_X_y=True)
    model = kind(max_depth=4, random_state=0).fit(X, y)
    tree = tree_from_sklearn(model)
    leaf = apply(tree, X.astype(np.float32))
    np.testing.assert_array_equal(leaf, model.apply(X))
    np.testing.assert_array_equal(tree.depth, model.tree_.compute_node_depths() - 1)
    if kind is DecisionTreeClassifier:
        np.testing.assert_allclose(tree.value.sum(axis=1), tree.weight)


def test_trees_of_scikit_learn_are_drawn_and_share_tests():
    X, y = load_iris(return_X_y=True, as_frame=True)
    models = [DecisionTreeClassifier(max_depth=d, random_state=0).fit(X, y) for d in (1, 2, 3)]
    models.append(
        DecisionTreeClassifier(max_depth=2).fit(X.iloc[::-1].assign(**{X.columns[3]: 0.0}), y[::-1])
    )
    sharing = Fit.of_trees(models[:3]).forest.sharing
    assert sharing.n_trees == 3
    assert sharing.f[0] == 1.0
    text = {t.get_text() for t in plot_forest(models).texts}
    assert any("petal" in part for part in text)
    assert {part for part in text if part.startswith("tree")}


def test_our_trees_in_a_list_are_drawn():
    X, y = load_iris(return_X_y=True)
    models = [TreeClassifier(max_depth=2, cv=None).fit(X[k::2], y[k::2]) for k in range(2)]
    sharing = Fit.of_trees(models).forest.sharing
    assert sharing.n_trees == 2
    assert len(plot_forest(models).patches) > 2


def test_what_cannot_be_drawn_together():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="same columns and classes"):
        plot_forest([tree, DecisionTreeClassifier().fit(X[:, :2], y)])
    with pytest.raises(ValueError, match="empty"):
        plot_forest([])
    with pytest.raises(TypeError, match="fitted and have one output"):
        plot_forest([LogisticRegression().fit(X, y > 0)])
