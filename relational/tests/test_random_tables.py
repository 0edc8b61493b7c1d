"""Random linked tables: fold trees are refits on the training examples, and SQL predicts what models do."""

from dataclasses import replace

import numpy as np
import pytest

from crosscut_relational import (
    Bias,
    Database,
    RelationalRuleClassifier,
    RelationalTreeClassifier,
    RelationalTreeRegressor,
)
from tests.random_tables import FIRST, check_all, in_duckdb, in_sqlite, random_problem

DIALECTS = (("duckdb", in_duckdb), ("sqlite", in_sqlite))


def check_folds_and_sql(seed):
    numbers = seed % 3 == 2
    tables, database, bias, folds = random_problem(seed, numbers=numbers)
    maker = RelationalTreeRegressor if numbers else RelationalTreeClassifier
    model = maker(bias, cv=folds).fit(database)
    for fold in range(3):
        alone = maker(bias, cv=None).fit(database[folds != fold])
        assert str(model.cv_trees_[fold]) == str(alone.tree_)
    if seed % 6 == 0:
        check_rules(tables, database, bias, folds)
    expected = model.predict(database).tolist()
    for dialect, run in DIALECTS:
        predicted = run(tables, model.to_sql(dialect))
        assert [predicted[key] for key in database.examples] == pytest.approx(expected), dialect


def check_rules(tables, database, bias, folds):
    model = RelationalRuleClassifier(bias, cv=folds).fit(database)
    for fold in range(3):
        alone = RelationalRuleClassifier(bias, cv=None).fit(database[folds != fold])
        expected, rules = (
            [(each.wording_.conditions(rule), rule.totals) for rule in own.with_default]
            for each, own in ((alone, alone.rules_), (model, model.cv_rules_[fold]))
        )
        assert rules == expected
    predicted = model.predict(database).tolist()
    for dialect, run in DIALECTS:
        found = run(tables, model.to_sql(dialect))
        assert [found[key] for key in database.examples] == predicted, dialect


@pytest.mark.parametrize("first", FIRST)
def test_folds_and_sql(first):
    check_all(check_folds_and_sql, first, few=40)


def test_missing_links_join_nothing():
    """The last person has no boss, and no task belongs to anybody."""
    n = 20
    tables = {
        "person": {"id": list(range(n)), "boss": [0] * (n - 1) + [None], "y": list("ab") * (n // 2)},
        "task": {"id": list(range(2 * n)), "owner": [None] * 2 * n, "by": [None] * n + list(range(n))},
    }
    links = dict.fromkeys(["person.boss", "task.owner", "task.by"], "person.id")
    database = Database.from_tables(tables, target="person.y", links=links)
    person, task = database.relations["person", 2], database.relations["task", 3]
    missing = np.concatenate([person.columns[1, -1:], task.columns[0], task.columns[2, :n]])
    assert len(np.unique(missing)) == 3 * n + 1


def test_a_missing_link_does_not_join_its_own_row():
    n = 20
    tables = {
        "thing": {"thing_id": list(range(n)), "y": ["a", "b"] * (n // 2)},
        "task": {
            "task_id": list(range(n)),
            "thing_id": list(range(n)),
            "helper": [None] * (n - 2) + [1, 1],
            "kind": ["k", "l"] * (n // 2),
        },
    }
    database = Database.from_tables(tables, target="thing.y", links={"task.helper": "thing.thing_id"})
    for test in ("task(Helper,_,+K,_), task(Helper,_,_,k)", "task(Helper,T,+K,_), task(_,T,_,k)"):
        model = RelationalTreeClassifier(Bias.of([f"({test})"], pruning="none"), cv=None).fit(database)
        for dialect, run in DIALECTS:
            predicted = run(tables, model.to_sql(dialect))
            assert [predicted[key] for key in database.examples] == model.predict(database).tolist()
    assert model.tree_.n_leaves == 2


def test_dangling_links_to_different_columns_differ():
    tables = {
        "a": {"id": [1, 2], "code": ["x", "y"], "y": ["p", "q"]},
        "b": {"id": [1], "name": ["z"]},
        "c": {"a": ["w"], "b": ["w"]},
    }
    links = {"c.a": "a.code", "c.b": "b.name"}
    database = Database.from_tables(tables, target="a.y", links=links)
    (relation,) = (each for each in database.relations.values() if each.name == "c")
    assert len(np.unique(relation.columns)) == relation.columns.size


@pytest.mark.parametrize("numbers", [False, True])
def test_a_cut_has_values_of_the_fold_on_both_sides(numbers):
    """Only held-out rows have large values, so the fold's cut would separate known from missing values."""
    x = [None] * 6 + [1.0] * 6 + [9.0] * 6
    y = [0.5] * 6 + [7.5] * 12 if numbers else ["a"] * 6 + ["b"] * 12
    database = Database.from_tables({"t": {"id": list(range(18)), "x": x, "y": y}}, target="t.y")
    folds = np.array([-1] * 12 + [0] * 6)
    maker = RelationalTreeRegressor if numbers else RelationalTreeClassifier
    bias = replace(Bias.from_schema(database), modes=())  # thresholds only
    model = maker(bias, cv=folds).fit(database)
    alone = maker(bias, cv=None).fit(database[folds < 0])
    assert alone.tree_.n_leaves == model.cv_trees_[0].n_leaves == 1


def test_sql_of_a_deep_tree():
    """SQLite limits nesting; the larger branch of a test is therefore not nested."""
    n = 60
    tables = {
        "t": {"id": list(range(n)), "y": ["a", "b"] * (n // 2)},
        "u": {"t_id": list(range(n)), "z": list(range(n))},
    }
    database = Database.from_tables(tables, target="t.y")
    bias = Bias.from_schema(database, minimal_cases=1, pruning="none", heuristic="gini")
    model = RelationalTreeClassifier(bias, cv=None).fit(database)
    assert model.tree_.depth > 15
    for dialect, run in DIALECTS:
        query = model.to_sql(dialect)
        predicted = run(tables, query)
        assert [predicted[key] for key in database.examples] == model.predict(database).tolist()
