"""First-order rules to and from model files; what is read is checked before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import crosscut
from crosscut.model_file.header import plain_parameters, set_parameters
from crosscut.model_file.rules import check_types, conditions_of, need, read_fit, rule_arrays
from crosscut.relational.model_file.language import checked_step_limit, read_language, written_language
from crosscut.relational.rules.estimator import RelationalRuleClassifier
from crosscut.rules.learning import check_parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.training.fit import Fit


def written(model: Any, fit: Fit) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a file with this fit."""
    conditions = conditions_of(fit)
    tests = {test: number for number, test in enumerate(dict.fromkeys(conditions))}
    header = {
        "crosscut": crosscut.__version__,
        "model": fit.learner,
        "target": fit.target,
        "parameters": plain_parameters(model),
        "ordered": fit.final.ordered,
        **written_language(fit.schema, tests, fit.known_classes),
    }
    arrays = rule_arrays(fit)
    arrays["test"] = np.array([tests[condition] for condition in conditions], np.int32)
    if fit.validation is not None:
        arrays["folds"] = model.folds_
    return header, arrays


def read(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> RelationalRuleClassifier:
    """Return the fitted rules of a file."""
    model = RelationalRuleClassifier()
    set_parameters(model, header["parameters"])
    check_parameters(model)
    checked_step_limit(model.step_limit)
    signature, tests, names = read_language(header)
    need(names, "there are no classes")
    classes = np.array(names, dtype=object)
    check_types(arrays, {"test": np.int32})
    numbers = arrays["test"]
    need(numbers.ndim == 1 and np.all((numbers >= 0) & (numbers < len(tests))), "a condition is no test")
    conditions = [tests[number] for number in numbers]
    target = signature.predicted
    model.fit_ = read_fit(model, header, arrays, conditions, schema=signature, classes=classes, target=target)
    if "folds" in arrays:
        model.folds_ = _folds(model.fit_, arrays["folds"])
        if "cv" not in header["parameters"]:  # it was such an array
            model.cv = model.folds_
    return model


def _folds(fit: Fit, folds: NDArray[Any]) -> NDArray[np.int32]:
    need(folds.dtype == np.int32 and folds.ndim == 1, "array 'folds' is of a wrong type or shape")
    cv = fit.validation
    rows = np.empty(0, np.int64) if cv is None else cv.rows_by_fold
    inside = np.all((folds >= -1) & (folds < len(rows)))
    need(
        inside and np.array_equal(np.bincount(folds[folds >= 0], minlength=len(rows)), rows),
        "'folds' is wrong",
    )
    need(cv is None or np.array_equal(cv.times_held_out, folds >= 0), "'folds' is wrong")
    return folds
