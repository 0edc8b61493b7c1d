import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from crosscut import TreeClassifier, TreeRegressor
from crosscut.forest.predict import apply_held_out
from crosscut.forest.tree import probabilities
from crosscut.report.trial import sizes_of
from crosscut.tasks import Tasks


@pytest.mark.parametrize(("learner", "data"), [(TreeClassifier, load_iris), (TreeRegressor, load_diabetes)])
@pytest.mark.parametrize("prune", [None, "best", "1se"])
@pytest.mark.parametrize("shrinkage", [None, "auto"])
def test_every_size_has_the_error_of_its_row_in_the_pruning_table(learner, data, prune, shrinkage):
    X, y = data(return_X_y=True)
    fit = learner(prune=prune, random_state=0, shrinkage=shrinkage).fit(X, y).fit_
    cv, table = fit.validation, fit.pruning_table
    found = sizes_of(fit, fit.schema.matrix(X))
    truth = cv.y[cv.rows]
    assert len(found.sizes) > 2
    for size in found.sizes:
        loss = size.predicted != truth if fit.classes is not None else (size.predicted - truth) ** 2
        if table.loss == "brier":
            trees = type(size.forest)(size.forest.packed.cut(size.inner)[0])
            held_out = apply_held_out(trees, X.astype(np.float32), Tasks.from_splits(splits(cv), len(y)))
            values = probabilities(trees.packed.value)[held_out.node(trees.packed)]
            loss = ((values - np.eye(3)[truth]) ** 2).sum(axis=1)
            assert np.mean(values.argmax(axis=1) == size.predicted) == 1
        assert np.mean(loss) == pytest.approx(table.cv_error[size.row])
        tests = size.inner[: len(size.forest[0])]
        assert tests.sum() + 1 == table.n_leaves[size.row]
    assert np.array_equal(found.sizes[found.chosen].predicted, cv.decided)


def splits(cv):
    """The splits of a cross-validation, from the rows it held out."""
    tests = np.split(cv.rows, cv.row_start[2:-1])
    return [(np.setdiff1d(np.arange(len(cv.y)), test), test) for test in tests]


def test_without_rows_only_smaller_sizes_are_known():
    X, y = load_iris(return_X_y=True)
    fit = TreeClassifier(prune="1se", shrinkage=None, random_state=0).fit(X, y).fit_
    found = sizes_of(fit, None)
    assert found.chosen == 0
    assert found.sizes[0].inner[: len(fit.final)].sum() == fit.final.n_leaves - 1
    truth = fit.validation.y[fit.validation.rows]
    for size in found.sizes:
        assert np.mean(size.predicted != truth) == pytest.approx(fit.pruning_table.cv_error[size.row])
