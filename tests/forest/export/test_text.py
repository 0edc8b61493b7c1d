import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.tree import export_text as sklearn_text

from crosscut import TreeClassifier, TreeRegressor
from crosscut.forest.export.text import Condition


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue", None], size=150),
            "size": np.where(rng.random(150) < 0.15, np.nan, rng.normal(size=150)),
        }
    )
    y = np.where((X["colour"] == "red") | (X["size"] > 0.5) | X["size"].isna(), "in", "out")
    return X, y


def test_text_of_a_numeric_tree_is_scikit_learns():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = TreeClassifier(cv=None).fit(X, y)
    theirs = sklearn_text(model.to_sklearn(), feature_names=list(X.columns), decimals=2, max_depth=99)
    # one difference: scikit-learn pads "> " to the width of "<="
    assert model.to_text() == theirs.replace(">  ", "> ")


def test_text_of_a_regression_tree():
    X, y = load_diabetes(return_X_y=True)
    text = TreeRegressor(max_depth=1, cv=None).fit(X, y).to_text(decimals=3)
    assert [line.split("|--- ")[1].split(":")[0] for line in text.splitlines()] == [
        "x8 <= -0.003761176",
        "value",
        "x8 > -0.003761176",
        "value",
    ]


@pytest.mark.parametrize("splits", ["binary", "multiway"])
def test_categories_are_named(mixed, splits):
    text = TreeClassifier(splits=splits, cv=None).fit(*mixed).to_text(weights=True)
    if splits == "multiway":
        for name in ("red", "green", "blue", "missing"):
            assert f"colour = {name}" in text
    else:
        assert "colour in {blue, green, missing}" in text or "colour = red" in text
    assert "weights: [" in text
    assert "class: in" in text


@pytest.mark.parametrize("splits", ["binary", "multiway"])
def test_exactly_one_rule_holds_for_every_row(mixed, splits):
    X, y = mixed
    model = TreeClassifier(splits=splits, cv=None).fit(X, y)
    rules = model.to_rules()
    assert len(rules) == model.get_n_leaves()
    assert sum(rule.n_rows for rule in rules) == len(X)
    predicted = model.predict(X)
    missing_branch = X["size"].isna()
    for i in np.flatnonzero(~missing_branch):
        row = X.iloc[i]
        held = [rule for rule in rules if all(meets(condition, row) for condition in rule.conditions)]
        assert [rule.prediction for rule in held] == [predicted[i]]


def meets(condition: Condition, row) -> bool:
    value = row[condition.column]
    if condition.categories is not None:
        return bool(condition.missing) if pd.isna(value) else value in condition.categories
    if condition.missing:
        return False
    return condition.low < value <= condition.high


def test_conditions_on_a_column_are_put_together():
    X = np.arange(40.0).reshape(-1, 1)
    rules = TreeClassifier(cv=None).fit(X, (X[:, 0] // 10) % 2).to_rules()
    assert str(rules).splitlines() == [
        "if x0 <= 9.50 then 0.0 (10 rows, probability 1.00)",
        "if 9.50 < x0 <= 19.50 then 1.0 (10 rows, probability 1.00)",
        "if 19.50 < x0 <= 29.50 then 0.0 (10 rows, probability 1.00)",
        "if x0 > 29.50 then 1.0 (10 rows, probability 1.00)",
    ]
    only = TreeClassifier(cv=None, max_depth=1).fit(np.zeros((4, 1)), [0, 0, 0, 1]).to_rules()
    assert str(only) == "if always then 0 (4 rows, probability 0.75)"


def test_conditions_as_formulas():
    assert str(Condition("a", missing=True)) == "a is missing"
    assert str(Condition("a", missing=False)) == "a is present"
    assert str(Condition("a", categories=("x",))) == "a = x"
    assert str(Condition("a", categories=("x", "y"), missing=True)) == "a in {x, y, missing}"
    assert str(Condition("a", low=1) & Condition("a", high=2)) == "1.00 < a <= 2.00"
    both = Condition("a", categories=("x", "y")) & Condition("a", categories=("y", "z"))
    assert both.categories == ("y",)
