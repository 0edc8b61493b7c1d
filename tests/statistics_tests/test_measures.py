"""Intervals of losses by row and of areas under ROC curves, against scikit-learn's metrics and textbooks."""

import numpy as np
import pytest
from scipy.stats import t
from sklearn import metrics
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import KFold, RepeatedStratifiedKFold

from crosscut import RuleClassifier, TreeClassifier, TreeRegressor
from crosscut.statistics.measures import row_losses

Z = 1.6448536269514722


def classes(n_classes):
    X, y = (load_breast_cancer if n_classes == 2 else load_iris)(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    return X, names, np.random.default_rng(0).integers(1, 4, len(y)).astype(float)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", ["rows", "bayle"])
def test_losses_of_classes_are_scikit_learns(n_classes, method):
    X, y, w = classes(n_classes)
    model = TreeClassifier(cv=5, max_depth=3).fit(X, y, w)
    names, given = model.classes_, model.cv_probabilities_
    cost = np.arange(n_classes**2).reshape(n_classes, -1).astype(float)
    matrix = metrics.confusion_matrix(y, model.cv_predictions_, sample_weight=w)
    expected = {
        "log": metrics.log_loss(y, given, sample_weight=w),
        "brier": np.average(((given - (y[:, None] == names)) ** 2).sum(axis=1), weights=w)
        / (2 if n_classes == 2 else 1),
        "cost": (matrix * cost).sum() / w.sum(),
        "own": np.average(y != model.cv_predictions_, weights=w),
    }
    given_as = {"log": "log", "brier": "brier", "cost": cost, "own": lambda a, b: a != b}
    for name, measure in given_as.items():
        low, high = model.cv_interval(0.9, method, measure=measure)
        assert (low + high) / 2 == pytest.approx(expected[name], rel=1e-9)
        loss = row_losses(model.fit_.validation, measure)
        rows = model.fit_.validation.rows
        weight = w[rows]
        if method == "rows":
            spread = np.average((loss - expected[name]) ** 2, weights=weight)
            assert (high - low) / 2 == pytest.approx(Z * np.sqrt(spread * (w @ w)) / w.sum(), rel=1e-9)
        assert high > low
    assert model.cv_interval(0.9, method, measure="accuracy") == model.cv_interval(0.9, method)
    low, high = model.cv_interval(0.9, method, measure="zero_one")
    assert (1 - high, 1 - low) == pytest.approx(model.cv_interval(0.9, method))


def test_losses_of_numbers_are_scikit_learns():
    X, y = load_diabetes(return_X_y=True)
    model = TreeRegressor(cv=5, max_depth=3).fit(X, y)
    said = model.cv_predictions_
    for measure, loss in (("squared", (y - said) ** 2), ("absolute", abs(y - said))):
        reach = Z * loss.std() / np.sqrt(len(y))
        expected = loss.mean() - reach, loss.mean() + reach
        assert model.cv_interval(measure=measure) == pytest.approx(expected)
        assert model.cv_interval(measure=lambda a, b, of=measure: abs(a - b) ** (1 + (of == "squared"))) == (
            pytest.approx(expected)
        )
    assert model.cv_interval(measure="r2") == model.cv_interval()


def placements(y, score):
    """Area under the ROC curve, and the placements of the positive and the negative rows, pair by pair."""
    a, b = score[y == 1], score[y == 0]
    pairs = (a[:, None] > b) + 0.5 * (a[:, None] == b)
    return pairs.mean(), pairs.mean(axis=1), pairs.mean(axis=0)


@pytest.mark.parametrize("n_folds", [1, 4])
def test_area_under_the_curve_has_delongs_variance(n_folds):
    X, y = load_breast_cancer(return_X_y=True)
    cv = 4 if n_folds == 4 else [(np.arange(300), np.arange(300, 569))]
    model = TreeClassifier(cv=cv, max_depth=3, random_state=0, scoring="roc_auc").fit(X, y)
    cv = model.fit_.validation
    areas, *sides = zip(
        *(
            placements(y[cv.rows[begin:end]], cv.fold_values[begin:end, 1])
            for begin, end in zip(cv.row_start[1:-1], cv.row_start[2:], strict=True)
        ),
        strict=True,
    )
    variance = 0.0
    for of_folds in sides:  # placements of all folds around their common mean, as folds may have few rows
        every = np.concatenate(of_folds)
        weight = np.concatenate([np.full(len(one), 1 / len(one) / n_folds) for one in of_folds])
        variance += np.sum((weight * (every - every.mean())) ** 2) * len(every) / (len(every) - 1)
    if n_folds == 1:  # DeLong, DeLong and Clarke-Pearson 1988
        assert variance == pytest.approx(sum(one[0].var(ddof=1) / len(one[0]) for one in sides))
    area, error = np.mean(areas), np.sqrt(variance)
    assert model.cv_score_ == pytest.approx(area)
    assert model.cv_standard_error_ == pytest.approx(error, rel=1e-9)
    reach = t.ppf(0.95, min(len(np.concatenate(side)) for side in sides) - 1) * error
    assert model.cv_interval() == pytest.approx((area - reach, min(area + reach, 1)))
    plain = TreeClassifier(cv=model.cv, max_depth=3, random_state=0).fit(X, y)
    assert plain.cv_interval(measure="auc") == pytest.approx(model.cv_interval())


def test_intervals_stay_in_range():
    X, y = load_breast_cancer(return_X_y=True)
    few = np.r_[np.flatnonzero(y == 0)[:20], np.flatnonzero(y == 1)[:40]]
    model = TreeClassifier(cv=5, max_depth=2, scoring="roc_auc").fit(X[few], y[few])
    assert model.cv_interval(0.999)[1] == 1
    assert model.cv_interval(0.9999, measure="brier")[0] == 0
    scored = TreeClassifier(cv=5, max_depth=2, scoring="neg_brier_score").fit(X[few], y[few])
    assert scored.cv_interval(0.9999)[1] == 0
    assert model.cv_interval(0.9999, measure=np.array([[0, 3], [1, 0]]))[0] == 0
    numbers = TreeRegressor(cv=5, max_depth=2).fit(X[few], y[few] + 0.01 * X[few, 0])
    assert numbers.cv_interval(0.9999)[1] <= 1


@pytest.mark.parametrize(
    ("scoring", "measure"),
    [("neg_log_loss", "log"), ("neg_brier_score", "brier"), ("accuracy", "zero_one"), ("roc_auc", "auc")],
)
def test_scorings_have_standard_errors_from_rows(scoring, measure):
    X, y = load_breast_cancer(return_X_y=True)
    model = TreeClassifier(cv=KFold(4, shuffle=True, random_state=0), max_depth=3, scoring=scoring)
    model.fit(X[:400], y[:400])
    assert model.cv_score_ == np.mean(model.cv_scores_)
    low, high = model.cv_interval(measure=measure)
    assert 2 * Z * model.cv_standard_error_ == pytest.approx(high - low, rel=0.03)


def test_repeats_are_no_new_rows():
    X, y = load_breast_cancer(return_X_y=True)
    errors = [
        TreeClassifier(cv=cv, max_depth=2, scoring="roc_auc").fit(X, y).cv_standard_error_
        for cv in (5, RepeatedStratifiedKFold(n_splits=5, n_repeats=10, random_state=0))
    ]
    assert 0.6 < errors[1] / errors[0] < 1.1


def test_nested_intervals_of_losses():
    X, y = load_diabetes(return_X_y=True)
    model = TreeRegressor(cv=5, prune="1se", min_samples_leaf=5).fit(X, y)
    squared = model.cv_interval(0.9, "nested", X, y, measure="squared")
    named = model.cv_interval(0.9, "nested", X, y, measure=lambda a, b: (a - b) ** 2)
    assert squared == pytest.approx(named)
    plain = model.cv_interval(measure="squared")
    assert squared[1] - squared[0] > plain[1] - plain[0]


def test_rules_have_measures_too():
    X, y, _ = classes(3)
    model = RuleClassifier(cv=4).fit(X, y)
    low, high = model.cv_interval(measure="brier")
    assert 0 < low < high < 0.5


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("r2", r"one of \['zero_one', 'log', 'brier'\]"),
        ("guess", "not 'guess'"),
        (np.eye(2), "a row and a column per class"),
        (lambda a, b: 0.5, "one finite loss for each of 150 rows"),
        (lambda a, b: np.where(a == b, np.nan, 1), "one finite loss"),
    ],
)
def test_refusals(measure, message):
    X, y, _ = classes(3)
    model = TreeClassifier(cv=3).fit(X, y)
    for method, data in (("rows", ()), ("nested", (X, y))):
        with pytest.raises(ValueError, match=message):
            model.cv_interval(0.9, method, *data, measure=measure)
    for method in ("bayle", "nested"):
        with pytest.raises(ValueError, match="needs a mean over rows or R²"):
            model.cv_interval(0.9, method, X, y, measure="auc")
