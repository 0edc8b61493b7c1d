"""Rule sets, learnt together with the rule sets of their cross-validation."""

from crosscut.rules.estimators import RuleClassifier
from crosscut.rules.rule_set import Rule, RuleSet

__all__ = ["Rule", "RuleClassifier", "RuleSet"]
