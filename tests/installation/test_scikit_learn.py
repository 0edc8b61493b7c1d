"""crosscut uses these private names of scikit-learn and no others, and the installed version has them.

Drop-ins must check, split and score as scikit-learn does, which no public name offers. `make test-versions`
runs this with the oldest and the newest version that is supported.
"""

import ast
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, cross_validate

from crosscut import sklearn_private

SOURCES = Path(__file__).resolve().parents[2] / "src" / "crosscut"
# each with the parameters that crosscut passes
IMPORTED = {
    "sklearn.callback._callback_support": {"callback_management_context": ""},
    "sklearn.metrics._scorer": {
        "_BaseScorer": "",
        "_MultimetricScorer": "scorers raise_exc",
        "_PassthroughScorer": "",
    },
    "sklearn.model_selection._validation": {
        "_score": "estimator X_test y_test scorer score_params error_score",
    },
    "sklearn.utils": {"_safe_indexing": "X indices"},
    "sklearn.utils._param_validation": {
        "validate_params": "parameter_constraints prefer_skip_nested_validation",
    },
    "sklearn.utils.metaestimators": {"_safe_split": "estimator X y indices train_indices"},
    "sklearn.utils.validation": {
        "_check_method_params": "X params indices",
    },
}
ATTRIBUTES = {
    "search": "_validate_params _get_scorers _format_results _check_refit_for_multimetric "
    "_select_best_index _run_search",
    "scorer": "_score_func _kwargs _response_method _sign",
    "function": "_skl_parameter_constraints",
}


def test_no_others_are_imported():
    found: dict[str, set[str]] = {module: set(names) for module, names in sklearn_private._HOMES.items()}
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
                private = "._" in node.module
                names = {alias.name for alias in node.names if private or alias.name.startswith("_")}
                if names - {"__version__"}:
                    found.setdefault(node.module, set()).update(names)
    assert found == {module: set(names) for module, names in IMPORTED.items()}


@pytest.mark.parametrize("module", IMPORTED)
def test_each_exists_and_takes_what_it_is_given(module):
    for name, parameters in IMPORTED[module].items():
        there = getattr(import_module(module), name)
        if parameters:
            assert set(parameters.split()) <= set(signature(there).parameters), name


@pytest.mark.parametrize(
    ("kind", "there"),
    [("search", GridSearchCV), ("scorer", get_scorer("roc_auc")), ("function", cross_validate)],
)
def test_attributes_exist(kind, there):
    assert [name for name in ATTRIBUTES[kind].split() if not hasattr(there, name)] == []
