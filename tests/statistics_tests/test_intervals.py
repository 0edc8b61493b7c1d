import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import r2_score
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, RepeatedStratifiedKFold, ShuffleSplit

from crosscut import RuleClassifier, Stream, TreeClassifier, TreeRegressor
from crosscut.report.summary import summarize
from crosscut.statistics.intervals import (
    LossSums,
    estimate_of,
    interval_of,
    mean_of_folds,
    quantile_of,
    score_of,
)
from crosscut.statistics.validation import Validation


def noise(n=120, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.random(n) < 0.3, rng.integers(1, 5, n).astype(float)


UNEQUAL = [np.arange(5), np.arange(5, 40), np.arange(40, 120)]
CVS = [
    [(np.setdiff1d(np.arange(120), test), test) for test in UNEQUAL],
    RepeatedStratifiedKFold(n_splits=4, n_repeats=5, random_state=0),
    ShuffleSplit(6, test_size=0.3, random_state=0),
]


@pytest.mark.parametrize("cv", CVS)
@pytest.mark.parametrize("prune", [None, "1se"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("learner", [TreeClassifier, TreeRegressor])
def test_score_page_and_pruning_table_agree(learner, weighted, prune, cv):
    X, y, w = noise()
    if learner is TreeRegressor and isinstance(cv, RepeatedStratifiedKFold):
        cv = list(cv.split(X, y))
    y = y + X[:, 0] if learner is TreeRegressor else y
    model = learner(cv=cv, prune=prune, min_samples_leaf=3).fit(X, y, w if weighted else None)
    table, cv_ = model.pruning_table_, model.fit_.validation
    expected = table.cv_error[0], table.standard_error[0]
    if prune is not None:
        measure = None if learner is TreeClassifier else "squared"
        correction = cv_.selection.correction(measure)
        expected = correction.loss, np.sqrt(correction.variance)
        if learner is TreeRegressor:  # the table has the errors that chose the pruning
            assert correction.plain == pytest.approx(table.cv_error[table.choose(prune)], rel=1e-10)
    assert cv_.error == pytest.approx(expected, rel=1e-10)
    shown = summarize(model)["cv"]
    if learner is TreeClassifier:
        assert (1 - model.cv_score_, model.cv_standard_error_) == pytest.approx(cv_.error, rel=1e-12)
        assert (shown["error"], shown["standard_error"]) == pytest.approx(cv_.error, rel=1e-12)
        if not weighted and prune is None:
            confusion = cv_.confusion
            assert model.cv_score_ == pytest.approx(np.trace(confusion) / confusion.sum())
    else:
        assert shown["error"] ** 2 == pytest.approx(expected[0], rel=1e-10)
        assert 2 * shown["error"] * shown["standard_error"] == pytest.approx(expected[1])


def test_repeats_are_no_new_rows():
    X, y, _ = noise()
    once = TreeClassifier(cv=RepeatedStratifiedKFold(n_splits=4, n_repeats=1, random_state=0)).fit(X, y)
    often = TreeClassifier(cv=RepeatedStratifiedKFold(n_splits=4, n_repeats=30, random_state=0)).fit(X, y)
    wrong = np.zeros(len(y))
    for (_, test), tree in zip(often.cv.split(X, y), range(1, 121), strict=True):
        cv = often.fit_.validation
        own = slice(cv.row_start[tree], cv.row_start[tree + 1])
        wrong[test] += cv.decided[own] != y[cv.rows[own]]
    expected = np.std(wrong / 30) / np.sqrt(len(y))
    assert often.cv_standard_error_ == pytest.approx(expected)
    assert often.cv_standard_error_ > 0.6 * once.cv_standard_error_  # by the folds it would be 0.2 of it


def test_r_squared_is_that_of_all_rows_and_its_standard_error_the_jackknifes():
    X, y = load_diabetes(return_X_y=True)
    model = TreeRegressor(cv=5, max_depth=3).fit(X, y)
    said = model.cv_predictions_
    assert model.cv_score_ == pytest.approx(r2_score(y, said))
    left_out = np.array([r2_score(np.delete(y, i), np.delete(said, i)) for i in range(len(y))])
    jackknife = np.sqrt((len(y) - 1) * left_out.var())
    assert model.cv_standard_error_ == pytest.approx(jackknife, rel=0.01)
    low, high = model.cv_interval(0.95)
    assert (high - low) / 2 == pytest.approx(1.959964 * model.cv_standard_error_, rel=1e-6)


def test_interval_of_a_rate_is_wilsons():
    X, y, _ = noise()
    model = TreeClassifier(cv=10).fit(X, y)
    right = int(np.sum(model.cv_predictions_ == y))
    expected = binomtest(right, len(y)).proportion_ci(0.9, method="wilson")
    assert model.cv_interval() == pytest.approx((expected.low, expected.high))


def test_an_interval_has_a_width_even_if_every_row_is_right():
    X = np.arange(40.0).reshape(-1, 1)
    model = TreeClassifier(cv=KFold(4, shuffle=True, random_state=0)).fit(X, np.arange(40) >= 39.5)
    low, high = model.cv_interval()
    assert (model.cv_score_, high) == (1.0, 1.0)
    assert 0.9 < low < 1


def test_bayle_measures_within_the_folds():
    X, y, _ = noise()
    model = TreeRegressor(cv=4).fit(X, y + X[:, 1])
    cv = model.fit_.validation
    assert cv.fold_sums.variance(np.array([0.0, 1, 0, 0]), within=True) == pytest.approx(
        np.mean([cv.losses[30 * k : 30 * k + 30].var(ddof=1) for k in range(4)])
    )
    low, high = TreeClassifier(cv=4).fit(X, y).cv_interval(method="bayle")
    assert 0 < low < high < 1
    with pytest.raises(ValueError, match="two rows in every fold"):
        TreeClassifier(cv=LeaveOneOut()).fit(X, y).cv_interval(method="bayle")


INTERVALS = [("rows", None), ("bayle", None), ("rows", "auc"), ("bayle", "log"), ("nested", None)]


def fitted_to(learner, given, groups):
    X, y, w = given
    splits = list(KFold(4).split(np.unique(groups)))
    splits = [(np.flatnonzero(np.isin(groups, a)), np.flatnonzero(np.isin(groups, b))) for a, b in splits]
    return splits, learner(cv=splits, min_samples_leaf=5).fit(X, y, w, groups=groups)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("learner", [TreeClassifier, TreeRegressor])
def test_groups_of_one_row_are_rows(learner, weighted):
    X, y, w = noise()
    given = X, y if learner is TreeClassifier else y + X[:, 0], w if weighted else None
    splits, grouped = fitted_to(learner, given, np.arange(120))
    plain = learner(cv=splits, min_samples_leaf=5).fit(*given)
    assert grouped.cv_standard_error_ == pytest.approx(plain.cv_standard_error_)
    for method, measure in INTERVALS if learner is TreeClassifier else INTERVALS[:2]:
        data = given if method == "nested" else ()
        found, expected = (each.cv_interval(0.9, method, *data, measure=measure) for each in (grouped, plain))
        assert found == pytest.approx(expected), method


def shown(cv, copies):
    """The same results of rows that are given several times, each row with its copies in a group."""
    n, k = len(cv.y), copies
    rows = (np.repeat(cv.rows, k) * k).reshape(-1, k) + np.arange(k)
    y, said = np.repeat(cv.y, k), np.repeat(cv.fold_values, k, axis=0)
    made = Validation(y, cv.classes, rows.ravel(), cv.row_start * k, said)
    made.groups = np.repeat(np.arange(n), k)
    made.weights = None if cv.weights is None else np.repeat(cv.weights, k)
    return made


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("learner", [TreeClassifier, TreeRegressor])
def test_copies_in_one_group_tell_nothing_new(learner, weighted):
    X, y, w = noise()
    y = y if learner is TreeClassifier else y + X[:, 0]
    cv = learner(cv=4, min_samples_leaf=5).fit(X, y, w if weighted else None).fit_.validation
    copied = shown(cv, 3)
    assert (copied.score, copied.standard_error) == pytest.approx((cv.score, cv.standard_error))
    assert copied.error == pytest.approx(cv.error)
    for method in ("rows", "bayle"):
        assert copied.interval(0.9, method) == pytest.approx(cv.interval(0.9, method))
    if learner is TreeClassifier:
        assert copied.interval(measure="auc") == pytest.approx(cv.interval(measure="auc"))
    rows = shown(cv, 3)
    rows.groups = None
    assert rows.standard_error == pytest.approx(cv.standard_error / np.sqrt(3))


def test_unequal_groups_count_by_the_sums_of_their_losses():
    X, y, _ = noise()
    groups = np.repeat(np.arange(15), np.arange(1, 16))
    _, model = fitted_to(TreeClassifier, (X, y, None), groups)
    loss = (model.cv_predictions_ != y).astype(float)
    sums = np.bincount(groups, loss - loss.mean())
    assert model.cv_standard_error_ == pytest.approx(np.sqrt((sums**2).sum()) / 120)
    rules = RuleClassifier(cv=GroupKFold(4)).fit(X, y, groups=groups)
    loss = (rules.cv_predictions_ != y).astype(float)
    sums = np.bincount(groups, loss - loss.mean())
    assert rules.cv_standard_error_ == pytest.approx(np.sqrt((sums**2).sum()) / 120)


@pytest.mark.parametrize("learner", [TreeClassifier, TreeRegressor])
def test_groups_of_a_stream_count_like_those_in_memory(learner, tmp_path):
    X, y, w = noise(400)
    owner = np.repeat(np.arange(40), 10)[np.random.default_rng(1).permutation(400)]
    target = y.astype(int) if learner is TreeClassifier else y + X[:, 0]
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": target, "w": w, "owner": owner})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=64)
    stream = Stream(tmp_path / "rows.parquet", batch_rows=50)
    model = learner(max_depth=3, cv=4).fit(stream, "y", sample_weight="w", groups="owner")
    cv = model.fit_.validation
    rows, folds = Validation.row_sums.func(cv), Validation.fold_sums.func(cv)
    assert cv.row_sums is not rows
    assert cv.standard_error == pytest.approx(estimate_of(rows).standard_error)
    for method in ("rows", "bayle"):
        assert cv.interval(method=method) == pytest.approx(interval_of(rows, folds, 0.9, method))


def test_other_scores_are_means_of_folds_corrected_for_shared_rows():
    X, y = load_iris(return_X_y=True)
    model = TreeClassifier(cv=5, scoring="f1_macro").fit(X, y)
    spread = model.cv_scores_.std(ddof=1)
    assert model.cv_score_ == pytest.approx(model.cv_scores_.mean())
    assert model.cv_standard_error_ == pytest.approx(spread * np.sqrt(1 / 5 + 1 / 4))
    low, high = model.cv_interval(0.9)
    assert high - low == pytest.approx(2 * quantile_of(0.9) * model.cv_standard_error_)
    with pytest.raises(ValueError, match="needs a mean over rows or R²"):
        model.cv_interval(method="bayle")
    assert math.isnan(mean_of_folds(np.array([0.5]), np.array([5]), 10).standard_error)


def test_targets_that_are_equal_are_explained_or_not():
    for error, expected in ((0.0, 1.0), (1.0, 0.0)):
        sums = LossSums.of(np.full(3, error), np.full(3, 1e-17), None, np.zeros(3, int), 1)
        assert score_of(sums)[0] == expected


def test_arguments_are_checked():
    model = TreeClassifier(cv=4).fit(*noise()[:2])
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        model.cv_interval(90)
    with pytest.raises(ValueError, match="'rows', 'bayle' or 'nested'"):
        model.cv_interval(method="guess")
    with pytest.raises(AttributeError, match=r"cv_interval\(\) needs cross-validation"):
        TreeClassifier(cv=None).fit(*noise()[:2]).cv_interval()


@pytest.mark.parametrize("learner", [TreeClassifier, TreeRegressor])
def test_rows_without_weight_add_no_precision(learner):
    X, y, _ = noise()
    y = y if learner is TreeClassifier else y + X[:, 0]
    weights = np.resize([1.0, 0.0], len(y))
    kept = weights > 0
    fold = np.arange(len(y)) // 2 % 4
    whole = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(4)]
    half = [(np.flatnonzero(fold[kept] != k), np.flatnonzero(fold[kept] == k)) for k in range(4)]
    a = learner(cv=whole, min_samples_leaf=5).fit(X, y, weights)
    b = learner(cv=half, min_samples_leaf=5).fit(X[kept], y[kept])
    assert a.cv_score_ == pytest.approx(b.cv_score_)
    assert a.cv_standard_error_ == pytest.approx(b.cv_standard_error_)
    for name in ("cv_error", "standard_error", "paired_error"):
        np.testing.assert_allclose(
            getattr(a.pruning_table_, name), getattr(b.pruning_table_, name), atol=1e-9
        )
