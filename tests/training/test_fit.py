import pydoc
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from crosscut import BaggedTrees, RuleClassifier, TreeClassifier, TreeRegressor
from crosscut.training.fit import Validated, fit_of

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    "model", [TreeClassifier(cv=3), TreeRegressor(cv=3), RuleClassifier(cv=3), BaggedTrees(n_trees=3)]
)
def test_every_estimator_holds_its_fit(model):
    with pytest.raises(NotFittedError):
        fit_of(model)
    fit = fit_of(model.fit(X, Y))
    assert fit is model.fit_
    assert fit.learner == type(model).__name__
    assert fit.settings == model.get_params(deep=False)
    assert len(fit.folds) == len(fit.forest) - 1
    assert fit.kind == ("regression" if fit.classes is None else "classification")


def test_a_fit_cannot_be_changed():
    fit = TreeClassifier(cv=None).fit(X, Y).fit_
    with pytest.raises(FrozenInstanceError):
        fit.target = "other"


def test_the_target_keeps_its_name():
    assert TreeClassifier(cv=None).fit(X, pd.Series(Y, name="species")).fit_.target == "species"
    assert TreeClassifier(cv=None).fit(X, Y).fit_.target == "target"


def test_results_of_folds_need_folds():
    model = TreeClassifier(cv=None).fit(X, Y)
    for name in ("cv_scores_", "cv_score_", "cv_predictions_", "cv_trees_", "pruning_table_"):
        with pytest.raises(AttributeError, match=f"{name} needs cross-validation"):
            getattr(model, name)


def test_numbers_have_no_classes():
    fit = TreeRegressor(cv=None).fit(X, Y).fit_
    assert fit.n_classes == 0
    with pytest.raises(AttributeError, match="regression model has no classes"):
        _ = fit.known_classes


def test_the_grown_trees_are_kept_beside_the_pruned():
    fit = TreeClassifier(prune="1se").fit(X, Y).fit_
    assert fit.final.n_leaves < fit.grown[0].n_leaves
    assert fit.chosen_by is fit.pruning_table
    assert fit.alpha > 0
    np.testing.assert_array_equal(fit.n_missing, np.zeros(4))


ESTIMATORS = [
    TreeClassifier,
    TreeRegressor,
    RuleClassifier,
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
