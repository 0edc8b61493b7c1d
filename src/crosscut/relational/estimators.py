"""Relational trees as estimators: the final tree and its cross-validation in one fit."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from crosscut.relational.folds import folds_of
from crosscut.relational.language.bias import Bias
from crosscut.relational.queries.growth import Grower, RelationalForest
from crosscut.relational.queries.prediction import leaf_numbers
from crosscut.relational.queries.printing import legend
from crosscut.relational.queries.queries import STEP_LIMIT, Facts
from crosscut.relational.queries.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    from crosscut.relational.database.database import Database
    from crosscut.relational.language.rule import Goal
    from crosscut.relational.language.settings import Settings
    from crosscut.relational.queries.growth import Sharing
    from crosscut.relational.queries.tree import RelationalTree


class StepLimitWarning(RuntimeWarning):
    """A query took more steps on some example than allowed and counts as false there."""


def warn_of_limit(hits: Sequence[tuple[str, int]], step_limit: int, database: Database) -> None:
    """Warn the caller of ``fit`` of queries that were cut off, if there are any: their text and example."""
    if hits:
        query, example = hits[0]
        warnings.warn(
            f"{len(hits)} (query, example) pairs took more than step_limit={step_limit} steps and count as "
            f"false, the first: {query} on {database.example_text(example)}. Raise step_limit, or restrict "
            "the bias",
            StepLimitWarning,
            stacklevel=3,
        )


class _RelationalTree(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn is not typed
    regression = False

    def __init__(
        self,
        bias: Bias | None = None,
        *,
        cv: int | str | ArrayLike | None = 10,
        step_limit: int = STEP_LIMIT,
        sharing: Sharing = "parallel",
    ) -> None:
        self.bias = bias
        self.cv = cv
        self.step_limit = step_limit
        self.sharing = sharing

    def fit(self, database: Database, y: None = None) -> Self:
        """Grow the tree of all examples and those of the folds, in one run.

        Parameters
        ----------
        database : Database
            Facts, examples and their target.
        y : None
            Ignored; the target is the database's.
        """
        del y
        if database.target is None:
            raise ValueError("the database has no target, so there is nothing to learn")
        if database.n_examples == 0:
            raise ValueError("the database has no examples")
        if self.regression == bool(database.classes):
            other = "RelationalTreeClassifier" if self.regression else "RelationalTreeRegressor"
            raise ValueError(f"the target is {'classes' if database.classes else 'numbers'}; use {other}")
        bias = Bias.from_schema(database) if self.bias is None else self.bias
        if bias.settings.regression != self.regression:
            bias = bias.with_settings(regression=self.regression)
        language = resolve(bias, database)
        self.folds_ = folds_of(self.cv, database)
        facts = Facts(database, language.root)
        grower = Grower(facts, language, self.folds_, step_limit=self.step_limit)
        self.forest_: RelationalForest = grower.grow(self.sharing)
        warn_of_limit(self.forest_.limit_hits, self.step_limit, database)
        self.settings_: Settings = bias.settings
        self.n_examples_ = database.n_examples
        self.classes_ = np.array(database.classes, dtype=object)
        self.target_name_ = database.target_name
        self._score_folds(np.asarray(database.target))
        return self

    @property
    def tree_(self) -> RelationalTree:
        """The pruned tree grown from all examples."""
        check_is_fitted(self, "forest_")
        return self.forest_.pruned[0]

    @property
    def cv_trees_(self) -> tuple[RelationalTree, ...]:
        """The pruned trees of the folds; tree ``i`` was grown without fold ``i``."""
        check_is_fitted(self, "forest_")
        return self.forest_.pruned[1:]

    @property
    def target_column_(self) -> str | None:
        """The column that is predicted, if the database is made of tables."""
        return self.tree_.signature.target_column

    def _score_folds(self, target: NDArray[Any]) -> None:
        self._target = target
        n_folds = int(self.folds_.max(initial=-1)) + 1
        held_out = self.forest_.held_out
        self.cv_predictions_ = self._named(held_out)
        scores = []
        for fold in range(n_folds):
            mine = self.folds_ == fold
            scores.append(self._score(target[mine], held_out[mine]))
        self.cv_scores_: NDArray[np.float64] = np.array(scores)
        self.cv_score_ = float(np.mean(scores)) if scores else float("nan")
        spread = float(np.std(scores, ddof=1)) if len(scores) > 1 else float("nan")
        self.cv_standard_error_ = spread / math.sqrt(max(len(scores), 1))

    @abstractmethod
    def _named(self, values: NDArray[np.float64]) -> NDArray[Any]:
        """Predictions of trees as the user sees them."""

    @abstractmethod
    def _score(self, target: NDArray[Any], predicted: NDArray[np.float64]) -> float:
        """Score of predictions; both are class codes, or numbers."""

    def goals(self) -> tuple[Goal, ...]:
        """Return all literals of the final tree."""
        return tuple(goal for node in self.tree_.root.walk() for goal in node.test)

    def legend(self) -> list[str]:
        """Return what the columns of the tables that the tree is about mean."""
        return legend(self.goals(), self.tree_.signature)

    def _leaves(self, database: Database) -> list[Any]:
        check_is_fitted(self, "forest_")
        leaves = list(self.tree_.root.leaves())
        return [leaves[number] for number in leaf_numbers(self.tree_, database, step_limit=self.step_limit)]

    def predict(self, database: Database) -> NDArray[Any]:
        """Predict the examples of a database with the final tree."""
        return self._named(np.array([leaf.prediction for leaf in self._leaves(database)], np.float64))

    def score(self, database: Database, y: None = None) -> float:
        """Accuracy (classes) or coefficient of determination (numbers) on a database that has a target."""
        del y
        if database.target is None:
            raise ValueError("the database has no target to compare with")
        predicted = np.array([leaf.prediction for leaf in self._leaves(database)], np.float64)
        return self._score(self._codes(database), predicted)

    def _codes(self, database: Database) -> NDArray[Any]:
        return np.asarray(database.target)

    def __str__(self) -> str:
        if not hasattr(self, "forest_"):
            return repr(self)
        return str(self.tree_)

    def to_prolog(self) -> str:
        """Write the final tree as a Prolog decision list."""
        return self.tree_.to_prolog()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the pruned trees and the cross-validation to a model file, to be read by `load_model`."""
        from crosscut.relational.model_file.trees import save

        check_is_fitted(self, "forest_")
        save(self, path)

    def report(self, path: str | PathLike[str]) -> None:
        """Write an HTML page about the tree and its cross-validation."""
        from crosscut.relational.report import write_report

        check_is_fitted(self, "forest_")
        write_report(self, path)


class RelationalTreeClassifier(_RelationalTree):
    """A first-order decision tree (TILDE) with its cross-validation.

    Parameters
    ----------
    bias : Bias, optional
        The language of tests and the settings of growth. By default it is made from the database's tables
        and their links (`Bias.from_schema`).
    cv : int, "marks", array-like or None
        Number of folds (classes are spread evenly, without chance), the database's own fold marks, a fold
        number per example (-1 for none), or no cross-validation.
    step_limit : int
        Most facts that may be looked at for one query and example; see `StepLimitWarning`.
    sharing : "parallel", "paper", "serial" or "uncached"
        All trees in one run, or one by one for comparison; see `Grower.grow`. The result is the same.

    Attributes
    ----------
    tree_ : RelationalTree
        The pruned tree grown from all examples.
    cv_trees_ : tuple of RelationalTree
        Those of the folds.
    forest_ : RelationalForest
        All trees as grown and pruned, and what growing them cost.
    cv_predictions_ : array of shape (n_examples,)
        Class predicted for each example by the tree that was grown without its fold; None for examples of
        no fold.
    cv_probabilities_ : array of shape (n_examples, n_classes)
        Class distribution of the leaf it fell in.
    cv_scores_ : array of shape (n_folds,)
        Accuracy per fold.
    cv_score_, cv_standard_error_ : float
        Their mean and its standard error.

    Examples
    --------
    >>> from crosscut.relational.database.database import Database
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
    +--yes: [sendback] 4.0 [[fix:2.0,ok:0.0,sendback:2.0]]
    +--no:  [ok] 2.0 [[fix:0.0,ok:2.0,sendback:0.0]]
    """

    def _named(self, values: NDArray[np.float64]) -> NDArray[Any]:
        known = np.isfinite(values)
        names = np.full(len(values), None, object)
        names[known] = self.classes_[values[known].astype(np.int64)]
        return names

    def _score(self, target: NDArray[Any], predicted: NDArray[np.float64]) -> float:
        return float(np.mean(target == predicted)) if len(target) else float("nan")

    def _codes(self, database: Database) -> NDArray[Any]:
        own = {name: code for code, name in enumerate(self.classes_)}
        return np.array([own.get(database.classes[code], -1) for code in np.asarray(database.target)])

    def predict_proba(self, database: Database) -> NDArray[np.float64]:
        """Class distribution of the leaf that each example of a database falls in."""
        return self._distributions([leaf.statistics for leaf in self._leaves(database)])

    @property
    def cv_probabilities_(self) -> NDArray[np.float64]:
        """Out-of-fold class distributions; NaN for examples of no fold."""
        check_is_fitted(self, "forest_")
        nodes = [list(tree.root.walk()) for tree in self.cv_trees_]
        missing = (np.nan,) * len(self.classes_)
        return self._distributions(
            [
                missing if leaf < 0 else nodes[fold][leaf].statistics
                for fold, leaf in zip(self.folds_, self.forest_.held_out_leaves, strict=True)
            ]
        )

    def _distributions(self, counts: list[tuple[float, ...]]) -> NDArray[np.float64]:
        table = np.array(counts, np.float64).reshape(len(counts), len(self.classes_))
        m = self.settings_.m_estimate or 0.0
        prior = np.array(self.tree_.root.statistics)
        shares: NDArray[np.float64] = (table + m * prior / prior.sum()) / (
            table.sum(axis=1, keepdims=True) + m
        )
        return shares


class RelationalTreeRegressor(_RelationalTree):
    """A first-order regression tree with its cross-validation.

    A test is the one that reduces the variance most; it is taken if an F-test finds the reduction significant
    (``Settings.ftest``). Parameters and attributes are those of `RelationalTreeClassifier`; ``cv_scores_``
    are coefficients of determination.

    Examples
    --------
    >>> from crosscut.relational.database.database import Database
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

    def _named(self, values: NDArray[np.float64]) -> NDArray[Any]:
        return values

    def _score(self, target: NDArray[Any], predicted: NDArray[np.float64]) -> float:
        spread = float(np.sum((target - np.mean(target)) ** 2)) if len(target) else 0.0
        if spread == 0.0:
            return float("nan")
        return 1.0 - float(np.sum((target - predicted) ** 2)) / spread
