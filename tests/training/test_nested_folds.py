from itertools import combinations

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit

from crosscut import BaggedTrees, TreeClassifier, TreeRegressor
from crosscut.tasks import Tasks
from crosscut.training.nested_folds import nested_losses
from crosscut.training.training_set import TrainingSet

FOLD = np.random.default_rng(1).permutation(np.resize(np.arange(5), 90))


def table(learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = X[:, 0] + rng.normal(size=90)
    return X, y > 0 if learner is TreeClassifier else y, rng.integers(1, 4, 90).astype(float)


def loss_without(model, X, y, w, out):
    """Loss of the rows of some folds by the procedure on the other rows, whose folds choose a pruning."""
    rest, test = ~np.isin(FOLD, out), np.isin(FOLD, out)
    fold = FOLD[rest]
    cv = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold)]
    fitted = type(model)(**model.get_params() | {"cv": cv}).fit(X[rest], y[rest], w[rest])
    said = fitted.predict(X[test])
    loss = np.full(len(y), np.nan)
    loss[test] = (said - y[test]) ** 2 if isinstance(model, TreeRegressor) else said != y[test]
    return loss


@pytest.mark.parametrize("learner", [TreeClassifier, TreeRegressor])
@pytest.mark.parametrize("prune", [None, "best", "1se"])
def test_losses_are_those_of_refits(learner, prune):
    X, y, w = table(learner)
    model = learner(prune=prune, min_samples_leaf=0.03)
    found = nested_losses(model, TrainingSet.read(model, X, y, w), FOLD)
    alone = [loss_without(model, X, y, w, [k]) for k in range(5)]
    loss = np.array([alone[k][row] for row, k in enumerate(FOLD)])
    np.testing.assert_allclose(found.loss, loss)
    inner = np.full((5, len(y)), np.nan)
    for i, j in combinations(range(5), 2):
        both = loss_without(model, X, y, w, [i, j])
        inner[i][j == FOLD] = both[j == FOLD]
        inner[j][i == FOLD] = both[i == FOLD]
    for k in range(5):
        others = k != FOLD
        change = np.average((inner[k] - loss)[others], weights=w[others])
        assert found.change[k] == pytest.approx(change, abs=1e-12)


@pytest.mark.parametrize("prune", [None, "best"])
def test_the_interval_is_the_formula_of_the_module(prune):
    X, y, _ = table(TreeClassifier)
    model = TreeClassifier(cv=KFold(5), max_depth=3, prune=prune).fit(X, y)
    fold = np.repeat(np.arange(5), 18)
    loss, change = nested_losses(model, TrainingSet.read(model, X, y), fold)
    u = np.array([loss[fold != k].mean() - loss[fold == k].mean() for k in range(5)])
    further = 0.8 * change * (change + 2 * u)
    rate, z = 1 - loss.mean(), 1.6448536269514722
    apart = rate - (
        1 - model.fit_.validation.losses.mean()
    )  # own choices of a pruning against that of all rows
    assert (abs(apart) < 1e-12) == (prune is None)
    error = np.sqrt(loss.var() / 90 + max(0, further.mean() + further.std(ddof=1) / np.sqrt(5)) + apart**2)
    n = rate * (1 - rate) / error**2
    middle, reach = rate + z**2 / (2 * n), z * np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    expected = np.array([middle - reach, middle + reach]) / (1 + z**2 / n)
    assert error > 1.01 * np.sqrt(loss.var() / 90)
    np.testing.assert_allclose(model.cv_interval(method="nested", X=X, y=y), expected)


def test_repeated_folds_narrow_down_the_estimate():
    X, y, _ = table(TreeRegressor)
    model = TreeRegressor(cv=RepeatedKFold(n_splits=4, n_repeats=3, random_state=0), max_depth=2).fit(X, y)
    low, high = model.cv_interval(method="nested", X=X, y=y)
    assert low < model.cv_score_ < high


def test_left_out_folds_are_held_out():
    tasks = Tasks.leaving_out(FOLD, [(0,), (1, 3)])
    assert not tasks.has_final
    assert set(FOLD[tasks.train_rows(1)]) == {0, 2, 4}
    np.testing.assert_array_equal(np.unique(tasks.test_rows(1)), np.flatnonzero(np.isin(FOLD, [1, 3])))


def test_refusals():
    X, y, _ = table(TreeClassifier)
    with pytest.raises(ValueError, match="pass the X and y"):
        TreeClassifier(cv=3).fit(X, y).cv_interval(method="nested")
    with pytest.raises(ValueError, match="needs a mean over rows or R²"):
        TreeClassifier(cv=3, scoring="roc_auc").fit(X, y).cv_interval(method="nested", X=X, y=y)
    with pytest.raises(ValueError, match="needs 4 or more folds"):
        TreeClassifier(cv=3, prune="best").fit(X, y).cv_interval(method="nested", X=X, y=y)
    smaller = [(np.setdiff1d(np.arange(45), test), test) for test in np.split(np.arange(90), 3)]
    for cv in (ShuffleSplit(4, random_state=0), smaller):
        with pytest.raises(ValueError, match="hold out every row once and train on the rest"):
            TreeClassifier(cv=cv).fit(X, y).cv_interval(method="nested", X=X, y=y)
    with pytest.raises(ValueError, match="'rows', 'bayle' or 'nested'"):
        TreeClassifier(cv=3).fit(X, y).cv_interval(method="naive")
    with pytest.raises(AttributeError, match="needs cross-validation"):
        TreeClassifier(cv=None).fit(X, y).cv_interval(method="nested", X=X, y=y)
    assert not hasattr(BaggedTrees, "cv_interval")
    assert (
        len(TreeClassifier(cv=LeaveOneOut()).fit(X[:9], y[:9]).cv_interval(0.5, "nested", X[:9], y[:9])) == 2
    )
