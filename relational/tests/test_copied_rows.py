"""A fold's model is the one learnt from copies of its training rows: nothing else may reach it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from equivalence.copied_rows import random_numbers

from crosscut_relational import (
    Bias,
    Database,
    RelationalRuleClassifier,
    RelationalTreeClassifier,
    RelationalTreeRegressor,
)
from tests.random_tables import FIRST, check_all


def check_relational(seed):
    """Compare the models of three folds with those of copied tables; the bias is that of all rows."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 30))
    numbers = bool(rng.integers(2))
    y = random_numbers(rng, n) if numbers else rng.choice(["p", "q", "r"], n)
    things = pd.DataFrame({"thing_id": np.arange(n), "colour": rng.choice(list("uvw"), n), "y": y})
    size = int(rng.integers(n, 3 * n))
    parts = pd.DataFrame(
        {
            "part_id": np.arange(size),
            "thing_id": rng.integers(0, n, size),
            "kind": rng.choice(["k", "l", "m"], size),
        }
    )
    folds = rng.permutation(np.arange(n) % 3)
    kinds = [RelationalTreeRegressor] if numbers else [RelationalTreeClassifier, RelationalRuleClassifier]
    kind = kinds[rng.integers(len(kinds))]
    bias = Bias.from_schema(database(things, parts), pruning="c45")
    model = kind(bias, cv=folds).fit(database(things, parts))
    for fold in range(3):
        own = things[folds != fold]
        alone = kind(bias, cv=None).fit(database(own, parts[parts["thing_id"].isin(own["thing_id"])]))
        if kind is RelationalRuleClassifier:
            mine, other = model.cv_rules_[fold].with_default, alone.rules_.with_default
            assert [len(rule.conditions) for rule in mine] == [len(rule.conditions) for rule in other]
            present = np.isin(model.classes_, alone.classes_)
            assert [tuple(np.array(rule.totals)[present]) for rule in mine] == [one.totals for one in other]
        else:
            mine, other = model.cv_trees_[fold], alone.tree_
            lacking = [] if numbers else [c not in alone.classes_ for c in model.classes_]
            assert [shown(node, lacking) for node in mine.root.walk()] == [
                shown(node, []) for node in other.root.walk()
            ]
            assert numbers or any(lacking) or str(mine) == str(other)


def shown(node, lacking):
    counts = [one for i, one in enumerate(node.statistics) if not (lacking and lacking[i])]
    return counts, len(node.test)


def database(things, parts):
    return Database.from_tables({"thing": things, "part": parts}, target="thing.y")


@pytest.mark.parametrize("first", FIRST)
def test_models_of_copied_tables(first):
    check_all(check_relational, first, few=30)


def test_a_huge_target_that_is_held_out_hides_no_others():
    """The grid of a relational regression once came from all examples."""
    rng = np.random.default_rng(0)
    things = pd.DataFrame({"thing_id": np.arange(30), "colour": rng.choice(list("uvw"), 30)})
    things["y"] = (things["colour"] == "u") + rng.normal(size=30) / 10
    things.loc[0, "y"] = 1e30
    parts = pd.DataFrame({"part_id": [0], "thing_id": [0], "kind": ["k"]})
    model = RelationalTreeRegressor(cv=np.where(np.arange(30) == 0, 0, -1)).fit(database(things, parts))
    assert "u" in str(model.cv_trees_[0])
