"""What a scorer sees in place of a fitted estimator: the predictions are already there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class ClassifierStandIn(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Answers for the rows of one test set, which are given as positions in it."""

    def __init__(self, classes: NDArray[Any], labels: NDArray[Any], probability: NDArray[np.float64]) -> None:
        self.classes_ = classes
        self.labels = labels
        self.probability = probability

    def fit(self, X: Any, y: Any) -> ClassifierStandIn:
        """Do nothing: the predictions are given."""
        del X, y
        return self

    def predict(self, X: NDArray[np.int64]) -> NDArray[Any]:
        """Return the class of each position."""
        return self.labels[X]

    def predict_proba(self, X: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the class probabilities of each position."""
        return self.probability[X]


class RegressorStandIn(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Answers for the rows of one test set, which are given as positions in it."""

    def __init__(self, values: NDArray[np.float64]) -> None:
        self.values = values

    def fit(self, X: Any, y: Any) -> RegressorStandIn:
        """Do nothing: the predictions are given."""
        del X, y
        return self

    def predict(self, X: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the value of each position."""
        return self.values[X]
