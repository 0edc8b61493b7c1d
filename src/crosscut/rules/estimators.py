"""A rule set and its cross-validation in one fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.estimators.table_estimator import TableEstimator
from crosscut.rules.examples import Examples, bits_of
from crosscut.rules.export import sql_case
from crosscut.rules.fitted_rules import FittedRules
from crosscut.rules.learning import Learning, check_parameters
from crosscut.rules.out_of_fold import OutOfFold
from crosscut.rules.parameters import RuleParameters
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Limits
from crosscut.training.checks import read_classes, read_table, read_weights, whole
from crosscut.training.fold_scores import final_task
from crosscut.training.training_set import is_integer

if TYPE_CHECKING:
    from collections.abc import Hashable
    from os import PathLike

    from numpy.typing import NDArray

    from crosscut.rules.rule_set import Rule, RuleSet


@dataclass(kw_only=True, eq=False, repr=False)
class RuleClassifier(RuleParameters, FittedRules, TableEstimator, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Rules that are cross-validated while they are learnt.

    ``fit`` learns the final rule set together with those of the folds: what several of them look at is
    looked at once. Every rule set is the one that learning it alone would give.

    Parameters
    ----------
    strategy : {"cn2", "ripper"}
        "cn2" covers the rows rule by rule, each found by a beam search. "ripper" grows a rule for a class,
        prunes it on other rows, stops by description length, and then optimises the rules.
    ordered : bool
        CN2: a decision list, whose first rule that holds decides. If false, each class gets its own rules
        and those that hold vote. RIPPER's are always ordered.
    measure : {"laplace", "m_estimate", "wracc", "entropy"}
        CN2: what makes a rule good. "wracc" is weighted relative accuracy; "entropy" needs ``ordered``.
    m : float
        Weight of the prior in the m-estimate.
    beam_width : int
        CN2: rules that are kept at each length. Each is extended by the best cut of every column and side.
    max_length : int, optional
        Most conditions of a rule.
    min_coverage : float
        Least number (weight) of rows that a rule covers.
    significance : float, optional
        CN2: level of the likelihood ratio test that a rule has to pass, for example 0.05.
    optimization_passes : int
        RIPPER: how often all rules are optimised.
    class_weight : dict or "balanced", optional
        Weights of the classes.
    cv : int, splitter, iterable of (train, test), or None
        An integer is that many stratified folds, in order, or shuffled by ``random_state`` if that is given.
        None learns the final rule set only.
    scoring : str or callable, optional
        What ``cv_scores_`` measure, by default accuracy.
    random_state : int, optional
        Shuffles the folds of an integer ``cv``, and chooses the rows RIPPER prunes on. These depend on a
        row's number only, so that all rule sets use the same.

    Attributes
    ----------
    classes_ : array
        The classes.
    rules_ : RuleSet
        The final rule set, learnt on all rows.
    cv_rules_ : tuple of RuleSet
        The rule sets of the folds.
    cv_predictions_, cv_probabilities_ : arrays
        What the rule set that has not seen a row says of it.
    cv_scores_, cv_score_, cv_standard_error_
        Score of each fold, their mean and its standard error.
    rule_precision_ : list of (weight, precision)
        Of each final rule, the default last: the weight of the rows it decides, and the share of these that
        the rule sets of the folds put in the right class although they had not seen them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from crosscut import RuleClassifier
    >>> iris = load_iris(as_frame=True)
    >>> model = RuleClassifier(min_coverage=5).fit(iris.data, iris.target)
    >>> print(f"{model.cv_score_:.2f}")
    0.96
    """

    class_weight: dict[Any, float] | str | None = None
    cv: Any = 10
    scoring: Any = None
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn the final rule set and those of the folds.

        Parameters
        ----------
        X : array or frame (rows, columns)
            NumPy, pandas, polars or Arrow. Text and categorical columns are nominal attributes; NaN is
            missing, and meets no condition.
        y : array (rows,)
            Class labels.
        sample_weight : array (rows,), optional
            Weights of the rows.
        groups : array (rows,), optional
            Given to the splitter ``cv``.
        """
        check_parameters(self)
        X = whole(X)
        data = read_table(self, X, reset=True)
        table = Table.from_data(data)
        self.classes_, codes = read_classes(y, table.n_rows)
        labels = self.classes_[codes]
        weights = read_weights(sample_weight, self.class_weight, labels)
        target = Target(codes, len(self.classes_), weights)
        tasks = self._tasks(X, codes, labels, groups)
        tasks.check(target)
        self._schema = table.schema
        examples = Examples(table, target)
        trained = [bits_of(tasks.trains(task)) & examples.weighted for task in range(tasks.n_tasks)]
        seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31))
        learning = Learning.of(self, len(self.classes_), seed=seed)
        sets = learning.rule_sets(examples, trained, table.n_rows)
        self.rules_ = sets[0]
        self._cv = None
        self._held_out_scores = None
        self.work_ = examples.work
        if tasks.n_tasks == 1:
            return self
        self._cv = OutOfFold.of(examples, sets, [tasks.test_rows(t) for t in range(tasks.n_tasks)], codes)
        if self.scoring is not None:
            self._held_out_scores = self._score_folds(X, labels, tasks, self._fold_estimator)
        return self

    def _tasks(self, X: Any, codes: NDArray[np.int32], labels: NDArray[Any], groups: Any) -> Tasks:
        if self.cv is None:
            return final_task(len(codes), Limits())
        if is_integer(self.cv, 2):
            return self._tasks_of_folds(codes, groups, Limits())
        return Tasks.from_cv(self.cv, labels, groups, X=X)

    def _fold_estimator(self, task: int) -> Self:
        model = self._without_folds()
        model.rules_ = self.cv_rules_[task - 1]
        return model

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities of each row of X: class shares of the rules that hold.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to classify.
        """
        check_is_fitted(self)
        x = self._schema.matrix(read_table(self, X, reset=False))
        step = max(1, 2**22 // (len(self.rules_) + 1))  # rows at a time, for the memory of what they meet
        parts = [self.rules_.values(_held(x[i : i + step], self.rules_)) for i in range(0, len(x), step)]
        return np.concatenate(parts)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row of X.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to classify.
        """
        values = self.predict_proba(X)
        return np.asarray(self.classes_[values.argmax(axis=1)])

    def _asked(self, rule: Rule) -> str:
        return " and ".join(condition.text(self._schema) for condition in rule.conditions)

    def _meaning(self, rule: Rule, *, thresholds: bool) -> Hashable:
        asked = (
            (c.feature, c.operator, c.value if thresholds or c.operator in {"=", "!="} else None)
            for c in rule.conditions
        )
        return rule.code, frozenset(asked)

    def report(self, path: str | PathLike[str], *, target: str = "target") -> None:
        """Write an HTML page on the rules: coverage, out-of-fold precision, errors by fold, agreement.

        Parameters
        ----------
        path : path
            The file to write; it needs no other file and no network.
        target : str
            Name of what is predicted.
        """
        from crosscut.report.rules import write_rule_report

        write_rule_report(self, path, target=target)

    def to_sql(self) -> str:
        """Return the final rules as an SQL ``CASE`` expression over the columns."""
        check_is_fitted(self)
        return sql_case(self.rules_, self._schema, self.classes_.tolist())


def _held(x: NDArray[np.float32], rules: RuleSet) -> NDArray[np.bool_]:
    """Return which rows of a matrix meet each rule."""
    held = np.ones((len(rules), len(x)), bool)
    for number, rule in enumerate(rules.rules):
        for condition in rule.conditions:
            held[number] &= condition.holds(x)
    return held


__all__ = ["RuleClassifier"]
