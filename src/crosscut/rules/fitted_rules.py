"""What fitted rule estimators have in common: rules as text, and what the folds say of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from crosscut.rules.export import rule_text
from crosscut.rules.out_of_fold import OutOfFold
from crosscut.training.fold_scores import FoldScores, check_all_held_out

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from crosscut.rules.rule_set import Rule, RuleSet


class FittedRules(FoldScores[OutOfFold], ABC):
    """The text and the ``cv_*`` attributes of fitted rule estimators."""

    rules_: RuleSet
    classes_: NDArray[Any]

    @abstractmethod
    def _asked(self, rule: Rule) -> str:
        """Return the conditions of a rule as text; none if it has none."""

    @abstractmethod
    def _meaning(self, rule: Rule, *, thresholds: bool) -> Hashable:
        """Return what is the same for rules that ask the same, or do so apart from thresholds."""

    def _label(self, rule: Rule) -> str:
        return str(self.classes_[rule.code])

    def _sentence(self, rule: Rule) -> str:
        asked = self._asked(rule)
        return f"{f'if {asked}' if asked else 'else'} then {self._label(rule)}"

    def to_text(self) -> str:
        """Return the final rules, one per line, with coverage, precision, and that of held-out examples."""
        check_is_fitted(self, "rules_")
        return self._text(self.rules_, None if self._cv is None else self.rule_precision_)

    def _text(self, rules: RuleSet, held_out: Sequence[tuple[float, float]] | None = None) -> str:
        every = rules.with_default
        seen = [None] * len(every) if held_out is None else held_out
        return "\n".join(
            rule_text(rule, self._sentence(rule), of) for rule, of in zip(every, seen, strict=True)
        )

    @property
    def cv_rules_(self) -> tuple[RuleSet, ...]:
        """The rule sets of the folds."""
        return self._cross_validation("cv_rules_").sets[1:]

    @property
    def cv_probabilities_(self) -> NDArray[np.float64]:
        """Class probabilities of every row from the rule set that has not seen it."""
        return self._cross_validation("cv_probabilities_").values

    @property
    def cv_predictions_(self) -> NDArray[Any]:
        """Class of every row by the rule set that has not seen it."""
        cv = self._cross_validation("cv_predictions_")
        check_all_held_out(cv.times_held_out)
        return np.asarray(self.classes_[cv.values.argmax(axis=1)])

    @property
    def rule_precision_(self) -> list[tuple[float, float]]:
        """Held-out weight and precision of each final rule, the default last."""
        return self._cross_validation("rule_precision_").rule_precision
