"""The printed number of every test decides each row, however close, as the model does."""

import json
import re

import numpy as np
import pytest

from crosscut import RuleClassifier, TreeClassifier, TreeRegressor
from crosscut.forest.labels import branch_label
from crosscut.forest.thresholds import shown_threshold, threshold_text


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


def by_json(data, row):
    node = data["nodes"][0]
    while "branches" in node:
        value = float(row[int(node["column"][1:])])
        node = data["nodes"][next(b["to"] for b in node["branches"] if meets_json(b, value))]
    return node.get("class", node.get("mean"))


def meets_json(branch, value):
    return value <= branch["at_most"] if "at_most" in branch else value > branch["above"]


def by_text(lines, row):
    depth = 0
    for line in lines:
        bars, said = line.split("|--- ")
        if len(bars) // 4 != depth:
            continue
        if said.startswith(("class: ", "value: ")):
            return said.split(": ")[1]
        depth += meets(said, row)
    raise AssertionError("no branch holds")


def meets(formula, row):
    """Whether x0 <= 1.5, x0 > 1.5 or 1 < x0 <= 1.5 holds."""
    column = int(re.search(r"x(\d+)", formula).group(1))
    value = float(row[column])
    most, above = re.search(r"<= (\S+)$", formula), re.search(r"> (\S+)$|^(\S+) < ", formula)
    holds = most is None or value <= float(most.group(1))
    return holds and (above is None or value > float(above.group(1) or above.group(2)))


@pytest.mark.parametrize("seed", range(8))
def test_text_rules_json_and_labels_decide_as_the_model(seed):
    model, X, rng = random_model(seed)
    rows = rows_around(of_tree(model), X, rng)
    said = model.predict(rows)
    lines = [line for line in model.to_text().splitlines() if line]
    data, rules = json.loads(model.to_json()), model.to_rules()
    asked = [re.match(r"if (.*) then (\w+) ", str(rule)).groups() for rule in rules]
    for row, expected in zip(rows, said, strict=True):
        assert by_json(data, row) == expected
        assert by_text(lines, row) == str(expected)
        found = [outcome for every, outcome in asked if all(meets(one, row) for one in every.split(" and "))]
        assert found == [str(expected)]
    tree, schema = model.tree_, model.fit_.schema
    for node in np.flatnonzero(tree.feature >= 0):
        branch = data["nodes"][node]["branches"][0]
        assert float(branch_label(tree, node, 0, schema)[2:]) == branch["at_most"]


@pytest.mark.parametrize("seed", range(3))
def test_regression_trees_too(seed):
    model, X, rng = random_model(seed, TreeRegressor)
    data = json.loads(model.to_json())
    for row in rows_around(of_tree(model), X, rng):
        assert by_json(data, row) == model.predict(row[None])[0]


@pytest.mark.parametrize("seed", range(4))
def test_rule_sets_decide_as_their_text_and_sql(seed):
    duckdb = pytest.importorskip("duckdb")
    model, X, rng = random_model(seed, RuleClassifier)
    thresholds = {}
    for rule in model.rules_.rules:
        for condition in rule.conditions:
            thresholds.setdefault(condition.feature, []).append(condition.value)
    rows = rows_around(thresholds, X, rng)
    said = model.predict(rows).tolist()
    table = duckdb.from_arrow(__import__("pyarrow").table({f"x{f}": rows[:, f] for f in range(3)}))
    assert [row[0] for row in table.project(model.to_sql()).fetchall()] == said
    lines = [line.split("  [")[0] for line in model.to_text().splitlines()]
    for row, expected in zip(rows, said, strict=True):
        sentences = (line.rsplit(" then ", 1) for line in lines)
        first = next(
            outcome
            for asked, outcome in sentences
            if asked == "else" or all(meets(one, row) for one in asked[3:].split(" and "))
        )
        assert first == str(expected)


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
