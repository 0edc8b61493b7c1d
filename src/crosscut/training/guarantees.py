"""Predictions with guarantees, as methods of estimators whose folds leave models and held-out rows behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crosscut.statistics.conformal import class_sets, coverage, intervals
from crosscut.training.fit import fit_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from crosscut.training.fit import Fit
    from crosscut.typing import TableLike


class Guaranteed:
    """An estimator that can say how often its intervals or sets cover."""

    fit_: Fit
    # values that the folds' models give some rows: (folds, rows, classes or 1)
    _said_by_folds: Callable[[Any], NDArray[np.float64]]

    def cv_coverage(self, level: float = 0.9, method: str = "score") -> float:
        """Return the share of held-out rows that are covered, each by what the rows of other folds allow.

        Parameters
        ----------
        level : float
            How often intervals or sets are to cover, between 0 and 1.
        method : {"score", "adaptive"}
            What makes a class strange, as ``predict_set`` takes it; intervals do not need it.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from crosscut import TreeRegressor
        >>> model = TreeRegressor(max_depth=3).fit(*load_diabetes(return_X_y=True))
        >>> round(model.cv_coverage(0.9), 2)
        0.9
        """
        return coverage(fit_of(self).validated("cv_coverage()"), level, method)


class PredictsIntervals(Guaranteed):
    """A regressor that predicts intervals."""

    def predict_interval(self, X: TableLike, level: float = 0.9, method: str = "cv+") -> NDArray[np.float64]:
        """Return an interval of each row's target, from the trees of the folds and the rows they hold out.

        Parameters
        ----------
        X : array or frame (rows, columns), or Database
            Rows, or examples, to predict.
        level : float
            How often intervals are to cover, between 0 and 1.
        method : {"cv+", "jackknife+", "minmax"}
            For rows drawn like the training rows, "cv+" covers at least 2 · level - 1 of the time, less a
            little for few rows per fold, and about ``level`` in practice; "jackknife+" is the same for
            ``cv=LeaveOneOut()``; "minmax" is wider and covers at least ``level``.

        Returns
        -------
        float64 array (rows, 2)
            The low and the high end; infinite if there are too few rows for the level.

        Examples
        --------
        >>> import numpy as np
        >>> from crosscut import TreeRegressor
        >>> X = np.arange(400.0).reshape(-1, 1)
        >>> y = X[:, 0] // 100 + np.resize([0.1, -0.1], 400)
        >>> model = TreeRegressor(cv=4, random_state=0, max_depth=2).fit(X, y)
        >>> model.predict_interval([[50.0]]).round(2)
        array([[-0.12,  0.12]])
        """
        cv = fit_of(self).validated("predict_interval()")
        return intervals(cv, self._said_by_folds(X)[:, :, 0], level, method)


class PredictsSets(Guaranteed):
    """A classifier that predicts sets of classes."""

    def predict_set(self, X: TableLike, level: float = 0.9, method: str = "score") -> NDArray[np.bool_]:
        """Return the classes that each row may have, from the trees of the folds and the rows they hold out.

        Parameters
        ----------
        X : array or frame (rows, columns), or Database
            Rows, or examples, to classify.
        level : float
            How often sets are to hold the true class, between 0 and 1.
        method : {"score", "adaptive"}
            What makes a class strange: a low probability, which gives the smallest sets; or the probability
            of all classes that are more probable and half its own, which gives larger sets where rows are
            hard to tell apart (Romano, Sesia and Candès 2020). Both cover at least 2 · level - 1 of the time,
            less a little for few rows per fold, and about ``level`` or more in practice.

        Returns
        -------
        bool array (rows, classes)
            Whether a class of ``classes_`` is in the set.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from crosscut import TreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TreeClassifier(cv=5, random_state=0, max_depth=2).fit(X, y)
        >>> model.predict_set(X[[0, 70]], level=0.98)
        array([[ True, False, False],
               [False,  True,  True]])
        """
        cv = fit_of(self).validated("predict_set()")
        return class_sets(cv, self._said_by_folds(X), level, method)
