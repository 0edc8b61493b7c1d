"""Generated tables: seeded, shaped as asked, with the structure their names promise."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import generated

NUMERIC = ["tree_like", "weak", "many_classes", "regression", "imbalanced", "census_like", "higgs_like"]


@pytest.mark.parametrize("name", NUMERIC)
def test_numeric_tables(name):
    make = getattr(generated, name)
    X, y = make(300)
    assert X.dtype == np.float32
    assert X.shape[0] == y.shape[0] == 300
    assert np.isfinite(X).all()
    again, y_again = make(300)
    other, _ = make(300, seed=1)
    assert (again == X).all()
    assert (y == y_again).all()
    assert (other != X).any()


@pytest.mark.parametrize("name", ["nominal", "decision_list"])
def test_frames(name):
    make = getattr(generated, name)
    X, y = make(300)
    assert X.num_rows == len(y) == 300
    assert X.equals(make(300)[0])
    assert not X.equals(make(300, seed=1)[0])


def test_decision_list_stops_at_its_depth():
    X, y = generated.decision_list(3000, depth=2)
    labels, pairs = {}, {}
    for first, second, label in zip(X["c0"].to_pylist(), X["c1"].to_pylist(), y, strict=True):
        labels.setdefault(first, set()).add(label)
        assert pairs.setdefault((first, second), label) == label
    assert {len(found) for found in labels.values()} == {1, 2}


def test_census_like():
    X, y = generated.census_like(32_000)
    assert y.mean() == pytest.approx(0.24, abs=0.001)
    distinct = [len(np.unique(column)) for column in X.T]
    assert max(distinct[:7]) <= 40
    assert distinct[7] <= 20
    assert 5000 < distinct[13] <= 20_000


def test_definition_of_tree_like():
    X, y = generated.tree_like(2000, 8, noise=0.0, seed=5)
    cells = (
        (X[:, 0] > 0.3) & (X[:, 1] < 0.5)
        | (X[:, 2] > 1) & (X[:, 3] > -0.2)
        | (X[:, 4] < -1.2) & (X[:, 5] > 0)
    )
    assert (y == cells).all()
    noisy = generated.tree_like(2000, 8, noise=0.1, seed=5)[1]
    assert 0.07 < (noisy != y).mean() < 0.13


def test_a_tree_finds_the_concept():
    def score(tree, data):
        X, y = data
        return cross_val_score(tree, X, y, cv=3).mean()

    small = DecisionTreeClassifier(max_depth=6, random_state=0)
    assert score(small, generated.tree_like(3000)) > 0.9
    assert 0.55 < score(small, generated.weak(3000)) < 0.85
    assert score(DecisionTreeClassifier(max_depth=8, random_state=0), generated.many_classes(3000)) > 0.4
    assert score(DecisionTreeRegressor(max_depth=6, random_state=0), generated.regression(3000)) > 0.6
    assert 0.6 < score(small, generated.higgs_like(3000)) < 0.9


def test_classes():
    assert set(generated.many_classes(2000, n_classes=12)[1].tolist()) == set(range(12))
    assert set(generated.nominal(500, n_classes=3)[1].tolist()) == {0, 1, 2}
    assert generated.imbalanced(1000, share=0.05)[1].mean() == pytest.approx(0.05)
    X, _ = generated.nominal(5000, 3, 40)
    assert len(set(X["c0"].to_pylist())) == 40


def test_too_few_features():
    with pytest.raises(ValueError, match="n_features must be at least 6, but 3 was given"):
        generated.tree_like(10, 3)
