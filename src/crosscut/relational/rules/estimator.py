"""Rules about the examples of a database, and their cross-validation in one fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

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
from crosscut.rules.fitted_rules import FittedRules
from crosscut.rules.learning import Learning, check_parameters
from crosscut.rules.out_of_fold import OutOfFold
from crosscut.rules.parameters import RuleParameters

if TYPE_CHECKING:
    from collections.abc import Hashable
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    from crosscut.relational.database.database import Database
    from crosscut.relational.language.rule import Goal
    from crosscut.relational.queries.tree import RelationalTree, Signature
    from crosscut.rules.rule_set import Rule


@dataclass(kw_only=True, eq=False, repr=False)
class RelationalRuleClassifier(RuleParameters, FittedRules, BaseEstimator):  # type: ignore[misc]  # untyped
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
        self.classes_ = np.array(database.classes, dtype=object)
        self._signature: Signature = signature_of(facts, language)
        examples = RelationalExamples(facts, language, step_limit=self.step_limit)
        n_folds = int(self.folds_.max(initial=-1)) + 1
        tasks = [examples.weighted, *(bits_of(self.folds_ != fold) for fold in range(n_folds))]
        sets = Learning.of(self, len(self.classes_), seed=int(self.random_state)).rule_sets(
            examples, tasks, database.n_examples
        )
        self.rules_ = sets[0]
        self.n_evaluations_ = examples.queries.store.n_evaluations
        self._held_out_scores = None
        tests = [np.flatnonzero(self.folds_ == fold) for fold in range(-1, n_folds)]
        codes = np.asarray(database.target, np.int32)
        self._cv = OutOfFold.of(examples, sets, tests, codes) if n_folds else None
        queries = examples.queries
        hits = [(query_text(queries.goals(c), self._signature), example) for c, example in queries.limit_hits]
        warn_of_limit(hits, self.step_limit, database)
        return self

    @property
    def tree_(self) -> RelationalTree:
        """The final decision list as a tree."""
        check_is_fitted(self, "rules_")
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
        check_is_fitted(self, "rules_")
        questions = Questions(self._signature, self._goals(), database, step_limit=self.step_limit)
        held = np.empty((len(self.rules_), database.n_examples), bool)
        for number, rule in enumerate(self.rules_.rules):
            truth = questions.truth(goals_of(rule.conditions), questions.everything)
            held[number] = questions.flags(truth)
        return self.rules_.values(held)

    @property
    def target_name_(self) -> str:
        """Name of the predicate that is learnt."""
        check_is_fitted(self, "rules_")
        return self._signature.target_name

    @property
    def target_column_(self) -> str | None:
        """The column that is predicted, if the database is made of tables."""
        check_is_fitted(self, "rules_")
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

    def _goals(self) -> tuple[Goal, ...]:
        """Return all literals of the final rules."""
        return tuple(goal for rule in self.rules_.rules for goal in goals_of(rule.conditions))

    def _legend(self) -> list[str]:
        return legend(self._goals(), self._signature)

    def _asked(self, rule: Rule) -> str:
        return body_text(goals_of(rule.conditions), self._signature) if rule.conditions else ""

    def _label(self, rule: Rule) -> str:
        return term_text(self.classes_[rule.code])

    def _meaning(self, rule: Rule, *, thresholds: bool) -> Hashable:
        return rule.code, meaning(rule.conditions, self._signature.n_fixed, thresholds=thresholds)

    def to_prolog(self) -> str:
        """Write the final rules as Prolog clauses: a decision list with cuts, or clauses that vote.

        Each is followed by the examples of its class among those it covers. The last clause is the default.
        """
        check_is_fitted(self, "rules_")
        ordered, classes = self.rules_.ordered, tuple(self.classes_)

        def write(rule: Rule) -> str:
            leaf = Node(rule.totals, float(rule.code))
            return clause(goals_of(rule.conditions), leaf, self._signature, classes, cut=ordered)

        remark = [] if ordered else ["% if none holds:"]
        return "\n".join([*map(write, self.rules_.rules), *remark, write(self.rules_.default)]) + "\n"

    def save(self, path: str | PathLike[str], *, held_out: bool = True) -> None:
        """Write a model file, which :func:`crosscut.load_model` reads.

        Parameters
        ----------
        path : path
            The file to write.
        held_out : bool
            Also store what the folds' rule sets said of every example, from which ``cv_…`` results come.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from crosscut import RelationalRuleClassifier, datasets, load_model
        >>> database, bias = datasets.bongard("simple", n=100)
        >>> model = RelationalRuleClassifier(bias, cv=5).fit(database)
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "bongard.crosscut")
        ...     model.save(path)
        ...     again = load_model(path)
        >>> again.to_prolog() == model.to_prolog(), again.cv_score_ == model.cv_score_
        (True, True)
        """
        from crosscut.relational.model_file.rules import save

        check_is_fitted(self, "rules_")
        save(self, path, held_out=held_out)

    def report(self, path: str | PathLike[str]) -> None:
        """Write an HTML page on the rules: coverage, out-of-fold precision, errors by fold, agreement.

        Parameters
        ----------
        path : path
            The file to write; it needs no other file and no network.
        """
        from crosscut.report.rules import write_rule_report

        write_rule_report(self, path, target=self._signature.predicted)

    def __str__(self) -> str:
        return self.to_text() if hasattr(self, "rules_") else repr(self)
