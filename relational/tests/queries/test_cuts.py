"""Cuts of attributes: exact for every task, and the best there are."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from crosscut_relational.database.attribute_values import AttributeValues
from crosscut_relational.database.database import Database
from crosscut_relational.estimators import RelationalTreeClassifier, RelationalTreeRegressor
from crosscut_relational.language.attributes import attribute_text
from crosscut_relational.language.bias import Bias
from crosscut_relational.queries.queries import MEMORY
from tests.linked_tables import shop


def shop_database(seed, numbers=False, n=120):
    tables, target = shop(seed, n)
    if numbers:
        rng = np.random.default_rng(seed)
        tables["customer"]["leaves"] = [
            float(rng.normal() + (2 if each == "yes" else 0)) for each in tables["customer"]["leaves"]
        ]
    return tables, Database.from_tables(tables, target=target)


def only(tables, chosen):
    customer = {name: [values[i] for i in chosen] for name, values in tables["customer"].items()}
    return Database.from_tables({**tables, "customer": customer}, target="customer.leaves")


# with 900 examples, those of many attributes are counted by value, and cuts of the others are bounded
@pytest.mark.parametrize(
    ("seed", "n", "memory"), [(0, 120, MEMORY), (3, 120, 1 << 20), (6, 120, 1), (1, 900, MEMORY)]
)
@pytest.mark.parametrize("maker", [RelationalTreeClassifier, RelationalTreeRegressor])
def test_a_fold_tree_is_that_of_its_training_examples_alone(seed, n, memory, maker, monkeypatch):
    monkeypatch.setattr("crosscut_relational.queries.queries.MEMORY", memory)
    tables, database = shop_database(seed, numbers=maker is RelationalTreeRegressor, n=n)
    bias = Bias.from_schema(database, pruning="none", ftest=0.5)
    folds = np.random.default_rng(seed).integers(0, 4, database.n_examples)
    model = maker(bias, cv=folds).fit(database)
    for sharing in ("serial", "paper"):
        alone = maker(bias, cv=folds, sharing=sharing).fit(database)
        assert alone.cv_trees_ == model.cv_trees_
        assert np.array_equal(alone.cv_predictions_, model.cv_predictions_)
    assert len({str(tree) for tree in model.cv_trees_}) > 1
    for fold, tree in enumerate(model.cv_trees_):
        refit = maker(bias, cv=None).fit(only(tables, np.flatnonzero(folds != fold)))
        assert str(refit.tree_) == str(tree)
        held_out = only(tables, np.flatnonzero(folds == fold))
        found = refit.predict(held_out)
        if maker is RelationalTreeRegressor:
            assert found == pytest.approx(model.cv_predictions_[folds == fold])
        else:
            assert found.tolist() == model.cv_predictions_[folds == fold].tolist()


def entropy(codes):
    counts = np.bincount(codes)
    shares = counts[counts > 0] / len(codes)
    return float(-(shares * np.log2(shares)).sum())


def best_cut(values, codes, least):
    """Return the quality and threshold of the best cut of one attribute, as C4.5 rates it."""
    known = np.unique(values[~np.isnan(values)])
    best = (0.0, np.nan)
    for low, high in pairwise(known):
        for yes in (values <= low, values > low):
            n, k = len(codes), int(yes.sum())
            if min(k, n - k) < least:
                continue
            gain = entropy(codes) - (k * entropy(codes[yes]) + (n - k) * entropy(codes[~yes])) / n
            gain -= np.log2(len(known) - 1) / n
            if gain > 0 and gain / entropy(yes.astype(int)) > best[0] + 1e-10:
                best = (gain / entropy(yes.astype(int)), low + (high - low) / 2)
    return best


@pytest.mark.parametrize(("seed", "n"), [*((seed, 120) for seed in range(6)), (1, 900), (6, 900), (7, 900)])
def test_the_first_test_is_the_best_cut_of_all_attributes(seed, n):
    _, database = shop_database(seed, n=n)
    bias = replace(Bias.from_schema(database, pruning="none", max_depth=1), modes=())
    model = RelationalTreeClassifier(bias, cv=None).fit(database)
    values, codes = AttributeValues(database), np.asarray(database.target)
    rated = [
        (*best_cut(values.numbers(each), codes, bias.settings.minimal_cases), number)
        for number, each in enumerate(bias.attributes)
        if each.is_number
    ]
    quality = max(rated)[0]
    _, threshold, number = next(each for each in rated if each[0] >= quality - 1e-10)
    (goal,) = model.tree_.root.test
    assert goal.args[0] == 1 + number, attribute_text(bias.attributes[number], database.columns)
    assert database.constants.terms[~goal.args[1]] == threshold


def test_missing_values_pass_neither_way():
    n = 40
    tables = {"t": {"id": list(range(n)), "x": [None, 1.0, 2.0, 9.0] * 10, "y": list("abba") * 10}}
    database = Database.from_tables(tables, target="t.y")
    model = RelationalTreeClassifier(cv=None).fit(database)
    assert str(model).splitlines()[1] == "x <= 5.5?"
    tables["t"]["y"] = list("aabb") * 10  # missing goes with the small ones
    model = RelationalTreeClassifier(cv=None).fit(Database.from_tables(tables, target="t.y"))
    assert str(model).splitlines() == ["t.y", "x > 1.5?", "+--yes: b (20 of 20)", "+--no:  a (20 of 20)"]
