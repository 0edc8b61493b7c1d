import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import roc_auc_score

from crosscut import TreeClassifier, TreeRegressor
from crosscut.report.evidence import calibration, most_wrong, ranking


@pytest.fixture(scope="module")
def cancer():
    return TreeClassifier(cv=5, random_state=0, max_depth=3).fit(*load_breast_cancer(return_X_y=True))


def test_the_rarer_class_is_ranked(cancer):
    (curve,) = ranking(cancer.fit_)
    assert curve["class"] == "0"
    known = load_breast_cancer().target == 0
    assert curve["roc_area"] == pytest.approx(roc_auc_score(known, cancer.cv_probabilities_[:, 0]))
    assert curve["roc"][0] == (0.0, 0.0)
    assert curve["roc"][-1] == (1.0, 1.0)


def test_calibration_counts_every_row_once(cancer):
    bins = calibration(cancer.fit_.validation)
    assert sum(each["rows"] for each in bins) == 569
    right = sum(each["rows"] * each["accuracy"] for each in bins) / 569
    assert right == pytest.approx(cancer.cv_score_)
    assert all(0.5 <= each["probability"] <= 1 for each in bins)


def test_the_most_wrong_rows_are_wrong_and_sure(cancer):
    found = most_wrong(cancer.fit_.validation)
    y = load_breast_cancer().target
    assert len(found) == 10
    for each in found:
        assert str(y[each["row"]]) == each["actual"] != each["predicted"]
    sure = cancer.cv_probabilities_.max(axis=1)[cancer.cv_predictions_ != y]
    assert found[0]["probability"] == pytest.approx(sure.max())


def test_the_most_wrong_numbers_are_furthest_off():
    X, y = load_diabetes(return_X_y=True)
    model = TreeRegressor(cv=5, max_depth=3, random_state=0).fit(X, y)
    found = most_wrong(model.fit_.validation, most=3)
    far = np.argsort(-np.abs(y - model.cv_predictions_))[:3]
    assert [each["row"] for each in found] == far.tolist()


def test_nothing_is_listed_if_nothing_is_wrong():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    assert most_wrong(TreeClassifier(cv=2).fit(X, X[:, 0]).fit_.validation) == []
