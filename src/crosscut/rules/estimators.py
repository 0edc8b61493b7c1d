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
from crosscut.rules.weighing import Group, grouped_by_weights, rule_sets
from crosscut.rules.wording import TableWording, sql_case
from crosscut.tasks import Tasks
from crosscut.training.checks import PredictionMethods, read_table, table_tags
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
class RuleClassifier(PredictionMethods, ClassifierMixin, RuleEstimator):  # type: ignore[misc]  # untyped
    """Rule set classifier, cross-validated as part of ``fit``.

    ``fit`` learns the final rule set and the rule sets of the folds together, in shared passes over the rows.
    Every rule set is the same as if it were learnt alone.

    Parameters
    ----------
    strategy : {"cn2", "ripper"}
        "cn2" covers the rows rule by rule, each found by a beam search. "ripper" grows a rule for a class,
        prunes it on other rows, stops by description length, and then optimises the rules.
    ordered : bool
        CN2: learn a decision list, in which the first rule that applies decides. If false, each class gets
        its own rules, and all rules that apply vote. RIPPER's rules are always ordered.
    measure : {"laplace", "m_estimate", "wracc", "entropy"}
        CN2: quality measure of a rule. "wracc" is weighted relative accuracy; "entropy" needs ``ordered``.
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
        RIPPER: number of passes that optimise all rules.
    class_weight : dict or "balanced", optional
        Weights of the classes.
    cv : int, array (rows,) of fold numbers (-1: none), splitter, iterable of (train, test), or None
        An integer is the number of stratified folds, shuffled first if ``random_state`` is given. None learns
        the final rule set only.
    scoring : str or callable, optional
        The score in ``cv_scores_``; by default accuracy.
    random_state : int, optional
        Shuffles the folds of an integer ``cv``, and chooses the rows on which RIPPER prunes. The choice
        depends only on the values of a row, so all rule sets use the same rows.

    Attributes
    ----------
    classes_ : array
        The classes.
    rules_ : RuleSet
        The final rule set, learnt on all rows.
    cv_rules_ : tuple of RuleSet
        The rule sets of the folds.
    cv_predictions_, cv_probabilities_ : arrays
        Prediction for each row by the rule set learnt without it.
    cv_scores_, cv_score_, cv_standard_error_
        Score of each fold; of all held-out rows together, and its standard error from the rows' losses.
    rule_precision_ : list of (weight, precision)
        For each final rule, the default last: the weight of the rows it decides, and the fraction of these
        that the rule sets of the folds predict correctly when the rows are held out.

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
        """Learn the final rule set and the rule sets of the folds.

        Parameters
        ----------
        X : array or frame (rows, columns)
            NumPy, pandas, polars or Arrow. Text and categorical columns are nominal; NaN is missing and
            satisfies no condition.
        y : array (rows,)
            Class labels.
        sample_weight : array (rows,), optional
            Weights of the rows; only their ratios matter. If all are multiples of the smallest, each row
            counts as that number of copies; otherwise the mean weight counts as one row.
        groups : array (rows,), optional
            Groups for the splitter ``cv``.
        """
        check_parameters(self)
        data = TrainingSet.read(self, X, y, sample_weight)
        trained = np.ones(data.n_rows, bool) if data.target.weights is None else data.target.weights > 0
        data = replace(data, table=data.table.with_seen_categories(trained))
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
            validation = RuleValidation.of(examples, sets, tasks, data.target.values, fit.known_classes)
            validation.weights, validation.groups = data.target.weights, tasks.groups
            fit = with_scores(self, replace(fit, validation=validation), partial(held_out_rows, data, tasks))
        self.work_ = {
            name: sum(group.examples.work[name] for group in groups) for name in groups[0].examples.work
        }
        self.fit_ = fit
        return self

    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Return the class probabilities of each row of X: the class proportions of the rules that apply.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to classify.
        """
        fit = fit_of(self)
        x, rules = fit.schema.matrix(read_table(self, X, reset=False)), fit.final
        step = max(1, 2**22 // (len(rules) + 1))  # rows at a time, to limit memory
        parts = [rules.values(_satisfied(x[i : i + step], rules)) for i in range(0, len(x), step)]
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
        """Write an HTML report on the rules: coverage, out-of-fold precision, errors by fold, agreement.

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
            The database system. SQLite stores dates as text, which must be in ISO format.
        """
        fit = fit_of(self)
        return sql_case(fit.final, fit.schema, self.classes_.tolist(), dialect)

    def _repr_html_(self) -> str:
        from crosscut.report.tree_page import notebook_html

        html: str = super()._repr_html_()
        return html + notebook_html(self.fit_, self.to_text()) if hasattr(self, "fit_") else html

    def _repr_mimebundle_(self, **_options: object) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def __sklearn_tags__(self) -> Tags:
        return table_tags(super().__sklearn_tags__())


def _groups(data: TrainingSet, tasks: Tasks, *, balanced: bool) -> list[Group[TableRows]]:
    """Group tasks that give their rows the same weights. Repeated training rows count as separate rows."""
    rows, over_copies = tasks.copied()
    table, target = (data.table.take(rows) if tasks.copies else data.table), data.target.take(rows)
    each = range(tasks.n_tasks)
    weights = (data.balanced(tasks, task).take(rows).weights if balanced else target.weights for task in each)
    return grouped_by_weights(
        [over_copies.trains(task) for task in each],
        weights,
        lambda kept, exponent: TableRows(table, replace(target, weights=kept), exponent),
    )


def _satisfied(x: NDArray[np.float32], rules: RuleSet) -> NDArray[np.bool_]:
    """Return which rows of a matrix satisfy each rule."""
    satisfied = np.ones((len(rules), len(x)), bool)
    for number, rule in enumerate(rules.rules):
        for condition in rule.conditions:
            satisfied[number] &= condition.holds(x)
    return satisfied
