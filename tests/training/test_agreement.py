"""Every learner treats folds that are hard to learn from in the same way, whatever it learns from."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

from crosscut import CrosscutWarning, RuleClassifier, TreeClassifier, TreeRegressor

N = 12
X = np.zeros((N, 1))
BLOCKS = np.arange(N) // 4  # three folds, in order
CLASSES = np.array(["a", "b", "c"])[BLOCKS]


def of_table(learner):
    def fit(y, weights=None):
        return learner(cv=KFold(3)).fit(X, y, sample_weight=weights)

    return fit


def of_stream(learner):
    def fit(y, weights=None):
        frame = pd.DataFrame({"x": X[:, 0], "y": y, "w": 1.0 if weights is None else weights})
        frame.to_csv("rows.csv", index=False)
        return learner(cv=KFold(3)).fit("rows.csv", "y", sample_weight=None if weights is None else "w")

    return fit


WEIGHTED = [of_table(TreeClassifier), of_stream(TreeClassifier), of_table(RuleClassifier)]
REGRESSORS = [of_table(TreeRegressor), of_stream(TreeRegressor)]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("fit", [*WEIGHTED, *REGRESSORS])
def test_a_fold_without_weight_to_train_on_is_an_error_that_names_it(fit):
    y = np.arange(N) % 2
    with pytest.raises(ValueError, match="model of fold 2 has no row with weight to train on; use fewer"):
        fit(y, weights=1.0 * (BLOCKS == 1))


@pytest.mark.parametrize("fit", WEIGHTED)
def test_a_class_that_a_fold_lacks_is_a_warning_that_names_both(fit):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = fit(CLASSES)
    (warning,) = (warning for warning in said if warning.category is CrosscutWarning)
    assert str(warning.message) == (
        "the model of fold 1 trains on no row of class a, so it never predicts it (2 more lack a class); "
        "use stratified folds and two or more rows of each class"
    )
    assert model.cv_scores_.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("fit", REGRESSORS)
def test_a_fold_of_one_value_scores_1_if_it_is_predicted_and_else_0(fit):
    assert fit(1.0 * BLOCKS).cv_scores_.tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("cv", [2, 3])
def test_folds_of_an_integer_are_only_checked_where_they_can_lack_a_class(cv):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "class b has 2 rows, fewer than the 3 folds")
        TreeClassifier(cv=cv).fit(X, ["a"] * 10 + ["b"] * 2)
        TreeClassifier(cv=cv).fit(X, ["a"] * 10 + ["b"] * 2, sample_weight=[2.0] * 12)
    with pytest.warns(UserWarning, match="no row of class b"):
        TreeClassifier(cv=cv).fit(X, ["a"] * 11 + ["b"])
    with pytest.warns(UserWarning, match="no row of class b"):
        TreeClassifier(cv=cv).fit(X, ["a"] * 10 + ["b"] * 2, sample_weight=[1.0] * 11 + [0.0])
