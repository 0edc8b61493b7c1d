"""crosscut's own trees in the drop-ins equal scikit-learn fitting them one by one, ties or not."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import model_selection as scikit

import crosscut
from crosscut import TreeClassifier, TreeRegressor

from .agreement import assert_same_results


@st.composite
def tables(draw):
    """Return a frame with numeric, nominal and missing values, a target that depends on it, and weights."""
    n = draw(st.integers(40, 120))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    frame = pd.DataFrame(
        {
            "real": rng.normal(size=n),
            "few": rng.integers(0, 4, n).astype(float),
            "text": rng.choice(list("abcdef"), n),
        }
    )
    if draw(st.booleans()):
        frame.loc[rng.random(n) < 0.1, "few"] = np.nan
        frame.loc[rng.random(n) < 0.1, "text"] = None
    signal = frame["real"] + (frame["text"] == "a") + rng.normal(size=n)
    weights = rng.integers(0, 3, n).astype(float) + 0.5 if draw(st.booleans()) else None
    return frame, signal.to_numpy(), weights


LIMITS = {
    "max_depth": st.one_of(st.none(), st.integers(1, 6)),
    "min_samples_leaf": st.one_of(st.integers(1, 6), st.just(0.05)),
    "min_samples_split": st.one_of(st.integers(2, 20), st.just(0.2)),
    "ccp_alpha": st.sampled_from([0.0, 0.003, 0.02]),
    "splits": st.sampled_from(["binary", "multiway"]),
}


@settings(max_examples=12, deadline=None)
@given(table=tables(), data=st.data())
def test_grids(table, data):
    frame, signal, weights = table
    params = {} if weights is None else {"sample_weight": weights}
    names = data.draw(st.lists(st.sampled_from(sorted(LIMITS)), min_size=1, max_size=3, unique=True))
    grid = {name: data.draw(st.lists(LIMITS[name], min_size=1, max_size=2, unique=True)) for name in names}
    if data.draw(st.booleans()):
        model, y = TreeRegressor(cv=None), signal.round(1)
    else:
        criterion = data.draw(st.sampled_from(["gini", "entropy", "gain_ratio"]))
        model, y = TreeClassifier(cv=None, criterion=criterion), np.digitize(signal, [0, 1])
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", crosscut.DelegationWarning)
        for module in (crosscut, scikit):
            search = module.GridSearchCV(model, grid, cv=scikit.KFold(3), return_train_score=True)
            found.append(search.fit(frame, y, **params))
    assert_same_results(*[search.cv_results_ for search in found])
    assert found[0].best_estimator_.tree_.equals(found[1].best_estimator_.tree_)


@pytest.mark.parametrize("model", [TreeClassifier(cv=None), TreeClassifier(cv=3, max_depth=3)])
def test_scorers_of_the_user_s_own_refit_nothing(model, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 9, 120), "b": rng.choice(list("uvwxyz"), 120)})
    y = rng.choice(["no", "perhaps", "yes"], 120)

    def score(model, X, y):
        assert list(model.feature_names_in_) == ["a", "b"]
        return model.predict_proba(X)[:, 0].sum() + model.get_n_leaves() + model.score(X, y)

    grid = {"min_samples_leaf": [1, 3], "max_depth": [1, 4]}
    theirs = scikit.GridSearchCV(model, grid, scoring=score, refit=False, cv=4).fit(frame, y)
    monkeypatch.setattr(TreeClassifier, "fit", lambda *_: pytest.fail("it was refitted"))
    ours = crosscut.GridSearchCV(model, grid, scoring=score, refit=False, cv=4).fit(frame, y)
    assert_same_results(ours.cv_results_, theirs.cv_results_)
