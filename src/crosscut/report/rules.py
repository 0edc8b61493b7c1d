"""One HTML page about fitted rules: what they cover, how they do on held-out rows, where the folds agree."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import crosscut
from crosscut.report.charts import bar_chart
from crosscut.report.html import fitting_code, page_part, page_template
from crosscut.report.summary import MOST_CLASSES, plain, settings

if TYPE_CHECKING:
    from os import PathLike

    from crosscut.rules.estimators import RuleClassifier
    from crosscut.rules.rule_set import Rule, RuleSet


def write_rule_report(model: RuleClassifier, path: str | PathLike[str], *, target: str = "target") -> None:
    """Write the report on rules fitted with cross-validation to an HTML file.

    Parameters
    ----------
    model : RuleClassifier
        Fitted with cross-validation.
    path : path
        The file to write; it needs no other file and no network.
    target : str
        Name of what is predicted.
    """
    summary = summarize_rules(model, target=target)
    errors = summary["cv"]["error_by_fold"]
    page = page_template("rules.html").render(
        **summary,
        style=page_part("page.css"),
        code=fitting_code("RuleClassifier", summary["settings"]),
        chart=bar_chart(
            errors,
            [str(fold + 1) for fold in range(len(errors))],
            title="Error of each fold",
            x_title="fold",
            y_title="error rate",
            mean=summary["cv"]["error"],
        ),
    )
    Path(path).write_text(page, encoding="utf-8")


def summarize_rules(model: RuleClassifier, *, target: str = "target") -> dict[str, Any]:
    """Summarize fitted rules and their cross-validation as a plain dict.

    Parameters
    ----------
    model : RuleClassifier
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
        "settings": settings(model),
        "ordered": model.rules_.ordered,
        "n_conditions": model.rules_.n_conditions,
        "rows": len(cv.values),
        "cv": {
            "folds": len(errors),
            "error": float(np.nanmean(errors)),
            "standard_error": float(np.nanstd(errors, ddof=1) / math.sqrt(len(errors))),
            "error_by_fold": errors.tolist(),
            "rows_by_fold": cv.rows_by_fold.tolist(),
            "rules_by_fold": [len(each) for each in cv.sets[1:]],
            "conditions_by_fold": [each.n_conditions for each in cv.sets[1:]],
        },
        "rules": rules,
        "words": _words(rules, len(errors)),
        "confusion": cv.confusion.tolist() if len(classes) <= MOST_CLASSES else None,
        "right": int(np.trace(cv.confusion)),
        "held_out": int(cv.confusion.sum()),
    }


def _rules(model: RuleClassifier) -> list[dict[str, Any]]:
    """Describe each final rule, the default last, and in how many folds it was found as well."""
    schema, final = model._schema, model.rules_  # noqa: SLF001
    result = []
    for rule, (weight, share) in zip((*final.rules, final.default), model.rule_precision_, strict=True):
        result.append(
            {
                "text": " and ".join(c.text(schema) for c in rule.conditions) or "otherwise",
                "class": plain(model.classes_[rule.code]),
                "covers": rule.coverage,
                "precision": rule.precision,
                "held_out": weight,
                "out_of_fold_precision": share if weight else None,
                "same": sum(_has(each, rule, _exact) for each in model.cv_rules_),
                "alike": sum(_has(each, rule, _tests) for each in model.cv_rules_),
            }
        )
    return result


def _exact(rule: Rule) -> Any:
    return rule.code, frozenset(rule.conditions)


def _tests(rule: Rule) -> Any:
    """Return what a rule asks apart from thresholds, which differ a little from fold to fold."""
    asked = frozenset(
        (c.feature, c.operator, c.value if c.operator in {"=", "!="} else None) for c in rule.conditions
    )
    return rule.code, asked


def _has(rules: RuleSet, rule: Rule, key: Any) -> bool:
    own = (rules.default,) if not rule.conditions else rules.rules
    return any(key(each) == key(rule) for each in own)


def _words(rules: list[dict[str, Any]], n_folds: int) -> str:
    n_rules = len(rules) - 1
    everywhere = sum(rule["alike"] == n_folds for rule in rules[:-1])
    if n_rules == 0:
        return "No rule was found: the default decides everything."
    if everywhere == n_rules:
        return f"All {n_folds} folds found every rule, up to thresholds."
    share = f"{everywhere or 'None'} of the {n_rules} rules"
    return f"{share} were found in all {n_folds} folds, up to thresholds."
