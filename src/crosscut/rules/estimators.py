"""A rule set and its cross-validation in one fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from crosscut.rules.examples import TableRows
from crosscut.rules.learning import Learning, check_parameters
from crosscut.rules.validation import RuleEstimator, RuleValidation
from crosscut.rules.weighing import Group, rule_sets, weighed_alike
from crosscut.rules.wording import TableWording, sql_case
from crosscut.tasks import Tasks
from crosscut.training.checks import read_table, table_tags
from crosscut.training.fit import Fit, fit_of
from crosscut.training.train import held_out_rows, with_scores
from crosscut.training.training_set import TrainingSet

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from crosscut.forest.export.sql import SqlDialect
    from crosscut.rules.rule_set import RuleSet
    from crosscut.typing import ColumnLike, CrossValidation, Scoring, Seed, TableLike


@dataclass(kw_only=True, eq=False, repr=False)
class RuleClassifier(ClassifierMixin, RuleEstimator):  # type: ignore[misc]  # untyped
    """Rule set classifier, cross-validated as part of ``fit``.

    ``fit`` learns the final rule set together with those of the folds, in shared passes over the rows. Every
    rule set is the one you would get by learning it alone.

    Parameters
    ----------
    strategy : {"cn2", "ripper"}
        "cn2" covers the rows rule by rule, each found by a beam search. "ripper" grows a rule for a class,
        prunes it on other rows, stops by description length, and then optimises the rules.
    ordered : bool
        CN2: a decision list, in which the first rule that holds decides. If false, each class gets its own
        rules, and all rules that hold vote. RIPPER's rules are always ordered.
    measure : {"laplace", "m_estimate", "wracc", "entropy"}
        CN2: the quality of a rule. "wracc" is weighted relative accuracy; "entropy" needs ``ordered``.
    m : float
        Weight of the prior in the m-estimate.
    beam_width : int
        CN2: number of rules kept at each length. Each is extended by the best cut of every column on each
        side.
    max_length : int, optional
        Maximum number of conditions per rule.
    min_coverage : float
        Minimum number of rows per rule.
    significance : float, optional
        CN2: level of the likelihood ratio test that a rule must pass, for example 0.05.
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
        Shuffles the folds of an integer ``cv``, and chooses the rows RIPPER prunes on. These depend on the
        values of a row only, so that all rule sets use the same.

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
        Score of each fold; of all held-out rows together, and its standard error from the rows' losses.
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
    cv: CrossValidation = 10
    scoring: Scoring = None
    random_state: Seed = None

    def fit(
        self, X: TableLike, y: ColumnLike, sample_weight: ColumnLike = None, groups: ColumnLike = None
    ) -> Self:
        """Learn the final rule set and those of the folds.

        Parameters
        ----------
        X : array or frame (rows, columns)
            NumPy, pandas, polars or Arrow. Text and categorical columns are nominal; NaN is missing and
            satisfies no condition.
        y : array (rows,)
            Class labels.
        sample_weight : array (rows,), optional
            Weights of the rows; only their ratios matter. If all are multiples of the smallest, a row stands
            for so many copies; otherwise the mean weight counts as one row.
        groups : array (rows,), optional
            Groups for the splitter ``cv``.
        """
        check_parameters(self)
        data = TrainingSet.read(self, X, y, sample_weight)
        tasks = Tasks.of_target(
            self.cv, data.target, data.classes, X=data.X, groups=groups, random_state=self.random_state
        )
        seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31))
        learning = Learning.of(self, seed=seed)
        groups = _groups(data, tasks, balanced=self.class_weight == "balanced")
        sets = rule_sets(learning, groups)
        fit = Fit.of(self, data, forest=sets)
        if tasks.n_tasks > 1:
            examples = TableRows(data.table, data.target) if tasks.copies else groups[0].examples
            held_out = (tasks.tests, tasks.first_test)
            validation = RuleValidation.of(examples, sets, held_out, data.target.values, fit.known_classes)
            validation.weights, validation.groups = data.target.weights, tasks.groups
            fit = with_scores(self, replace(fit, validation=validation), partial(held_out_rows, data, tasks))
        self.work_ = {
            name: sum(group.examples.work[name] for group in groups) for name in groups[0].examples.work
        }
        self.fit_ = fit
        return self

    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Return the class probabilities of each row of X: the class shares of the rules that hold.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to classify.
        """
        fit = fit_of(self)
        x, rules = fit.schema.matrix(read_table(self, X, reset=False)), fit.final
        step = max(1, 2**22 // (len(rules) + 1))  # rows at a time, to limit memory
        parts = [rules.values(_held(x[i : i + step], rules)) for i in range(0, len(x), step)]
        return np.concatenate(parts)

    def predict(self, X: TableLike) -> NDArray[Any]:
        """Return the most probable class of each row of X.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to classify.
        """
        values = self.predict_proba(X)
        return np.asarray(self.classes_[values.argmax(axis=1)])

    @property
    def wording_(self) -> TableWording:
        """The wording of the rules."""
        return TableWording(fit_of(self).schema, self.classes_)

    def report(self, path: str | PathLike[str], *, target: str | None = None) -> None:
        """Write an HTML page about the rules: coverage, out-of-fold precision, errors by fold, agreement.

        Parameters
        ----------
        path : path
            The file to write; it needs no other file and no network.
        target : str, optional
            Name of the target; by default the name of ``y``.
        """
        from crosscut.report.rules import write_rule_report

        write_rule_report(fit_of(self), self.wording_, path, target=target)

    def to_sql(self, dialect: SqlDialect = "duckdb") -> str:
        """Return the final rules as an SQL ``CASE`` expression over the columns.

        Parameters
        ----------
        dialect : {"duckdb", "sqlite", "postgresql"}
            The database it is for. SQLite keeps dates as text, which has to be ISO's.
        """
        fit = fit_of(self)
        return sql_case(fit.final, fit.schema, self.classes_.tolist(), dialect)

    def __sklearn_tags__(self) -> Tags:
        return table_tags(super().__sklearn_tags__())


def _groups(data: TrainingSet, tasks: Tasks, *, balanced: bool) -> list[Group[TableRows]]:
    """Put tasks together that weigh their rows alike; a row that a training set repeats is several."""
    rows, over_copies = tasks.copied()
    table, target = (data.table.take(rows) if tasks.copies else data.table), data.target.take(rows)
    each = range(tasks.n_tasks)
    weights = (data.balanced(tasks, task).take(rows).weights if balanced else target.weights for task in each)
    return weighed_alike(
        [over_copies.trains(task) for task in each],
        weights,
        lambda kept, exponent: TableRows(table, replace(target, weights=kept), exponent),
    )


def _held(x: NDArray[np.float32], rules: RuleSet) -> NDArray[np.bool_]:
    """Return which rows of a matrix satisfy each rule."""
    held = np.ones((len(rules), len(x)), bool)
    for number, rule in enumerate(rules.rules):
        for condition in rule.conditions:
            held[number] &= condition.holds(x)
    return held
