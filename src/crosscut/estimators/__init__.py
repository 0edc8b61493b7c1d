"""Estimators with scikit-learn's interface: a final tree and its cross-validation in one fit."""

from crosscut.estimators.bagged_trees import BaggedTrees
from crosscut.estimators.tree_classifier import TreeClassifier
from crosscut.estimators.tree_regressor import TreeRegressor

__all__ = ["BaggedTrees", "TreeClassifier", "TreeRegressor"]
