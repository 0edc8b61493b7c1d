"""Warnings about rows and columns that make cross-validated numbers misleading."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, TimeSeriesSplit

from crosscut import CrosscutWarning, TreeClassifier, TreeRegressor

N = 200


def plain():
    """A table without anything to warn about."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N, 4)).round(2), columns=[*"abcd"])
    return X, np.where(X["a"] + rng.normal(size=N) > 0, "yes", "no")


def notes(X, y, learner=TreeClassifier, **settings):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = learner(**{"cv": 10, "random_state": 0} | settings).fit(X, y)
    texts = [str(each.message) for each in caught if each.category is CrosscutWarning]
    assert list(model.fit_.notes) == texts
    assert all(each.filename == __file__ for each in caught)
    return texts


def test_plain_rows_give_no_warning():
    X, y = plain()
    assert notes(X, y) == []
    assert notes(X, (y == "yes") * 1.0, TreeRegressor) == []
    assert notes(np.arange(N)[:, None], y) == []  # the only column is meant
    few = X > 0
    assert notes(few, y) == []  # rows of few possible values are equal by nature


@pytest.mark.parametrize(
    ("column", "parts"),
    [
        (
            {"rownames": np.random.default_rng(1).permutation(N)},
            ("'rownames'", "numbers the rows", "leave it out"),
        ),
        ({"Unnamed: 0": np.arange(N) * 3}, ("'Unnamed: 0'", "numbers the rows")),
        ({"x": np.arange(7, N + 7)}, ("'x'", "numbers the rows")),
        (
            {"name": [f"n{i % 150}" for i in range(N)]},
            ("'name'", "150 categories in 200 rows"),
        ),
        (
            {"day": pd.date_range("2020", periods=N)},
            ("order of time", "TimeSeriesSplit", "--time day"),
        ),
        ({"year": np.arange(N) // 5}, ("'year'", "order of time")),
        ({"born": pd.to_datetime("2020") + pd.to_timedelta(np.arange(N) * 37 % N, "D")}, ("holds time",)),
    ],
)
def test_suspicious_columns_are_named(column, parts):
    X, y = plain()
    (note,) = notes(X.assign(**column), y)
    for part in parts:
        assert part in note


def test_times_are_fine_if_folds_follow_them():
    X, y = plain()
    X["day"] = pd.date_range("2020", periods=N)
    assert notes(X, y, cv=TimeSeriesSplit(3)) == []


def test_rare_classes_are_named():
    X, y = plain()
    y[:7] = "few"
    (note,) = notes(X, y)
    assert "class few has 7 rows, fewer than the 10 folds" in note


@pytest.mark.parametrize("learner", [TreeClassifier, TreeRegressor])
def test_copies_are_counted_and_scores_compared(learner):
    X, y = plain()
    X, y = pd.concat([X, X[:60]]), np.concatenate([y, y[:60]])
    y = y if learner is TreeClassifier else (y == "yes") * 1.0
    (note,) = notes(X, y, learner)
    model = learner(cv=10, random_state=0).fit(X, y)
    alone, predicted = np.arange(60, 200), model.cv_predictions_
    if learner is TreeClassifier:
        scores = np.mean(predicted[alone] == y[alone]), np.mean(predicted == y)
    else:
        scores = [
            1 - np.mean((p - t) ** 2) / t.var() for p, t in ((predicted[alone], y[alone]), (predicted, y))
        ]
    assert "120 of 260 rows are copies of other rows" in note
    assert f"{scores[0]:.3f} on the rows without a copy, {scores[1]:.3f} on all" in note
    groups = np.r_[np.arange(200), np.arange(60)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner(cv=GroupKFold(10)).fit(X, y, groups=groups)


def test_rows_that_differ_in_the_target_alone_are_no_copies():
    X, y = plain()
    X, y = pd.concat([X, X[:60]]), np.concatenate([y, np.where(y[:60] == "yes", "no", "yes")])
    assert notes(X, y) == []
