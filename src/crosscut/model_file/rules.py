"""Rules to and from model files; what is read is checked before it is used."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.model_file.container import ModelFileError, write_container
from crosscut.model_file.header import described, read_described
from crosscut.rules.condition import OPERATORS, Condition
from crosscut.rules.out_of_fold import OutOfFold
from crosscut.rules.rule_set import Rule, RuleSet

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from crosscut.data.schema import Schema
    from crosscut.rules.estimators import RuleClassifier
    from crosscut.rules.fitted_rules import FittedRules

_RULES = {"rule_start": np.int64, "condition_start": np.int64, "totals": np.float64}
_CONDITIONS = {"feature": np.int32, "operator": np.int32, "value": np.float64}
_HELD_OUT = {
    "held_out_values": np.float64,
    "held_out_times": np.int64,
    "fold_scores": np.float64,
    "rule_precision": np.float64,
    "confusion": np.int64,
    "fold_rows": np.int64,
}


def save(model: RuleClassifier, path: str | PathLike[str], *, target: str, held_out: bool) -> None:
    """Write fitted rules; see :func:`crosscut.save_model`."""
    arrays = rule_arrays(model, held_out=held_out)
    conditions = conditions_of(model)
    arrays |= {
        "feature": np.array([condition.feature for condition in conditions], np.int32),
        "operator": np.array([OPERATORS.index(condition.operator) for condition in conditions], np.int32),
        "value": np.array([condition.value for condition in conditions], np.float64),
    }
    write_container(path, {**described(model, target), "ordered": model.rules_.ordered}, arrays)


def read(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> RuleClassifier:
    """Return the fitted rules of a file."""
    from crosscut.rules.estimators import RuleClassifier
    from crosscut.rules.learning import check_parameters

    model = RuleClassifier()
    schema, classes = read_described(header, model)
    check_parameters(model)
    need(classes is not None and len(classes) >= 1, "there are no classes")
    read_rules(model, header, arrays, _conditions(arrays, schema))
    return model


def conditions_of(model: FittedRules) -> list[Any]:
    """Return the conditions of all rules in the order of `rule_arrays`."""
    every = (rule for rules in _sets_of(model) for rule in rules.with_default)
    return [condition for rule in every for condition in rule.conditions]


def _sets_of(model: FittedRules) -> tuple[RuleSet, ...]:
    return (model.rules_,) if model._cv is None else model._cv.sets  # noqa: SLF001, one package


def rule_arrays(model: FittedRules, *, held_out: bool) -> dict[str, NDArray[Any]]:
    """Return rule sets without conditions, and out-of-fold results; a set's default is its last rule."""
    sets, cv = _sets_of(model), model._cv  # noqa: SLF001
    rules = [rule for each in sets for rule in each.with_default]
    arrays: dict[str, NDArray[Any]] = {
        "rule_start": np.cumsum([0, *(len(each) + 1 for each in sets)], dtype=np.int64),
        "condition_start": np.cumsum([0, *(len(rule.conditions) for rule in rules)], dtype=np.int64),
        "totals": np.array([rule.totals for rule in rules], np.float64),
    }
    if cv is None or not held_out:
        return arrays
    arrays |= {
        "held_out_values": cv.values,
        "held_out_times": cv.times_held_out,
        "fold_scores": cv.scores,
        "rule_precision": np.array(cv.rule_precision, np.float64),
        "confusion": cv.confusion,
        "fold_rows": cv.rows_by_fold,
    }
    if model._held_out_scores is not None:  # noqa: SLF001
        arrays["scores"] = model._held_out_scores  # noqa: SLF001
    return arrays


def read_rules(
    model: FittedRules, header: dict[str, Any], arrays: dict[str, NDArray[Any]], conditions: list[Any]
) -> None:
    """Give a model, whose classes are known, the rules and out-of-fold results in these arrays.

    Raises
    ------
    ModelFileError
        If they do not fit together.
    """
    n_classes = len(model.classes_)
    sets = _rule_sets(arrays, conditions, n_classes, ordered=bool(header["ordered"]))
    model.rules_ = sets[0]
    model._cv = _held_out(arrays, sets, n_classes)  # noqa: SLF001, one package
    scores = arrays.get("scores")
    need(scores is None or scores.shape == (len(sets) - 1,), "there is not one score per fold")
    model._held_out_scores = scores  # noqa: SLF001


def _rule_sets(
    arrays: dict[str, NDArray[Any]], conditions: list[Any], n_classes: int, *, ordered: bool
) -> tuple[RuleSet, ...]:
    check_types(arrays, _RULES)
    start, first, totals = (arrays[name] for name in _RULES)
    need(start.ndim == first.ndim == 1 and totals.ndim == 2, "an array has a wrong shape")
    need(_spans(start, len(totals)) and np.all(np.diff(start) >= 1), "'rule_start' does not span the rules")
    need(len(first) == len(totals) + 1 and _spans(first, len(conditions)), "'condition_start' is wrong")
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


def _held_out(arrays: dict[str, NDArray[Any]], sets: tuple[RuleSet, ...], n_classes: int) -> OutOfFold | None:
    """Return the out-of-fold results in these arrays, if there are any."""
    if "held_out_values" not in arrays:
        return None
    check_types(arrays, _HELD_OUT)
    values, times, scores, precision, confusion, rows = (arrays[name] for name in _HELD_OUT)
    n_folds = len(sets) - 1
    need(n_folds >= 1 and values.ndim == 2 and values.shape == (len(times), n_classes), "shapes differ")
    need(scores.shape == rows.shape == (n_folds,), "there is not one score per fold")
    need(precision.shape == (len(sets[0]) + 1, 2), "there is not one precision per rule")
    need(confusion.shape == (n_classes, n_classes) and np.all(confusion >= 0), "'confusion' is wrong")
    need(times.ndim == 1 and np.all(times >= 0) and np.all(rows >= 0), "a number of rows is negative")
    need(np.array_equal(np.isnan(values).any(axis=1), times == 0), "held-out values are no numbers")
    pairs = [(float(weight), float(share)) for weight, share in precision]
    return OutOfFold(sets, values, times, scores, pairs, confusion, rows)


def _conditions(arrays: dict[str, NDArray[Any]], schema: Schema) -> list[Condition]:
    check_types(arrays, _CONDITIONS)
    feature, operator, value = (arrays[name] for name in _CONDITIONS)
    need(feature.ndim == 1 and operator.shape == value.shape == feature.shape, "conditions differ in number")
    need(np.all((feature >= 0) & (feature < len(schema))), "a condition is about no column")
    need(np.all((operator >= 0) & (operator < len(OPERATORS))), "an operator is unknown")
    nominal = np.array([kind == "nominal" for kind in schema.kinds])[feature]
    need(np.array_equal(nominal, operator >= OPERATORS.index("=")), "an operator does not fit its column")
    widths = np.array([len(categories) for categories in schema.categories])[feature[nominal]]
    codes = value[nominal]
    known = (codes >= 0) & (codes < widths) & (codes == np.floor(codes))
    need(np.all(known), "a condition is about no category")
    need(not np.any(np.isnan(value) | np.isneginf(value)), "a threshold is no number")
    return [
        Condition(int(f), OPERATORS[o], float(v)) for f, o, v in zip(feature, operator, value, strict=True)
    ]


def _spans(start: NDArray[Any], end: int) -> bool:
    return len(start) >= 2 and start[0] == 0 and start[-1] == end and bool(np.all(np.diff(start) >= 0))


def check_types(arrays: dict[str, NDArray[Any]], types: dict[str, Any]) -> None:
    """Refuse arrays that are not there or have other types."""
    for name, kind in types.items():
        need(name in arrays and arrays[name].dtype == kind, f"array {name!r} is absent or of a wrong type")


def need(holds: Any, what: str) -> None:
    """Refuse rules for which something does not hold."""
    if not bool(holds):
        raise ModelFileError(f"the rules are damaged: {what}")
