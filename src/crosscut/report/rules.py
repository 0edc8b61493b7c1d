"""One HTML page about fitted rules: what they cover, how they do on held-out rows, where the folds agree."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import crosscut
from crosscut.report.charts import fold_chart
from crosscut.report.html import fitting_code, page_template
from crosscut.report.summary import MOST_CLASSES, plain, settings

if TYPE_CHECKING:
    from collections.abc import Hashable
    from os import PathLike

    from crosscut.rules.fitted_rules import FittedRules
    from crosscut.rules.rule_set import RuleSet

MOST_RULES = 500  # of the page
MOST_SETS = 50


def write_rule_report(model: FittedRules, path: str | PathLike[str], *, target: str = "target") -> None:
    """Write the report on rules fitted with cross-validation to an HTML file.

    Parameters
    ----------
    model : RuleClassifier or RelationalRuleClassifier
        Fitted with cross-validation.
    path : path
        The file to write; it needs no other file and no network.
    target : str
        Name of what is predicted.
    """
    summary = summarize_rules(model, target=target)
    page = page_template("rules.html").render(
        **summary,
        most_rules=MOST_RULES,
        most_sets=MOST_SETS,
        chart=fold_chart(summary["cv"]["error_by_fold"], "error rate", summary["cv"]["error"]),
    )
    Path(path).write_text(page, encoding="utf-8")


def summarize_rules(model: FittedRules, *, target: str = "target") -> dict[str, Any]:
    """Summarize fitted rules and their cross-validation as a plain dict.

    Parameters
    ----------
    model : RuleClassifier or RelationalRuleClassifier
        Fitted with cross-validation.
    target : str
        Name of what is predicted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from crosscut import RuleClassifier
    >>> model = RuleClassifier(strategy="ripper").fit(*load_iris(return_X_y=True))
    >>> [rule["text"] for rule in summarize_rules(model)["rules"]]
    ['x2 <= 2.5', 'x2 <= 4.95 and x3 <= 1.65', 'otherwise']
    """
    cv = model._cross_validation("report()")  # noqa: SLF001, one package
    classes = [plain(c) for c in model.classes_]
    errors = 1 - cv.scores
    rules = _rules(model)
    return {
        "crosscut": crosscut.__version__,
        "target": target,
        "classes": classes,
        "code": _code(model),
        "prolog": model.to_prolog() if hasattr(model, "to_prolog") else None,
        "tables": model._legend() if hasattr(model, "_legend") else [],  # noqa: SLF001
        "ordered": model.rules_.ordered,
        "n_conditions": model.rules_.n_conditions,
        "rows": len(cv.values),
        "row": "row" if hasattr(model, "_schema") else "example",
        "cv": {
            "folds": len(errors),
            "error": float(np.nanmean(errors)),
            "standard_error": float(np.nanstd(errors, ddof=1) / math.sqrt(len(errors))),
            "error_by_fold": errors.tolist(),
            "rows_by_fold": cv.rows_by_fold.tolist(),
            "rules_by_fold": [len(each) for each in cv.sets[1:]],
            "conditions_by_fold": [each.n_conditions for each in cv.sets[1:]],
        },
        "sets": _different_sets(model),
        "rules": rules,
        "words": _words(rules, len(errors)),
        "confusion": cv.confusion.tolist() if len(classes) <= MOST_CLASSES else None,
        "right": int(np.trace(cv.confusion)),
        "held_out": int(cv.confusion.sum()),
    }


def _code(model: FittedRules) -> str:
    """Return the lines of Python that learn the same rules."""
    given = settings(model)
    if "bias" not in given:
        return fitting_code(type(model).__name__, given)
    del given["bias"]  # an object, as the database is
    if not isinstance(model.cv, int | str | None):
        given["cv"] = "list(folds)"
    return fitting_code(type(model).__name__, given, first="bias", data="database")


def _rules(model: FittedRules) -> list[dict[str, Any]]:
    """Describe each final rule, the default last, and in how many folds it was found as well."""
    exact, roughly = (
        [
            {model._meaning(rule, thresholds=thresholds) for rule in each.with_default}  # noqa: SLF001
            for each in model.cv_rules_
        ]
        for thresholds in (True, False)
    )
    result = []
    for rule, (weight, share) in zip(model.rules_.with_default, model.rule_precision_, strict=True):
        result.append(
            {
                "text": model._asked(rule) or "otherwise",  # noqa: SLF001
                "class": model._label(rule),  # noqa: SLF001
                "covers": rule.coverage,
                "precision": rule.precision,
                "held_out": weight,
                "out_of_fold_precision": share if weight else None,
                "same": sum(model._meaning(rule, thresholds=True) in found for found in exact),  # noqa: SLF001
                "alike": sum(model._meaning(rule, thresholds=False) in found for found in roughly),  # noqa: SLF001
            }
        )
    return result


def _different_sets(model: FittedRules) -> list[dict[str, Any]]:
    """Describe the rule sets of the folds, those that ask the same once, the most frequent first."""

    def meaning(rules: RuleSet) -> Hashable:
        return tuple(model._meaning(rule, thresholds=True) for rule in rules.with_default)  # noqa: SLF001

    folds: dict[Hashable, list[int]] = {}
    for fold, rules in enumerate(model.cv_rules_, 1):
        folds.setdefault(meaning(rules), []).append(fold)
    final = meaning(model.rules_)
    result = []
    for asked, found in sorted(folds.items(), key=lambda item: -len(item[1])):
        sentences = [model._sentence(rule) for rule in model.cv_rules_[found[0] - 1].with_default]  # noqa: SLF001
        result.append({"rules": sentences, "folds": found, "final": asked == final})
    return result


def _words(rules: list[dict[str, Any]], n_folds: int) -> str:
    n_rules = len(rules) - 1
    everywhere = sum(rule["alike"] == n_folds for rule in rules[:-1])
    if n_rules == 0:
        return "No rule was found: the default decides everything."
    if everywhere == n_rules:
        return f"All {n_folds} folds found every rule, up to thresholds."
    if n_rules == 1:
        return f"The rule was found in {rules[0]['alike']} of {n_folds} folds, up to thresholds."
    were = "was" if everywhere == 1 else "were"
    share = f"{everywhere or 'None'} of the {n_rules} rules"
    return f"{share} {were} found in all {n_folds} folds, up to thresholds."
