import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.model_selection import ShuffleSplit

from crosscut import TreeClassifier, TreeRegressor, drop_importance


@pytest.mark.parametrize("classes", [True, False])
def test_each_column_is_dropped_as_if_it_were_not_there(classes):
    X, y = load_wine(return_X_y=True) if classes else load_diabetes(return_X_y=True)
    X = X[:, :5]
    model = (TreeClassifier if classes else TreeRegressor)(max_depth=4)
    found = drop_importance(model, X, y, cv=4)
    assert found.scores_without.shape == (4, 5)
    np.testing.assert_allclose(found.scores, model.set_params(cv=4).fit(X, y).cv_scores_)
    for f in range(5):
        without = model.fit(np.delete(X, f, axis=1), y).cv_scores_
        np.testing.assert_allclose(found.scores_without[:, f], without)
        assert found.importance[f] == pytest.approx((found.scores - without).mean())
        # Nadeau and Bengio 2003: a quarter of the rows is held out
        error = np.std(found.scores - without, ddof=1) * np.sqrt(1 / 4 + 1 / 3)
        assert found.standard_error[f] == pytest.approx(error, rel=0.01)
    best = found.names[found.importance.argmax()]
    assert str(found).splitlines()[1].startswith(best)


def test_any_splitter_and_one_column():
    X, y = load_wine(return_X_y=True)
    found = drop_importance(TreeClassifier(), X[:, :3], y, cv=ShuffleSplit(3, random_state=0))
    assert found.scores.shape == (3,)
    with pytest.raises(ValueError, match="at least two columns"):
        drop_importance(TreeClassifier(), X[:, :1], y)
