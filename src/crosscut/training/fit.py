"""The result of training, used by plots, reports, model files and comparisons."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from crosscut.data.schema import Schema
from crosscut.forest.export.scikit import tree_from_sklearn
from crosscut.forest.forest import Forest
from crosscut.forest.held_out_losses import pruning_table
from crosscut.forest.pruning_table import Objective
from crosscut.statistics.validation import TreeValidation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from crosscut.forest.pruning_table import PruningTable
    from crosscut.statistics.validation import Validation
    from crosscut.training.streamed_set import StreamedSet
    from crosscut.training.training_set import TrainingSet
    from crosscut.typing import ColumnLike, Estimator, Scoring, TableLike


@dataclass(frozen=True, eq=False, kw_only=True)
class Fit:
    """The result of a fit; the attribute ``fit_`` of every fitted estimator.

    Plots, reports, model files and the command line need no other attribute.

    Attributes
    ----------
    learner : str
        Name of the estimator's class.
    settings : mapping
        Its parameters.
    schema : Schema
        The columns; for a relational fit, the signature of the database.
    classes : array or None
        The classes in sorted order; None for regression.
    target : str
        Name of the target.
    forest : Forest, or sequence of models
        The models after pruning: the final one, then one per fold. Trees, rule sets or relational trees.
    grown : Forest, or sequence of models
        The same models before pruning, with the cost of growing them.
    validation : Validation or None
        Out-of-fold predictions and scores; None if fitted with ``cv=None``.
    alpha : float
        Cost-complexity parameter of the final tree.
    chosen_by : PruningTable or None
        The table from which ``alpha`` was chosen (``prune="best"`` or ``"1se"``).
    n_missing : int64 array or None
        Number of missing values in each column.
    notes : tuple of str
        Warnings about rows and columns that make the results less reliable.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from crosscut import TreeClassifier
    >>> fit = TreeClassifier(cv=5).fit(*load_iris(return_X_y=True)).fit_
    >>> fit.final.n_leaves, len(fit.folds), fit.schema.names
    (9, 5, ('x0', 'x1', 'x2', 'x3'))
    """

    learner: str
    settings: Mapping[str, Any]
    schema: Any  # a Schema, or the signature of a database
    classes: NDArray[Any] | None
    target: str = "target"
    forest: Any
    grown: Any
    validation: Validation | None = None
    alpha: float = 0.0
    chosen_by: PruningTable | None = None
    n_missing: NDArray[np.int64] | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, model: Estimator, data: TrainingSet | StreamedSet, *, forest: Any, **known: Any) -> Self:
        """Return the fit of an estimator to a training set."""
        known = {"grown": forest} | known
        return cls(
            learner=type(model).__name__,
            settings=_parameters(model),
            schema=data.schema,
            classes=data.classes,
            target=data.name,
            n_missing=data.n_missing,
            forest=forest,
            **known,
        )

    @classmethod
    def of_trees(cls, models: Sequence[Any]) -> Self:
        """Return a fit with only the trees of fitted estimators of scikit-learn or crosscut."""
        if not models:
            raise ValueError("models is empty; pass at least one fitted tree")
        first, forest = models[0], Forest([tree_from_sklearn(model) for model in models])
        classes = getattr(first, "classes_", None)
        for model in models:
            same = np.array_equal(getattr(model, "classes_", None), classes)  # type: ignore[arg-type]
            if not same or model.n_features_in_ != first.n_features_in_:
                raise ValueError("models must have the same columns and classes, but they differ")
        schema = getattr(getattr(first, "fit_", None), "schema", None)
        if schema is None:
            n = first.n_features_in_
            names = getattr(first, "feature_names_in_", [f"x{f}" for f in range(n)])
            schema = Schema(tuple(map(str, names)), ("numeric",) * n, ((),) * n, named=True)
        learner = type(first).__name__
        return cls(learner=learner, settings={}, schema=schema, classes=classes, forest=forest, grown=forest)

    def __repr__(self) -> str:
        folds = "without cross-validation" if self.validation is None else f"{len(self.folds)} folds"
        return f"Fit({self.learner}, {self.kind} of {self.target!r}, {folds})"

    @property
    def final(self) -> Any:
        """The model trained on all rows."""
        return self.forest[0]

    @property
    def folds(self) -> tuple[Any, ...]:
        """The models of the folds."""
        return tuple(self.forest)[1:]

    @property
    def bagged(self) -> bool:
        """Whether all trees are of bootstrap samples, so that none is the final one."""
        return "n_trees" in self.settings

    @property
    def kind(self) -> str:
        """Whether classes or numbers are predicted: "classification" or "regression"."""
        return "regression" if self.classes is None else "classification"

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for regression."""
        return 0 if self.classes is None else len(self.classes)

    @property
    def shrinkage(self) -> float:
        """The strength of shrinkage; 0 is none."""
        if self.chosen_by is not None:
            return float(self.chosen_by.shrinkage[self.chosen_by.choose(self.settings["prune"])])
        strength = self.settings.get("shrinkage")
        return 0.0 if strength in {None, "auto"} else float(strength)

    @property
    def known_classes(self) -> NDArray[Any]:
        """The classes; an error for regression."""
        if self.classes is None:
            raise AttributeError("a regression model has no classes")
        return self.classes

    @cached_property
    def smooth(self) -> Fit:
        """The same fit with shrunk class probabilities.

        Leaves of unpruned trees have probabilities of 0 and 1, which say nothing about other rows. Unless the
        estimator says how to shrink, the strength has the lowest Brier score of the held-out rows.
        """
        cv = self.validation
        is_shrunk = self.chosen_by is not None or self.settings.get("shrinkage") != "auto"
        if is_shrunk or self.classes is None or not isinstance(cv, TreeValidation):
            return self
        objective = Objective(cv.objective.by, "brier", "auto")
        weights, n_classes = cv.training_weights, self.n_classes
        table = pruning_table(
            cv.forest, cv.held_out, cv.y, n_classes=n_classes, weights=weights, objective=objective
        )
        settings = dict(self.settings, shrinkage=float(table.shrinkage[0]))
        shrunk = cv.pruned(table, 0)
        return replace(self, forest=shrunk.forest, validation=shrunk, settings=settings)

    def validated(self, what: str) -> Validation:
        """Return the out-of-fold results; raise an error that names ``what`` if there are none."""
        if self.validation is None:
            raise AttributeError(f"{what} needs cross-validation, but the model was fitted with cv=None")
        return self.validation

    @property
    def pruning_table(self) -> PruningTable:
        """All prunings of the final tree with their cross-validated errors."""
        return self.validated("pruning_table_").pruning_table if self.chosen_by is None else self.chosen_by


def _parameters(model: Estimator) -> dict[str, Any]:
    """Return the parameters of an estimator, faster than scikit-learn's ``get_params``."""
    fields = getattr(type(model), "__dataclass_fields__", None)
    return model.get_params(deep=False) if fields is None else {name: getattr(model, name) for name in fields}


class Fitted(Protocol):
    """A fitted estimator."""

    fit_: Fit


def fit_of(fitted: Fitted | Fit) -> Fit:
    """Return the Fit of a fitted estimator, or the Fit itself."""
    if isinstance(fitted, Fit):
        return fitted
    if not hasattr(fitted, "fit_"):
        from sklearn.utils.validation import check_is_fitted  # slow to import, and mostly not needed

        check_is_fitted(fitted, "fit_")
    fit: Fit = fitted.fit_
    return fit


class Validated(property):
    """An attribute of an estimator that comes from its cross-validation.

    Parameters
    ----------
    of : str
        Attribute of :class:`crosscut.statistics.validation.Validation`.
    doc : str
        Docstring of the attribute.
    """

    def __init__(self, of: str, doc: str) -> None:
        super().__init__(self._value)
        self.of, self.__doc__ = of, doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def _value(self, estimator: BaseEstimator) -> Any:
        return getattr(fit_of(estimator).validated(self.name), self.of)


class CrossValidated:
    """Cross-validation results of an estimator, from the rows that its folds hold out."""

    fit_: Fit

    cv_scores_ = Validated("scores", "Score of each fold's model on the rows it holds out.")
    cv_score_ = Validated(
        "score",
        "Accuracy or R² of all held-out rows together; with a ``scoring``, the mean of ``cv_scores_``.",
    )
    cv_standard_error_ = Validated("standard_error", "Standard error of ``cv_score_``, from the rows.")
    cv_predictions_ = Validated("predictions", "Prediction of every row by the model that holds it out.")

    def cv_interval(
        self,
        level: float = 0.9,
        method: str = "rows",
        X: TableLike = None,
        y: ColumnLike = None,
        sample_weight: ColumnLike = None,
        *,
        measure: Scoring = None,
    ) -> tuple[float, float]:
        """Return a confidence interval for the score of models that are trained like this one.

        Parameters
        ----------
        level : float
            Coverage, between 0 and 1.
        method : {"rows", "bayle", "nested"}
            Source of the standard error: the losses of all rows, their variance within the folds (Bayle et
            al. 2020), or, for trees, a nested cross-validation (Bates, Hastie and Tibshirani 2021), which
            includes the choice of a pruning.
        X, y, sample_weight : optional
            The training data for "nested", which grows trees that leave out two folds.
        measure : str, matrix or callable, optional
            Measure of the interval, by default the score ("accuracy" or "r2"). Others are "zero_one", "log"
            or "brier" for classes, "squared" or "absolute" for numbers, a matrix of costs by class and
            predicted class, and a function ``loss(y_true, y_pred)`` that returns one number per row. "auc",
            the mean area under the ROC curve of the folds, supports only method "rows".

        Returns
        -------
        low, high : float
            Wilson's interval for accuracy and "zero_one", else a symmetric interval.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from crosscut import TreeClassifier
        >>> model = TreeClassifier(cv=5).fit(*load_iris(return_X_y=True))
        >>> low, high = model.cv_interval()
        >>> print(f"{low:.3f} <= {model.cv_score_:.3f} <= {high:.3f}")
        0.933 <= 0.967 <= 0.984
        >>> print("{:.3f} to {:.3f}".format(*model.cv_interval(measure="brier")))
        0.018 to 0.115
        """
        validation = fit_of(self).validated("cv_interval()")
        if method == "nested":
            return self._nested_interval(level, measure, X, y, sample_weight)
        return validation.interval(level, method, measure)

    def _nested_interval(self, _level: float, _measure: Any, *_data: Any) -> tuple[float, float]:
        raise ValueError("method='nested' is for trees of tables; use 'rows' or 'bayle'")

    def _nested_coverage(self, _level: float, _method: str, *_data: Any) -> float:
        raise ValueError("X and y are for trees of tables; cv_coverage() of this model takes only the level")
