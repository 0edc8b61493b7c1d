"""scikit-learn's tests of model_selection/search, run against the drop-ins."""

from .adapter import DROP_INS, load

globals().update(load("sklearn.model_selection.tests.test_search", DROP_INS))
