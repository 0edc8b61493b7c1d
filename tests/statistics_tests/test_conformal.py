"""Intervals and sets by their definitions, row by row; by MAPIE where it is installed; and in simulation."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from crosscut import BaggedTrees, TreeClassifier, TreeRegressor
from crosscut.forest.predict import apply
from crosscut.forest.tree import probabilities

LEAF = 8


def data(seed=0, n=121):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    y = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + rng.normal(size=n)
    return X, y, rng.integers(500, 1500, size=n).astype(float)  # weights: no ties


def alone(tree, X, y, w, *, cv, new):
    """What each fold's tree says of the rows it holds out, and of new rows: (row, values, new values)."""
    for train, test in cv.split(X):
        model = tree.fit(X[train], y[train], w[train])
        say = model.predict_proba if hasattr(model, "predict_proba") else model.predict
        of_new = say(new)
        for row, said in zip(test, say(X[test]), strict=True):
            yield row, said, of_new


@pytest.mark.parametrize(
    ("cv", "method"), [(KFold(5), "cv+"), (LeaveOneOut(), "jackknife+"), (KFold(5), "minmax")]
)
@pytest.mark.parametrize("level", [0.9, 0.75])
def test_intervals_are_those_of_their_definition(cv, method, level):
    X, y, w = data(n=61)
    new = data(1, 20)[0]
    found = TreeRegressor(cv=cv, min_samples_leaf=LEAF).fit(X, y, w).predict_interval(new, level, method)
    tree = DecisionTreeRegressor(min_samples_leaf=LEAF, random_state=0)
    rows = list(alone(tree, X, y, w, cv=cv, new=new))
    residual = np.array([abs(y[i] - said) for i, said, _ in rows])
    of_new = np.array([said for *_, said in rows])
    rank = int(np.ceil(level * (len(y) + 1) - 1e-9))
    if method == "minmax":
        reach = np.sort(residual)[rank - 1]
        expected = of_new.min(axis=0) - reach, of_new.max(axis=0) + reach
    else:
        low, high = np.sort(of_new - residual[:, None], axis=0), np.sort(of_new + residual[:, None], axis=0)
        expected = low[len(y) - rank], high[rank - 1]
    np.testing.assert_allclose(found, np.transpose(expected), rtol=1e-12)


@pytest.mark.parametrize("method", ["score", "adaptive"])
def test_sets_are_those_of_their_definition(method):
    X, score, w = data()
    y, new, cv = np.digitize(score, [-0.5, 0.6]), data(1, 30)[0], KFold(5)
    model = TreeClassifier(cv=cv, min_samples_leaf=LEAF, shrinkage=None).fit(X, y, w)
    found = model.predict_set(new, 0.8, method)
    rows = list(alone(DecisionTreeClassifier(min_samples_leaf=LEAF, random_state=0), X, y, w, cv=cv, new=new))

    def strange(p, c):
        return 1 - p[c] if method == "score" else sum(v for v in p if v > p[c]) + p[c] / 2

    for j in range(len(new)):
        for c in range(3):
            better = sum(strange(said, y[i]) < strange(of_new[j], c) - 1e-12 for i, said, of_new in rows)
            assert found[j, c] == (better < 0.8 * (len(y) + 1))


def test_intervals_and_sets_are_mapies():
    regression, classification = (
        pytest.importorskip(f"mapie.{name}") for name in ("regression", "classification")
    )
    X, score, w = data(n=301)
    new, cv = data(1, 200)[0], KFold(5)
    limits = {"min_samples_leaf": LEAF, "random_state": 0}
    for method, name, folds in (
        ("cv+", "plus", cv),
        ("minmax", "minmax", cv),
        ("jackknife+", "plus", LeaveOneOut()),
    ):
        ours = TreeRegressor(cv=folds, min_samples_leaf=LEAF).fit(X, score, w)
        theirs = regression.CrossConformalRegressor(
            DecisionTreeRegressor(**limits), confidence_level=0.9, method=name, cv=folds
        ).fit_conformalize(X, score, fit_params={"sample_weight": w})
        expected = theirs.predict_interval(new)[1][:, :, 0]
        np.testing.assert_allclose(ours.predict_interval(new, 0.9, method), expected, atol=1e-9)
    y = np.digitize(score, [-0.5, 0.6])
    for folds in (cv, LeaveOneOut()):
        theirs = classification.CrossConformalClassifier(
            DecisionTreeClassifier(**limits), confidence_level=0.8, conformity_score="lac", cv=folds
        ).fit_conformalize(X, y, fit_params={"sample_weight": w})
        expected = theirs.predict_set(new, agg_scores="crossval")[1][:, :, 0]
        model = TreeClassifier(cv=folds, min_samples_leaf=LEAF, shrinkage=None).fit(X, y, w)
        np.testing.assert_array_equal(model.predict_set(new, 0.8), expected)


def test_bagged_intervals_and_sets_are_those_of_their_definition():
    (X, y, _), new = data(n=60), data(1, 25)[0]
    for learner, target in ((TreeRegressor, y), (TreeClassifier, np.digitize(y, [-0.5, 0.6]))):
        model = BaggedTrees(learner(min_samples_leaf=5), n_trees=12, random_state=0).fit(X, target)
        trees = [model.forest_.packed.only(t) for t in range(12)]
        values = [probabilities(tree.value) if learner is TreeClassifier else tree.value for tree in trees]
        of_rows = [value[apply(tree, X)[0]] for tree, value in zip(trees, values, strict=True)]
        of_new = [value[apply(tree, new)[0]] for tree, value in zip(trees, values, strict=True)]
        cv = model.fit_.validation
        drawn = np.ones((12, 60), bool)
        for t in range(12):
            drawn[t, cv.rows[cv.row_start[t] : cv.row_start[t + 1]]] = False
        rows = np.flatnonzero(~drawn.all(axis=0))
        without = {i: np.mean([of_rows[t][i] for t in range(12) if not drawn[t, i]], axis=0) for i in rows}
        new_without = np.array(
            [np.mean([of_new[t] for t in range(12) if not drawn[t, i]], axis=0) for i in rows]
        )
        rank = int(np.ceil(0.8 * (len(rows) + 1) - 1e-9))
        if learner is TreeRegressor:
            residual = np.array([abs(y[i] - without[i][0]) for i in rows])[:, None]
            low, high = new_without[:, :, 0] - residual, new_without[:, :, 0] + residual
            expected = [np.sort(low, axis=0)[len(rows) - rank], np.sort(high, axis=0)[rank - 1]]
            np.testing.assert_allclose(model.predict_interval(new, 0.8), np.transpose(expected))
            continue
        own = np.array([1 - without[i][target[i]] for i in rows])
        better = (own[:, None, None] < 1 - new_without - 1e-12).sum(axis=0)
        np.testing.assert_array_equal(model.predict_set(new, 0.8), better < rank)
        assert model.predict_set(new, 0.8, "adaptive").any(axis=1).all()


def test_intervals_of_streams(tmp_path):
    import pandas as pd

    X, y, _ = data(n=200)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    frame.to_parquet(tmp_path / "rows.parquet")
    model = TreeRegressor(cv=KFold(5), max_bins=20, min_samples_leaf=LEAF)
    streamed = TreeRegressor(cv=KFold(5), max_bins=20, min_samples_leaf=LEAF)
    streamed.fit(str(tmp_path / "rows.parquet"), "y")
    expected = model.fit(frame[list("abcd")], y).predict_interval(frame[list("abcd")])
    np.testing.assert_allclose(streamed.predict_interval(frame[list("abcd")]), expected)
    assert streamed.cv_coverage(0.8) == model.cv_coverage(0.8)


@pytest.mark.parametrize("cv", [KFold(4), LeaveOneOut()])
@pytest.mark.parametrize("learner", [TreeRegressor, TreeClassifier])
def test_coverage_of_held_out_rows_by_those_of_other_folds(learner, cv):
    X, y, _ = data(n=61)
    y = y if learner is TreeRegressor else np.digitize(y, [0.0])
    model = learner(cv=cv, min_samples_leaf=LEAF).fit(X, y)
    said = model.cv_predictions_ if learner is TreeRegressor else model.cv_probabilities_
    strange = np.abs(y - said) if learner is TreeRegressor else 1 - said[np.arange(61), y]
    covered = 0
    for train, test in cv.split(X):
        rank = int(np.ceil(0.8 * (len(train) + 1) - 1e-9))
        covered += np.count_nonzero(strange[test] <= np.sort(strange[train])[rank - 1])
    assert model.cv_coverage(0.8) == covered / 61


def test_coverage_in_simulation():
    covered = {"cv+": [], "minmax": [], "score": [], "adaptive": [], "bagged": []}
    for seed in range(20):
        (X, y, _), (new, truth, _) = data(seed, 200), data(1000 + seed, 300)
        model = TreeRegressor(cv=10, min_samples_leaf=LEAF).fit(X, y)
        classifier = TreeClassifier(cv=10, min_samples_leaf=LEAF).fit(X, np.digitize(y, [-0.5, 0.6]))
        classes = np.digitize(truth, [-0.5, 0.6])
        for method in ("cv+", "minmax"):
            low, high = model.predict_interval(new, 0.9, method).T
            covered[method].append(np.mean((low <= truth) & (truth <= high)))
        for method in ("score", "adaptive"):
            sets = classifier.predict_set(new, 0.9, method)
            covered[method].append(np.mean(sets[np.arange(len(new)), classes]))
        bagged = BaggedTrees(TreeRegressor(min_samples_leaf=LEAF), n_trees=30, random_state=seed).fit(X, y)
        low, high = bagged.predict_interval(new, 0.9).T
        covered["bagged"].append(np.mean((low <= truth) & (truth <= high)))
    for method, shares in covered.items():
        assert np.mean(shares) >= 0.88, method


def test_what_cannot_be_guaranteed():
    X, y, _ = data()
    model = TreeRegressor(cv=5).fit(X, y)
    assert np.isinf(model.predict_interval(X[:2], level=0.999)).all()  # 121 rows are too few
    with pytest.raises(ValueError, match=r"folds of one row each \(cv=LeaveOneOut"):
        model.predict_interval(X, method="jackknife+")
    with pytest.raises(ValueError, match="'cv\\+', 'jackknife\\+' or 'minmax'"):
        model.predict_interval(X, method="naive")
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        model.predict_interval(X, level=90)
    with pytest.raises(ValueError, match="hold out each row once"):
        TreeRegressor(cv=RepeatedKFold(n_splits=3, n_repeats=2)).fit(X, y).predict_interval(X)
    with pytest.raises(ValueError, match="'score' or 'adaptive'"):
        TreeClassifier(cv=5).fit(X, y > 0).predict_set(X, method="naive")
    with pytest.raises(AttributeError, match=r"predict_set\(\) needs cross-validation"):
        TreeClassifier(cv=None).fit(X, y > 0).predict_set(X)
