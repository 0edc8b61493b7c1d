import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from crosscut import TreeClassifier, TreeRegressor
from crosscut.report.trial import sizes_of


@pytest.mark.parametrize(("learner", "data"), [(TreeClassifier, load_iris), (TreeRegressor, load_diabetes)])
@pytest.mark.parametrize("prune", [None, "best", "1se"])
def test_every_size_has_the_error_of_its_row_in_the_pruning_table(learner, data, prune):
    X, y = data(return_X_y=True)
    fit = learner(prune=prune, random_state=0).fit(X, y).fit_
    cv, table = fit.validation, fit.pruning_table
    found = sizes_of(fit, fit.schema.matrix(X))
    truth = cv.y[cv.rows]
    assert len(found.sizes) > 2
    for size in found.sizes:
        loss = size.predicted != truth if fit.classes is not None else (size.predicted - truth) ** 2
        assert np.mean(loss) == pytest.approx(table.cv_error[size.row])
        tests = size.inner[: len(found.forest[0])]
        assert tests.sum() + 1 == table.n_leaves[size.row]
    assert np.array_equal(found.sizes[found.chosen].predicted, cv.decided)


def test_without_rows_only_smaller_sizes_are_known():
    X, y = load_iris(return_X_y=True)
    fit = TreeClassifier(prune="1se", random_state=0).fit(X, y).fit_
    found = sizes_of(fit, None)
    assert found.chosen == 0
    assert found.sizes[0].inner[: len(fit.final)].sum() == fit.final.n_leaves - 1
    truth = fit.validation.y[fit.validation.rows]
    for size in found.sizes:
        assert np.mean(size.predicted != truth) == pytest.approx(fit.pruning_table.cv_error[size.row])
