"""Metrics of all splits at once are scikit-learn's, split by split."""

import warnings

import numpy as np
import pytest
from sklearn import metrics
from sklearn import model_selection as scikit
from sklearn.tree import DecisionTreeClassifier

import crosscut
from crosscut.model_selection.metrics import OF_NUMBERS, Segments, quick_metric
from crosscut.model_selection.scoring import PartScores

from .tie_free import make_data, tie_free_data

NUMBERS = [function for function in OF_NUMBERS if function.__module__.startswith("sklearn.metrics")]


@pytest.mark.parametrize("function", NUMBERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_numbers(function, weighted):
    rng = np.random.default_rng(0)
    rows = [np.arange(5), np.arange(5, 7), np.arange(3, 40)]
    truth, predicted, weights = rng.normal(size=40), rng.normal(size=44), rng.random(40)
    segments = Segments.of(rows, truth, weights if weighted else None)
    found = OF_NUMBERS[function](segments, predicted)
    expected = [
        function(truth[part], predicted[begin:end], sample_weight=weights[part] if weighted else None)
        for part, begin, end in zip(rows, segments.first, segments.first[1:], strict=False)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-13)


CLASSES = [
    (2, ["accuracy", "f1", "f1_macro", "f1_micro", "f1_weighted", "neg_log_loss", "roc_auc"]),
    (4, ["accuracy", "f1_macro", "f1_micro", "f1_weighted", "neg_log_loss"]),
]


@pytest.mark.parametrize(("n_classes", "names"), CLASSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_classes(n_classes, names, weighted, monkeypatch):
    estimator = DecisionTreeClassifier(min_samples_split=40, random_state=0)
    X, y, *weights = tie_free_data(estimator, 300, 3, n_classes=n_classes, cv=4, weighted=weighted)
    fit = {"sample_weight": weights[0]} if weighted else {}
    options = {"scoring": names, "refit": False, "cv": 4, "return_train_score": True}
    grid = {"max_depth": [1, 2, 3, None], "ccp_alpha": [0.0, 0.01]}
    expected = scikit.GridSearchCV(estimator, grid, **options).fit(X, y, **fit).cv_results_
    with monkeypatch.context() as patch:
        patch.setattr(PartScores, "_one_by_one", None)  # nothing is scored split by split
        found = crosscut.GridSearchCV(estimator, grid, **options).fit(X, y, **fit).cv_results_
    for name in names:
        for part in ("test", "train"):
            key = f"mean_{part}_{name}"
            np.testing.assert_allclose(found[key], expected[key], rtol=1e-12, atol=1e-12, err_msg=key)


def test_only_plain_scorers_are_quick():
    two, three = np.array([0, 1]), np.array(["a", "b", "c"])
    accuracy = metrics.make_scorer(metrics.accuracy_score)
    assert quick_metric(accuracy, two) is not None
    assert quick_metric(accuracy, None) is None
    assert quick_metric(metrics.make_scorer(metrics.accuracy_score, normalize=False), two) is None
    assert quick_metric(metrics.get_scorer("roc_auc"), two) is not None
    assert quick_metric(metrics.get_scorer("roc_auc"), three) is None
    assert quick_metric(metrics.get_scorer("roc_auc_ovr"), three) is None
    assert quick_metric(metrics.get_scorer("f1"), two) is not None
    assert quick_metric(metrics.get_scorer("f1"), three) is None
    assert quick_metric(metrics.get_scorer("f1"), np.array(["no", "yes"])) is None
    assert quick_metric(metrics.make_scorer(metrics.f1_score, zero_division=1), two) is None
    assert quick_metric(metrics.get_scorer("neg_mean_squared_error"), None)[0] == -1
    assert quick_metric(lambda estimator, X, y: 0.0, two) is None


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning", "ignore:Scoring failed")
@pytest.mark.parametrize("scoring", ["f1", "neg_log_loss", "roc_auc"])
def test_where_scikit_warns_or_fails_so_do_we(scoring):
    X, y = make_data(1, 90, 1)
    order = np.argsort(y, kind="stable")
    cv = scikit.KFold(3)  # test sets and training sets of one class
    found = [
        module.cross_val_score(
            DecisionTreeClassifier(max_depth=1), X[order], y[order], cv=cv, scoring=scoring
        )
        for module in (crosscut, scikit)
    ]
    np.testing.assert_allclose(*found, rtol=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_the_log_loss_of_one_class_is_undefined():
    X, y = np.arange(12.0).reshape(-1, 1), np.zeros(12, int)
    scores = crosscut.cross_val_score(DecisionTreeClassifier(), X, y, cv=3, scoring="neg_log_loss")
    assert np.isnan(scores).all()


@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy", "f1", "roc_auc"])
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_trees_have_equal_ranks(scoring, weighted):
    """Sums over the leaves of the largest trees differ in the last bit between settings."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(80, 4))
        y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
        fit = {"sample_weight": rng.random(80)} if weighted else {}
        grid = {"max_depth": [2, 3, 4, 6, None], "min_samples_leaf": [1, 2, 5], "min_samples_split": [2, 4]}
        search = crosscut.GridSearchCV(DecisionTreeClassifier(random_state=0), grid, cv=4, scoring=scoring)
        results = search.fit(X, y, **fit).cv_results_
        splits = np.stack([results[f"split{k}_test_score"] for k in range(4)], axis=1)
        alike = (abs(splits[:, None] - splits) < 1e-12).all(axis=2)
        assert not (alike & (splits[:, None] != splits).any(axis=2)).any(), seed


def test_a_training_fold_without_the_positive_class():
    X, y = np.arange(12.0).reshape(-1, 1), np.repeat([0, 1], [8, 4])
    cv = [(np.arange(8), np.arange(8, 12)), (np.arange(4, 12), np.arange(4))]
    for scoring in ("f1", "f1_macro", "accuracy"):
        tree = DecisionTreeClassifier(random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = scikit.cross_val_score(tree, X, y, cv=cv, scoring=scoring)
            found = crosscut.cross_val_score(tree, X, y, cv=cv, scoring=scoring)
        np.testing.assert_array_equal(found, expected)
