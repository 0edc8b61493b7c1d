"""Choices of a pruned tree besides its size: leaf sizes, the scoring, repeated folds."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import mean_absolute_error, roc_auc_score
from sklearn.model_selection import KFold, RepeatedStratifiedKFold

from crosscut import TreeClassifier, TreeRegressor, load_model, save_model

SIZES = (1, 5, 10, 20)
DATA = {TreeClassifier: load_breast_cancer(return_X_y=True), TreeRegressor: load_diabetes(return_X_y=True)}


def fit(learner, **settings):
    X, y = DATA[learner]
    return learner(**{"prune": "best", "random_state": 0} | settings).fit(X, y)


@pytest.mark.parametrize("prune", ["best", "1se"])
@pytest.mark.parametrize("learner", list(DATA))
def test_the_leaf_size_with_the_lowest_error_is_chosen(learner, prune, tmp_path):
    single = {size: fit(learner, prune=prune, min_samples_leaf=size) for size in SIZES}
    errors = {size: model.pruning_table_.cv_error.min() for size, model in single.items()}
    model = fit(learner, prune=prune, min_samples_leaf=SIZES)
    chosen = single[min(reversed(SIZES), key=errors.get)]
    assert model.min_samples_leaf_ == chosen.min_samples_leaf
    assert not model.tree_.difference(chosen.tree_)
    for mine, other in zip(model.cv_trees_, chosen.cv_trees_, strict=True):
        assert not mine.difference(other)
    # the score is corrected for one more choice
    assert model.cv_score_ <= chosen.cv_score_ + 1e-12
    save_model(model, tmp_path / "model")
    assert load_model(tmp_path / "model").cv_score_ == model.cv_score_
    assert model.explain_cost().n == 10


def test_leaf_sizes_of_noise_are_corrected():
    apart = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(100, 4)), rng.normal(size=100)
        settings = {"prune": "best", "random_state": seed}
        several = TreeRegressor(min_samples_leaf=SIZES, **settings).fit(X, y)
        single = TreeRegressor(min_samples_leaf=several.min_samples_leaf_, **settings).fit(X, y)
        apart.append(several.cv_score_ - single.cv_score_)
    assert np.mean(apart) < -0.003


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"min_samples_leaf": SIZES, "prune": None}, r"=\(1, 5, 10, 20\) lists sizes .* prune"),
        ({"min_samples_leaf": (1, 0)}, "min_samples_leaf must be an integer >= 1"),
        ({"repeats": 0}, "repeats must be an integer >= 1, not 0"),
        ({"repeats": 2, "cv": KFold(3)}, "repeats=2 repeats a number of folds, but cv is KFold"),
    ],
)
def test_refusals(settings, message):
    with pytest.raises(ValueError, match=message):
        fit(TreeClassifier, **settings)


def test_nested_intervals_need_one_leaf_size():
    X, y = DATA[TreeClassifier]
    with pytest.raises(ValueError, match="needs one leaf size"):
        fit(TreeClassifier, min_samples_leaf=SIZES).cv_interval(method="nested", X=X, y=y)


def test_repeats_are_scikit_learns():
    X, y = DATA[TreeClassifier]
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=7)
    model = fit(TreeClassifier, cv=5, repeats=3, random_state=7)
    other = TreeClassifier(cv=cv, prune="best").fit(X, y)
    np.testing.assert_array_equal(model.pruning_table_.cv_error, other.pruning_table_.cv_error)
    assert len(model.cv_trees_) == 15


def test_the_area_of_every_pruning_is_scikit_learns(tmp_path):
    _, y = DATA[TreeClassifier]
    model = fit(TreeClassifier, scoring="roc_auc", cv=5)
    table, before = model.pruning_table_, model.fit_.validation.selection.before
    assert table.loss == "auc"
    for row in range(len(table)):
        cv = before.pruned(table, row)
        areas = [
            roc_auc_score(y[cv.rows[begin:end]], cv.fold_values[begin:end, 1])
            for begin, end in zip(cv.row_start[1:-1], cv.row_start[2:], strict=True)
        ]
        assert table.cv_error[row] == pytest.approx(1 - np.mean(areas))
    assert table.cv_error[table.choose("best")] == table.cv_error.min()
    assert model.cv_score_ < np.mean(model.cv_scores_)  # corrected for the choice
    low, high = model.cv_interval()
    assert low < model.cv_score_ < high <= 1
    save_model(model, tmp_path / "model")
    assert load_model(tmp_path / "model").cv_interval() == (low, high)


def test_absolute_errors_choose_the_pruning():
    _, y = DATA[TreeRegressor]
    model = fit(TreeRegressor, scoring="neg_mean_absolute_error", cv=5)
    table, before = model.pruning_table_, model.fit_.validation.selection.before
    assert table.loss == "absolute"
    for row in range(0, len(table), 7):
        cv = before.pruned(table, row)
        assert table.cv_error[row] == pytest.approx(mean_absolute_error(y[cv.rows], cv.decided))
    assert model.cv_score_ < np.mean(model.cv_scores_)
    assert "train MAE" in str(table)


def test_accuracy_by_name_is_the_corrected_default():
    named, plain = (fit(TreeClassifier, scoring=scoring, shrinkage=None) for scoring in ("accuracy", None))
    assert named.cv_standard_error_ == pytest.approx(plain.cv_standard_error_, rel=1e-6)
    low, high = named.cv_interval()
    assert 0 < low < named.cv_score_ < high <= 1
