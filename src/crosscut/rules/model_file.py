"""Read and write the model files of rules; everything that is read is checked."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.rules.estimators import RuleClassifier
from crosscut.rules.learning import check_parameters
from crosscut.rules.rule_set import OPERATORS, Condition, Rule, RuleSet
from crosscut.rules.validation import RuleValidation
from crosscut.training.fit import Fit
from crosscut.training.stored import (
    check_types,
    described,
    need,
    read_described,
    read_groups,
    read_weights,
    spans,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from crosscut.data.schema import Schema
    from crosscut.typing import CrossValidation

_RULES = {"rule_start": np.int64, "condition_start": np.int64, "totals": np.float64}
_CONDITIONS = {"feature": np.int32, "operator": np.int32, "value": np.float64}
_HELD_OUT = {
    "held_out_rows": np.int64,
    "held_out_start": np.int64,
    "held_out_said": np.float64,
    "y": np.int32,
    "rule_precision": np.float64,
}


def written(model: BaseEstimator, fit: Fit) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a file with this fit."""
    arrays = rule_arrays(fit)
    conditions = conditions_of(fit)
    arrays |= {
        "feature": np.array([condition.feature for condition in conditions], np.int32),
        "operator": np.array([OPERATORS.index(condition.operator) for condition in conditions], np.int32),
        "value": np.array([condition.value for condition in conditions], np.float64),
    }
    return {**described(model, fit), "ordered": fit.final.ordered}, arrays


def read(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> RuleClassifier:
    """Return the fitted rules of a file."""
    model = RuleClassifier()
    schema, classes = read_described(header, model)
    check_parameters(model)
    need(classes is not None and len(classes), "there are no classes")
    assert classes is not None
    conditions = _conditions(arrays, schema)
    target = str(header["target"])
    model.fit_ = read_fit(model, header, arrays, conditions, schema=schema, classes=classes, target=target)
    return model


def conditions_of(fit: Fit) -> list[Any]:
    """Return the conditions of all rules, in the order of `rule_arrays`."""
    every = (rule for rules in fit.forest for rule in rules.with_default)
    return [condition for rule in every for condition in rule.conditions]


def rule_arrays(fit: Fit) -> dict[str, NDArray[Any]]:
    """Return rule sets without conditions, and out-of-fold results. The default is a set's last rule."""
    rules = [rule for each in fit.forest for rule in each.with_default]
    arrays: dict[str, NDArray[Any]] = {
        "rule_start": np.cumsum([0, *(len(each) + 1 for each in fit.forest)], dtype=np.int64),
        "condition_start": np.cumsum([0, *(len(rule.conditions) for rule in rules)], dtype=np.int64),
        "totals": np.array([rule.totals for rule in rules], np.float64),
    }
    cv: CrossValidation = fit.validation
    if cv is None:
        return arrays
    arrays |= {
        "held_out_rows": cv.rows,
        "held_out_start": cv.row_start,
        "held_out_said": cv.fold_values,
        "y": cv.y,
        "rule_precision": np.array(cv.rule_precision, np.float64),
    }
    optional = {"row_weights": cv.weights, "groups": cv.groups, "scores": cv.chosen_scores}
    return arrays | {name: values for name, values in optional.items() if values is not None}


def read_fit(
    model: BaseEstimator,
    header: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    conditions: list[Any],
    *,
    schema: Any,
    classes: NDArray[Any],
    target: str,
) -> Fit:
    """Return the fit that these arrays describe.

    Raises
    ------
    ModelFileError
        If the arrays are inconsistent.
    """
    sets = _rule_sets(arrays, conditions, len(classes), ordered=bool(header["ordered"]))
    return Fit(
        learner=header["model"],
        settings=model.get_params(deep=False),
        schema=schema,
        classes=classes,
        target=target,
        forest=sets,
        grown=sets,
        validation=_validation(arrays, sets, classes),
    )


def _rule_sets(
    arrays: dict[str, NDArray[Any]], conditions: list[Any], n_classes: int, *, ordered: bool
) -> tuple[RuleSet, ...]:
    check_types(arrays, _RULES)
    start, first, totals = (arrays[name] for name in _RULES)
    need(start.ndim == first.ndim == 1 and totals.ndim == 2, "an array has a wrong shape")
    need(spans(start, len(totals)) and np.all(np.diff(start) >= 1), "'rule_start' does not cover the rules")
    need(len(first) == len(totals) + 1 and spans(first, len(conditions)), "'condition_start' is wrong")
    need(np.all(np.diff(first)[start[1:] - 1] == 0), "a default rule has conditions")
    need(totals.shape[1] == n_classes, "'totals' has a wrong shape")
    need(np.all(np.isfinite(totals) & (totals >= 0)) and np.all(totals.sum(axis=1) > 0), "'totals' is wrong")
    rules = [
        Rule(tuple(conditions[first[i] : first[i + 1]]), tuple(totals[i].tolist()))
        for i in range(len(totals))
    ]
    return tuple(
        RuleSet(tuple(rules[begin : end - 1]), rules[end - 1], ordered) for begin, end in pairwise(start)
    )


def _validation(
    arrays: dict[str, NDArray[Any]], sets: tuple[RuleSet, ...], classes: NDArray[Any]
) -> RuleValidation | None:
    """Return the out-of-fold results in these arrays, if there are any."""
    if "held_out_said" not in arrays:
        return None
    check_types(arrays, _HELD_OUT)
    rows, start, values, y, precision = (arrays[name] for name in _HELD_OUT)
    scores = arrays.get("scores")
    need(rows.ndim == start.ndim == y.ndim == 1 and len(sets) >= 2, "an array has a wrong shape")
    need(len(start) == len(sets) + 1 and spans(start, len(rows)), "'held_out_start' does not cover the rows")
    need(
        values.shape == (len(rows), len(classes)) and np.all(np.isfinite(values)), "'held_out_said' is wrong"
    )
    need(np.all((rows >= 0) & (rows < len(y))), "a held-out row does not exist")
    need(np.all((y >= 0) & (y < len(classes))), "a class is unknown")
    need(precision.shape == (len(sets[0]) + 1, 2), "there must be one precision per rule")
    need(scores is None or scores.shape == (len(sets) - 1,), "there must be one score per fold")
    validation = RuleValidation(y, classes, rows, start, values, chosen_scores=scores)
    validation.weights, validation.groups = read_weights(arrays, len(y)), read_groups(arrays, len(y))
    validation.rule_precision = [(float(weight), float(fraction)) for weight, fraction in precision]
    return validation


def _conditions(arrays: dict[str, NDArray[Any]], schema: Schema) -> list[Condition]:
    check_types(arrays, _CONDITIONS)
    feature, operator, value = (arrays[name] for name in _CONDITIONS)
    need(feature.ndim == 1 and operator.shape == value.shape == feature.shape, "conditions differ in number")
    need(np.all((feature >= 0) & (feature < len(schema))), "a condition refers to an unknown column")
    need(np.all((operator >= 0) & (operator < len(OPERATORS))), "an operator is unknown")
    nominal = np.array([kind == "nominal" for kind in schema.kinds])[feature]
    need(np.array_equal(nominal, operator >= OPERATORS.index("=")), "an operator does not fit its column")
    widths = np.array([len(categories) for categories in schema.categories])[feature[nominal]]
    codes = value[nominal]
    known = (codes >= 0) & (codes < widths) & (codes == np.floor(codes))
    need(np.all(known), "a condition refers to an unknown category")
    need(not np.any(np.isnan(value) | np.isneginf(value)), "a threshold is not a number")
    return [
        Condition(int(f), OPERATORS[o], float(v)) for f, o, v in zip(feature, operator, value, strict=True)
    ]
