"""Rules to and from model files; what is read is checked before it is used."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.model_file.container import ModelFileError, write_container
from crosscut.rules.condition import Condition
from crosscut.rules.examples import OPERATORS
from crosscut.rules.out_of_fold import OutOfFold
from crosscut.rules.rule_set import Rule, RuleSet

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from crosscut.rules.estimators import RuleClassifier
    from crosscut.schema import Schema

TYPES = {
    "rule_start": np.int64,
    "condition_start": np.int64,
    "feature": np.int32,
    "operator": np.int32,
    "value": np.float64,
    "totals": np.float64,
}
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
    from crosscut.model_file.model import described

    cv = model._cv  # noqa: SLF001, one package
    sets = (model.rules_,) if cv is None else cv.sets
    arrays = rule_arrays(sets)
    if cv is not None and held_out:
        arrays |= held_out_arrays(cv)
        if model._held_out_scores is not None:  # noqa: SLF001
            arrays["scores"] = model._held_out_scores  # noqa: SLF001
    write_container(path, {**described(model, target), "ordered": model.rules_.ordered}, arrays)


def read(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> RuleClassifier:
    """Return the fitted rules of a file."""
    from crosscut.model_file.model import read_described
    from crosscut.rules.estimators import RuleClassifier
    from crosscut.rules.learning import check_parameters

    model = RuleClassifier()
    schema, classes = read_described(header, model)
    check_parameters(model)
    n_classes = 0 if classes is None else len(classes)
    _need(n_classes >= 1, "there are no classes")
    sets = read_rule_sets(arrays, schema, n_classes, ordered=bool(header["ordered"]))
    model.rules_ = sets[0]
    model._cv = read_held_out(arrays, sets, n_classes)  # noqa: SLF001, one package
    scores = arrays.get("scores")
    _need(scores is None or scores.shape == (len(sets) - 1,), "there is not one score per fold")
    model._held_out_scores = scores  # noqa: SLF001
    return model


def rule_arrays(sets: tuple[RuleSet, ...]) -> dict[str, NDArray[Any]]:
    """Return rule sets as arrays; a set's default is its last rule."""
    rules = [rule for each in sets for rule in (*each.rules, each.default)]
    conditions = [condition for rule in rules for condition in rule.conditions]
    return {
        "rule_start": np.cumsum([0, *(len(each) + 1 for each in sets)], dtype=np.int64),
        "condition_start": np.cumsum([0, *(len(rule.conditions) for rule in rules)], dtype=np.int64),
        "feature": np.array([condition.feature for condition in conditions], np.int32),
        "operator": np.array([OPERATORS.index(condition.operator) for condition in conditions], np.int32),
        "value": np.array([condition.value for condition in conditions], np.float64),
        "totals": np.array([rule.totals for rule in rules], np.float64),
    }


def held_out_arrays(cv: OutOfFold) -> dict[str, NDArray[Any]]:
    """Return out-of-fold results as arrays."""
    return {
        "held_out_values": cv.values,
        "held_out_times": cv.times_held_out,
        "fold_scores": cv.scores,
        "rule_precision": np.array(cv.rule_precision, np.float64),
        "confusion": cv.confusion,
        "fold_rows": cv.rows_by_fold,
    }


def read_rule_sets(
    arrays: dict[str, NDArray[Any]], schema: Schema, n_classes: int, *, ordered: bool
) -> tuple[RuleSet, ...]:
    """Return the rule sets in these arrays.

    Raises
    ------
    ModelFileError
        If they are not rules about the columns of ``schema``.
    """
    for name, kind in TYPES.items():
        _need(name in arrays and arrays[name].dtype == kind, f"array {name!r} is absent or of a wrong type")
        _need(arrays[name].ndim == (2 if name == "totals" else 1), f"{name!r} has a wrong shape")
    start, first, totals = arrays["rule_start"], arrays["condition_start"], arrays["totals"]
    feature, operator, value = (arrays[name] for name in ("feature", "operator", "value"))
    _need(_spans(start, len(totals)) and np.all(np.diff(start) >= 1), "'rule_start' does not span the rules")
    _need(len(first) == len(totals) + 1 and _spans(first, len(feature)), "'condition_start' is wrong")
    _need(len(operator) == len(value) == len(feature), "conditions differ in number")
    _need(np.all(np.diff(first)[start[1:] - 1] == 0), "a default rule has conditions")
    _need(totals.shape[1] == n_classes, "'totals' has a wrong shape")
    _need(np.all(np.isfinite(totals) & (totals >= 0)) and np.all(totals.sum(axis=1) > 0), "'totals' is wrong")
    _check_conditions(feature, operator, value, schema)
    conditions = [
        Condition(int(f), OPERATORS[o], float(v)) for f, o, v in zip(feature, operator, value, strict=True)
    ]
    rules = [
        Rule(tuple(conditions[first[i] : first[i + 1]]), tuple(totals[i].tolist()))
        for i in range(len(totals))
    ]
    return tuple(
        RuleSet(tuple(rules[begin : end - 1]), rules[end - 1], ordered) for begin, end in pairwise(start)
    )


def read_held_out(
    arrays: dict[str, NDArray[Any]], sets: tuple[RuleSet, ...], n_classes: int
) -> OutOfFold | None:
    """Return the out-of-fold results in these arrays, if there are any."""
    if "held_out_values" not in arrays:
        return None
    for name, kind in _HELD_OUT.items():
        _need(name in arrays and arrays[name].dtype == kind, f"array {name!r} is absent or of a wrong type")
    values, times, scores, precision, confusion, rows = (arrays[name] for name in _HELD_OUT)
    n_folds = len(sets) - 1
    _need(n_folds >= 1 and values.ndim == 2 and values.shape == (len(times), n_classes), "shapes differ")
    _need(scores.shape == rows.shape == (n_folds,), "there is not one score per fold")
    _need(precision.shape == (len(sets[0]) + 1, 2), "there is not one precision per rule")
    _need(confusion.shape == (n_classes, n_classes) and np.all(confusion >= 0), "'confusion' is wrong")
    _need(times.ndim == 1 and np.all(times >= 0) and np.all(rows >= 0), "a number of rows is negative")
    _need(np.array_equal(np.isnan(values).any(axis=1), times == 0), "held-out values are no numbers")
    pairs = [(float(weight), float(share)) for weight, share in precision]
    return OutOfFold(sets, values, times, scores, pairs, confusion, rows)


def _check_conditions(
    feature: NDArray[Any], operator: NDArray[Any], value: NDArray[Any], schema: Schema
) -> None:
    _need(np.all((feature >= 0) & (feature < len(schema))), "a condition is about no column")
    _need(np.all((operator >= 0) & (operator < len(OPERATORS))), "an operator is unknown")
    nominal = np.array([kind == "nominal" for kind in schema.kinds])[feature]
    _need(np.array_equal(nominal, operator >= OPERATORS.index("=")), "an operator does not fit its column")
    widths = np.array([len(categories) for categories in schema.categories])[feature[nominal]]
    codes = value[nominal]
    known = (codes >= 0) & (codes < widths) & (codes == np.floor(codes))
    _need(np.all(known), "a condition is about no category")
    _need(not np.any(np.isnan(value) | np.isneginf(value)), "a threshold is no number")


def _spans(start: NDArray[Any], end: int) -> bool:
    return len(start) >= 2 and start[0] == 0 and start[-1] == end and bool(np.all(np.diff(start) >= 0))


def _need(holds: Any, what: str) -> None:
    if not bool(holds):
        raise ModelFileError(f"the rules are damaged: {what}")
