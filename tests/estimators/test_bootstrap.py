import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from crosscut import TreeClassifier, TreeRegressor, bootstrap_error
from crosscut.tasks import Tasks


@pytest.mark.parametrize("classes", [True, False])
def test_by_its_definition(classes):
    X, y = load_iris(return_X_y=True) if classes else load_diabetes(return_X_y=True)
    kind = TreeClassifier if classes else TreeRegressor
    model = kind(min_samples_leaf=4, cv=None)
    error = bootstrap_error(model, X, y, n_trees=25, random_state=3)
    tasks = Tasks.bootstrap(25, len(y), random_state=3, final=True)

    def loss(a, b):
        return (a != b).astype(float) if classes else (a - b) ** 2

    total, times = np.zeros(len(y)), np.zeros(len(y))
    for task in range(1, 26):
        times_drawn = tasks.multiplicity[task].astype(float)
        rows = np.flatnonzero(times_drawn == 0)
        tree = kind(min_samples_leaf=4, cv=None).fit(X, y, times_drawn)
        total[rows] += loss(y[rows], tree.predict(X[rows]))
        times[rows] += 1
    own = model.fit(X, y).predict(X)
    training, left_out = loss(y, own).mean(), (total[times > 0] / times[times > 0]).mean()
    nothing = np.mean([loss(y, np.full(len(y), p)).mean() for p in own])
    assert error.training == pytest.approx(training)
    assert error.leave_one_out == pytest.approx(left_out)
    assert error.no_information == pytest.approx(nothing)
    rate = (left_out - training) / (nothing - training)
    weight = 0.632 / (1 - 0.368 * rate)
    assert error.overfitting == pytest.approx(rate)
    assert error.error_632 == pytest.approx(0.368 * training + 0.632 * left_out)
    assert error.error_632_plus == pytest.approx((1 - weight) * training + weight * left_out)
    assert ".632+ error" in str(error)


def test_labels_without_information_give_the_baseline_error():
    """The case the .632+ rule is made for: .632 alone says 0.32 here, half of the truth is 0.5."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 5)), np.arange(100) % 2
    error = bootstrap_error(TreeClassifier(), X, y, n_trees=60)
    assert error.training == 0
    assert error.error_632 < 0.36
    assert 0.4 < error.error_632_plus < 0.6
