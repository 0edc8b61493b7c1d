import pydoc

import pytest

from crosscut import (
    RelationalRuleClassifier,
    RelationalTreeClassifier,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
)
from crosscut.training.fit import Validated

ESTIMATORS = [
    TreeClassifier,
    TreeRegressor,
    RuleClassifier,
    RelationalTreeClassifier,
    RelationalRuleClassifier,
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_results_of_cross_validation_are_documented_for_help_and_for_the_site(estimator):
    help_text = pydoc.plain(pydoc.render_doc(estimator))
    listed = estimator.__doc__.split("Attributes\n")[1].split("Examples\n")[0]
    found = {
        name: value for name in dir(estimator) if isinstance(value := getattr(estimator, name), Validated)
    }
    assert "cv_scores_" in found
    for name, value in found.items():
        assert value.__doc__ in help_text
        assert name in listed


def test_without_cross_validation_the_error_names_the_attribute():
    model = TreeClassifier(cv=None).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(AttributeError, match="cv_score_ needs cross-validation"):
        _ = model.cv_score_
    assert not hasattr(model, "cv_score_")
