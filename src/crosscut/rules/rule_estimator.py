"""What rule estimators have in common: parameters, and attributes of the fit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator

from crosscut.training.fit import CrossValidated, Fit, Validated, fit_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.rules.rule_set import RuleSet
    from crosscut.rules.wording import Wording


@dataclass(kw_only=True, eq=False, repr=False)  # the parameters, as scikit-learn finds them in __init__
class RuleEstimator(CrossValidated, BaseEstimator, ABC):  # type: ignore[misc]  # untyped
    """Rules learnt together with those of their cross-validation; see `RuleClassifier`."""

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
        "values", "Class probabilities of every row, by the rule set that holds it out."
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
        """Return the final rules, one per line, with coverage and precision in training and out of fold."""
        held_out = None if fit_of(self).validation is None else self.rule_precision_
        return self.wording_.text(self.rules_, held_out)
