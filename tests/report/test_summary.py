import json

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import KFold, RepeatedKFold

from crosscut import TreeClassifier, TreeRegressor
from crosscut.report.summary import summarize


def test_classification():
    X, y = load_iris(return_X_y=True)
    model = TreeClassifier(prune="1se").fit(X, y)
    summary = summarize(model, target="species")
    json.dumps(summary, allow_nan=False)
    assert summary["cv"]["error"] == pytest.approx(1 - model.cv_score_)
    assert summary["cv"]["standard_error"] == pytest.approx(model.cv_standard_error_)
    assert summary["confusion"]["matrix"] == confusion_matrix(y, model.cv_predictions_).tolist()
    chosen = summary["pruning"]["chosen"]
    assert summary["pruning"]["n_leaves"][chosen] == model.get_n_leaves()
    assert summary["cost"]["speedup_in_rows"] >= 1  # of growing, though the trees were pruned afterwards
    assert "11 trees were grown together" in summary["cost"]["words"]
    assert "small nodes are searched tree by tree" in summary["cost"]["words"]


def test_regression():
    X, y = load_diabetes(return_X_y=True)
    model = TreeRegressor(cv=5, max_depth=3, random_state=0).fit(X, y)
    summary = summarize(model)
    json.dumps(summary, allow_nan=False)
    residual = y - model.cv_predictions_
    assert summary["residuals"]["root_mean_square"] == pytest.approx(np.sqrt(np.mean(residual**2)))
    assert summary["residuals"]["median"] == pytest.approx(np.median(residual))
    assert len(summary["cv"]["error_by_fold"]) == 5
    assert summary["coverage"] == {"level": 0.9, "share": model.cv_coverage(0.9)}
    again = TreeRegressor(cv=RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), max_depth=2).fit(X, y)
    assert summarize(again)["coverage"] is None


def test_the_cost_sentence():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 2))
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    words = [
        summarize(TreeClassifier(cv=KFold(5), max_depth=2, **options).fit(X, y))["cost"]["words"]
        for options in ({}, {"class_weight": "balanced", "criterion": "entropy"})
    ]
    assert "times as many row visits" in words[0]
    assert "together only if the class weights of their training sets are the same" in words[1]


def test_missing_values_and_scores_are_named():
    X = np.array([[0.0, np.nan], [1.0, np.nan], [2.0, 1.0]] * 10)
    summary = summarize(TreeClassifier(cv=3, scoring="f1").fit(X, [0, 1, 0] * 10))
    assert [column["missing"] for column in summary["data"]["columns"]] == [0, 20]
    assert summary["cv"]["scoring"] == "f1"


def test_without_cross_validation_only_the_tree_is_described():
    summary = summarize(TreeClassifier(cv=None).fit([[0.0], [1.0]], ["a", "b"]))
    assert summary["tree"]["leaves"] == 2
    assert "cv" not in summary
