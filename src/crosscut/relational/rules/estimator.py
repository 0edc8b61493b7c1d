"""Rules about the examples of a database, and their cross-validation in one fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from crosscut.relational.estimators import warn_of_limit
from crosscut.relational.folds import folds_of
from crosscut.relational.language.bias import Bias
from crosscut.relational.language.terms import term_text
from crosscut.relational.queries.growth import signature_of
from crosscut.relational.queries.prediction import Questions
from crosscut.relational.queries.printing import body_text, clause, legend, query_text
from crosscut.relational.queries.queries import STEP_LIMIT, Facts
from crosscut.relational.queries.resolve import resolve
from crosscut.relational.queries.tree import Node
from crosscut.relational.rules.examples import RelationalExamples
from crosscut.relational.rules.first_order import as_tree, goals_of, meaning
from crosscut.rules.examples import bits_of
from crosscut.rules.learning import Learning, check_parameters
from crosscut.rules.rule_estimator import RuleEstimator
from crosscut.rules.validation import RuleValidation
from crosscut.rules.wording import Wording
from crosscut.training.fit import Fit, fit_of

if TYPE_CHECKING:
    from collections.abc import Hashable
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    from crosscut.relational.database.database import Database
    from crosscut.relational.language.rule import Goal
    from crosscut.relational.queries.tree import RelationalTree, Signature
    from crosscut.rules.rule_set import Rule, RuleSet


@dataclass(kw_only=True, eq=False, repr=False)
class RelationalRuleClassifier(RuleEstimator):
    """First-order rules (FOIL-style) with their cross-validation.

    Conditions are the tests of relational trees: conjunctions of literals that may share variables with the
    conditions before them. Their truth is computed once for the final rules and those of all folds.

    Parameters
    ----------
    bias : Bias, optional
        The language of conditions. By default it is made from the database's tables and their links
        (`Bias.from_schema`).
    strategy : {"ripper", "cn2"}
        "ripper" grows by FOIL's gain, prunes and stops by description length; "cn2" covers with a beam.
    ordered, measure, m, beam_width, max_length, min_coverage, significance, optimization_passes
        As for ``RuleClassifier``; examples take the place of rows.
    cv : int, "marks", array-like or None
        As for ``RelationalTreeClassifier``.
    step_limit : int
        Most facts that may be looked at for one query and example.
    random_state : int
        Chooses the examples RIPPER prunes on.

    Attributes
    ----------
    rules_ : RuleSet
        The final rules; conditions are tuples of goals.
    cv_rules_ : tuple of RuleSet
        Those of the folds.
    tree_ : RelationalTree
        The same decision list as a tree, whose *no* branches lead to the next rule.
    cv_predictions_, cv_probabilities_, cv_scores_, cv_score_, cv_standard_error_, rule_precision_
        As for ``RuleClassifier``.

    Examples
    --------
    >>> from crosscut import Bias, Database
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
    random_state: int = 0

    def fit(self, database: Database, y: None = None) -> Self:
        """Learn the rules of all examples and those of the folds, in one run.

        Parameters
        ----------
        database : Database
            Facts, examples and their classes.
        y : None
            Ignored; the target is the database's.
        """
        del y
        check_parameters(self)
        if database.target is None or not database.classes or database.n_examples == 0:
            raise ValueError("the database has no examples with classes, so there is nothing to learn")
        bias = Bias.from_schema(database) if self.bias is None else self.bias
        language = resolve(bias, database)
        facts = Facts(database, language.root)
        self.folds_ = folds_of(self.cv, database)
        classes = np.array(database.classes, dtype=object)
        signature = signature_of(facts, language)
        examples = RelationalExamples(facts, language, step_limit=self.step_limit)
        n_folds = int(self.folds_.max(initial=-1)) + 1
        tasks = [examples.weighted, *(bits_of(self.folds_ != fold) for fold in range(n_folds))]
        sets = Learning.of(self, len(classes), seed=int(self.random_state)).rule_sets(
            examples, tasks, database.n_examples
        )
        self.n_evaluations_ = examples.queries.store.n_evaluations
        validation = None
        if n_folds:
            rows = np.argsort(self.folds_, kind="stable")[np.count_nonzero(self.folds_ < 0) :]
            sizes = np.bincount(self.folds_[self.folds_ >= 0], minlength=n_folds)
            start = np.concatenate([[0, 0], np.cumsum(sizes)])
            codes = np.asarray(database.target, np.int32)
            validation = RuleValidation.of(examples, sets, (rows, start), codes, classes)
        self.fit_ = Fit(
            learner=type(self).__name__,
            settings=self.get_params(deep=False),
            schema=signature,
            classes=classes,
            target=signature.predicted,
            forest=sets,
            grown=sets,
            validation=validation,
        )
        queries = examples.queries
        hits = [(query_text(queries.goals(c), signature), example) for c, example in queries.limit_hits]
        warn_of_limit(hits, self.step_limit, database)
        return self

    @property
    def tree_(self) -> RelationalTree:
        """The final decision list as a tree."""
        if not self.rules_.ordered:
            raise AttributeError("rules that vote are no tree; ordered=True learns a decision list, which is")
        return as_tree(self.rules_, self._signature, tuple(self.classes_))

    def predict_proba(self, database: Database) -> NDArray[np.float64]:
        """Return the class shares of the rules that decide each example of a database.

        Parameters
        ----------
        database : Database
            Examples with the facts the rules ask for.
        """
        questions = Questions(self._signature, self.goals(), database, step_limit=self.step_limit)
        held = np.empty((len(self.rules_), database.n_examples), bool)
        for number, rule in enumerate(self.rules_.rules):
            truth = questions.truth(goals_of(rule.conditions), questions.everything)
            held[number] = questions.flags(truth)
        return self.rules_.values(held)

    @property
    def target_name_(self) -> str:
        """Name of the predicate that is learnt."""
        return self._signature.target_name

    @property
    def target_column_(self) -> str | None:
        """The column that is predicted, if the database is made of tables."""
        return self._signature.target_column

    def predict(self, database: Database) -> NDArray[Any]:
        """Return the class of each example of a database.

        Parameters
        ----------
        database : Database
            Examples with the facts the rules ask for.
        """
        values = self.predict_proba(database)
        return np.asarray(self.classes_[values.argmax(axis=1)])

    def score(self, database: Database, y: None = None) -> float:
        """Return the accuracy on a database that has a target.

        Parameters
        ----------
        database : Database
            Examples with their classes.
        y : None
            Ignored; the target is the database's.
        """
        del y
        if database.target is None:
            raise ValueError("the database has no target to compare with")
        given = np.array(database.classes, dtype=object)[np.asarray(database.target)]
        return float(np.mean(self.predict(database) == given))

    def goals(self) -> tuple[Goal, ...]:
        """Return all literals of the final rules."""
        return tuple(goal for rule in self.rules_.rules for goal in goals_of(rule.conditions))

    def legend(self) -> list[str]:
        """Return what the columns of the tables that the final rules are about mean."""
        return self.wording_.legend(self.rules_)

    @property
    def wording_(self) -> FirstOrderWording:
        """How the rules are put into words."""
        return FirstOrderWording(self._signature, self.classes_)

    @property
    def _signature(self) -> Signature:
        signature: Signature = fit_of(self).schema
        return signature

    def to_prolog(self) -> str:
        """Write the final rules as Prolog clauses: a decision list with cuts, or clauses that vote.

        Each is followed by the examples of its class among those it covers. The last clause is the default.
        """
        return self.wording_.prolog(self.rules_)

    def report(self, path: str | PathLike[str]) -> None:
        """Write an HTML page on the rules: coverage, out-of-fold precision, errors by fold, agreement.

        Parameters
        ----------
        path : path
            The file to write; it needs no other file and no network.
        """
        from crosscut.report.rules import write_rule_report

        write_rule_report(fit_of(self), self.wording_, path)

    def __str__(self) -> str:
        return self.to_text() if hasattr(self, "fit_") else repr(self)


class FirstOrderWording(Wording):
    """Words for rules about the facts of a database."""

    row = "example"

    def asked(self, rule: Rule) -> str:
        """Return the literals of a rule; none if it has none."""
        return body_text(goals_of(rule.conditions), self.schema) if rule.conditions else ""

    def label(self, rule: Rule) -> str:
        """Return the class of a rule as Prolog writes it."""
        return term_text(self.classes[rule.code])

    def meaning(self, rule: Rule, *, thresholds: bool) -> Hashable:
        """Return what is the same for rules that ask the same, or do so apart from thresholds."""
        return rule.code, meaning(rule.conditions, self.schema.n_fixed, thresholds=thresholds)

    def legend(self, rules: RuleSet) -> list[str]:
        """Return what the columns of the tables that rules are about mean."""
        return legend([goal for rule in rules.rules for goal in goals_of(rule.conditions)], self.schema)

    def prolog(self, rules: RuleSet) -> str:
        """Return rules as Prolog clauses: a decision list with cuts, or clauses that vote."""
        classes = tuple(self.classes)

        def write(rule: Rule) -> str:
            leaf = Node(rule.totals, float(rule.code))
            return clause(goals_of(rule.conditions), leaf, self.schema, classes, cut=rules.ordered)

        remark = [] if rules.ordered else ["% if none holds:"]
        return "\n".join([*map(write, rules.rules), *remark, write(rules.default)]) + "\n"
