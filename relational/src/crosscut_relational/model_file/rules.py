"""Write and read first-order rules as model files; everything read is checked first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.rules.learning import check_parameters
from crosscut.rules.model_file import conditions_of, read_fit, rule_arrays
from crosscut.training.stored import ModelFileError, check_types, need
from crosscut_relational.model_file.language import give_fit, read_language, written_language
from crosscut_relational.rules.estimator import RelationalRuleClassifier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.training.fit import Fit


def written(model: Any, fit: Fit) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a file with this fit."""
    conditions = conditions_of(fit)
    tests = {test: number for number, test in enumerate(dict.fromkeys(conditions))}
    arrays = rule_arrays(fit)
    arrays["test"] = np.array([tests[condition] for condition in conditions], np.int32)
    return {"ordered": fit.final.ordered, **written_language(model, fit, tests)}, arrays


def read(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> RelationalRuleClassifier:
    """Return the fitted rules of a file."""
    model = RelationalRuleClassifier()
    signature, tests, classes = read_language(header, model)
    check_parameters(model)
    if classes is None:
        raise ModelFileError("the model is damaged: there are no classes")
    check_types(arrays, {"test": np.int32})
    numbers = arrays["test"]
    need(numbers.ndim == 1 and np.all((numbers >= 0) & (numbers < len(tests))), "a condition is not a test")
    conditions = [tests[number] for number in numbers]
    target = signature.predicted
    fit = read_fit(model, header, arrays, conditions, schema=signature, classes=classes, target=target)
    give_fit(model, header, fit)
    return model
