"""Out-of-fold results of rule sets."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from crosscut.data.visible import visible
from crosscut.rules.examples import bits_of
from crosscut.statistics.validation import Validation
from crosscut.training.fit import CrossValidated, Fit, Validated, fit_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.rules.examples import Rows
    from crosscut.rules.rule_set import RuleSet
    from crosscut.rules.wording import Wording
    from crosscut.tasks import Tasks


class RuleValidation(Validation):
    """Out-of-fold results of rule sets.

    Attributes
    ----------
    rule_precision : list of (weight, precision)
        For each final rule, the default last: the weight of the rows it decides, and the fraction of these
        that the rule sets of the folds predict correctly.
    """

    rule_precision: list[tuple[float, float]]

    @classmethod
    def of(
        cls,
        examples: Rows,
        sets: tuple[RuleSet, ...],
        tasks: Tasks,
        codes: NDArray[Any],
        classes: NDArray[Any],
    ) -> Self:
        """Predict the held-out rows of each task."""
        rows, row_start = tasks.tests, tasks.first_test
        values = np.empty((len(rows), len(classes)))
        for task, rules in enumerate(sets):
            part = slice(row_start[task], row_start[task + 1])
            covered = examples.covered([rule.conditions for rule in rules.rules], tasks.trains(task))
            values[part] = rules.values(examples.flags_among(covered, rows[part]))
        validation = cls(codes, classes, rows, row_start, values)
        validation.rule_precision = _rule_precision(examples, sets[0], validation)
        return validation


def _rule_precision(examples: Rows, rules: RuleSet, cv: Validation) -> list[tuple[float, float]]:
    times = cv.times_held_out
    hits = np.bincount(cv.rows, cv.decided == cv.y[cv.rows], minlength=len(times))
    correct = np.divide(hits, times, where=times > 0, out=np.full(len(times), np.nan))
    held_out = undecided = bits_of(times > 0)
    by_fraction = {float(value): bits_of(correct == value) for value in np.unique(correct[correct > 0])}
    result = []
    for conditions in [*(rule.conditions for rule in rules.rules), None]:
        covered = undecided if conditions is None else examples.truth(conditions) & held_out
        decided = covered & undecided if rules.ordered else covered
        weight = examples.total(decided)
        hit_weight = sum([value * examples.total(decided & rows) for value, rows in by_fraction.items()])
        result.append((math.ldexp(weight, -examples.exponent), hit_weight / weight if weight else math.nan))
        undecided ^= undecided & covered
    return result


@dataclass(kw_only=True, eq=False, repr=False)  # scikit-learn reads the parameters from __init__
class RuleEstimator(CrossValidated, BaseEstimator, ABC):  # type: ignore[misc]  # untyped
    """Base class of rule estimators; see `RuleClassifier`."""

    strategy: str = "cn2"
    ordered: bool = True
    measure: str = "laplace"
    m: float = 2.0
    beam_width: int = 5
    max_length: int | None = None
    min_coverage: float = 2
    significance: float | None = None
    optimization_passes: int = 2

    cv_probabilities_ = Validated(
        "values", "Class probabilities for every row by the rule set learnt without it."
    )
    rule_precision_ = Validated(
        "rule_precision", "Held-out weight and precision of each final rule, the default last."
    )

    @property
    @abstractmethod
    def wording_(self) -> Wording:
        """The wording of the rules."""

    @property
    def rules_(self) -> RuleSet:
        """The final rule set."""
        rules: RuleSet = fit_of(self).final
        return rules

    @property
    def cv_rules_(self) -> tuple[RuleSet, ...]:
        """The rule sets of the folds."""
        fit: Fit = fit_of(self)
        fit.validated("cv_rules_")
        return fit.folds

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, in sorted order."""
        return fit_of(self).known_classes

    def to_text(self) -> str:
        """Return the final rules, one per line, with coverage and with training and out-of-fold precision."""
        held_out = None if fit_of(self).validation is None else self.rule_precision_
        return visible(self.wording_.text(self.rules_, held_out))
