"""Folds that are hard to learn from are treated as those of tables (crosscut has tests of the same names)."""

import warnings

import numpy as np
import pytest

from crosscut_relational import (
    Bias,
    Database,
    RelationalRuleClassifier,
    RelationalTreeClassifier,
    RelationalTreeRegressor,
)

BLOCKS = np.arange(12) // 4  # three folds, in order


def fitted(learner, y):
    facts = "".join(f"y({e},{value}). p({e}). " for e, value in enumerate(y))
    database = Database.from_prolog(facts, predict="y(+k,-v)", regression=learner is RelationalTreeRegressor)
    return learner(Bias.of(["p(+K)"]), cv=BLOCKS).fit(database)


@pytest.mark.parametrize("learner", [RelationalTreeClassifier, RelationalRuleClassifier])
def test_a_class_that_a_fold_lacks_is_a_warning_that_names_both(learner):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fitted(learner, np.array(["a", "b", "c"])[BLOCKS])
    (warning,) = (warning for warning in caught if issubclass(warning.category, UserWarning))
    assert "fold 1 trains on no row of class a" in str(warning.message)
    assert "(2 more lack a class)" in str(warning.message)
    assert model.cv_scores_.tolist() == [0.0, 0.0, 0.0]


def test_a_fold_of_one_value_scores_1_if_it_is_predicted_and_else_0():
    assert fitted(RelationalTreeRegressor, 1.0 * BLOCKS).cv_scores_.tolist() == [0.0, 1.0, 0.0]
