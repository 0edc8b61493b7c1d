"""Which parameters need trees of their own, and which only make larger trees smaller."""

import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from crosscut import TreeRegressor
from crosscut.model_selection.candidates import NotShared, read_candidates
from crosscut.tasks.growth import Limits


def settings(estimator, candidates):
    return [candidate.setting for candidate in read_candidates(estimator, candidates, 4)]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("max_depth", [1, 5, None]),
        ("ccp_alpha", [0, 0.1]),
        ("min_impurity_decrease", [0.0, 0.3]),
        ("min_samples_split", [2, 10]),
        ("random_state", [0, 1]),
        ("max_features", [None, 1.0, 4]),
        ("max_leaf_nodes", [None, 2, 9]),
        ("min_weight_fraction_leaf", [0.0, 0]),
    ],
)
def test_one_setting(name, values):
    assert len(set(settings(DecisionTreeClassifier(), [{name: value} for value in values]))) == 1


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("min_samples_leaf", [1, 0.1]),
        ("min_samples_split", [2, 0.2]),
        ("min_weight_fraction_leaf", [0.0, 0.1, 0.2]),
        ("criterion", ["gini", "entropy"]),
        ("class_weight", [None, "balanced", {0: 1}]),
    ],
)
def test_a_setting_each(name, values):
    assert len(set(settings(DecisionTreeClassifier(), [{name: value} for value in values]))) == len(values)


def test_limits_are_those_of_the_largest_candidate():
    values = [
        {"max_depth": 3, "min_samples_split": 10, "min_impurity_decrease": 0.1},
        {"max_depth": 5, "min_samples_split": 7, "min_impurity_decrease": 0.2},
    ]
    estimator = DecisionTreeRegressor(min_samples_leaf=0.031)
    limits = [candidate.limits for candidate in read_candidates(estimator, values, 4)]
    assert Limits.loosest(limits).of_rows(100) == Limits(5, 7, 4, 0.1)
    assert Limits.loosest([*limits, Limits(None, 2, 0.031)]).of_rows(100) == Limits(None, 2, 4, 0.0)


def test_fractions_refer_to_the_training_rows():
    (candidate,) = read_candidates(TreeRegressor(), [{"min_samples_split": 0.25}], 4)
    assert candidate.limits.of_rows(101).min_samples_split == 26


def test_without_weights_weight_fractions_are_row_fractions():
    for rows, share in ((1, 0.2), (0.1, 0.2), (0.3, 0.3)):
        tree = DecisionTreeRegressor(min_samples_leaf=rows, min_weight_fraction_leaf=0.2)
        (candidate,) = read_candidates(tree, [{}], 4)
        assert candidate.limits.min_samples_leaf == share


def test_unknown_parameters_are_named():
    with pytest.raises(NotShared, match="'deep'"):
        read_candidates(DecisionTreeClassifier(), [{"deep": 1}], 4)
