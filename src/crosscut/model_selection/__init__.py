"""Drop-ins for ``sklearn.model_selection``: one growth for all splits and, where possible, all candidates."""

from crosscut.model_selection.candidates import DelegationWarning
from crosscut.model_selection.elimination import RFECV
from crosscut.model_selection.nested import NestedResult, nested_cross_validate
from crosscut.model_selection.resampling import learning_curve, permutation_test_score
from crosscut.model_selection.search import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
)
from crosscut.model_selection.validate import (
    cross_val_predict,
    cross_val_score,
    cross_validate,
    validation_curve,
)

__all__ = [
    "RFECV",
    "DelegationWarning",
    "GridSearchCV",
    "HalvingGridSearchCV",
    "HalvingRandomSearchCV",
    "NestedResult",
    "RandomizedSearchCV",
    "cross_val_predict",
    "cross_val_score",
    "cross_validate",
    "learning_curve",
    "nested_cross_validate",
    "permutation_test_score",
    "validation_curve",
]
