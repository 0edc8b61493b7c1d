"""The report on fitted rules: coverage, results on held-out rows, and agreement of the folds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crosscut.report.page import write_page
from crosscut.report.summary import about, held_out

if TYPE_CHECKING:
    from collections.abc import Hashable
    from os import PathLike

    from crosscut.rules.rule_set import RuleSet
    from crosscut.rules.wording import Wording
    from crosscut.training.fit import Fit

MAX_RULES = 500  # of the page
MAX_SETS = 50


def write_rule_report(
    fit: Fit, wording: Wording, path: str | PathLike[str], *, target: str | None = None
) -> None:
    """Write the report on rules fitted with cross-validation to an HTML file; see `summarize_rules`."""
    summary = summarize_rules(fit, wording, target=target)
    agreed = all(rule["alike"] == len(fit.folds) for rule in summary["rules"][:-1])
    write_page(path, "rules.html", fit, summary, max_rules=MAX_RULES, max_sets=MAX_SETS, agreed=agreed)


def summarize_rules(fit: Fit, wording: Wording, *, target: str | None = None) -> dict[str, Any]:
    """Summarize fitted rules and their cross-validation as a plain dict; ``wording`` turns rules into text.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from crosscut import RuleClassifier
    >>> model = RuleClassifier(strategy="ripper").fit(*load_iris(return_X_y=True))
    >>> [rule["text"] for rule in summarize_rules(model.fit_, model.wording_)["rules"]]
    ['x2 <= 2.6', 'x3 <= 1.65 and x2 <= 4.95', 'otherwise']
    """
    cv, final = fit.validated("report()"), fit.final
    rules = _rules(fit, wording)
    summary = {
        **about(fit, target),
        **held_out(fit, wording.row),
        "prolog": wording.prolog(final),
        "ordered": final.ordered,
        "n_conditions": final.n_conditions,
        "rows": len(cv.y),
        "row": wording.row,
        "sets": _different_sets(fit, wording),
        "rules": rules,
        "words": _words(rules, len(fit.folds)),
    }
    summary["cv"]["rules_by_fold"] = [len(each) for each in fit.folds]
    summary["cv"]["conditions_by_fold"] = [each.n_conditions for each in fit.folds]
    return summary


def _rules(fit: Fit, wording: Wording) -> list[dict[str, Any]]:
    """Describe each final rule, the default last, and the number of folds that learnt it."""
    same, alike = (
        [{wording.meaning(rule, thresholds=thresholds) for rule in each.with_default} for each in fit.folds]
        for thresholds in (True, False)
    )
    precision = fit.validation.rule_precision  # type: ignore[union-attr]  # rules with folds
    result = []
    for rule, (weight, fraction) in zip(fit.final.with_default, precision, strict=True):
        result.append(
            {
                "text": wording.condition_text(rule) or "otherwise",
                "class": wording.label(rule),
                "covers": rule.coverage,
                "precision": rule.precision,
                "held_out": weight,
                "out_of_fold_precision": fraction if weight else None,
                "same": sum(wording.meaning(rule, thresholds=True) in fold for fold in same),
                "alike": sum(wording.meaning(rule, thresholds=False) in fold for fold in alike),
            }
        )
    return result


def _different_sets(fit: Fit, wording: Wording) -> list[dict[str, Any]]:
    """Describe the different rule sets of the folds, the most frequent first."""

    def meaning(rules: RuleSet) -> Hashable:
        return tuple(wording.meaning(rule, thresholds=True) for rule in rules.with_default)

    folds: dict[Hashable, list[int]] = {}
    for fold, rules in enumerate(fit.folds, 1):
        folds.setdefault(meaning(rules), []).append(fold)
    final = meaning(fit.final)
    result = []
    for rules_meaning, numbers in sorted(folds.items(), key=lambda item: -len(item[1])):
        sentences = [wording.sentence(rule) for rule in fit.folds[numbers[0] - 1].with_default]
        result.append({"rules": sentences, "folds": numbers, "final": rules_meaning == final})
    return result


def _words(rules: list[dict[str, Any]], n_folds: int) -> str:
    n_rules = len(rules) - 1
    everywhere = sum(rule["alike"] == n_folds for rule in rules[:-1])
    if n_rules == 0:
        return "No rule was learnt; the default decides everything."
    if everywhere == n_rules:
        return f"All {n_folds} folds found every rule, up to thresholds."
    if n_rules == 1:
        return f"The rule was found in {rules[0]['alike']} of {n_folds} folds, up to thresholds."
    were = "was" if everywhere == 1 else "were"
    fraction = f"{everywhere or 'None'} of the {n_rules} rules"
    return f"{fraction} {were} found in all {n_folds} folds, up to thresholds."
