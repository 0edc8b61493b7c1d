"""scikit-learn's tree estimators, grown and asked by crosscut, for scikit-learn's own tests of trees."""

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn import tree
from sklearn.utils.validation import check_is_fitted

from crosscut import TreeClassifier, TreeRegressor

# parameters of scikit-learn's trees that crosscut's estimators do not have: a test that sets one does not
# apply
ABSENT = {
    "splitter": "best",
    "max_features": None,
    "max_leaf_nodes": None,
    "min_weight_fraction_leaf": 0.0,
    "monotonic_cst": None,
}
CRITERIA = {"gini": "gini", "entropy": "entropy", "log_loss": "entropy", "squared_error": "squared_error"}


class Grown:
    """Replaces growing and predicting; scikit-learn's parameter checks and attributes stay."""

    def fit(self, X, y, sample_weight=None, check_input=True):
        self._validate_params()
        for name, default in ABSENT.items():
            if getattr(self, name) != default:
                pytest.skip(f"crosscut has no {name}")
        if self.criterion not in CRITERIA:
            pytest.skip(f"crosscut has no criterion {self.criterion!r}")
        if issparse(X):
            pytest.skip("crosscut does not read sparse matrices")
        if np.ndim(y) == 2 and np.shape(y)[1] > 1:
            pytest.skip("crosscut has no trees of several outputs")
        names = ("max_depth", "min_samples_split", "min_samples_leaf", "min_impurity_decrease", "ccp_alpha")
        given = {name: getattr(self, name) for name in names} | {
            "criterion": CRITERIA[self.criterion],
            "cv": None,
        }
        if self.model is TreeClassifier:
            given["class_weight"] = self.class_weight
        self.grown_ = self.model(**given).fit(X, y, sample_weight)
        for name, value in vars(self.grown_.to_sklearn()).items():
            if name.endswith("_"):
                setattr(self, name, value)
        return self

    def _grown(self, X):
        check_is_fitted(self)
        if issparse(X):
            pytest.skip("crosscut does not read sparse matrices")
        tree.DecisionTreeClassifier._validate_X_predict(self, X, check_input=True)  # scikit-learn's errors
        return self.grown_

    def predict(self, X, check_input=True):
        return self._grown(X).predict(X)

    def apply(self, X, check_input=True):
        return self._grown(X).apply(X)

    def decision_path(self, X, check_input=True):
        return self._grown(X).decision_path(X)

    @property
    def feature_importances_(self):
        check_is_fitted(self)
        return self.grown_.feature_importances_


class DecisionTreeClassifier(Grown, tree.DecisionTreeClassifier):
    model = TreeClassifier

    def predict_proba(self, X, check_input=True):
        return self._grown(X).predict_proba(X)


class DecisionTreeRegressor(Grown, tree.DecisionTreeRegressor):
    model = TreeRegressor
