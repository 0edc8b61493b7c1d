import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from crosscut import TreeClassifier


def test_report_of_a_run():
    X, y = load_breast_cancer(return_X_y=True)
    model = TreeClassifier().fit(X, y)
    report = model.explain_cost()
    assert (report.n, report.a) == (10, 30)
    assert report.t_e > 0
    assert report.t_p > 0
    np.testing.assert_array_equal(report.f, model.forest_.sharing.f)
    # every tree splits its root, which holds all of its training rows: ten times nine tenths, and all
    assert report.serial_rows[0] == 10 * len(y)
    assert report.tree_rows[0] == len(y)
    assert 1 <= report.predicted_speedup <= 10
    assert 1 <= report.actual_speedup <= 11
    assert report.measured_speedup is None
    text = str(report)
    assert "f(i)" in text
    assert "rows visited" in text


def test_both_ways_are_run_if_the_data_are_given():
    X, y = load_breast_cancer(return_X_y=True)
    report = TreeClassifier(n_jobs=1).fit(X, y).explain_cost(X, y)
    assert report.measured_speedup > 0
    assert "processor time" in str(report)


@pytest.mark.parametrize("settings", [{"ccp_alpha": 0.01}, {"prune": "pessimistic"}, {"prune": "1se"}])
def test_the_cost_is_that_of_the_trees_before_pruning(settings):
    X, y = load_breast_cancer(return_X_y=True)
    whole = TreeClassifier().fit(X, y)
    pruned = TreeClassifier(**settings).fit(X, y)
    assert pruned.get_n_leaves() < whole.get_n_leaves()
    expected, found = whole.explain_cost(), pruned.explain_cost()
    for name in ("f", "tree_rows", "serial_rows", "parallel_rows", "actual_speedup"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


def test_without_folds_there_is_nothing_to_explain():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(AttributeError, match="needs cross-validation"):
        TreeClassifier(cv=None).fit(X, y).explain_cost()
