"""Bagging: trees of bootstrap samples, grown together and validated on their out-of-bag rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if

from crosscut.estimators.tree_classifier import TreeClassifier
from crosscut.forest.export.scikit import fit_sklearn
from crosscut.forest.predict import apply
from crosscut.forest.shrinkage import shrunk, strengths
from crosscut.forest.smaller_trees import importances
from crosscut.forest.tree import expected, probabilities
from crosscut.statistics.conformal import bagged_intervals, bagged_sets
from crosscut.statistics.validation import Validation
from crosscut.tasks import Tasks
from crosscut.training.checks import PredictionMethods, read_table
from crosscut.training.fit import Fit, fit_of
from crosscut.training.parameters import check_shrinkage, limits_of, sklearn_parameters
from crosscut.training.train import grow_trees, prune_each, validate, without_folds
from crosscut.training.training_set import TrainingSet

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from crosscut.forest.forest import Forest
    from crosscut.forest.shrinkage import Shrinkage
    from crosscut.statistics.validation import TreeValidation
    from crosscut.typing import ColumnLike, Seed, TableLike


class BaggedTrees(PredictionMethods, BaseEstimator):  # type: ignore[misc]  # untyped
    """Average of trees grown on bootstrap samples, with out-of-bag scores (Breiman 1996).

    Parameters
    ----------
    tree : TreeClassifier or TreeRegressor, optional
        The kind of tree, with its parameters for growing and pruning; its ``cv`` is not used. By default
        ``TreeClassifier()``.
    n_trees : int
        Number of trees.
    max_samples : float
        Size of a bootstrap sample, as a fraction of the rows.
    shrinkage : "auto", float or None
        Hierarchical shrinkage of all trees. "auto" chooses the strength with the lowest out-of-bag Brier
        score or squared error (``shrinkage_``).
    n_jobs : int, optional
        Number of threads; by default all cores. The result does not depend on it.
    random_state : int, optional
        Seed for drawing the samples.

    Attributes
    ----------
    forest_ : Forest
        The trees.
    oob_score_ : float
        Accuracy, or R², of the out-of-bag predictions.
    oob_predictions_ : array
        Prediction of each row by the trees whose sample lacks it. Rows in every sample have NaN; for classes
        they have None, in an array of objects.
    oob_probabilities_ : array
        Out-of-bag class probabilities (classification only).
    classes_ : array
        The classes (classification only).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from crosscut import BaggedTrees
    >>> model = BaggedTrees(n_trees=25, random_state=0).fit(*load_iris(return_X_y=True))
    >>> bool(model.oob_score_ > 0.9)
    True
    """

    def __init__(
        self,
        tree: BaseEstimator = None,
        *,
        n_trees: int = 100,
        max_samples: float = 1.0,
        shrinkage: Shrinkage = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.tree = tree
        self.n_trees = n_trees
        self.max_samples = max_samples
        self.shrinkage = shrinkage
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: TableLike, y: ColumnLike, sample_weight: ColumnLike = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array or frame (rows, columns)
            NumPy, pandas, polars or Arrow.
        y : array (rows,)
            Class labels or numbers.
        sample_weight : array (rows,), optional
            Weights of the rows.
        """
        if not isinstance(self.n_trees, (int, np.integer)) or self.n_trees < 1:  # type: ignore[redundant-expr]
            raise ValueError(f"n_trees must be a positive integer, but {self.n_trees!r} was given")
        check_shrinkage(self.shrinkage)
        if not 0 < self.max_samples <= 1:
            raise ValueError(f"max_samples must be a fraction in (0, 1], but {self.max_samples!r} was given")
        model = without_folds(self._template(), n_jobs=self.n_jobs)
        read_table(self, X, reset=True)
        data = TrainingSet.read(model, X, y, sample_weight)
        n_rows = data.n_rows
        tasks = Tasks.bootstrap(
            int(self.n_trees),
            n_rows,
            size=max(1, round(self.max_samples * n_rows)),
            random_state=int(check_random_state(self.random_state).randint(2**31)),
            limits=limits_of(model).of_rows(n_rows),
        )
        grown = grow_trees(model, data, tasks)
        forest = prune_each(model, grown)
        validation = validate(data, tasks, forest, n_jobs=self.n_jobs)
        self.shrinkage_ = 0.0
        if self.shrinkage is not None:
            self.shrinkage_, validation = _shrunk(validation, self.shrinkage)
            forest = validation.forest
        self.fit_ = Fit.of(self, data, forest=forest, grown=grown, validation=validation)
        return self

    @property
    def forest_(self) -> Forest:
        """The trees."""
        return cast("Forest", fit_of(self).forest)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Mean impurity-based importance of each column over the trees that split, as in scikit-learn."""
        packed = self.forest_.packed
        each = [
            importances(packed.only(t), self.n_features_in_)
            for t, tree in enumerate(self.forest_)
            if len(tree) > 1
        ]
        mean = np.mean(each, axis=0) if each else np.zeros(self.n_features_in_)
        return np.asarray(mean / (mean.sum() or 1.0))

    @property
    def oob_predictions_(self) -> NDArray[Any]:
        """Prediction of each row by the trees whose sample lacks it; None or NaN for rows in every sample."""
        out_of_bag = self._out_of_bag("oob_predictions_")
        if out_of_bag.classes is None:
            return fit_of(self).validated("oob_predictions_").values[:, 0]
        n, rows = len(out_of_bag.y), out_of_bag.rows
        predictions = np.empty(n, dtype=self.classes_.dtype if len(rows) == n else object)
        predictions[rows] = self.classes_[out_of_bag.decided]
        return predictions

    @property
    def oob_score_(self) -> float:
        """Accuracy, or R², of ``oob_predictions_``."""
        return float(self._out_of_bag("oob_score_").all_scores[1])

    @property
    def oob_probabilities_(self) -> NDArray[np.float64]:
        """Class probabilities of each row by the trees whose sample lacks it (classification only)."""
        fit = fit_of(self)
        return fit.validated("oob_probabilities_").values[:, : len(fit.known_classes)]

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes (classification only)."""
        return fit_of(self).known_classes

    def _out_of_bag(self, what: str, n_trees: int | None = None) -> Validation:
        """Return the results of rows outside the samples of the first trees, each predicted by their mean."""
        each = fit_of(self).validated(what)
        end = each.row_start[len(self.forest_) if n_trees is None else n_trees]
        part = Validation(each.y, each.classes, each.rows[:end], each.row_start, each.fold_values[:end])
        rows = np.flatnonzero(part.times_held_out)
        result = Validation(each.y, each.classes, rows, np.array([0, 0, len(rows)]), part.values[rows])
        result.weights = each.weights
        if each.classes is not None:
            result.decided = self._codes(result.fold_values)
        return result

    def report(self, path: str | PathLike[str], *, target: str | None = None) -> None:
        """Write an HTML report on the out-of-bag error and the columns, which works offline.

        Parameters
        ----------
        path : path
            The file to write.
        target : str, optional
            Name of the target; by default the name of ``y``.
        """
        from crosscut.report.bagged import write_bagged_report

        n = len(self.forest_)
        numbers = np.unique(np.geomspace(1, n, min(n, 30)).astype(int)).tolist()
        results = {number: self._out_of_bag("report()", number) for number in numbers}
        write_bagged_report(fit_of(self), results, path, target=target)

    def _values(self, X: TableLike) -> NDArray[np.float64]:
        """Return the average of the leaf values that each row reaches."""
        value, nodes = self._reached(X)
        total = np.zeros((nodes.shape[1], value.shape[1]))
        for leaves in nodes:
            total += value[leaves]
        return total / len(nodes)

    def _codes(self, probability: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the code of each row's most probable class; with ``loss``, of the class of least cost."""
        loss = self.forest_.packed.loss
        return np.asarray(
            probability.argmax(axis=1) if loss is None else expected(probability, loss).argmin(axis=1)
        )

    def _reached(self, X: TableLike) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the values of all nodes, and the leaf of every row in each tree: (trees, rows)."""
        fit = fit_of(self)
        x = fit.schema.matrix(read_table(self, X, reset=False))
        packed = fit.forest.packed
        value = probabilities(packed.value) if is_classifier(self) else packed.value
        return value, apply(packed, x, n_jobs=self.n_jobs) + packed.node_start[:-1, None]

    def predict(self, X: TableLike) -> NDArray[Any]:
        """Return the most probable class, or the mean, of each row of X over all trees.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to predict.
        """
        values = self._values(X)
        if not is_classifier(self):
            return values[:, 0]
        return np.asarray(self.classes_[self._codes(values)])

    @available_if(is_classifier)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Return the class probabilities of each row of X, averaged over all trees.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to classify.
        """
        return self._values(X)

    @available_if(is_regressor)  # type: ignore[untyped-decorator]
    def predict_interval(self, X: TableLike, level: float = 0.9) -> NDArray[np.float64]:
        """Return a prediction interval for each row.

        This is the jackknife+-after-bootstrap (Kim, Xu and Barber 2020). It covers at least 2 · level - 1
        of the time, and about ``level`` in practice. Time and memory grow with training rows times rows of X.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to predict.
        level : float
            Coverage of the intervals, between 0 and 1.

        Returns
        -------
        float64 array (rows, 2)
            Lower and upper bound; infinite if there are too few rows for the level.
        """
        out_of_bag = fit_of(self).validated("predict_interval()")
        value, nodes = self._reached(X)
        return bagged_intervals(out_of_bag, value[nodes, 0], level)

    @available_if(is_classifier)  # type: ignore[untyped-decorator]
    def predict_set(self, X: TableLike, level: float = 0.9, method: str = "score") -> NDArray[np.bool_]:
        """Return the prediction set of each row: the classes that cannot be ruled out.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to classify.
        level : float
            As :meth:`TreeClassifier.predict_set` takes it.
        method : str
            As :meth:`TreeClassifier.predict_set` takes it.

        Returns
        -------
        bool array (rows, classes)
            Whether a class of ``classes_`` is in the set.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from crosscut import BaggedTrees
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BaggedTrees(n_trees=50, random_state=0).fit(X, y)
        >>> model.predict_set(X[[0, 70]], level=0.97)
        array([[ True, False, False],
               [False,  True,  True]])
        """
        out_of_bag = fit_of(self).validated("predict_set()")
        value, nodes = self._reached(X)
        return bagged_sets(out_of_bag, value[nodes], level, method)

    def to_sklearn(self) -> BaseEstimator:
        """Return a fitted ``RandomForestClassifier`` or ``RandomForestRegressor`` of the same trees.

        It makes the same predictions, for SHAP, ONNX converters and other tools that read scikit-learn's
        forests. It does not know the samples of its trees.

        Raises
        ------
        ValueError
            If a tree has a nominal test or uses ``loss``, which scikit-learn's trees cannot express.
        """
        from sklearn import ensemble, tree

        fit, classes = fit_of(self), None
        name = "Regressor" if fit.classes is None else "Classifier"
        one, all_trees = getattr(tree, f"DecisionTree{name}"), getattr(ensemble, f"RandomForest{name}")
        shared = sklearn_parameters(self._template())
        forest = {"max_features": None, "max_samples": self.max_samples, "random_state": self.random_state}
        model = all_trees(self.n_trees, **shared | forest)
        model.n_features_in_, model.n_outputs_ = self.n_features_in_, 1
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_
        if fit.classes is not None:
            model.classes_, model.n_classes_ = fit.classes, len(fit.classes)
            classes = np.arange(
                float(model.n_classes_)
            )  # scikit-learn fits the trees of a forest to class codes
        model.estimator_ = one()
        model.estimators_ = [
            fit_sklearn(one(**shared), grown, self.n_features_in_, classes, fit.schema.names)
            for grown in fit.forest
        ]
        return model

    def _template(self) -> BaseEstimator:
        return TreeClassifier() if self.tree is None else self.tree

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tree_tags = get_tags(self._template())
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "target_tags", "input_tags"):
            setattr(tags, name, getattr(tree_tags, name))
        return tags


def _shrunk(out_of_bag: TreeValidation, shrinkage: Shrinkage) -> tuple[float, TreeValidation]:
    """Return the strength of shrinkage with the lowest out-of-bag error, and the results with it."""
    seen = out_of_bag.times_held_out > 0
    y, classifies = out_of_bag.y[seen], out_of_bag.classes is not None
    actual = np.eye(out_of_bag.forest.packed.value.shape[1])[y] if classifies else y[:, None]
    results = []
    for strength in np.unique(strengths(out_of_bag.forest.packed, shrinkage)).tolist():
        each = out_of_bag.with_forest(shrunk(out_of_bag.forest, strength, classifies=classifies))
        results.append((float(((each.values[seen] - actual) ** 2).sum()), strength, each))
    _, strength, best = min(results, key=lambda result: result[:2])
    return strength, best
