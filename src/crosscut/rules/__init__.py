"""Rule sets that are cross-validated while they are learnt."""

from crosscut.rules.estimators import RuleClassifier
from crosscut.rules.relational import RelationalRuleClassifier
from crosscut.rules.rule_set import Rule, RuleSet

__all__ = ["RelationalRuleClassifier", "Rule", "RuleClassifier", "RuleSet"]
