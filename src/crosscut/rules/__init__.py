"""Rule sets that are cross-validated while they are learnt."""

from crosscut.rules.estimators import RuleClassifier
from crosscut.rules.rule_set import Rule, RuleSet

__all__ = ["Rule", "RuleClassifier", "RuleSet"]
