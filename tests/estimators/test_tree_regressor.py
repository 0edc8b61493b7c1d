import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, cross_val_predict, cross_val_score
from sklearn.tree import DecisionTreeRegressor

from crosscut import TreeRegressor

LIMITS = {"min_samples_leaf": 8}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] * (X[:, 2] > 0) + rng.normal(size=400) * 0.3


@pytest.mark.parametrize("cv", [5, KFold(4, shuffle=True, random_state=0)])
@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
def test_trees_and_scores_are_scikit_learns(data, cv, scoring):
    X, y = data
    ours = TreeRegressor(cv=cv, scoring=scoring, **LIMITS).fit(X, y)
    theirs = DecisionTreeRegressor(random_state=0, **LIMITS)
    np.testing.assert_allclose(
        ours.cv_scores_, cross_val_score(theirs, X, y, cv=cv, scoring=scoring), rtol=1e-12
    )
    np.testing.assert_allclose(ours.cv_predictions_, cross_val_predict(theirs, X, y, cv=cv), rtol=1e-12)
    np.testing.assert_allclose(ours.predict(X), theirs.fit(X, y).predict(X), rtol=1e-12)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-9)


@pytest.mark.parametrize("alpha", [1e-3, 0.01, 0.1])
def test_ccp_alpha_prunes_all_trees_as_scikit_learn_does(data, alpha):
    X, y = data
    ours = TreeRegressor(cv=5, ccp_alpha=alpha, **LIMITS).fit(X, y)
    theirs = DecisionTreeRegressor(ccp_alpha=alpha, random_state=0, **LIMITS)
    np.testing.assert_allclose(ours.cv_scores_, cross_val_score(theirs, X, y, cv=5), rtol=1e-12)
    assert ours.get_n_leaves() == theirs.fit(X, y).get_n_leaves()


def test_weights(data):
    X, y = data
    w = np.random.default_rng(1).uniform(0, 2, size=len(y))
    w[:40] = 0
    ours = TreeRegressor(cv=None, **LIMITS).fit(X, y, w)
    theirs = DecisionTreeRegressor(random_state=0, **LIMITS).fit(X[40:], y[40:], w[40:])
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    with pytest.raises(ValueError, match="negative"):
        TreeRegressor().fit(X, y, -w)
    with pytest.raises(ValueError, match="zero in every row"):
        TreeRegressor().fit(X, y, 0 * w)
    with pytest.raises(ValueError, match=r"sample_weight must be numbers: .* 'heavy'"):
        TreeRegressor().fit(X, y, ["heavy"] * len(y))


def test_a_fold_of_one_row_has_no_r2(data):
    X, y = data
    assert np.isnan(TreeRegressor(cv=20).fit(X[:20], y[:20]).cv_scores_).all()


def test_wrong_targets_are_refused(data):
    X, y = data
    for wrong, message in [
        (None, "requires y"),
        (y[:-1], "inconsistent numbers of samples"),
        (np.where(y > 0, np.nan, y), "NaN"),
        (np.column_stack([y, y]), "one column"),
    ]:
        with pytest.raises(ValueError, match=message):
            TreeRegressor().fit(X, wrong)


def test_pruning_by_cross_validation_helps():
    X, y = load_diabetes(return_X_y=True)
    whole, best, small = (
        TreeRegressor(prune=prune, random_state=0).fit(X, y) for prune in (None, "best", "1se")
    )
    assert whole.get_n_leaves() > best.get_n_leaves() >= small.get_n_leaves() > 1
    assert best.cv_score_ > whole.cv_score_
