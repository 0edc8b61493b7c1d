from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import LeaveOneOut, RepeatedStratifiedKFold, StratifiedKFold

from crosscut import BaggedTrees, RuleClassifier

CHOICES = [{}, {"ordered": False}, {"strategy": "ripper"}]


@pytest.mark.parametrize("choice", CHOICES)
def test_out_of_fold_predictions_are_from_rules_without_the_row(choice):
    X, y = load_iris(return_X_y=True)
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    model = RuleClassifier(cv=cv, random_state=3, **choice).fit(X, y)
    expected = np.empty(150, int)
    for rules, (_, test) in zip(model.cv_rules_, cv.split(X, y), strict=True):
        alone = RuleClassifier(cv=None, **choice).fit(X, y)
        alone.fit_ = replace(alone.fit_, forest=(rules,))
        expected[test] = alone.predict(X[test])
    assert (model.cv_predictions_ == expected).all()
    assert model.cv_score_ == pytest.approx((expected == y).mean())
    assert 0.9 < model.cv_score_ <= 1


def test_cv_rules_equal_those_fitted_on_the_training_rows_alone():
    X, y = load_breast_cancer(return_X_y=True)
    cv = StratifiedKFold(4)
    model = RuleClassifier(cv=cv).fit(X, y)
    for rules, (train, _) in zip(model.cv_rules_, cv.split(X, y), strict=True):
        assert RuleClassifier(cv=None).fit(X[train], y[train]).rules_ == rules


def test_scoring_repeats_and_many_tasks():
    X, y = load_iris(return_X_y=True)
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=5, random_state=0)
    model = RuleClassifier(cv=cv, scoring="neg_log_loss").fit(X, y)
    assert model.cv_scores_.shape == (25,)
    assert (model.cv_scores_ <= 0).all()
    assert model.cv_probabilities_.sum(axis=1) == pytest.approx(np.ones(150))
    assert len(RuleClassifier(cv=LeaveOneOut()).fit(X[::3], y[::3]).cv_rules_) == 50


def test_a_condition_on_a_missing_value_is_false():
    X = np.array([[1.0], [2.0], [3.0], [np.nan], [5.0], [6.0], [7.0], [8.0]])
    y = [0, 0, 0, 1, 1, 1, 1, 1]
    model = RuleClassifier(cv=None).fit(X, y)
    lines = [line.split("  ")[0] for line in model.to_text().splitlines()]
    assert lines == ["if x0 > 4 then 1", "if x0 is present then 0", "else then 1"]
    assert model.predict([[np.nan], [0.0], [4.5]]).tolist() == [1, 0, 1]


def test_integer_weights_are_repeated_rows():
    X, y = load_iris(return_X_y=True)
    weights = np.arange(150) % 3
    weighted = RuleClassifier(cv=None).fit(X, y, sample_weight=weights)
    repeated = RuleClassifier(cv=None).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.rules_ == repeated.rules_
    folds = [
        (np.flatnonzero(np.arange(150) % 5 != k), np.flatnonzero(np.arange(150) % 5 == k)) for k in range(5)
    ]
    scored = RuleClassifier(cv=folds).fit(X, y, sample_weight=weights)
    assert scored.cv_score_ == np.average(scored.cv_predictions_ == y, weights=weights)


def test_nominal_columns_of_a_frame():
    frame = pd.DataFrame({"colour": ["red", "blue", "green", None] * 10, "size": np.arange(40.0)})
    y = np.where(frame["colour"] == "red", "yes", "no")
    model = RuleClassifier(cv=4).fit(frame, y)
    assert model.cv_score_ == 1
    assert "colour = red then yes" in model.to_text()
    new = pd.DataFrame({"colour": ["red", "pink"], "size": [1.0, 2.0]})
    assert model.predict(new).tolist() == ["yes", "no"]


def test_a_rule_may_exclude_a_category():
    frame = pd.DataFrame({"colour": ["red", "blue", "green", None] * 10})
    y = np.where(frame["colour"].isin(["blue", "green"]), "yes", "no")
    model = RuleClassifier(cv=None).fit(frame, y)
    assert model.to_text().startswith("if colour != red then yes  [covers 20, precision 1.000]")
    assert "WHEN \"colour\" IN ('blue', 'green') THEN 'yes'" in model.to_sql()
    new = pd.DataFrame({"colour": ["red", "blue", "pink", None]})
    assert model.predict(new).tolist() == ["no", "yes", "no", "no"]
    assert "!=" not in RuleClassifier(cv=None, strategy="ripper").fit(frame, y).to_text()


@pytest.mark.parametrize("kind", ["text", "category"])
@pytest.mark.parametrize("choice", CHOICES)
def test_a_category_that_the_training_rows_lack_is_missing(choice, kind):
    """Whether the type declares it makes no difference, in folds as in models of their rows."""
    for seed in range(40):
        draw = np.random.default_rng(seed)
        labels = draw.choice(list("abcdef"), (40, 2), p=[0.3, 0.3, 0.3, 0.05, 0.03, 0.02])
        y = np.where(draw.random(40) < 0.8, labels[:, 0] == "a", labels[:, 1] != "b")
        weights = (draw.random(40) < 0.95).astype(float)
        text = pd.DataFrame(labels, columns=["u", "v"])
        declared = pd.CategoricalDtype(list("gfedcba"))
        frame = text if kind == "text" else text.astype(declared)
        cv = list(StratifiedKFold(4).split(labels, y))
        model = RuleClassifier(cv=cv, min_coverage=1, **choice).fit(frame, y, sample_weight=weights)
        for train, test in cv:
            refit = RuleClassifier(cv=None, min_coverage=1, **choice)
            refit.fit(frame.iloc[train], y[train], sample_weight=weights[train])
            assert refit.predict(frame.iloc[test]).tolist() == model.cv_predictions_[test].tolist()
            kept = train[weights[train] > 0]
            known = frame.iloc[kept]
            if kind == "category":
                known = known.apply(lambda column: column.cat.remove_unused_categories())
            alone = RuleClassifier(cv=None, min_coverage=1, **choice).fit(known, y[kept])
            assert alone.predict(frame).tolist() == refit.predict(frame).tolist()


def test_without_cross_validation_there_is_no_score():
    model = RuleClassifier(cv=None).fit(*load_iris(return_X_y=True))
    with pytest.raises(AttributeError, match="cv=None"):
        _ = model.cv_score_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"strategy": "foil"}, "strategy must be one of"),
        ({"measure": "entropy", "ordered": False}, "ordered must be True"),
        ({"beam_width": 0}, "beam_width must be an integer >= 1, but 0"),
        ({"min_coverage": -1}, "min_coverage must be a positive number"),
        ({"significance": 2}, "significance must be a level"),
        ({"max_length": 1.5}, "max_length must be an integer"),
    ],
)
def test_invalid_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        RuleClassifier(**parameters).fit(*load_iris(return_X_y=True))


def conditions(model):
    return [rule.conditions for rule in model.rules_.rules]


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("scale", [1 / 150, 1e-30, 7.0, 1e30])
def test_only_the_ratios_of_weights_matter(choice, scale):
    X, y = load_iris(return_X_y=True)
    plain = RuleClassifier(cv=None, significance=0.05, **choice).fit(X, y)
    scaled = RuleClassifier(cv=None, significance=0.05, **choice).fit(X, y, sample_weight=np.full(150, scale))
    assert conditions(scaled) == conditions(plain)
    weights = np.random.default_rng(0).random(150)
    some, others = (
        RuleClassifier(cv=None, **choice).fit(X, y, sample_weight=weights * one)
        for one in (1.0, 2.0 ** round(np.log2(scale)))
    )
    assert conditions(some) == conditions(others)
    assert len(some.rules_) > 1


@pytest.mark.parametrize("choice", CHOICES)
def test_rules_can_be_boosted(choice):
    X, y = load_breast_cancer(return_X_y=True)
    weak = RuleClassifier(cv=None, max_length=1, beam_width=1, **choice)
    boosted = AdaBoostClassifier(weak, n_estimators=5).fit(X[::2], y[::2])
    assert len(boosted.estimators_) > 1 or boosted.estimator_errors_[0] == 0
    assert boosted.score(X[1::2], y[1::2]) > 0.85


@pytest.mark.parametrize("model", [RuleClassifier(cv=None), BaggedTrees(n_trees=5, random_state=0)])
def test_logarithms_of_probabilities(model):
    X, y = load_iris(return_X_y=True)
    model.fit(X, y)
    assert np.exp(model.predict_log_proba(X)) == pytest.approx(model.predict_proba(X))
    assert np.isneginf(model.predict_log_proba(X)).any()
