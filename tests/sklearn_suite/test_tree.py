"""scikit-learn's tests of tree estimators, run with trees that crosscut grows."""

import sklearn.tree

from .adapter import load
from .trees import DecisionTreeClassifier, DecisionTreeRegressor

globals().update(
    load(
        "sklearn.tree.tests.test_tree",
        {"DecisionTreeClassifier": DecisionTreeClassifier, "DecisionTreeRegressor": DecisionTreeRegressor},
        sklearn.tree,
    )
)
