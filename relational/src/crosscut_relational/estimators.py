"""Relational trees as estimators: one fit gives the final tree and its cross-validation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from crosscut.statistics.scores import accuracy, r_squared
from crosscut.training.fit import CrossValidated, Fit, Validated, fit_of
from crosscut.training.guarantees import PredictsIntervals, PredictsSets
from crosscut_relational.queries.prediction import leaf_numbers
from crosscut_relational.queries.queries import STEP_LIMIT
from crosscut_relational.training_set import RelationalSet
from crosscut_relational.validation import RelationalValidation

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    from crosscut.forest.pruning_table import PruningTable
    from crosscut.forest.shrinkage import Shrinkage
    from crosscut_relational.database.database import Database
    from crosscut_relational.language.bias import Bias
    from crosscut_relational.language.rule import Goal
    from crosscut_relational.language.settings import Heuristic, Pruning
    from crosscut_relational.queries.growth import RelationalForest, Sharing
    from crosscut_relational.queries.sql import Dialect
    from crosscut_relational.queries.tree import RelationalTree


@dataclass(kw_only=True, eq=False, repr=False)  # the parameters, as scikit-learn finds them in __init__
class RelationalTreeEstimator(CrossValidated, BaseEstimator, ABC):  # type: ignore[misc]  # untyped
    """A relational tree that is grown together with the trees of its cross-validation."""

    regression: ClassVar[bool] = False

    bias: Bias | None = field(default=None, kw_only=False)
    cv: Any = 10
    heuristic: Heuristic | None = None
    minimal_cases: int | None = None
    max_depth: int | None = None
    prune: Pruning | None = None
    shrinkage: Shrinkage = None
    step_limit: int = STEP_LIMIT
    sharing: Sharing = "parallel"
    n_jobs: int | None = None
    random_state: int | None = None

    def fit(
        self,
        database: Database,
        y: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Grow the tree of all examples and the trees of the folds, in one run.

        Parameters
        ----------
        database : Database
            Facts, examples and their target.
        y : object
            Ignored; the target is the database's. scikit-learn's searches pass it.
        sample_weight : array-like of shape (n_examples,), optional
            How often each example counts: a positive whole number.
        groups : array-like of shape (n_examples,), optional
            Passed to a splitter given as ``cv``, which keeps examples of one group in one fold.
        """
        del y
        data = RelationalSet.read(
            database,
            self.bias,
            self.cv,
            regression=self.regression,
            groups=groups,
            sample_weight=sample_weight,
            random_state=self.random_state,
            heuristic=self.heuristic,
            minimal_cases=self.minimal_cases,
            max_depth=self.max_depth,
            pruning=self.prune,
            shrinkage=self.shrinkage,
        )
        grown, leaf = data.grow(self.sharing, self.step_limit, self.n_jobs)
        data.warn_of_limit(grown.limit_hits, self.step_limit)
        validation = None
        if data.tasks.n_tasks > 1:
            validation = RelationalValidation(
                grown.pruned,
                data.tasks.tests,
                data.tasks.first_test,
                leaf=leaf,
                y=data.y,
                classes=data.classes,
                settings=grown.settings,
            )
            validation.weights = None if data.weights is None else data.weights.astype(np.float64)
            validation.groups = data.tasks.groups
        table = None
        if validation is not None and grown.settings.chooses:
            table = validation.pruning_table
            validation = validation.chosen(table)
            grown.pruned = tuple(validation.trees)
        self.fit_: Fit = data.fit(self, grown.pruned, grown, validation, table)
        return self

    @property
    def forest_(self) -> RelationalForest:
        """All trees as grown and pruned, and the cost of growing them."""
        forest: RelationalForest = fit_of(self).grown
        return forest

    @property
    def tree_(self) -> RelationalTree:
        """The pruned tree grown from all examples."""
        tree: RelationalTree = fit_of(self).final
        return tree

    @property
    def cv_trees_(self) -> tuple[RelationalTree, ...]:
        """The pruned trees of the folds; tree ``i`` was grown without fold ``i``."""
        fit_of(self).validated("cv_trees_")
        return fit_of(self).folds

    @property
    def pruning_table_(self) -> PruningTable:
        """Every pruning of the final tree, with its cross-validated error."""
        return fit_of(self).pruning_table

    def goals(self) -> tuple[Goal, ...]:
        """Return all literals of the final tree."""
        return self.tree_.goals

    def _leaves(self, database: Database, tree: RelationalTree | None = None) -> list[Any]:
        tree = self.tree_ if tree is None else tree
        leaves = list(tree.root.leaves())
        return [leaves[number] for number in leaf_numbers(tree, database, step_limit=self.step_limit)]

    def _values_by_folds(self, database: Database) -> NDArray[np.float64]:
        m = self.forest_.settings.m_estimate or 0.0
        return np.stack([tree.values(self._leaves(database, tree), m) for tree in self.cv_trees_])

    @abstractmethod
    def predict(self, database: Database) -> NDArray[Any]:
        """Predict the examples of a database with the final tree."""

    def score(self, database: Database, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return accuracy (classes) or R² (numbers) on a database that has a target."""
        del y
        copies = np.repeat(
            np.arange(len(database)), 1 if sample_weight is None else np.asarray(sample_weight)
        )
        measure = accuracy if database.classes else r_squared
        return measure(database.labels[copies], self.predict(database)[copies])

    def __str__(self) -> str:
        return str(self.tree_) if hasattr(self, "fit_") else repr(self)

    def to_prolog(self) -> str:
        """Write the final tree as a Prolog decision list."""
        return self.tree_.to_prolog()

    def to_sql(self, dialect: Dialect = "duckdb") -> str:
        """Write the final tree as an SQL query that gives the key and prediction of every example.

        Parameters
        ----------
        dialect : "duckdb", "sqlite" or "postgresql"
            The target database.

        Examples
        --------
        >>> from crosscut_relational import Database, RelationalTreeClassifier
        >>> database = Database.from_tables(
        ...     {
        ...         "shop": {"id": range(8), "big": ["yes", "no"] * 4},
        ...         "sale": {"shop_id": [0, 0, 2, 2, 4, 4, 6, 6, 1]},
        ...     },
        ...     target="shop.big",
        ... )
        >>> print(RelationalTreeClassifier(cv=None).fit(database).to_sql())
        WITH extended AS MATERIALIZED (
          SELECT t.*,
          COALESCE((SELECT COUNT(*) FROM "sale" AS s1 WHERE t."id" = s1."shop_id"), 0) AS summary_1
          FROM "shop" AS t)
        SELECT t."id" AS key,
          CASE WHEN t.summary_1 <= 1.5e0
            THEN 'no'
            ELSE 'yes' END AS "big"
        FROM "extended" AS t
        <BLANKLINE>
        """
        return self.tree_.to_sql(dialect)

    def report(self, path: str | PathLike[str]) -> None:
        """Write an HTML page about the tree and its cross-validation."""
        from crosscut_relational.report import write_report

        write_report(fit_of(self), path)


class RelationalTreeClassifier(PredictsSets, RelationalTreeEstimator):
    """A first-order decision tree (TILDE) with its cross-validation.

    Parameters
    ----------
    bias : Bias, optional
        The language of tests and the settings of growth; by default `Bias.from_schema`.
    cv : int, "marks", array-like, splitter or None
        Number of folds (stratified, in order), the database's own fold marks, a fold number per example (-1
        for none), a splitter of scikit-learn or its (train, test) pairs, or no cross-validation. Trees
        whose training set is not all examples except a fold (``TimeSeriesSplit``) are grown one by one.
    heuristic, minimal_cases, max_depth : optional
        Override the settings of the bias; see `Settings`. A grid search can vary them.
    prune : "best", "1se", "c45", "safe" or "none", optional
        Override ``Settings.pruning``. "best" and "1se" choose the size of the tree by the held-out examples,
        as in :class:`crosscut.TreeClassifier`.
    shrinkage : "auto" or float, optional
        Override ``Settings.shrinkage``: how strongly predictions of trees that are pruned by "best" or "1se"
        move towards those of the nodes above. 0 is not at all.
    step_limit : int
        Maximum number of facts examined per query and example; see `StepLimitWarning`.
    sharing : "parallel", "paper", "serial" or "uncached"
        All trees in one run, or one by one for comparison; see `Grower.grow`. The result is the same.
    n_jobs : int, optional
        Number of threads; None uses all cores. The result does not depend on it.
    random_state : int, optional
        Shuffle the examples before they are put into ``cv`` folds. Tables are often ordered, for example by
        date, and then folds in order are not random samples.

    Attributes
    ----------
    tree_ : RelationalTree
        The pruned tree grown from all examples.
    cv_trees_ : tuple of RelationalTree
        The trees of the folds.
    forest_ : RelationalForest
        All trees as grown and pruned, and the cost of growing them.
    cv_predictions_ : array of shape (n_examples,)
        Class predicted for each example by the tree grown without its fold.
    cv_probabilities_ : array of shape (n_examples, n_classes)
        Class distribution of the leaf it reached; NaN for examples in no fold.
    cv_scores_ : array of shape (n_folds,)
        Accuracy per fold.
    cv_score_, cv_standard_error_ : float
        Accuracy on all held-out examples, and its standard error.

    Examples
    --------
    >>> from crosscut_relational import Bias, Database
    >>> db = Database.from_prolog('''
    ...     machine(1, sendback). worn(1, gear). worn(1, engine). machine(2, ok).
    ...     machine(3, fix). worn(3, gear). machine(4, sendback). worn(4, engine).
    ...     machine(5, ok). machine(6, fix). worn(6, gear).
    ...     replaceable(gear).
    ... ''', predict="machine(+machine,-action)", types=["worn(machine,part)", "replaceable(part)"])
    >>> bias = Bias.of(["worn(+M,-P)", "replaceable(+P)"], types=["worn(machine,part)", "replaceable(part)"],
    ...                pruning="none")
    >>> model = RelationalTreeClassifier(bias, cv=None).fit(db)
    >>> print(model)
    machine(-A,-B)
    worn(A,-C) ?
    +--yes: [fix] 4.0 [[fix:2.0,ok:0.0,sendback:2.0]]
    +--no:  [ok] 2.0 [[fix:0.0,ok:2.0,sendback:0.0]]
    """

    cv_probabilities_ = Validated("values", "Out-of-fold class distributions; NaN for examples in no fold.")

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes."""
        return fit_of(self).known_classes

    def predict(self, database: Database) -> NDArray[Any]:
        """Predict the examples of a database with the final tree."""
        codes = np.array([leaf.prediction for leaf in self._leaves(database)], np.int64)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, database: Database) -> NDArray[np.float64]:
        """Return the class distribution of the leaf that each example of a database reaches."""
        return self.tree_.values(self._leaves(database), self.forest_.settings.m_estimate or 0.0)


class RelationalTreeRegressor(PredictsIntervals, RelationalTreeEstimator):
    """A first-order regression tree with its cross-validation.

    Each node uses the test that reduces the variance most, if an F-test finds the reduction significant
    (``Settings.ftest``). Parameters and attributes are those of `RelationalTreeClassifier`; ``cv_scores_``
    are coefficients of determination.

    Examples
    --------
    >>> from crosscut_relational import Bias, Database
    >>> facts = "".join(f"weight({i},{1.0 + i % 2}). " + ("big(%d). " % i if i % 2 else "") for i in range(8))
    >>> db = Database.from_prolog(facts, predict="weight(+thing,-number)", regression=True)
    >>> model = RelationalTreeRegressor(Bias.of(["big(+T)"]), cv=4).fit(db)
    >>> print(model)
    weight(-A,-B)
    big(A) ?
    +--yes: [2.0] 4.0
    +--no:  [1.0] 4.0
    >>> model.cv_predictions_.tolist()
    [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]
    """

    regression = True

    def predict(self, database: Database) -> NDArray[Any]:
        """Predict the examples of a database with the final tree."""
        return self.tree_.values(self._leaves(database))[:, 0]
