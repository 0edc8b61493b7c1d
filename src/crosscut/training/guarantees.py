"""Prediction sets and intervals with guaranteed coverage, as mixins of cross-validated estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crosscut.statistics.conformal import class_sets, coverage, intervals
from crosscut.training.fit import fit_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from crosscut.training.fit import Fit
    from crosscut.typing import ColumnLike, TableLike


class HasCoverage:
    """Mixin of estimators whose prediction intervals or sets have guaranteed coverage."""

    fit_: Fit
    # predictions of the folds' models (folds, rows, classes or 1)
    _values_by_folds: Callable[[Any], NDArray[np.float64]]
    _nested_coverage: Callable[..., float]

    def cv_coverage(
        self,
        level: float = 0.9,
        method: str = "score",
        X: TableLike = None,
        y: ColumnLike = None,
        sample_weight: ColumnLike = None,
    ) -> float:
        """Return the fraction of held-out rows that their prediction sets or intervals cover.

        Without the training data, a held-out row is compared with rows of other folds by the one model that
        holds it out. A new row is compared by all folds' models, which covers more if they disagree. With the
        training data, trees that leave out two folds show how much.

        Parameters
        ----------
        level : float
            Nominal coverage, between 0 and 1.
        method : {"score", "adaptive"}
            Nonconformity score of classes, as for ``predict_set``; ignored for regression.
        X, y, sample_weight : optional
            The training data, for trees.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from crosscut import TreeRegressor
        >>> model = TreeRegressor(max_depth=3).fit(*load_diabetes(return_X_y=True))
        >>> round(model.cv_coverage(0.9), 2)
        0.9
        """
        fit = fit_of(self)
        if X is not None:
            return self._nested_coverage(level, method, X, y, sample_weight)
        return coverage(fit.smooth.validated("cv_coverage()"), level, method)


class PredictsIntervals(HasCoverage):
    """Mixin of regressors that predict intervals."""

    def predict_interval(self, X: TableLike, level: float = 0.9, method: str = "cv+") -> NDArray[np.float64]:
        """Return a prediction interval of each row, from the folds' models and their held-out rows.

        Parameters
        ----------
        X : array or frame (rows, columns), or Database
            Rows or examples to predict.
        level : float
            Coverage, between 0 and 1.
        method : {"cv+", "jackknife+", "minmax"}
            For rows drawn like the training rows, "cv+" covers at least 2 · level - 1 of the time (slightly
            less with few rows per fold), in practice ``level`` or more. "jackknife+" is the same for
            ``cv=LeaveOneOut()``. "minmax" is wider and covers at least ``level``.

        Returns
        -------
        float64 array (rows, 2)
            Lower and upper end; infinite if there are too few rows for the level.

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
        return intervals(cv, self._values_by_folds(X)[:, :, 0], level, method)


class PredictsSets(HasCoverage):
    """Mixin of classifiers that predict sets of classes."""

    def predict_set(self, X: TableLike, level: float = 0.9, method: str = "score") -> NDArray[np.bool_]:
        """Return the prediction set of each row, from the folds' models and their held-out rows.

        The probabilities of unpruned trees are shrunk for this, by the strength with the lowest Brier score.

        Parameters
        ----------
        X : array or frame (rows, columns), or Database
            Rows or examples to classify.
        level : float
            Coverage of the true class, between 0 and 1.
        method : {"score", "adaptive"}
            Nonconformity score of a class. "score" is 1 minus its probability, which gives the smallest sets.
            "adaptive" is the probability of all more probable classes plus half its own, which gives larger
            sets for difficult rows (Romano, Sesia and Candès 2020). Both cover at least 2 · level - 1 of the
            time (slightly less with few rows per fold), in practice about ``level`` or more.

        Returns
        -------
        bool array (rows, classes)
            Whether each class of ``classes_`` is in the set.

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
        cv = fit_of(self).smooth.validated("predict_set()")
        return class_sets(cv, self._values_by_folds(X), level, method)
