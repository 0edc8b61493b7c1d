"""Estimators trained together are those trained one by one."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut

from crosscut import TreeClassifier, datasets
from crosscut.data.files import split_target
from crosscut.engines.memory import grow
from crosscut.training import train
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


def test_tasks_with_the_same_balanced_weights_are_grown_together(monkeypatch):
    grown = []

    def counted(table, target, tasks, *rest, **options):
        grown.append(tasks.n_tasks)
        return grow(table, target, tasks, *rest, **options)

    monkeypatch.setattr(train, "grow", counted)
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = (np.arange(40) < 15).astype(int)
    TreeClassifier(class_weight="balanced", cv=LeaveOneOut()).fit(X, y)
    assert grown == [1, 15, 25]
