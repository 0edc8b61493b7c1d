"""Loads scikit-learn's own test files with crosscut's names in place of scikit-learn's."""

import importlib.util
import sys
from unittest.mock import patch

import sklearn.model_selection

import crosscut

DROP_INS = {
    name: getattr(crosscut, name)
    for name in (
        "GridSearchCV",
        "RandomizedSearchCV",
        "cross_val_predict",
        "cross_val_score",
        "cross_validate",
        "learning_curve",
        "permutation_test_score",
        "validation_curve",
    )
}


def load(name, replaced, where=sklearn.model_selection):
    """Return the names of the test file ``name``, executed while ``where`` has the names ``replaced``.

    Only the file's own imports see the replacements: once it is loaded scikit-learn is whole again, so that
    what crosscut delegates still reaches scikit-learn.
    """
    spec = importlib.util.find_spec(name)
    alias = "crosscut_suite_" + name.replace(".", "_")
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location(alias, spec.origin))
    sys.modules[alias] = module  # classes of the file are pickled by the tests
    with patch.multiple(where, **replaced):
        module.__spec__.loader.exec_module(module)
    return {key: value for key, value in vars(module).items() if not key.startswith("__")}
