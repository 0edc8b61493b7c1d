import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import RepeatedKFold, ShuffleSplit

from crosscut import RuleClassifier, TreeClassifier, TreeRegressor

X, Y = load_iris(return_X_y=True)
REPEATED = RepeatedKFold(n_splits=4, n_repeats=2, random_state=0)


@pytest.mark.parametrize("learner", [TreeClassifier, TreeRegressor, RuleClassifier])
def test_results_are_those_of_models_that_have_not_seen_the_rows(learner):
    model = learner(cv=REPEATED).fit(X, Y)
    total, times, pairs = 0.0, np.zeros(len(Y)), []
    for k, (train, test) in enumerate(REPEATED.split(X)):
        alone = learner(cv=None).fit(X[train], Y[train])
        said = alone.predict(X[test])
        pairs += zip(Y[test], said, strict=True)
        values = said[:, None] if learner is TreeRegressor else alone.predict_proba(X[test])
        total = total + np.zeros((len(Y), values.shape[1]))
        total[test] += values
        times[test] += 1
        assert model.cv_scores_[k] == pytest.approx(alone.score(X[test], Y[test]))
    validation = model.fit_.validation
    np.testing.assert_array_equal(validation.times_held_out, times)
    np.testing.assert_allclose(validation.values, total / times[:, None])
    np.testing.assert_array_equal(validation.rows_by_fold, [len(test) for _, test in REPEATED.split(X)])
    if learner is not TreeRegressor:
        np.testing.assert_array_equal(validation.confusion, confusion_matrix(*zip(*pairs, strict=True)))


def test_rows_that_are_never_held_out():
    cv = ShuffleSplit(2, test_size=0.2, random_state=0)
    model = TreeClassifier(cv=cv).fit(X, Y)
    never = model.fit_.validation.times_held_out == 0
    assert never.any()
    assert np.isnan(model.cv_probabilities_[never]).all()
    with pytest.raises(AttributeError, match="never holds out"):
        _ = model.cv_predictions_
    assert np.isnan(TreeRegressor(cv=cv).fit(X, Y).cv_predictions_[never]).all()


def test_scores_by_another_measure():
    model = TreeClassifier(cv=4, scoring="neg_log_loss").fit(X, Y)
    assert len(model.cv_scores_) == 4
    assert model.cv_score_ == pytest.approx(model.cv_scores_.mean())
    assert (model.cv_scores_ <= 0).all()
    assert (model.fit_.validation.all_scores[1:] > 0.5).all()  # accuracy is still known
