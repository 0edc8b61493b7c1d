"""The printed number of every test decides each row, however close, as the model does."""

import json
import re

import numpy as np
import pytest

from crosscut import RuleClassifier, TreeClassifier, TreeRegressor
from crosscut.forest.export.text import branch_label, shown_threshold, threshold_text


def random_model(seed, learner=TreeClassifier, **parameters):
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-6, 7, 3)
    X = (rng.normal(size=(80, 3)) * scale).astype(np.float32)
    if seed % 2:
        X = np.round(X / scale, 2) * scale
    y = X[:, 0] / scale[0] + rng.normal(size=80)
    return learner(cv=None, **parameters).fit(X, y if learner is TreeRegressor else y > 0), X, rng


def rows_around(thresholds, X, rng, n=200):
    """Random rows whose values are, mostly, next to a threshold in single precision."""
    rows = X[rng.integers(len(X), size=n)].astype(np.float32)
    for column, values in thresholds.items():
        at = np.float32(rng.choice(values, n))
        steps = rng.integers(-2, 3, n)
        for _ in range(2):
            at = np.where(steps > 0, np.nextafter(at, np.float32(np.inf)), at)
            at = np.where(steps < 0, np.nextafter(at, np.float32(-np.inf)), at)
            steps -= np.sign(steps)
        some = rng.random(n) < 0.8
        rows[some, column] = at[some]
    return rows


def of_tree(model):
    tree = model.tree_
    inner = np.flatnonzero(tree.feature >= 0)
    return {int(f): tree.threshold[inner[tree.feature[inner] == f]] for f in np.unique(tree.feature[inner])}


def by_json(data, rows):
    """What the nodes of a tree in JSON say of each row."""
    at, said = {0: np.ones(len(rows), bool)}, np.empty(len(rows), object)
    for number, node in enumerate(data["nodes"]):
        for branch in node.get("branches", ()):
            value = rows[:, int(node["column"][1:])].astype(float)
            holds = value <= branch["at_most"] if "at_most" in branch else value > branch["above"]
            at[branch["to"]] = at[number] & holds
        if "branches" not in node:
            said[at[number]] = node.get("class", node.get("mean"))
    return said


def by_text(text, rows):
    """What a tree as text says of each row."""
    at, said = {0: np.ones(len(rows), bool)}, np.empty(len(rows), object)
    for bars, line in (line.split("|--- ") for line in text.splitlines() if line):
        depth = len(bars) // 4
        if line.startswith(("class: ", "value: ")):
            said[at[depth]] = line.split(": ")[1]
        else:
            at[depth + 1] = at[depth] & meets(line, rows)
    return said


def meets(formula, rows):
    """Whether x0 <= 1.5, x0 > 1.5 or 1 < x0 <= 1.5 holds for each row."""
    value = rows[:, int(re.search(r"x(\d+)", formula).group(1))].astype(float)
    most, above = re.search(r"<= (\S+)$", formula), re.search(r"> (\S+)$|^(\S+) < ", formula)
    holds = np.ones(len(rows), bool) if most is None else value <= float(most.group(1))
    return holds if above is None else holds & (value > float(above.group(1) or above.group(2)))


def by_sql(sql, rows):
    """What DuckDB says of each row."""
    duckdb, pyarrow = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    table = duckdb.from_arrow(pyarrow.table({f"x{f}": rows[:, f] for f in range(rows.shape[1])}))
    return [row[0] for row in table.project(sql).fetchall()]


SEEDS = [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 100))]


@pytest.mark.parametrize("seed", SEEDS)
def test_text_rules_sql_json_and_labels_decide_as_the_model(seed):
    model, X, rng = random_model(seed)
    rows = rows_around(of_tree(model), X, rng, 10_000)
    expected = model.predict(rows)
    data = json.loads(model.to_json())
    np.testing.assert_array_equal(by_json(data, rows), expected)
    np.testing.assert_array_equal(by_sql(model.to_sql(), rows), expected)
    np.testing.assert_array_equal(by_text(model.to_text(), rows), expected.astype(str))
    said, times = np.empty(len(rows), object), np.zeros(len(rows), int)
    for rule in model.to_rules():
        every, outcome = re.match(r"if (.*) then (\w+) ", str(rule)).groups()
        holds = np.all([meets(one, rows) for one in every.split(" and ")], axis=0)
        said[holds], times = outcome, times + holds
    np.testing.assert_array_equal(said, expected.astype(str))
    assert np.all(times == 1)
    tree, schema = model.tree_, model.fit_.schema
    for node in np.flatnonzero(tree.feature >= 0):
        branch = data["nodes"][node]["branches"][0]
        assert float(branch_label(tree, node, 0, schema)[2:]) == branch["at_most"]


@pytest.mark.parametrize("seed", range(3))
def test_regression_trees_too(seed):
    model, X, rng = random_model(seed, TreeRegressor)
    rows = rows_around(of_tree(model), X, rng, 10_000)
    expected = model.predict(rows)
    np.testing.assert_array_equal(by_json(json.loads(model.to_json()), rows), expected)
    np.testing.assert_array_equal(by_sql(model.to_sql(), rows), expected)


@pytest.mark.parametrize("seed", range(4))
def test_rule_sets_decide_as_their_text_and_sql(seed):
    model, X, rng = random_model(seed, RuleClassifier)
    thresholds = {}
    for rule in model.rules_.rules:
        for condition in rule.conditions:
            thresholds.setdefault(condition.feature, []).append(condition.value)
    rows = rows_around(thresholds, X, rng, 10_000)
    expected = model.predict(rows)
    assert by_sql(model.to_sql(), rows) == expected.tolist()
    said, undecided = np.empty(len(rows), object), np.ones(len(rows), bool)
    for line in model.to_text().splitlines():
        asked, outcome = line.split("  [")[0].rsplit(" ", 1)
        if asked.startswith("if "):
            conditions = asked[3:].removesuffix(" then").split(" and ")
            holds = undecided & np.all([meets(one, rows) for one in conditions], axis=0)
        else:
            holds = undecided
        said[holds], undecided = outcome, undecided & ~holds
    np.testing.assert_array_equal(said, expected.astype(str))


def test_the_number_is_short_and_the_same_test():
    rng = np.random.default_rng(0)
    values = (rng.normal(size=(2000, 2)) * 10.0 ** rng.integers(-30, 30, (2000, 1))).astype(np.float32)
    for a, b in values.tolist():
        shown = shown_threshold((a + b) / 2)
        last = np.float32(shown)
        last = last if float(last) <= shown else np.nextafter(last, np.float32(-np.inf))
        middle = (a + b) / 2
        assert float(last) <= middle < float(np.nextafter(last, np.float32(np.inf)))
        assert len(repr(shown).split("e")[0].replace(".", "").strip("-0")) <= 9
        assert float(threshold_text(middle)) == float(threshold_text(middle, 2)) == shown
    assert shown_threshold(np.inf) == np.inf
