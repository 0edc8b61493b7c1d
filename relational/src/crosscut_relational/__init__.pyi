# The public names; each is imported when it is first used (__init__.py).

from . import datasets as datasets
from .database.database import Database as Database
from .estimators import RelationalTreeClassifier as RelationalTreeClassifier
from .estimators import RelationalTreeRegressor as RelationalTreeRegressor
from .language.bias import Bias as Bias
from .rules.estimator import RelationalRuleClassifier as RelationalRuleClassifier

__version__: str
