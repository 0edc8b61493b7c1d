"""Cross-validated decision trees for the price of one.

Names are imported when they are first used, so ``import crosscut`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosscut.bootstrap import bootstrap_error as bootstrap_error
    from crosscut.engines.stream import Stream as Stream
    from crosscut.estimators import BaggedTrees as BaggedTrees
    from crosscut.estimators import TreeClassifier as TreeClassifier
    from crosscut.estimators import TreeRegressor as TreeRegressor
    from crosscut.files import read_file as read_file
    from crosscut.forest import Forest as Forest
    from crosscut.growth import Growth as Growth
    from crosscut.growth import Limits as Limits
    from crosscut.importance import drop_importance as drop_importance
    from crosscut.model_file import ModelFileError as ModelFileError
    from crosscut.model_file import load_model as load_model
    from crosscut.model_file import save_model as save_model
    from crosscut.model_selection import DelegationWarning as DelegationWarning
    from crosscut.model_selection import GridSearchCV as GridSearchCV
    from crosscut.model_selection import NestedResult as NestedResult
    from crosscut.model_selection import RandomizedSearchCV as RandomizedSearchCV
    from crosscut.model_selection import cross_val_predict as cross_val_predict
    from crosscut.model_selection import cross_val_score as cross_val_score
    from crosscut.model_selection import cross_validate as cross_validate
    from crosscut.model_selection import nested_cross_validate as nested_cross_validate
    from crosscut.model_selection import validation_curve as validation_curve
    from crosscut.relational.bias import Bias as Bias
    from crosscut.relational.database import Database as Database
    from crosscut.relational.estimators import RelationalTreeClassifier as RelationalTreeClassifier
    from crosscut.relational.estimators import RelationalTreeRegressor as RelationalTreeRegressor
    from crosscut.rules import RelationalRuleClassifier as RelationalRuleClassifier
    from crosscut.rules import RuleClassifier as RuleClassifier
    from crosscut.table import Table as Table
    from crosscut.tasks import Tasks as Tasks
    from crosscut.tree import Tree as Tree

__version__ = "0.1.0"

# public name -> module that defines it ("" if the name is itself a module), in the order of the documentation
_WHERE = {
    "TreeClassifier": "estimators",
    "TreeRegressor": "estimators",
    "BaggedTrees": "estimators",
    "bootstrap_error": "bootstrap",
    "drop_importance": "importance",
    "Forest": "forest",
    "cross_validate": "model_selection",
    "cross_val_score": "model_selection",
    "cross_val_predict": "model_selection",
    "GridSearchCV": "model_selection",
    "RandomizedSearchCV": "model_selection",
    "validation_curve": "model_selection",
    "nested_cross_validate": "model_selection",
    "NestedResult": "model_selection",
    "DelegationWarning": "model_selection",
    "save_model": "model_file",
    "load_model": "model_file",
    "ModelFileError": "model_file",
    "Table": "table",
    "Tasks": "tasks",
    "Growth": "growth",
    "Limits": "growth",
    "Tree": "tree",
    "read_file": "files",
    "Stream": "engines.stream",
    "datasets": "",
    "Database": "relational.database",
    "Bias": "relational.bias",
    "RelationalTreeClassifier": "relational.estimators",
    "RelationalTreeRegressor": "relational.estimators",
    "RuleClassifier": "rules",
    "RelationalRuleClassifier": "rules",
}

__all__ = ["__version__", *_WHERE]  # noqa: PLE0604, type checkers see the imports above


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module 'crosscut' has no attribute {name!r}")
    where = _WHERE[name]
    found = getattr(import_module(f"crosscut.{where}"), name) if where else import_module(f"crosscut.{name}")
    globals()[name] = found  # the next look-up does not come here
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
