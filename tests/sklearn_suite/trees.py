"""scikit-learn's tree estimators, grown and asked by crosscut, for scikit-learn's own tests of trees."""

import warnings

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn import tree
from sklearn.utils.validation import check_is_fitted

from crosscut import DelegationWarning, TreeClassifier, TreeRegressor, cross_validate

# parameters of scikit-learn's trees that crosscut does not have: a test that sets one does not apply
ABSENT = {"splitter": "best", "max_features": None, "monotonic_cst": None}
# those that only its drop-ins have
OF_DROP_INS = {"max_leaf_nodes": None, "min_weight_fraction_leaf": 0.0}
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
        if any(getattr(self, name) != default for name, default in OF_DROP_INS.items()):
            self.grown_ = self._grown_by_drop_in(X, y, sample_weight)
            vars(self).update({name: one for name, one in vars(self.grown_).items() if name.endswith("_")})
            return self
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

    def _grown_by_drop_in(self, X, y, sample_weight):
        all_rows = [(np.arange(len(X)),) * 2]
        theirs = self.model_of_scikit(**self.get_params())
        weights = None if sample_weight is None else {"sample_weight": sample_weight}
        with warnings.catch_warnings(action="error", category=DelegationWarning):
            try:
                found = cross_validate(theirs, X, y, cv=all_rows, return_estimator=True, params=weights)
            except DelegationWarning as reason:
                pytest.skip(str(reason))
        return found["estimator"][0]

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
    model, model_of_scikit = TreeClassifier, tree.DecisionTreeClassifier

    def predict_proba(self, X, check_input=True):
        return self._grown(X).predict_proba(X)


class DecisionTreeRegressor(Grown, tree.DecisionTreeRegressor):
    model, model_of_scikit = TreeRegressor, tree.DecisionTreeRegressor
