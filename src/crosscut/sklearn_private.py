"""All private names of scikit-learn in one place, because new versions may move or change them.

They are imported when they are used: importing `sklearn.tree` and `sklearn.model_selection` takes longer than
fitting a small table.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "sklearn.callback._callback_support": ("callback_management_context",),
    "sklearn.metrics._scorer": ("_BaseScorer", "_MultimetricScorer", "_PassthroughScorer"),
    "sklearn.model_selection._validation": ("_score",),
    "sklearn.utils": ("_safe_indexing",),
    "sklearn.utils._param_validation": ("validate_params",),
    "sklearn.utils.metaestimators": ("_safe_split",),
    "sklearn.utils.validation": ("_check_method_params",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
