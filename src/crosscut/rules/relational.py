"""Rules about the examples of a database, and their cross-validation in one fit."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from crosscut.relational.bias import Bias
from crosscut.relational.estimators import StepLimitWarning
from crosscut.relational.folds import folds_of
from crosscut.relational.growth import signature_of
from crosscut.relational.prediction import leaf_numbers
from crosscut.relational.printing import query_text
from crosscut.relational.queries import STEP_LIMIT, Facts
from crosscut.relational.terms import term_text
from crosscut.relational.tree import Node, RelationalTree
from crosscut.rules.examples import bits_of
from crosscut.rules.learning import Learning, check_parameters
from crosscut.rules.out_of_fold import OutOfFold, RuleScores
from crosscut.rules.parameters import RuleParameters
from crosscut.rules.relational_examples import RelationalExamples
from crosscut.rules.rule_set import RuleSet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from crosscut.relational.database import Database
    from crosscut.relational.tree import Signature
    from crosscut.rules.rule_set import Rule


@dataclass(kw_only=True, eq=False, repr=False)
class RelationalRuleClassifier(RuleParameters, RuleScores, BaseEstimator):  # type: ignore[misc]  # untyped
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
    ordered : bool
        CN2: a decision list, whose first rule that holds decides. If false, each class gets its own rules
        and those that hold vote. RIPPER's are always ordered.
    measure : {"laplace", "m_estimate", "wracc", "entropy"}
        CN2: what makes a rule good; "entropy" needs ``ordered``.
    m : float
        Weight of the prior in the m-estimate.
    beam_width : int
        CN2: rules that are kept at each length.
    max_length : int, optional
        Most conditions of a rule.
    min_coverage : int
        Least number of examples that a rule covers.
    significance : float, optional
        CN2: level of the likelihood ratio test that a rule has to pass, for example 0.05.
    optimization_passes : int
        RIPPER: how often all rules are optimised.
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
        language = bias.resolve(database)
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
        hits = examples.queries.limit_hits
        if hits:
            warnings.warn(
                f"{len(hits)} (query, example) pairs took more than step_limit={self.step_limit} steps and "
                "count as false. Raise step_limit, or restrict the bias",
                StepLimitWarning,
                stacklevel=2,
            )
        return self

    @property
    def tree_(self) -> RelationalTree:
        """The final decision list as a tree."""
        check_is_fitted(self, "rules_")
        if not self.rules_.ordered:
            raise AttributeError("rules that vote are no tree; ordered=True learns a decision list, which is")
        return _as_tree(self.rules_, self._signature, tuple(self.classes_))

    def predict_proba(self, database: Database) -> NDArray[np.float64]:
        """Return the class shares of the rule that decides each example of a database.

        Parameters
        ----------
        database : Database
            Examples with the facts the rules ask for.
        """
        check_is_fitted(self, "rules_")
        if self.rules_.ordered:
            leaves = [leaf.statistics for leaf in self.tree_.root.leaves()]
            totals = np.array(leaves)[leaf_numbers(self.tree_, database, step_limit=self.step_limit)]
            return np.asarray(totals / totals.sum(axis=1, keepdims=True))
        held = {
            rule.conditions: leaf_numbers(tree, database, step_limit=self.step_limit) == 0
            for rule, tree in self._single_rules()
        }
        return self.rules_.values(database.n_examples, held.__getitem__)

    def _single_rules(self) -> list[tuple[Rule, RelationalTree]]:
        """Return each rule as a tree of its own, whose first leaf is where it holds."""
        return [
            (rule, _as_tree(RuleSet((rule,), self.rules_.default), self._signature, tuple(self.classes_)))
            for rule in self.rules_.rules
        ]

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

    def to_prolog(self) -> str:
        """Write the final rules as Prolog clauses: a decision list with cuts, or clauses that vote.

        Each is followed by the examples of its class among those it covers. The last clause is the default.
        """
        check_is_fitted(self, "rules_")
        if self.rules_.ordered:
            return self.tree_.to_prolog()
        default = _as_tree(RuleSet((), self.rules_.default), self._signature, tuple(self.classes_))
        clauses = [tree.to_prolog().splitlines()[:2] for _, tree in self._single_rules()]
        voting = [
            line.removesuffix(", !.") + "." if line.endswith(", !.") else line for c in clauses for line in c
        ]
        return "\n".join([*voting, "% if none holds:", default.to_prolog().rstrip("\n")])

    def to_text(self) -> str:
        """Return the final rules, one per line, with coverage, precision, and that of held-out examples."""
        check_is_fitted(self, "rules_")
        lines = []
        all_rules = (*self.rules_.rules, self.rules_.default)
        seen = [None] * len(all_rules) if self._cv is None else self.rule_precision_
        for rule, held_out in zip(all_rules, seen, strict=True):
            goals = [goal for test in rule.conditions for goal in test]
            body = f"if {query_text(goals, self._signature)}" if goals else "else"
            text = f"{body} then {term_text(self.classes_[rule.code])}"
            text += f"  [covers {rule.coverage:g}, precision {rule.precision:.3f}"
            if held_out is not None and held_out[0]:
                text += f", out of fold {held_out[1]:.3f} of {held_out[0]:g}"
            lines.append(text + "]")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.to_text() if hasattr(self, "rules_") else repr(self)


def _as_tree(rules: RuleSet, signature: Signature, classes: tuple[Any, ...]) -> RelationalTree:
    node = Node(rules.default.totals, float(rules.default.code))
    for rule in reversed(rules.rules):
        totals = tuple(a + b for a, b in zip(rule.totals, node.statistics, strict=True))
        goals = tuple(goal for test in rule.conditions for goal in test)
        leaf = Node(rule.totals, float(rule.code))
        node = Node(totals, float(np.argmax(totals)), goals, signature.n_fixed, leaf, node)
    return RelationalTree(node, signature, classes)
