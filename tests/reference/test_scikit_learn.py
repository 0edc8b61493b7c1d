"""Reference trees are scikit-learn's: the same tests, thresholds, leaf values and ways for missing values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.reference.tree import grow
from crosscut.tasks.growth import Growth, Limits

from .problem import one_task

CRITERIA = {"gini": "gini", "entropy": "entropy", "squared_error": "variance"}


def both_trees(X, y, criterion, weights=None, **limits):
    """Grow the same tree with scikit-learn and with the reference."""
    if criterion == "squared_error":
        model, target = DecisionTreeRegressor(random_state=0, **limits), Target(y, 0, weights)
    else:
        model = DecisionTreeClassifier(criterion=criterion, random_state=0, **limits)
        target = Target(y.astype(np.int32), int(y.max()) + 1, weights)
    theirs = model.fit(X, y, sample_weight=weights).tree_
    tasks = one_task(len(y), Limits(**limits))
    ours = grow(Table.from_data(X), target, tasks, Growth(CRITERIA[criterion])).trees[0]
    return ours, theirs


def compare(ours, theirs, ours_at=0, theirs_at=0):
    """Compare trees from two nodes on: how many nodes were equal, and the sizes of those with ties.

    Where the tests differ, both must leave the same impurity: scikit-learn chooses between columns of equal
    quality at random, and lets rounding decide. Nothing can be compared below such a node. Of a pure node,
    scikit-learn's weighted impurity may round to more than zero; then it goes on and we do not.
    """
    one_node_alike(ours, theirs, ours_at, theirs_at)
    children = ours.children[ours.first_child[ours_at] : ours.first_child[ours_at + 1]].tolist()
    their_children = [theirs.children_left[theirs_at], theirs.children_right[theirs_at]]
    if not children or their_children[0] < 0:
        assert not children
        assert their_children[0] < 0 or theirs.impurity[theirs_at] < 1e-14
        return 1, []
    ours_left = sum(ours.weight[c] * ours.impurity[c] for c in children)
    theirs_left = sum(theirs.weighted_n_node_samples[c] * theirs.impurity[c] for c in their_children)
    assert ours_left == pytest.approx(theirs_left, rel=1e-9, abs=1e-9)
    if not (
        ours.feature[ours_at] == theirs.feature[theirs_at]
        and ours.threshold[ours_at] == theirs.threshold[theirs_at]
        and (ours.missing[ours_at] == 0) == bool(theirs.missing_go_to_left[theirs_at])
    ):
        return 0, [ours.n_rows[ours_at]]
    below = [compare(ours, theirs, *pair) for pair in zip(children, their_children, strict=True)]
    return 1 + sum(equal for equal, _ in below), [n_rows for _, ties in below for n_rows in ties]


def one_node_alike(ours, theirs, i, j):
    assert ours.n_rows[i] == theirs.n_node_samples[j]
    assert ours.weight[i] == pytest.approx(theirs.weighted_n_node_samples[j])
    assert ours.impurity[i] == pytest.approx(theirs.impurity[j], abs=1e-9)
    scale = theirs.weighted_n_node_samples[j] if ours.value.shape[1] > 1 else 1.0
    assert ours.value[i] == pytest.approx(theirs.value[j, 0] * scale)


def random_problem(seed, criterion, *, weighted, missing):
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(60, 200)), int(rng.integers(1, 6))
    X = rng.normal(size=(n_rows, n_columns)).astype(np.float32)
    y = X[:, 0] * 2 + np.abs(X[:, -1]) + rng.normal(size=n_rows)
    if criterion != "squared_error":
        y = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    if missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X, y, rng.random(n_rows) + 0.1 if weighted else None


LIMITS = [
    {},
    {"max_depth": 3},
    {"min_samples_leaf": 6},
    {"min_samples_split": 15},
    {"min_impurity_decrease": 0.01234},
    {"max_depth": 5, "min_samples_leaf": 3, "min_samples_split": 9, "min_impurity_decrease": 0.00123},
]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_random_data_gives_the_same_tree(criterion, weighted, missing, limits):
    nodes, ties = 0, []
    for seed in range(5):
        X, y, weights = random_problem(seed, criterion, weighted=weighted, missing=missing)
        ours, theirs = both_trees(X, y, criterion, weights, **limits)
        equal, tied = compare(ours, theirs)
        nodes, ties = nodes + equal, ties + tied
    # ties belong to small nodes, and hardly occur if weights differ and leaves are not tiny
    assert max(ties, default=0) < 50
    assert nodes > 3 * len(ties)
    if weighted and limits.get("max_depth", limits.get("min_samples_leaf")):
        assert len(ties) <= 2


@given(seed=st.integers(0, 2**32), half=st.integers(1, 20), min_samples_leaf=st.integers(1, 3))
@settings(max_examples=200, deadline=None)
def test_ties_within_a_column_are_broken_alike(seed, half, min_samples_leaf):
    """One column, few values, many missing: the first of equal tests wins, in the same order."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (2 * half, 1)).astype(np.float32)
    X[rng.random(2 * half) < 0.3] = np.nan
    X[0] = 0.0
    # integers of mean 0: scikit-learn computes variances from the same integers, so that ties are exact
    y = rng.integers(-1, 2, half) * 1.0
    ours, theirs = both_trees(X, np.concatenate([y, -y]), "squared_error", min_samples_leaf=min_samples_leaf)
    assert len(ours) == theirs.node_count
    np.testing.assert_array_equal(ours.threshold[ours.feature >= 0], theirs.threshold[theirs.feature >= 0])
    inner = ours.feature >= 0
    np.testing.assert_array_equal(ours.missing[inner] == 0, theirs.missing_go_to_left[inner] == 1)


def test_values_closer_than_the_gap_are_not_split():
    X = np.array([[0.0], [5e-8], [1e-7], [2.5e-7], [1.0]], np.float32)
    y = np.array([0, 1, 0, 1, 0])
    ours, theirs = both_trees(X, y, "gini")
    np.testing.assert_array_equal(ours.threshold[ours.feature >= 0], theirs.threshold[theirs.feature >= 0])
    assert len(ours) == theirs.node_count < 9  # five rows of their own would need nine nodes


def test_a_constant_column_with_missing_values_still_tells_present_from_missing():
    X = np.array([[1.0], [1.0], [np.nan], [np.nan]], np.float32)
    ours, theirs = both_trees(X, np.array([0, 0, 1, 1]), "gini")
    assert ours.threshold[0] == theirs.threshold[0] == np.inf
    assert ours.missing[0] == 1
    assert len(ours) == theirs.node_count == 3


def test_rows_of_weight_zero_do_not_train():
    X, y, _ = random_problem(5, "gini", weighted=False, missing=True)
    weights = np.random.default_rng(0).integers(0, 3, len(y)) * 1.0
    ours, theirs = both_trees(X, y, "gini", weights, min_samples_leaf=5)
    assert compare(ours, theirs)[0] > 5
    assert ours.n_rows[0] == np.count_nonzero(weights)
