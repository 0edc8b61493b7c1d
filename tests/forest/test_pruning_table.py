import numpy as np
import pytest
from sklearn.model_selection import KFold, RepeatedKFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from crosscut import TreeClassifier, TreeRegressor, compare
from crosscut.forest.pruning_table import PruningTable
from crosscut.report.trial import sizes_of

LEAF = 8


def data(seed, n=240):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    score = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + rng.normal(size=n) * 0.8
    return X, score, rng.integers(500, 1500, size=n).astype(float)  # exact sums, no ties


def slow_table(model, X, y, w, *, splitter, loss):
    """The table as CART defines it, one scikit-learn tree at a time."""
    alphas = np.maximum(model.cost_complexity_pruning_path(X, y, w).ccp_alphas, 0)
    alphas = np.unique(np.where(alphas > 1e-12, alphas, 0))  # links of alpha 0, but for rounding
    alphas = alphas[np.append(np.diff(alphas) > 1e-12 * alphas[1:], True)]
    between = np.append(np.sqrt(alphas[:-1] * alphas[1:]), 1e300)
    rows = []
    for alpha, middle in zip(alphas, between, strict=True):
        tree = model.set_params(ccp_alpha=alpha * (1 + 1e-9)).fit(X, y, w)
        errors = np.empty(len(y))
        train = np.average(loss(y, tree.predict(X)), weights=w)
        leaves = tree.get_n_leaves()
        for fit, test in splitter.split(X, y):
            fold = model.set_params(ccp_alpha=middle).fit(X[fit], y[fit], w[fit])
            errors[test] = loss(y[test], fold.predict(X[test]))
        mean = np.average(errors, weights=w)
        spread = np.sqrt(np.average((errors - mean) ** 2, weights=w) * (w @ w)) / w.sum()
        rows.append((alpha, leaves, train, mean, spread))
    return np.array(rows).T


@pytest.mark.parametrize("seed", range(2))
def test_table_of_a_classifier_is_carts(seed):
    X, score, w = data(seed)
    y = np.digitize(score, [-0.5, 0.6])
    ours = TreeClassifier(cv=5, min_samples_leaf=LEAF).fit(X, y, w).pruning_table_
    model = DecisionTreeClassifier(min_samples_leaf=LEAF, random_state=0)
    expected = slow_table(
        model, X, y, w, splitter=StratifiedKFold(5), loss=lambda a, b: (a != b).astype(float)
    )
    found = np.array([ours.alpha, ours.n_leaves, ours.train_error, ours.cv_error, ours.standard_error])
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_table_of_a_regressor_is_carts(seed):
    X, y, w = data(seed)
    ours = TreeRegressor(cv=5, min_samples_leaf=LEAF).fit(X, y, w).pruning_table_
    model = DecisionTreeRegressor(min_samples_leaf=LEAF, random_state=0)
    expected = slow_table(model, X, y, w, splitter=KFold(5), loss=lambda a, b: (a - b) ** 2)
    found = np.array([ours.alpha, ours.n_leaves, ours.train_error, ours.cv_error, ours.standard_error])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("prune", ["best", "1se"])
def test_the_chosen_row_is_what_the_model_becomes(prune):
    X, score, _ = data(3)
    y = (score > 0).astype(int)
    model = TreeClassifier(prune=prune, shrinkage=None, cv=6).fit(X, y)
    table = model.pruning_table_
    row = table.choose(prune)
    assert model.get_n_leaves() == table.n_leaves[row]
    assert model.ccp_alpha_ == table.alpha[row]
    assert np.mean(model.cv_predictions_ != y) == pytest.approx(table.cv_error[row], abs=1e-12)
    assert np.mean(model.predict(X) != y) == pytest.approx(table.train_error[row], abs=1e-12)
    np.testing.assert_array_equal(table.cv_error, TreeClassifier(cv=6).fit(X, y).pruning_table_.cv_error)


def test_rules_of_choice():
    table = PruningTable(
        alpha=np.array([0.0, 0.1, 0.2, 0.3]),
        n_leaves=np.array([9, 5, 3, 1]),
        train_error=np.array([0.0, 0.1, 0.2, 0.5]),
        cv_error=np.array([0.3, 0.2, 0.2, 0.24]),
        standard_error=np.array([0.05, 0.05, 0.03, 0.05]),
        paired_error=np.array([0.06, 0.01, 0.0, 0.03]),
        shrinkage=np.zeros(4),
    )
    np.testing.assert_array_equal(table.like_best, [False, True, True, True])  # 0.1 > 1.645 · 0.06
    assert [line.count("~") for line in str(table).splitlines()] == [0, 0, 1, 1, 1]
    assert table.choose("best") == 2  # the smaller of two equals
    assert table.choose("1se") == 2
    table.paired_error[3] = 0.05
    assert table.choose("1se") == 3
    with pytest.raises(ValueError, match="'best' or '1se'"):
        table.choose("worst")
    assert "<- best" in str(table)
    assert list(table.to_pandas().columns) == [
        "alpha",
        "n_leaves",
        "train_error",
        "cv_error",
        "standard_error",
        "paired_error",
        "shrinkage",
    ]


def test_a_tree_that_is_one_leaf():
    X = np.zeros((20, 1))
    table = TreeClassifier(cv=4).fit(X, np.arange(20) % 2).pruning_table_
    assert len(table) == 1
    assert table.train_error[0] == 0.5


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cv", [5, RepeatedKFold(n_splits=4, n_repeats=3, random_state=0)])
@pytest.mark.parametrize("learner", [TreeClassifier, TreeRegressor])
def test_sizes_are_compared_with_the_best_row_by_row(learner, cv, weighted):
    X, score, w = data(5)
    y = score if learner is TreeRegressor else np.digitize(score, [-0.5, 0.6])
    w = w if weighted else np.ones(len(y))
    fit = learner(cv=cv, min_samples_leaf=LEAF).fit(X, y, w if weighted else None).fit_
    table, rows = fit.pruning_table, fit.validation.rows
    best, seen = table.choose("best"), set()
    sizes = {size.row: size.predicted for size in sizes_of(fit, None).sizes}

    def loss(k):
        said = sizes[k]
        each = (y[rows] - said) ** 2 if learner is TreeRegressor else said != y[rows]
        return np.bincount(rows, each) / np.bincount(rows)  # mean of the times a row is held out

    for k in sizes:
        apart = loss(k) - loss(best)
        mean = np.average(apart, weights=w)
        spread = np.sqrt(np.average((apart - mean) ** 2, weights=w) * (w @ w)) / w.sum()
        assert table.paired_error[k] == pytest.approx(spread, rel=1e-6, abs=1e-9)
        assert table.like_best[k] == (mean <= 1.6448536 * spread)
        seen.add(bool(table.like_best[k]))
    assert seen == {False, True}


def test_the_mark_agrees_with_compare():
    X, score, _ = data(7)
    y = (score > 0).astype(int)
    whole, best = (TreeClassifier(cv=6, prune=prune, shrinkage=None).fit(X, y) for prune in (None, "best"))
    table, found = whole.pruning_table_, compare(whole, best)
    assert table.paired_error[0] == pytest.approx(found.standard_error)
    assert table.like_best[0] == (found.better is None)
