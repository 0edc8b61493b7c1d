# The public names; each is imported when it is first used (__init__.py).

from . import datasets as datasets
from .data.files import read_file as read_file
from .data.files import reading_of as reading_of
from .data.files import split_target as split_target
from .data.table import Table as Table
from .engines.stream.stream import Stream as Stream
from .estimators import BaggedTrees as BaggedTrees
from .estimators import TreeClassifier as TreeClassifier
from .estimators import TreeRegressor as TreeRegressor
from .estimators.bootstrap import bootstrap_error as bootstrap_error
from .estimators.importance import drop_importance as drop_importance
from .extensions import get_include as get_include
from .forest.forest import Forest as Forest
from .forest.tree import Tree as Tree
from .model_file import ModelFileError as ModelFileError
from .model_file import load_model as load_model
from .model_file import save_model as save_model
from .model_selection import RFECV as RFECV
from .model_selection import DelegationWarning as DelegationWarning
from .model_selection import GridSearchCV as GridSearchCV
from .model_selection import HalvingGridSearchCV as HalvingGridSearchCV
from .model_selection import HalvingRandomSearchCV as HalvingRandomSearchCV
from .model_selection import NestedResult as NestedResult
from .model_selection import RandomizedSearchCV as RandomizedSearchCV
from .model_selection import cross_val_predict as cross_val_predict
from .model_selection import cross_val_score as cross_val_score
from .model_selection import cross_validate as cross_validate
from .model_selection import learning_curve as learning_curve
from .model_selection import nested_cross_validate as nested_cross_validate
from .model_selection import permutation_test_score as permutation_test_score
from .model_selection import validation_curve as validation_curve
from .rules import RuleClassifier as RuleClassifier
from .statistics.comparison import Comparison as Comparison
from .statistics.comparison import compare as compare
from .tasks import Tasks as Tasks
from .tasks.growth import Growth as Growth
from .tasks.growth import Limits as Limits
from .training.fit import Fit as Fit
from .warning import CrosscutWarning as CrosscutWarning

__version__: str
