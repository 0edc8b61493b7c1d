"""A classification tree and its cross-validation in one fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.base import ClassifierMixin

from crosscut.estimators.cross_validated_tree import CrossValidatedTree
from crosscut.forest.tree import predictions, probabilities
from crosscut.training.checks import PredictionMethods
from crosscut.training.fit import Validated, fit_of
from crosscut.training.guarantees import PredictsSets

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from crosscut.typing import ClassWeight, TableLike


@dataclass(kw_only=True, eq=False, repr=False)
class TreeClassifier(PredictsSets, PredictionMethods, ClassifierMixin, CrossValidatedTree):  # type: ignore[misc]  # untyped
    """Decision tree classifier, cross-validated as part of ``fit``.

    ``fit`` grows the final tree and the trees of the folds together, for little more than the cost of one.
    On data without ties the trees are the same as scikit-learn's.

    Parameters
    ----------
    criterion : {"gini", "entropy", "gain_ratio"}
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
        Minimum decrease of impurity by a split, weighted by the fraction of rows.
    ccp_alpha : float
        Minimal cost-complexity pruning of all trees.
    class_weight : dict or "balanced", optional
        Weights of the classes.
    max_bins : int, optional
        Use at most this number of quantile bins per numeric column: faster, but approximate. The quantiles
        are those of all rows, so they depend on the values (never the labels) of held-out rows.
    cv : int, array (rows,) of fold numbers (-1: none), splitter, iterable of (train, test), or None
        An integer is the number of stratified folds, shuffled first if ``random_state`` is given. None grows
        the final tree only.
    repeats : int
        Number of times that an integer ``cv`` is repeated with other folds. Repeats make the choice of a
        pruning depend less on how the rows are divided, for proportionally more time.
    prune : None, "best", "1se" or "pessimistic"
        Prune the final tree by cross-validation: to the lowest error, or to the smallest tree within one
        standard error of it (``pruning_table_``), by ``scoring`` if that is accuracy, the Brier score, log
        loss or the area under the ROC curve, and else by the Brier score. ``cv_score_`` is corrected for the
        choice. "pessimistic" is C4.5's pruning of each tree separately.
    shrinkage : "auto", float or None
        Hierarchical shrinkage (Agarwal et al. 2022): predictions of a node move towards those of its
        ancestors, the more so the fewer rows the ancestors have. "auto" chooses the strength together with
        the size of the tree if ``prune`` is "best" or "1se", and else does not shrink. A number is the
        strength: the weight of training rows at which the difference of a child from its parent is halved.
    prune_by : {"impurity", "error", "loss"}
        What ``prune`` and ``ccp_alpha`` trade against the number of leaves: the criterion, as in
        scikit-learn; the error rate, as in CART and rpart; or the cost given by ``loss``.
    loss : dict, array (classes,) or array (classes, classes), optional
        Costs, for ``prune_by="loss"``. A dict or vector has the cost of misclassifying a row of each class
        (1 for classes that a dict does not name). A matrix has the cost of each predicted class (columns) for
        each actual class (rows). Leaves predict the class of least expected cost, and the pruning table has
        mean costs. Splits are still chosen by ``criterion``; ``class_weight`` changes them, too.
    scoring : str or callable, optional
        The score in ``cv_scores_``; by default accuracy.
    n_jobs : int, optional
        Number of threads; by default all cores. The result does not depend on it.
    random_state : int, optional
        Shuffles the folds of an integer ``cv``. Growing is deterministic.

    Attributes
    ----------
    classes_ : array
        The classes.
    tree_ : Tree
        The final tree, grown on all rows.
    forest_ : Forest
        All trees. ``forest_.sharing`` has the nodes that they share, ``forest_.levels`` the number of nodes
        and tests by level.
    cv_trees_ : tuple of Tree
        The trees of the folds.
    cv_predictions_, cv_probabilities_ : arrays
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
    >>> from sklearn.datasets import load_iris
    >>> from crosscut import TreeClassifier
    >>> model = TreeClassifier(prune="1se").fit(*load_iris(return_X_y=True))
    >>> print(f"{model.cv_score_:.2f}, {model.get_n_leaves()} leaves")
    0.95, 4 leaves
    """

    criterion: str = "gini"
    class_weight: ClassWeight = None
    prune_by: str = "impurity"
    loss: Any = None

    cv_probabilities_ = Validated(
        "values", "Class probabilities for every row by the tree trained without it."
    )

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, in sorted order."""
        return fit_of(self).known_classes

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    def predict(self, X: TableLike) -> NDArray[Any]:
        """Return the most probable class of each row of X; with ``loss``, the class of least expected cost.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to classify.
        """
        leaf = self._leaves(X)
        return predictions(self.tree_, self.classes_)[leaf]

    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Return the class probabilities of each row of X: the class proportions of its leaf.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to classify.
        """
        leaf = self._leaves(X)
        return probabilities(self.tree_.value)[leaf]
