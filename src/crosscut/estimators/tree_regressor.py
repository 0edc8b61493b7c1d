"""A regression tree and its cross-validation in one fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import RegressorMixin

from crosscut.estimators.cross_validated_tree import CrossValidatedTree
from crosscut.training.checks import PredictionMethods
from crosscut.training.guarantees import PredictsIntervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.typing import TableLike


class TreeRegressor(PredictsIntervals, PredictionMethods, RegressorMixin, CrossValidatedTree):  # type: ignore[misc]  # untyped
    """Decision tree regressor, cross-validated as part of ``fit``.

    ``fit`` grows the final tree and the trees of the folds together, for little more than the cost of one.
    On data without ties the trees are the same as scikit-learn's.

    Parameters
    ----------
    criterion : {"squared_error"}
        The split criterion.
    splits : {"binary", "multiway"}
        How nominal columns are split: into two sets of categories, or one branch per category.
    max_depth : int, optional
        Maximum depth.
    min_samples_split : int or float
        Minimum number (or fraction) of rows to split a node.
    min_samples_leaf : int or float
        Minimum number (or fraction) of rows in each leaf. With ``prune``, several leaf sizes such as
        ``(1, 5, 10, 20)`` are grown together, and the folds choose (``min_samples_leaf_``).
    min_impurity_decrease : float
        Minimum decrease of variance by a split, weighted by the fraction of rows.
    ccp_alpha : float
        Minimal cost-complexity pruning of all trees.
    max_bins : int, optional
        Use at most this number of quantile bins per numeric column: faster, but approximate. The quantiles
        are those of all rows, so they depend on the values (never the targets) of held-out rows.
    cv : int, array (rows,) of fold numbers (-1: none), splitter, iterable of (train, test), or None
        An integer is the number of folds, shuffled first if ``random_state`` is given. None grows the final
        tree only.
    repeats : int
        Number of times that an integer ``cv`` is repeated with other folds. Repeats make the choice of a
        pruning depend less on how the rows are divided, for proportionally more time.
    prune : None, "best" or "1se"
        Prune the final tree by cross-validation: to the lowest error, or to the smallest tree within one
        standard error of it (``pruning_table_``), by the squared error, or by the absolute error if
        ``scoring="neg_mean_absolute_error"``. ``cv_score_`` is corrected for the choice.
    shrinkage : "auto", float or None
        Hierarchical shrinkage (Agarwal et al. 2022): predictions of a node move towards those of its
        ancestors, the more so the fewer rows the ancestors have. "auto" chooses the strength together with
        the size of the tree if ``prune`` is "best" or "1se", and else does not shrink. A number is the
        strength: the weight of training rows at which the difference of a child from its parent is halved.
    scoring : str or callable, optional
        The score in ``cv_scores_``; by default R².
    n_jobs : int, optional
        Number of threads; by default all cores. The result does not depend on it.
    random_state : int, optional
        Shuffles the folds of an integer ``cv``. Growing is deterministic.

    Attributes
    ----------
    tree_ : Tree
        The final tree, grown on all rows.
    forest_ : Forest
        All trees. ``forest_.sharing`` has the nodes that they share, ``forest_.levels`` the number of nodes
        and tests by level.
    cv_trees_ : tuple of Tree
        The trees of the folds.
    cv_predictions_ : array
        Prediction for each row by the tree trained without it.
    cv_scores_, cv_score_, cv_standard_error_
        Score of each fold; of all held-out rows together, and its standard error from the rows' losses.
    pruning_table_ : PruningTable
        Cross-validated error of every pruning.
    ccp_alpha_ : float
        The cost-complexity parameter of ``tree_``.
    fit_ : Fit
        All results of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from crosscut import TreeRegressor
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> model = TreeRegressor(cv=4, random_state=0).fit(X, X[:, 0] // 10)
    >>> model.predict([[5.0], [25.0]]), len(model.cv_scores_)
    (array([0., 2.]), 4)
    """

    def predict(self, X: TableLike) -> NDArray[np.float64]:
        """Return the mean target of each row's leaf.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to predict.
        """
        leaf = self._leaves(X)
        return np.asarray(self.tree_.value[leaf, 0])
