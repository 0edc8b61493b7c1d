"""First-order rules to and from model files; what is read is checked before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import crosscut
from crosscut.model_file.container import write_container
from crosscut.model_file.header import plain_parameters, set_parameters
from crosscut.model_file.rules import check_types, conditions_of, need, read_rules, rule_arrays
from crosscut.relational.model_file.language import checked_step_limit, read_language, written_language

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from crosscut.relational.rules.estimator import RelationalRuleClassifier


def save(model: RelationalRuleClassifier, path: str | PathLike[str], *, held_out: bool) -> None:
    """Write fitted rules, and what their folds said of held-out examples if that is wanted."""
    conditions = conditions_of(model)
    tests = {test: number for number, test in enumerate(dict.fromkeys(conditions))}
    header = {
        "crosscut": crosscut.__version__,
        "model": type(model).__name__,
        "parameters": plain_parameters(model),
        "ordered": model.rules_.ordered,
        **written_language(model._signature, tests, model.classes_),  # noqa: SLF001, one package
    }
    arrays = rule_arrays(model, held_out=held_out)
    arrays["test"] = np.array([tests[condition] for condition in conditions], np.int32)
    if held_out:
        arrays["folds"] = model.folds_
    write_container(path, header, arrays)


def read(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> RelationalRuleClassifier:
    """Return the fitted rules of a file."""
    from crosscut.relational.rules.estimator import RelationalRuleClassifier
    from crosscut.rules.learning import check_parameters

    model = RelationalRuleClassifier()
    set_parameters(model, header["parameters"])
    check_parameters(model)
    checked_step_limit(model.step_limit)
    model._signature, tests, classes = read_language(header)  # noqa: SLF001
    need(classes, "there are no classes")
    model.classes_ = np.array(classes, dtype=object)
    check_types(arrays, {"test": np.int32})
    numbers = arrays["test"]
    need(numbers.ndim == 1 and np.all((numbers >= 0) & (numbers < len(tests))), "a condition is no test")
    read_rules(model, header, arrays, [tests[number] for number in numbers])
    if "folds" in arrays:
        model.folds_ = _folds(model, arrays["folds"])
        if "cv" not in header["parameters"]:  # it was such an array
            model.cv = model.folds_
    return model


def _folds(model: RelationalRuleClassifier, folds: NDArray[Any]) -> NDArray[np.int32]:
    need(folds.dtype == np.int32 and folds.ndim == 1, "array 'folds' is of a wrong type or shape")
    cv = model._cv  # noqa: SLF001
    rows = np.empty(0, np.int64) if cv is None else cv.rows_by_fold
    inside = np.all((folds >= -1) & (folds < len(rows)))
    need(
        inside and np.array_equal(np.bincount(folds[folds >= 0], minlength=len(rows)), rows),
        "'folds' is wrong",
    )
    need(cv is None or np.array_equal(cv.times_held_out, folds >= 0), "'folds' is wrong")
    return folds
