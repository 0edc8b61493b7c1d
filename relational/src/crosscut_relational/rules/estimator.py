"""First-order rules for the examples of a database, cross-validated in one fit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from crosscut.rules.learning import Learning, check_parameters
from crosscut.rules.validation import RuleEstimator, RuleValidation
from crosscut.rules.weighing import grouped_by_weights, rule_sets
from crosscut.training.checks import read_weights
from crosscut.training.fit import fit_of
from crosscut_relational.queries.growth import limit_hits
from crosscut_relational.queries.prediction import ModelQueries
from crosscut_relational.queries.printing import check_prolog
from crosscut_relational.queries.queries import STEP_LIMIT, Queries
from crosscut_relational.queries.sql import rules_query
from crosscut_relational.rules.examples import RelationalExamples
from crosscut_relational.rules.first_order import FirstOrderWording, goals_of
from crosscut_relational.training_set import RelationalSet

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    from crosscut_relational.database.database import Database
    from crosscut_relational.language.bias import Bias
    from crosscut_relational.language.rule import Goal
    from crosscut_relational.queries.sql import Dialect
    from crosscut_relational.queries.tree import Signature


@dataclass(kw_only=True, eq=False, repr=False)
class RelationalRuleClassifier(RuleEstimator):
    """First-order rules (FOIL-style) with their cross-validation.

    Conditions are the tests of relational trees: conjunctions of literals that may share variables with
    earlier conditions. Their truth is computed once for the final rules and the rules of all folds. The
    parameters ``ordered``, ``measure``, ``m``, ``beam_width``, ``max_length``, ``min_coverage``,
    ``significance`` and ``optimization_passes`` are those of ``RuleClassifier``, with examples as rows.

    Parameters
    ----------
    bias : Bias, optional
        The language of conditions; by default `Bias.from_schema`.
    strategy : {"ripper", "cn2"}
        "ripper" grows rules by FOIL's gain, prunes them and stops by description length. "cn2" uses a beam
        search.
    cv : int, "marks", array-like or None
        As for ``RelationalTreeClassifier``.
    step_limit : int
        Maximum number of facts examined per query and example.
    random_state : int, optional
        Seed for choosing the examples that RIPPER prunes on. If given, it also shuffles the examples before
        they are put into ``cv`` folds.

    Attributes
    ----------
    rules_ : RuleSet
        The final rules; conditions are tuples of goals.
    cv_rules_ : tuple of RuleSet
        The rules of the folds.
    cv_predictions_, cv_probabilities_, cv_scores_, cv_score_, cv_standard_error_, rule_precision_
        As for ``RuleClassifier``.

    Examples
    --------
    >>> from crosscut_relational import Bias, Database
    >>> db = Database.from_prolog('''
    ...     machine(1, sendback). worn(1, gear). worn(1, engine). machine(2, ok).
    ...     machine(3, fix). worn(3, gear). machine(4, sendback). worn(4, engine).
    ...     machine(5, ok). machine(6, fix). worn(6, gear).
    ... ''', predict="machine(+machine,-action)", types=["worn(machine,part)"])
    >>> bias = Bias.of(["worn(+M,#[gear,engine])"], types=["worn(machine,part)"])
    >>> print(RelationalRuleClassifier(bias, strategy="cn2", cv=None).fit(db).to_prolog())
    machine(A,[sendback]) :- worn(A,engine), !.
    % 2.0/2.0=1.0
    machine(A,[fix]) :- worn(A,gear), !.
    % 2.0/2.0=1.0
    machine(A,[ok]).
    % 2.0/2.0=1.0
    """

    bias: Bias | None = field(default=None, kw_only=False)
    strategy: str = "ripper"
    cv: int | str | ArrayLike | None = 10
    step_limit: int = STEP_LIMIT
    random_state: int | None = None

    def fit(
        self,
        database: Database,
        y: None = None,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn the rules of all examples and those of the folds, in one run.

        The arguments are those of `RelationalTreeClassifier.fit`, but weights may be any positive numbers:
        only their ratios matter. If all are multiples of the smallest weight, they count copies of examples.
        """
        del y
        check_parameters(self)
        data = RelationalSet.read(
            database, self.bias, self.cv, cuts=True, groups=groups, random_state=self.random_state
        )
        tasks, weights = data.tasks, read_weights(sample_weight, len(data.y))
        queries = Queries(data.facts, data.language, step_limit=self.step_limit)
        together = grouped_by_weights(
            [tasks.trains(task) for task in range(tasks.n_tasks)],
            [weights] * tasks.n_tasks,
            partial(RelationalExamples, queries),
        )
        if data.used is not None:
            for group in together:
                of_tasks = zip(group.trained, group.tasks, strict=True)
                group.examples.used = {train: data.used[task] for train, task in of_tasks}
        sets = rule_sets(Learning.of(self, seed=int(self.random_state or 0)), together)
        self.n_evaluations_ = queries.store.n_evaluations
        validation = None
        if tasks.n_tasks > 1 and data.classes is not None:
            validation = RuleValidation.of(together[0].examples, sets, tasks, data.y, data.classes)
            validation.weights, validation.groups = weights, tasks.groups
        self.fit_ = data.fit(self, sets, sets, validation)
        data.warn_of_limit(limit_hits(queries, data.signature), self.step_limit)
        return self

    def predict_proba(self, database: Database) -> NDArray[np.float64]:
        """Return the class probabilities of the examples of a database, from the rules that cover them."""
        queries = ModelQueries(self._signature, self.goals(), database, step_limit=self.step_limit)
        held = np.empty((len(self.rules_), database.n_examples), bool)
        for number, rule in enumerate(self.rules_.rules):
            truth = queries.truth(goals_of(rule.conditions), queries.all_examples)
            held[number] = queries.flags(truth)
        return self.rules_.values(held)

    def predict(self, database: Database) -> NDArray[Any]:
        """Return the class of each example of a database."""
        values = self.predict_proba(database)
        return np.asarray(self.classes_[values.argmax(axis=1)])

    def score(self, database: Database, y: None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on a database that has a target; `y` is ignored."""
        del y
        correct = database.labels == self.predict(database)
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        return float(np.average(correct, weights=weights)) if len(correct) else math.nan

    def goals(self) -> tuple[Goal, ...]:
        """Return all literals of the final rules."""
        return tuple(goal for rule in self.rules_.rules for goal in goals_of(rule.conditions))

    @property
    def wording_(self) -> FirstOrderWording:
        """The wording of the rules."""
        return FirstOrderWording(self._signature, self.classes_)

    @property
    def _signature(self) -> Signature:
        signature: Signature = fit_of(self).schema
        return signature

    def to_prolog(self) -> str:
        """Write the final rules as Prolog clauses: a decision list with cuts, or clauses that vote.

        After each clause a comment gives the covered examples of its class and all covered examples. The
        last clause is the default.
        """
        check_prolog(self._signature)
        return self.wording_.prolog(self.rules_) or ""

    def to_sql(self, dialect: Dialect = "duckdb") -> str:
        """Write the final rules as an SQL query that gives the key and prediction of every example.

        Parameters
        ----------
        dialect : "duckdb", "sqlite" or "postgresql"
            The target database.
        """
        if not self.rules_.ordered:
            raise ValueError(
                "to_sql needs a decision list (ordered=True); rules that vote cannot be written as SQL"
            )
        rules = ((rule.conditions, self.classes_[rule.code]) for rule in self.rules_.rules)
        return rules_query(rules, self.classes_[self.rules_.default.code], self._signature, dialect)

    def report(self, path: str | PathLike[str]) -> None:
        """Write an HTML report of the rules: coverage, out-of-fold precision, errors by fold, agreement."""
        from crosscut.report.rules import write_rule_report

        write_rule_report(fit_of(self), self.wording_, path)

    def __str__(self) -> str:
        return self.to_text() if hasattr(self, "fit_") else repr(self)
