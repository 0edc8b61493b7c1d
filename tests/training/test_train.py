"""Estimators trained together are those trained one by one."""

import pytest
from sklearn.base import clone

from crosscut import TreeClassifier, datasets
from crosscut.data.files import split_target
from crosscut.training.train import train_together

LIMITS = [
    {"max_depth": 3},
    {"min_samples_leaf": 0.01, "prune": "best"},
    {"min_samples_split": 20, "criterion": "entropy", "prune": "1se"},
    {"min_impurity_decrease": 0.001, "criterion": "entropy"},
]


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_together_is_one_by_one(class_weight):
    X, y = split_target(datasets.churn(), "churned")
    base = TreeClassifier(cv=5, random_state=0, class_weight=class_weight)
    models = [clone(base).set_params(**limits) for limits in LIMITS]
    alone = [clone(model).fit(X, y) for model in models]
    train_together(models, X, y)
    for model, expected in zip(models, alone, strict=True):
        assert all(a.equals(b) for a, b in zip(model.forest_.trees, expected.forest_.trees, strict=True))
        assert model.cv_score_ == expected.cv_score_
        assert (model.cv_predictions_ == expected.cv_predictions_).all()
        assert (model.pruning_table_.cv_error == expected.pruning_table_.cv_error).all()
