"""Folds of relational data are treated as those of tables."""

import numpy as np
import pytest

from crosscut_relational import Bias, Database, RelationalTreeClassifier, RelationalTreeRegressor
from paper.data import bongard


def test_examples_of_no_fold_are_not_predicted_out_of_fold():
    database, bias = bongard("simple", n=40)
    model = RelationalTreeClassifier(bias, cv=np.arange(40) % 4 - 1).fit(database)
    assert len(model.cv_scores_) == 3
    with pytest.raises(AttributeError, match="cv never holds out 10 of the 40 rows"):
        model.cv_predictions_  # noqa: B018
    assert np.isnan(model.cv_probabilities_).any(axis=1).sum() == 10


def test_folds_behave_as_those_of_tables():
    facts = "".join(f"y({e},{e // 4}). p({e}). " for e in range(12))
    database = Database.from_prolog(facts, predict="y(+k,-v)", regression=True)
    constant = RelationalTreeRegressor(Bias.of(["p(+K)"]), cv=3).fit(database)
    assert constant.cv_scores_.tolist() == [0.0, 1.0, 0.0]  # as in scikit-learn, not NaN
    with pytest.raises(AttributeError, match="cv_scores_ needs cross-validation"):
        RelationalTreeRegressor(Bias.of(["p(+K)"]), cv=None).fit(database).cv_scores_  # noqa: B018
    classes = Database.from_prolog(facts, predict="y(+k,-v)")
    with pytest.warns(UserWarning, match="model of fold 1 trains on no row of class 0"):
        RelationalTreeClassifier(Bias.of(["p(+K)"]), cv=np.arange(12) // 4).fit(classes)


def test_one_fold_has_a_score_and_a_standard_error():
    database, bias = bongard("simple", n=60)
    folds = np.where(np.arange(60) < 20, 0, -1)
    model = RelationalTreeClassifier(bias, cv=folds).fit(database)
    assert len(model.cv_scores_) == 1
    assert np.isfinite([model.cv_score_, model.cv_standard_error_]).all()
