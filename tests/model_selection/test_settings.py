"""Which parameters need a growth, which a lane, and which neither."""

import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from crosscut import TreeRegressor
from crosscut.model_selection.delegation import NotShared
from crosscut.model_selection.settings import Cut, read_candidates
from crosscut.tasks.growth import Limits


def lanes(estimator, candidates):
    return [lane for lane, _ in read_candidates(estimator, candidates, 4)]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("max_depth", [1, 5, None]),
        ("ccp_alpha", [0, 0.1]),
        ("min_impurity_decrease", [0.0, 0.3]),
        ("min_samples_split", [2, 10]),
        ("random_state", [0, 1]),
        ("max_features", [None, 1.0, 4]),
    ],
)
def test_no_lane(name, values):
    assert len(set(lanes(DecisionTreeClassifier(), [{name: value} for value in values]))) == 1


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("min_samples_leaf", [1, 0.1]),
        ("min_samples_split", [2, 0.2]),
        ("criterion", ["gini", "entropy"]),
        ("class_weight", [None, "balanced", {0: 1}]),
    ],
)
def test_a_lane_each(name, values):
    assert len(set(lanes(DecisionTreeClassifier(), [{name: value} for value in values]))) == len(values)


def test_limits_are_those_of_the_largest_candidate():
    lane = lanes(DecisionTreeRegressor(), [{"min_samples_leaf": 0.031}])[0]
    cuts = [Cut(3, 10, 0.1, 0.0), Cut(5, 7, 0.2, 0.0)]
    assert lane.limits(100, cuts) == Limits(5, 8, 4, 0.1)
    assert lane.limits(100, [*cuts, Cut()]) == Limits(None, 8, 4, 0.0)


def test_fractions_are_of_the_training_rows():
    lane = lanes(TreeRegressor(), [{"min_samples_split": 0.25}])[0]
    assert lane.limits(101, [Cut()]).min_samples_split == 26


def test_unknown_parameters_are_named():
    with pytest.raises(NotShared, match="'deep'"):
        read_candidates(DecisionTreeClassifier(), [{"deep": 1}], 4)
