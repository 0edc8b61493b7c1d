from dataclasses import replace

import numpy as np
import pytest
from stream_tables import assert_same, forest_in_memory, table_of, with_weights, write_pieces

from crosscut import Stream, TreeClassifier, TreeRegressor
from crosscut.engines.stream import level_wise
from crosscut.engines.stream.bundle import Bundle, Split, derivable, derive
from crosscut.engines.stream.level_wise import Plan
from crosscut.tasks.fold_rule import FoldRule
from crosscut.training import streamed_set

MODELS = [
    TreeClassifier(max_depth=5, cv=5),
    TreeClassifier(criterion="entropy", min_samples_leaf=20, max_bins=20, max_depth=6, cv=3),
    TreeClassifier(criterion="gain_ratio", splits="multiway", max_depth=4, cv=4),
    TreeRegressor(max_depth=5, cv=5),
    TreeRegressor(min_impurity_decrease=0.01, min_samples_leaf=9, max_depth=4, cv=3),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_derived_statistics_give_the_trees_of_the_in_memory_engine(tmp_path, monkeypatch, model, weighted):
    monkeypatch.setattr(streamed_set, "Plan", lambda *of: replace(Plan(*of), gather=False))
    passes, derived = [], []
    monkeypatch.setattr(level_wise, "LevelPass", lambda **made: passes.append(made) or real_pass(**made))
    monkeypatch.setattr(level_wise, "derive", lambda *of: derived.append(of) or derive(*of))
    regression = isinstance(model, TreeRegressor)
    table = table_of(1, 1500, n_classes=3, regression=regression)
    table = with_weights(table) if weighted else table
    expected = forest_in_memory(table, model, FoldRule(model.cv, stratified=not regression))
    paths = write_pieces(table, tmp_path, 3)
    weight = "w" if weighted else None
    assert_same(model.fit(Stream(paths), "y", sample_weight=weight).forest_, expected)
    assert derived
    most = sum(made["n_statistics"] for made in passes)
    passes.clear()
    derived.clear()  # the statistics of two levels do not fit
    assert_same(model.fit(Stream(paths, memory_limit="2KB"), "y", sample_weight=weight).forest_, expected)
    assert not derived
    assert sum(made["n_statistics"] for made in passes) > most


real_pass = level_wise.LevelPass


def test_the_larger_child_of_the_same_tasks_is_derived():
    def bundles(*children):
        root = Bundle(0, (0, 2, 5), (0, 0, 0), mixed=False, n_rows=9, splits=[Split(0, [1, 2], [])])
        return [root, *(Bundle(1, tasks, (1,) * len(tasks), True, n) for tasks, n in children)]

    def of(*children, counted=frozenset({1, 2}), multiway=False):
        return derivable(bundles(*children), {0: None}, counted, np.array([multiway]))

    assert of(((0, 2, 5), 4), ((0, 2, 5), 5)) == {2: (0, 1)}
    assert of(((0, 2, 5), 6), ((0, 2, 5), 5)) == {1: (0, 2)}
    assert of(((0, 2, 5), 6), ((0, 5), 5)) == {2: (0, 1)}  # task 2 has a leaf
    assert of(((0, 2), 6), ((0, 5), 5)) == {}
    assert of(((0, 2, 5), 4), ((0, 2, 5), 5), counted={2}) == {}
    assert of(((0, 2, 5), 4), ((0, 2, 5), 5), multiway=True) == {}
    of_children = bundles(((0, 2, 5), 6), ((0, 5), 5))
    held, counted = np.arange(12) * 10, np.arange(12)
    statistics = derive(of_children, 2, of(((0, 2, 5), 6), ((0, 5), 5))[2], {0: held}, {1: counted})
    np.testing.assert_array_equal(statistics.reshape(4, 2), (9 * np.arange(12)).reshape(4, 3)[:, [0, 2]])
