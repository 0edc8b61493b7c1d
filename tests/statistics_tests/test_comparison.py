import numpy as np
import pytest
from scipy.stats import ttest_1samp
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedKFold

from crosscut import RuleClassifier, TreeClassifier, TreeRegressor, compare


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + rng.normal(size=200)
    return X, y, rng.integers(1, 4, 200).astype(float)


def test_differences_are_paired(table):
    X, y, _ = table
    a, b = (TreeRegressor(cv=5, max_depth=depth).fit(X, y) for depth in (1, 3))
    found = compare(a, b)
    difference = (y - a.cv_predictions_) ** 2 - (y - b.cv_predictions_) ** 2
    assert found.difference == pytest.approx(difference.mean())
    assert found.standard_error == pytest.approx(difference.std() / np.sqrt(200))
    assert found.errors == pytest.approx([np.mean((y - model.cv_predictions_) ** 2) for model in (a, b)])
    low, high = found.interval(0.95, "rows")
    assert (low + high) / 2 == pytest.approx(found.difference)
    assert (high - low) / 2 == pytest.approx(1.959964 * found.standard_error, rel=1e-6)
    within = np.mean([part.var(ddof=1) for part in difference.reshape(5, 40)])
    low, high = found.interval(0.95, "bayle")
    assert (high - low) / 2 == pytest.approx(1.959964 * np.sqrt(within / 200), rel=1e-6)


def test_folds_are_students_corrected_for_shared_rows(table):
    X, y, _ = table
    a, b = (TreeRegressor(cv=5, max_depth=depth).fit(X, y) for depth in (1, 3))
    difference = (y - a.cv_predictions_) ** 2 - (y - b.cv_predictions_) ** 2
    plain = ttest_1samp(difference.reshape(5, 40).mean(axis=1), 0).confidence_interval(0.9)
    low, high = compare(a, b).interval(0.9, "folds")
    factor = np.sqrt((1 / 5 + 1 / 4) / (1 / 5))
    assert high - low == pytest.approx((plain.high - plain.low) * factor)
    assert compare(a, b).interval() == (low, high)


def test_equal_learners_are_seldom_called_different():
    called = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 10))
        signal = sum(0.9 * (X[:, i] > 0) + 0.6 * X[:, i + 1] for i in (0, 5))
        y = signal + rng.normal(size=300) > 0.9
        settings = {"cv": 5, "random_state": seed, "min_samples_leaf": 5, "prune": "best"}
        a, b = (TreeClassifier(**settings).fit(X[:, half], y) for half in (slice(0, 5), slice(5, 10)))
        found = compare(a, b)
        by_rows = found.interval(method="rows")
        called.append((found.better is not None, not by_rows[0] <= 0 <= by_rows[1]))
    by_folds, by_rows = np.mean(called, axis=0)
    assert by_folds <= 0.12 < by_rows  # nominally 10%


def test_one_fold_is_compared_by_its_rows(table):
    X, y, _ = table
    cv = [(np.arange(150), np.arange(150, 200))]
    found = compare(*(TreeRegressor(cv=cv, max_depth=depth).fit(X, y) for depth in (1, 3)))
    assert found.interval() == found.interval(method="rows")


def test_weights_and_repeats(table):
    X, y, w = table
    cv = RepeatedKFold(n_splits=4, n_repeats=3, random_state=0)
    a, b = (TreeClassifier(cv=cv, max_depth=depth).fit(X, y > 0, w) for depth in (1, 4))
    found = compare(a, b)
    assert found.difference == pytest.approx(b.cv_score_ - a.cv_score_)
    assert found.errors == pytest.approx((1 - a.cv_score_, 1 - b.cv_score_))
    rules = RuleClassifier(cv=cv).fit(X, y > 0, w)
    assert compare(rules, a).difference == pytest.approx(-compare(a, rules).difference)


def test_one_sentence(table):
    X, y, _ = table
    bad, good, same = (TreeClassifier(cv=5, max_depth=depth).fit(X, X[:, 0] > 0) for depth in (1, 2, 1))
    noise = TreeClassifier(cv=5).fit(X[:, 1:], X[:, 0] > 0)
    assert "The first model and the second have the same error rate" in str(compare(bad, same))
    assert str(compare(noise, good)).endswith("so the second is better.")
    assert str(compare(good, noise)).endswith("so the first is better.")
    a, b = (TreeRegressor(cv=5, max_depth=depth).fit(X, X[:, 1] + y) for depth in (5, 6))
    assert str(compare(a, b)).endswith("so the difference is not significant.")


def test_only_what_can_be_compared_is(table):
    X, y, w = table
    model = TreeRegressor(cv=5).fit(X, y)
    with pytest.raises(ValueError, match="the same folds"):
        compare(model, TreeRegressor(cv=4).fit(X, y))
    with pytest.raises(ValueError, match="the same targets"):
        compare(model, TreeRegressor(cv=5).fit(X, -y))
    with pytest.raises(ValueError, match="the same targets"):
        compare(model, TreeClassifier(cv=5).fit(X, y > 0))
    with pytest.raises(ValueError, match="the same weights"):
        compare(TreeRegressor(cv=5).fit(X, y, w), TreeRegressor(cv=5).fit(X, y, w + 1))
    with pytest.raises(ValueError, match="'folds', 'rows' or 'bayle'"):
        compare(model, model).interval(method="t")
    with pytest.raises(AttributeError, match="needs cross-validation"):
        compare(model, TreeRegressor(cv=None).fit(X, y))


def test_any_loss_is_compared():
    X, y = load_breast_cancer(return_X_y=True)
    models = [TreeClassifier(max_depth=depth, cv=5).fit(X, y) for depth in (1, 5)]
    found = compare(*models, measure="brier")
    error = [np.mean((model.cv_probabilities_[:, 1] - y) ** 2) for model in models]
    assert found.errors == pytest.approx(error)
    assert found.difference == pytest.approx(error[0] - error[1])
    assert "mean brier loss" in str(found)
    named, given = (compare(*models, measure=measure) for measure in (None, lambda a, b: a != b))
    assert named.interval() == given.interval()
