"""Bagging: trees from bootstrap samples, grown together, judged by the rows each of them left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from crosscut.estimators.tree_classifier import TreeClassifier
from crosscut.forest.predict import apply, probabilities
from crosscut.tasks import Tasks
from crosscut.training.checks import read_table
from crosscut.training.training_set import Problem, prune_each

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.training.validation import CrossValidation


def _classifies(model: BaggedTrees) -> bool:
    return bool(is_classifier(model))


class BaggedTrees(BaseEstimator):  # type: ignore[misc]  # untyped
    """Average of trees grown on bootstrap samples, with out-of-bag scores (Breiman 1996).

    Parameters
    ----------
    tree : TreeClassifier or TreeRegressor, optional
        Says what is predicted, how trees are grown and how each is pruned; its ``cv`` is not used. By default
        ``TreeClassifier()``.
    n_trees : int
        Number of trees.
    max_samples : float
        Size of a bootstrap sample, as a share of the rows.
    n_jobs : int, optional
        Threads, by default as many as there are cores. The result does not depend on it.
    random_state : int, optional
        Draws the samples.

    Attributes
    ----------
    forest_ : Forest
        The trees.
    oob_score_ : float
        Accuracy, or R², of the out-of-bag predictions.
    oob_predictions_ : array
        Prediction of each row by the trees that have not seen it; NaN (classes: None, as objects) for rows in
        every sample.
    oob_probabilities_ : array
        Their class probabilities (classification only).
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
        tree: Any = None,
        *,
        n_trees: int = 100,
        max_samples: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.tree = tree
        self.n_trees = n_trees
        self.max_samples = max_samples
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
        if not isinstance(self.n_trees, (int, np.integer)) or self.n_trees < 1:
            raise ValueError(f"n_trees must be a positive integer, but {self.n_trees!r} was given")
        if not 0 < self.max_samples <= 1:
            raise ValueError(f"max_samples must be a share of the rows, but {self.max_samples!r} was given")
        model = clone(self._template()).set_params(n_jobs=self.n_jobs, cv=None)
        read_table(self, X, reset=True)
        problem = Problem.read(model, X, y, sample_weight)
        n_rows = problem.n_rows
        tasks = Tasks.bootstrap(
            int(self.n_trees),
            n_rows,
            size=max(1, round(self.max_samples * n_rows)),
            random_state=int(check_random_state(self.random_state).randint(2**31)),
            limits=problem.limits(),
        )
        self.forest_ = prune_each(problem.model, problem.grow(tasks))
        self._schema = problem.table.schema
        self._set_out_of_bag(problem.validate(tasks, self.forest_), problem.labels)
        return self

    def _set_out_of_bag(self, held_out: CrossValidation, labels: NDArray[Any]) -> None:
        values = held_out.values
        seen = held_out.times_held_out > 0
        if held_out.classes is not None:
            self.classes_ = held_out.classes
            self.oob_probabilities_ = values
            predictions = np.empty(len(seen), dtype=self.classes_.dtype if seen.all() else object)
            predictions[seen] = self.classes_[values[seen].argmax(axis=1)]
            self.oob_predictions_ = predictions
            self.oob_score_ = float(np.mean(predictions[seen] == labels[seen])) if seen.any() else np.nan
            return
        self.oob_predictions_ = values[:, 0]
        error = labels[seen] - self.oob_predictions_[seen]
        spread = labels[seen] - labels[seen].mean() if seen.any() else np.zeros(0)
        total = float((spread**2).sum())
        self.oob_score_ = 1.0 - float((error**2).sum()) / total if total else np.nan

    def _values(self, X: Any) -> NDArray[np.float64]:
        """Average over the trees of what each row's leaf holds."""
        check_is_fitted(self)
        x = self._schema.matrix(read_table(self, X, reset=False))
        packed = self.forest_.packed
        value = probabilities(packed.value) if is_classifier(self) else packed.value
        leaf = apply(packed, x, n_jobs=self.n_jobs)
        total = np.zeros((len(x), value.shape[1]))
        for start, nodes in zip(packed.node_start, leaf, strict=False):
            total += value[start + nodes]
        return total / len(leaf)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class, or the mean, of each row of X over all trees.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to predict.
        """
        values = self._values(X)
        return np.asarray(self.classes_[values.argmax(axis=1)] if is_classifier(self) else values[:, 0])

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities of each row of X, averaged over all trees.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to classify.
        """
        return self._values(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return accuracy, or R², on new rows.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to predict.
        y : array (rows,)
            What they should give.
        sample_weight : array (rows,), optional
            Weights of the rows.
        """
        from sklearn.metrics import accuracy_score, r2_score

        measure = accuracy_score if is_classifier(self) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def _template(self) -> Any:
        return TreeClassifier() if self.tree is None else self.tree

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = get_tags(self._template())
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "target_tags", "input_tags"):
            setattr(tags, name, getattr(own, name))
        return tags
