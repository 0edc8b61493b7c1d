"""Estimators trained together are those trained one by one."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut

from crosscut import TreeClassifier, datasets
from crosscut.data.files import split_target
from crosscut.engines.memory import grow
from crosscut.training import growing
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


@pytest.mark.parametrize(("n_rows", "grown"), [(40, [41]), (400, [150, 250, 1])])
def test_balanced_tasks_are_grown_together(monkeypatch, n_rows, grown):
    """Many tasks with the same weights are groups of the core; all others have class weights."""
    sizes = []

    def counted(table, target, tasks, *rest, **options):
        sizes.append(tasks.n_tasks)
        return grow(table, target, tasks, *rest, **options)

    monkeypatch.setattr(growing, "grow", counted)
    X = np.random.default_rng(0).normal(size=(n_rows, 3))
    y = (np.arange(n_rows) < 3 * n_rows / 8).astype(int)
    TreeClassifier(class_weight="balanced", cv=LeaveOneOut()).fit(X, y)
    assert sorted(sizes) == sorted(grown)


def test_balanced_weights_that_are_all_one_are_no_weights():
    X = np.random.default_rng(0).integers(0, 5, (60, 3)).astype(float)
    y = np.arange(60) % 3
    for seed in range(5):
        options = {"cv": 5, "random_state": seed}
        plain, balanced = (TreeClassifier(class_weight=w, **options).fit(X, y) for w in (None, "balanced"))
        same = zip(plain.forest_.trees, balanced.forest_.trees, strict=True)
        assert all(np.array_equal(a.feature, b.feature) for a, b in same)
